// job.js: one job: its state, what happened to it, the exact bytes of its document.
import { button, confirm, may, perform } from './action.js';
import { get, repeat } from './api.js';
import { badge, command, empty, h, link, moment } from './dom.js';
import { editBox } from './edit.js';
import { described, errorLine, progressText } from './jobs.js';
import { indent } from './text.js';
import { timeline } from './timeline.js';
import { arrange } from './trouble.js';
import { many, number, said, t } from './words.js';

const EVERY = 2000; // ms between two looks
const KNOWN = ['why', 'queue', 'id', 'state', 'type', 'score', 'attempts', 'priority', 'error', 'earlier', 'finished', 'progress', 'log', 'result', 'document'];

// Shows JSON in lines, or as its bytes.
function jsonBox(kind, name, text, asItWas) {
    const id = `${kind}-title`;
    const pre = h('pre', { class: kind, tabindex: '0', 'aria-label': name }, indent(text));
    const raw = h('button', {
        type: 'button', class: 'quiet small', 'aria-pressed': 'false', onclick: () => {
            const on = raw.getAttribute('aria-pressed') !== 'true';
            raw.setAttribute('aria-pressed', on);
            pre.textContent = on ? text : indent(text);
        },
    }, asItWas);
    return h('section', { 'aria-labelledby': id },
        h('h2', { id }, `${name} `, h('small', {}, t`${number(new TextEncoder().encode(text).length)} bytes`), ' ', raw), pre);
}

// Shows the progress that its handler reported.
function progressBox(progress) {
    const { done, total } = progress;
    return h('section', { class: 'meter', 'aria-label': t`Progress` },
             h('p', {}, h('b', {}, t`Progress`), progressText(progress)),
             total ? h('progress', { max: total, value: done, 'aria-label': t`Progress` }) : '');
}

// Shows the last lines that it has logged, the newest last.
function logBox({ dropped, lines }) {
    const text = ({ at, attempt, level, text }) => `${moment(at)} ${attempt > 1 ? t`attempt ${attempt} ` : ''}${level}: ${text}`;
    return h('section', { 'aria-labelledby': 'log-title' },
             h('h2', { id: 'log-title' }, t`Log`, ' ', h('small', {}, dropped ? many(dropped, '{} earlier line is not kept|{} earlier lines are not kept') : '')),
             h('pre', { class: 'log', tabindex: '0', 'aria-label': t`Log` }, lines.map(text).join('\n')));
}

// Why it does not run, in the words of `later show`; what would hold it next comes after.
function whyLine({ state, why }) {
    return h('p', { class: 'why lead' }, h('b', {}, state === 'reserved' ? t`Now:` : t`Why it does not run:`), ' ', said(why.text),
             why.also.map((one) => h('span', {}, `; ${said(one.text)}`)));
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

function factList(job) {
    const flow = flowOf(job), facts = [
        [t`Queue`, link('queue', { name: job.queue, state: /ready|done/.test(job.state) ? '' : job.state }, job.queue)],
        [t`Type`, job.type ?? t`none that can be read`], ...(described(job) ? [[t`Description`, described(job)]] : []),
        [t`Attempts`, number(job.finished?.attempt ?? job.attempts)],
        [t`Priority`, String(job.priority)],
        ...(flow ? [[t`Flow`, link('flow', { name: flow, queue: job.queue }, flow)]] : []),
        ...Object.entries(job).filter(([name, value]) => !KNOWN.includes(name) && value !== null)
            .map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)])];
    return h('dl', { class: 'facts' }, facts.map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value))));
}

// The parts of a job's page, from top to bottom: a name, what it shows, and how it is made. A part that
// shows the same as before stays as it is, with whoever reads, chooses or writes in it.
function partsOf(job, typed, again) {
    const act = async (where, question, verb, done) => {
        if (!question || await confirm(question, 1, verb)) {
            if (await perform(where, { id: job.id, queue: job.queue }, done)) again();
        }
    };
    const { state, error, progress } = job;
    const edit = ({ target }) => {
        let box = target.closest('p');
        while (!box.matches('.edit-box')) box = box.nextElementSibling;
        box.open = true;
        box.querySelector('textarea').focus();
    };
    return [
        ['head', [job.id, state], () => h('h1', { class: 'id' }, h('small', {}, t`Job`), ' ', job.id, ' ', badge(state))],
        job.why && state !== 'dead' && ['why', [state, job.why], () => whyLine(job)],
        error && state !== 'done' && ['error', error, () => h('p', { class: 'error lead' }, errorLine(error))],
        ['facts', { ...job, why: job.why?.for, progress: 0, log: 0, result: 0 }, () => factList(job)],
        ['buttons', [state, job.queue], () => h('p', { class: 'buttons' },
            (state === 'dead' || state === 'delayed') && button(t`Kick`, () => act('kick', null, '', t`${job.id} is ready`),
                { title: t`It is ready at once, with all its attempts.` }),
            may('admin') && button(t`Edit`, edit, { class: 'quiet' }),
            state !== 'done' && button(t`Cancel`, () => act('cancel', state === 'reserved'
                ? t`Cancel this job? It is running.` : t`Drop this job for good?`, t`Cancel it`,
                t`${job.id} is gone`), { class: 'danger' }))],
        progress?.done !== undefined && ['progress', progress, () => progressBox(progress)],
        job.log?.lines && ['log', job.log, () => logBox(job.log)],
        ['time', { ...job, why: 0, progress: 0, log: 0, result: 0 }, () => h('section', { 'aria-labelledby': 'time-title' },
            h('h2', { id: 'time-title' }, t`What happened`), timeline(job))],
        job.result !== undefined && ['result', job.result, () => jsonBox('result', t`Result`, job.result, t`as it was given back`)],
        ['document', job.document, () => jsonBox('document', t`Document`, job.document, t`as it was pushed`)],
        may('admin') && ['edit', [job.document, state, job.score], () => editBox(job, again)],
        ['command', typed, () => command(typed)],
    ].filter(Boolean);
}

// Of a job that is not there, it may also be known how it was seen last: {at, state}. words, typed: what the command
// said that looked.
function missing(last, words, typed = '') {
    return [empty(said(words), last && t`. It was ${said(last.state)} at ${moment(last.at)}.`),
            typed.includes('--queue') ? command(typed.replace('later show', 'later wait')) : ''];
}

export function job(main, parameters) {
    let shown = new Map(), gone = false, last = null; // shown: name → what it shows, and its element

    function show(all, typed) {
        const parts = all.flatMap((one, i) => partsOf(one, typed, looks.again).map(([name, ...part]) => [`${i} ${name}`, ...part]));
        shown = new Map(parts.map(([name, of, make]) => {
            const mark = JSON.stringify(of), before = shown.get(name);
            return [name, before?.mark === mark || before?.element.open ? before : { mark, element: make() }];
        }));
        arrange(main, [...shown.values()].map((one) => one.element));
    }

    function fail(error) {
        if (shown.size && error.status !== 404) return; // what is shown stays
        gone = error.status === 404;
        shown = new Map();
        main.replaceChildren(h('h1', { class: 'id' }, h('small', {}, t`Job`), ' ', parameters.get('id') || ''),
                             ...(gone ? missing(last, error.message, error.command) : [empty(said(error.message))]),
                             error.command ? command(error.command) : '');
    }

    const looks = repeat(EVERY, async (signal) => {
        const answer = await get('job', { id: parameters.get('id'), queue: parameters.get('queue') }, signal);
        if (!shown.size) main.replaceChildren();
        show(answer.answers, answer.command);
        last = { at: Date.now() / 1000, state: answer.answers[0].state };
    }, fail, () => !gone);
    return looks.end;
}
