// job.js: one job: its state, what happened to it, the exact bytes of its document.
import { button, confirm, may, perform } from './action.js';
import { get } from './api.js';
import { badge, command, empty, h, link, number } from './dom.js';
import { editBox } from './edit.js';
import { errorLine, progressText } from './jobs.js';
import { indent } from './text.js';
import { timeline } from './timeline.js';

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

// Shows the progress that its handler reported.
function progressBox(progress) {
    const { done, total } = progress;
    return h('section', { class: 'meter', 'aria-label': 'Progress' },
             h('p', {}, h('b', {}, 'Progress'), progressText(progress)),
             total ? h('progress', { max: total, value: done, 'aria-label': 'Progress' }) : '');
}

// Why it does not run, in the words of `later show`; what would hold it next comes after.
function whyLine({ state, why }) {
    return h('p', { class: 'why lead' }, h('b', {}, state === 'reserved' ? 'Now: ' : 'Why it does not run: '), why.text,
             why.also.map((one) => h('span', {}, `; ${one.text}`)));
}

// The flow of a job, as far as its page tells it: its id begins with it, or it waits in it. null if it
// has none.
function flowOf(job) {
    if (/^flow/.test(job.why?.reason ?? '')) return job.why.for;
    let step = null;
    try {
        ({ step } = JSON.parse(job.document));
    } catch {
        // it is no JSON
    }
    return typeof step === 'string' && job.id.endsWith(`.${step}`) ? job.id.slice(0, -step.length - 1) : null;
}

function show(main, job, typed, again) {
    const act = async (where, question, verb, done) => {
        if (!question || await confirm(question, 1, verb)) {
            if (await perform(where, { id: job.id, queue: job.queue }, done)) again();
        }
    };
    const flow = flowOf(job), known = ['why', 'queue', 'id', 'state', 'type', 'score', 'attempts', 'priority', 'error', 'earlier', 'finished',
                   'progress', 'document'];
    const facts = [['Queue', link('queue', { name: job.queue, state: /ready|done/.test(job.state) ? '' : job.state },
                                  job.queue)],
                   ['Type', job.type ?? 'none that can be read'], ['Attempts', number(job.finished?.attempt ?? job.attempts)],
                   ['Priority', String(job.priority)],
                   ...(flow ? [['Flow', link('flow', { name: flow, queue: job.queue }, flow)]] : []),
                   ...Object.entries(job).filter(([name, value]) => !known.includes(name) && value !== null)
                       .map(([name, value]) => [name, typeof value === 'string' ? value
                           : JSON.stringify(value)])];
    const edit = may('admin') ? editBox(job, again) : '';
    main.append(
        h('h1', { class: 'id' }, h('small', {}, 'Job'), ' ', job.id, ' ', badge(job.state)),
        job.why && job.state !== 'dead' ? whyLine(job) : '',
        job.error && job.state !== 'done' ? h('p', { class: 'error lead' }, errorLine(job.error)) : '',
        h('dl', { class: 'facts' }, facts.map(([name, value]) =>
            h('div', {}, h('dt', {}, name), h('dd', {}, value)))),
        h('p', { class: 'buttons' },
          (job.state === 'dead' || job.state === 'delayed') &&
              button('Kick', () => act('kick', null, '', `${job.id} is ready`)),
          edit && button('Edit', () => {
              edit.open = true;
              edit.querySelector('textarea').focus();
          }, { class: 'quiet' }),
          job.state !== 'done' && button('Cancel', () => act('cancel', job.state === 'reserved'
              ? 'Cancel this job? It is running.' : 'Drop this job for good?', 'Cancel it',
              `${job.id} is gone`), { class: 'danger' })),
        job.progress?.done !== undefined ? progressBox(job.progress) : '',
        h('section', { 'aria-labelledby': 'time-title' }, h('h2', { id: 'time-title' }, 'What happened'),
          timeline(job)),
        documentBox(job), edit, command(typed));
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
                                 empty(error.status === 404 ? 'There is no such job: it has ended, or never existed.'
                                                            : error.message),
                                 error.command ? command(error.command) : '');
        }
    }
    load();
    return () => stop.abort();
}
