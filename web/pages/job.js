// job.js: one job: where it stands, what happened to it, the very bytes of its document.
import { button, confirm, me, perform } from './action.js';
import { get } from './api.js';
import { age, badge, command, empty, h, link, moment, number, since } from './dom.js';
import { editBox } from './edit.js';
import { errorText, when } from './jobs.js';
import { indent } from './text.js';

// A version 7 UUID begins with the milliseconds of its making.
function born(id) {
    const match = /^([0-9a-f]{8})-([0-9a-f]{4})-7/.exec(id);
    return match ? parseInt(match[1] + match[2], 16) / 1000 : null;
}

function timeline(job) {
    const steps = [], pushed = born(job.id), at = when(job);
    if (pushed) steps.push({ at: pushed, kind: 'ready', title: 'Pushed' });
    if (job.error && typeof job.error === 'object') {
        steps.push({ at: job.error.at, kind: 'dead', words: job.error.text,
                     title: `Attempt ${job.error.attempt ?? job.attempts} failed: ${job.error.kind ?? ''}`,
                     more: job.error.host && `on ${job.error.host}` });
    } else if (job.error) {
        steps.push({ at: null, kind: 'dead', title: 'Failed', words: String(job.error) });
    }
    const title = { ready: 'Ready: waits for a worker', delayed: 'Due', dead: 'Buried',
                    reserved: 'Reserved: it runs, or is about to' }[job.state];
    steps.push({ at, kind: job.state, title });
    steps.sort((a, b) => (a.at ?? Infinity) - (b.at ?? Infinity));
    return h('ol', { class: 'timeline' }, steps.map((step, i) => {
        const before = i > 0 && step.at && steps[i - 1].at ? step.at - steps[i - 1].at : null;
        return h('li', { class: step.kind },
            before > 0.05 && h('small', { class: 'gap' }, `${age(before)} later`),
            h('b', {}, step.title), ' ',
            step.at ? h('time', { title: since(step.at) }, `${moment(step.at)}, ${since(step.at)}`) : '',
            step.words && h('pre', { class: 'error', tabindex: '0' }, step.words),
            step.more && h('small', {}, step.more));
    }));
}

function documentBox(job) {
    const pre = h('pre', { class: 'document', tabindex: '0', 'aria-label': 'Document' }, indent(job.document));
    const raw = h('button', {
        type: 'button', class: 'quiet small', 'aria-pressed': 'false', onclick: () => {
            const on = raw.getAttribute('aria-pressed') !== 'true';
            raw.setAttribute('aria-pressed', on);
            pre.textContent = on ? job.document : indent(job.document);
        },
    }, 'as it was pushed');
    return h('section', { 'aria-labelledby': 'document-title' },
        h('h2', { id: 'document-title' }, 'Document ',
          h('small', {}, `${number(new TextEncoder().encode(job.document).length)} bytes`), ' ', raw), pre);
}

function show(main, job, typed, again) {
    const act = async (where, question, verb, done) => {
        if (!question || await confirm(question, 1, verb)) {
            if (await perform(where, { id: job.id, queue: job.queue }, done)) again();
        }
    };
    const known = ['queue', 'id', 'state', 'type', 'score', 'attempts', 'priority', 'error', 'document'];
    const facts = [['Queue', link('queue', { name: job.queue, state: job.state === 'ready' ? '' : job.state },
                                  job.queue)],
                   ['Type', job.type ?? 'none that can be read'], ['Attempts', number(job.attempts)],
                   ['Priority', String(job.priority)],
                   ...Object.entries(job).filter(([name, value]) => !known.includes(name) && value !== null)
                       .map(([name, value]) => [name, typeof value === 'string' ? value
                           : JSON.stringify(value)])];
    main.append(
        h('h1', { class: 'id' }, h('small', {}, 'Job'), ' ', job.id, ' ', badge(job.state)),
        job.error ? h('p', { class: 'error lead' }, errorText(job.error)) : '',
        h('dl', { class: 'facts' }, facts.map(([name, value]) =>
            h('div', {}, h('dt', {}, name), h('dd', {}, value)))),
        h('p', { class: 'buttons' },
          (job.state === 'dead' || job.state === 'delayed') &&
              button('Kick', () => act('kick', null, '', `${job.id} is ready`)),
          button('Cancel', () => act('cancel', job.state === 'reserved'
              ? 'Cancel this job, which runs?' : 'Drop this job for good?', 'Cancel it',
              `${job.id} is gone`), { class: 'danger' })),
        h('section', { 'aria-labelledby': 'time-title' }, h('h2', { id: 'time-title' }, 'What happened'),
          timeline(job)),
        documentBox(job), me.may_act ? editBox(job, again) : '', command(typed));
}

export function job(main, parameters) {
    const stop = new AbortController();

    async function load() {
        try {
            const answer = await get('job', { id: parameters.get('id'), queue: parameters.get('queue') },
                                     stop.signal);
            main.replaceChildren();
            for (const one of answer.answers) show(main, one, answer.command, load);
        } catch (error) {
            if (error.name === 'AbortError') return;
            main.replaceChildren(h('h1', { class: 'id' }, h('small', {}, 'Job'), ' ',
                                   parameters.get('id') || ''),
                                 empty(error.status === 404 ? 'There is no such job: it has ended, or never was.'
                                                            : error.message),
                                 error.command ? command(error.command) : '');
        }
    }
    load();
    return () => stop.abort();
}
