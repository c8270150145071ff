// edit.js: the form for a job, which is pushed again with changes, as a new job or in place of this
// one.
import { may, note } from './action.js';
import { act } from './api.js';
import { empty, h, path } from './dom.js';
import { indent, member } from './text.js';
import { said, t } from './words.js';

const EMPTY = { state: 'new', type: '', priority: 0, document: '{}' };
const BODY_MAX = 65000; // bytes that later-web accepts

// What may be changed besides type and payload, and what an empty field means.
const OPTIONS = [
    // @options id,form: ['{name}', t`{label}`, t`{empty}`],
    ['id', t`Id of a new job`, t`a new one`],
    ['priority', t`Priority`, t`0; -100 to 100`],
    ['in', t`Not before`, t`at once; 90, 5m, 2h`],
    ['max_attempts', t`Attempts, at most`, t`by type`],
    ['retry_for', t`Retry for`, t`no end; 90, 5m, 2h`],
    ['timeout', t`Timeout`, t`by type; 90, 5m, 2h`],
    ['backoff', t`Waits between attempts`, t`by type; 5, or 1,10,5m, or JSON`],
    ['expires_at', t`Expires`, t`never; 2026-01-31T12:00:00Z`],
    ['expires_in', t`Expires in`, t`never; 90, 5m, 2h`],
    ['result', t`Keep its result for`, t`not at all; 90, 5m, 2h`],
    ['lock', t`Lock`, t`none`],
    ['group', t`Group`, t`none`],
    ['trace', t`Trace`, t`none`],
    ['description', t`Description`, t`none`],
    ['on_dead', t`Push when it is dead`, t`by type`],
    ['on_done', t`Push when it is done`, t`by type`],
    // @end
];

// Members of lines in files: they say how the job was pushed, and are not part of it.
const CARRIED = [
    'queue',
    // @options line: '{name}',
    'in',
    'at',
    'expires_in',
    'unique_for',
    'again',
    'debounce',
    'max_wait',
    'throttle',
    // @end
];

// Returns the members of a document that have a field, as text for it, and the names of all others.
function membersOf(job) {
    const found = { priority: job.priority ? String(job.priority) : '' }, others = [];
    let all = {};
    try {
        all = JSON.parse(job.document);
    } catch {
        return { found, others: [t`the rest, which cannot be read`] };
    }
    for (const [name, value] of Object.entries(all)) {
        if (name === 'backoff') found.backoff = member(job.document, name);
        else if (name === 'expires_at') found[name] = value * 1000 > Date.now() ? String(value) : '';
        else if (['id', 'type', 'payload', 'priority', ...CARRIED].includes(name)) continue;
        else if (OPTIONS.some(([option]) => option === name)) found[name] = String(value);
        else others.push(name);
    }
    return { found, others };
}

function field(form, name, label, input, hint) {
    const wrong = h('p', { class: 'error', id: `edit-${name}-wrong`, hidden: true });
    for (const [key, value] of Object.entries({ id: `edit-${name}`, name, autocomplete: 'off', spellcheck: 'false',
                                                placeholder: hint, 'aria-describedby': wrong.id }))
        if (value) input.setAttribute(key, value);
    form.set(name, { input, wrong });
    return h('div', { class: `field ${name}` }, h('label', { for: input.id }, label), input, wrong);
}

// Shows the server's message at the field that it names, otherwise in the corner.
function complain(fields, error) {
    const text = error.message.replace(/^later push: /, '').replace(/; --text .*/, '');
    const [, name, words] = /^(?:--)?([a-z]+(?:[-_][a-z]+)*)(?:\.[a-z]+)?: (.*)$/s.exec(text) || [];
    const at = fields.get(/^too large/.test(text) ? 'payload' : name?.replaceAll('-', '_'));
    if (!at) {
        note(said(error.message), error.command, true);
        return;
    }
    at.wrong.textContent = said(/^too large/.test(text) ? text : words);
    at.wrong.hidden = false;
    at.input.setAttribute('aria-invalid', 'true');
    at.input.focus();
}

function taken(fields, job) {
    const body = { queue: job.queue };
    for (const [name, { input, wrong }] of fields) {
        wrong.hidden = true;
        input.removeAttribute('aria-invalid');
        body[name] = input.value.trim();
        if (!body[name]) delete body[name];
    }
    if (!body.type) throw new Error(`type: ${t`a job has one`}`);
    if (new TextEncoder().encode(JSON.stringify(body)).length > BODY_MAX)
        throw new Error(`payload: ${t`a page can push at most 64 KiB; later push takes more`}`);
    return body;
}

// Returns the id of the new job.
async function pushNew(body) {
    const answer = await act('push', body);
    const { id, result, state } = answer.answers[0];
    if (result === 'exists') throw new Error(`id: ${t`there is a job of this id; it is ${said(state)}`}`);
    note(t`Pushed as ${id}`, answer.command);
    return id;
}

async function change(job, { id: _, ...body }) {
    if (!body.in && job.state === 'delayed') body.at = String(job.score);
    const answer = await act('replace', { ...body, id: job.id });
    const { result, state } = answer.answers[0];
    const words = { exists: t`${job.id} is ${said(state)} by now, and was left as it is`,
                    pushed: t`${job.id} had ended meanwhile, and was pushed again` }[result];
    note(words || t`${job.id} is changed`, answer.command, result === 'exists');
}

// The page for a new job of a queue, which may be new, too.
export function create(main, parameters) {
    const job = { ...EMPTY, queue: parameters.get('queue') || 'default' };
    const queue = h('input', { id: 'new-queue', value: job.queue, autocomplete: 'off', spellcheck: 'false',
                               oninput: () => { job.queue = queue.value.trim(); } });
    main.append(h('h1', {}, t`New job`), ...(may('admin')
        ? [h('div', { class: 'edit field' }, h('label', { for: 'new-queue' }, t`Queue`), queue), formOf(job)]
        : [empty(t`Only an admin may push a job.`)]));
}

// Calls changed() when this job has been changed.
export function editBox(job, changed) {
    return h('details', { class: 'edit-box' }, h('summary', {}, t`Edit and push again`), formOf(job, changed));
}

// changed: for a job that can be.
function formOf(job, changed) {
    const fields = new Map(), { found, others } = membersOf(job);
    const changes = (job.state === 'ready' || job.state === 'delayed') && !others.length;
    const payload = h('textarea', { rows: 8 }), type = h('input');
    const ways = {
        change: async (body) => {
            await change(job, body);
            form.closest('details').open = false;
            changed();
        },
        instead: async (body) => {
            const id = await pushNew(body);
            note(t`${job.id} is gone`, (await act('cancel', { queue: job.queue, id: job.id })).command);
            location.hash = path('job', { id, queue: job.queue });
        },
        push: async (body) => {
            location.hash = path('job', { id: await pushNew(body), queue: job.queue });
        },
    };
    const way = (name, words, quiet) =>
        h('button', { type: 'submit', value: name, class: quiet && 'quiet' }, words);
    const form = h('form', {
        novalidate: true, class: 'edit', onsubmit: async (event) => {
            event.preventDefault();
            const buttons = form.querySelectorAll('button');
            const { value } = event.submitter ?? buttons[0];
            buttons.forEach((one) => { one.disabled = true; });
            try {
                await ways[value](taken(fields, job));
            } catch (error) {
                complain(fields, error);
            }
            buttons.forEach((one) => { one.disabled = false; });
        },
    }, field(fields, 'type', t`Type`, type), field(fields, 'payload', t`Payload, JSON`, payload),
       h('div', { class: 'options' }, OPTIONS.map(([name, label, hint]) =>
           field(fields, name, label, h('input'), name === 'in' && job.state === 'delayed' ? t`as it is; 90, 5m` : hint))),
       others.length ? h('p', { class: 'facts' }, t`Not pushed again: ${others.join(', ')}.`) : '',
       h('p', { class: 'buttons' }, changes && way('change', t`Change this job`),
         way('push', t`Push a new job`, changes),
         job.state === 'dead' && way('instead', t`Push in its place`, true)),
       h('p', { class: 'facts' }, changes ? t`The changed job keeps its id; its attempts start afresh.`
           : job.state === 'dead' ? t`Push in its place: the new job is pushed, then this one is cancelled.` : ''));

    type.value = job.type || '';
    payload.value = indent(member(job.document, 'payload') ?? 'null');
    for (const [name, value] of Object.entries(found)) fields.get(name).input.value = value ?? '';
    return form;
}
