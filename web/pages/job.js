// job.js: one job: where it stands, what happened to it, the very bytes of its document.
import { button, confirm, note, perform } from './action.js';
import { act, get } from './api.js';
import { age, badge, command, empty, h, link, moment, number, path, since } from './dom.js';
import { errorText, when } from './jobs.js';

// A version 7 UUID begins with the milliseconds of its making.
function born(id) {
    const match = /^([0-9a-f]{8})-([0-9a-f]{4})-7/.exec(id);
    return match ? parseInt(match[1] + match[2], 16) / 1000 : null;
}

// Broken into lines without being parsed and written again: every digit and escape stays.
export function indent(text) {
    let out = '', depth = 0, inside = false;
    for (let i = 0; i < text.length; i++) {
        const c = text[i];
        if (inside) {
            out += c;
            if (c === '\\') out += text[++i] ?? '';
            else if (c === '"') inside = false;
        } else if (c === '"') {
            inside = true;
            out += c;
        } else if (c === '{' || c === '[') {
            const close = /^\s*[}\]]/.exec(text.slice(i + 1, i + 40));
            if (close) {
                out += c + close[0].trim();
                i += close[0].length;
            } else {
                out += `${c}\n${'  '.repeat(++depth)}`;
            }
        } else if (c === '}' || c === ']') {
            out += `\n${'  '.repeat(depth = Math.max(0, depth - 1))}${c}`;
        } else if (c === ',') {
            out += `,\n${'  '.repeat(depth)}`;
        } else if (c === ':') {
            out += ': ';
        } else if (!/\s/.test(c)) {
            out += c;
        }
    }
    return out;
}

// The bytes of one member of an object, as they are; null where it has none.
export function member(text, name) {
    let depth = 0, start = -1;
    for (let i = 0; i < text.length; i++) {
        const c = text[i];
        if (c === '"') {
            const from = i;
            for (i++; i < text.length && text[i] !== '"'; i++) if (text[i] === '\\') i++;
            if (depth === 1 && start < 0 && text.slice(from, i + 1) === `"${name}"`) {
                const colon = /^\s*:\s*/.exec(text.slice(i + 1));
                if (colon) {
                    start = i + 1 + colon[0].length;
                    i = start - 1;
                }
            }
        } else if (c === '{' || c === '[') {
            depth++;
        } else if (c === '}' || c === ']') {
            depth--;
            if (start >= 0 && depth === 0) return text.slice(start, i).trim();
        } else if (c === ',' && depth === 1 && start >= 0) {
            return text.slice(start, i).trim();
        }
    }
    return null;
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

// A copy with changes, or the same again.
function againBox(job) {
    const type = h('input', { id: 'again-type', value: job.type || '', autocomplete: 'off' });
    const payload = h('textarea', { id: 'again-payload', rows: 8, spellcheck: 'false' });
    payload.value = indent(member(job.document, 'payload') ?? 'null');
    const form = h('form', {
        onsubmit: async (event) => {
            event.preventDefault();
            try {
                const answer = await act('push', { queue: job.queue, type: type.value,
                                                   payload: payload.value });
                note(`Pushed as ${answer.answers[0].id}`, answer.command);
                location.hash = path('job', { id: answer.answers[0].id, queue: job.queue });
            } catch (error) {
                note(error.message, error.command, true);
            }
        },
    }, h('label', { for: 'again-type' }, 'Type'), type,
       h('label', { for: 'again-payload' }, 'Payload'), payload,
       h('p', { class: 'buttons' }, h('button', { type: 'submit' }, 'Push a new job')));
    return h('details', {}, h('summary', {}, 'Edit and push again'), form);
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
        documentBox(job), button('', null) === false ? '' : againBox(job), command(typed));
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
