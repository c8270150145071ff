// jobs.js: lists of jobs, whose rows can be selected, and the actions on those.
import { button, confirm, perform } from './action.js';
import { cells, chooser, chosenColumns, headings } from './columns.js';
import { badge, h, link, moment, path, since, table } from './dom.js';
import { member } from './text.js';
import { many, number, t } from './words.js';

// Returns when something happens, or happened, to a job. A score is a time minus a million per
// priority.
export function when(job) {
    if (job.score === null) return null;
    if (job.state === 'ready') return job.score > 0 ? job.score + 1e6 * job.priority : null;
    return job.score;
}

const WHEN = { ready: t`Ready`, delayed: t`Due`, reserved: t`Lease ends`, dead: t`Died`, done: t`Goes` };

function errorText(error) {
    if (!error) return '';
    if (typeof error === 'string') return error;
    return `${error.kind ? `${error.kind}: ` : ''}${error.text ?? JSON.stringify(error)}`;
}

// For a list: only the first line of the error; the job's page has the rest.
export function errorLine(error) {
    const [first, ...more] = errorText(error).trimEnd().split('\n');
    return more.length ? `${first} …` : first;
}

// `3 of 9, page 3`.
export function progressText({ done, total, text }) {
    return [total ? t`${number(done)} of ${number(total)}` : number(done), text].filter(Boolean).join(', ');
}

// The beginning of the payload, as its exact bytes.
export function glance(text) {
    const at = text.indexOf('"payload":');
    const from = at >= 0 ? text.slice(at + 10) : text;
    return from.length > 160 ? `${from.slice(0, 160)}…` : from.replace(/}$/, '');
}

// What its pusher says that it is, or nothing.
export function described({ document }) {
    try {
        const text = JSON.parse(member(document, 'description') ?? '""');
        return typeof text === 'string' ? text : '';
    } catch {
        return ''; // the document is no JSON
    }
}

// The most useful words about a job in one line.
function words(job) {
    if (job.state === 'reserved' && job.progress?.done !== undefined)
        return h('span', { class: 'good' }, progressText(job.progress));
    if (job.error && job.state !== 'done') return h('span', { class: 'error' }, errorLine(job.error));
    return described(job) || h('code', {}, glance(job.document));
}

function row(job, mixed, chosen, changed, columns) {
    const at = when(job), attempts = job.finished?.attempt ?? job.attempts;
    const box = button('', null) === false ? null : h('input', {
        type: 'checkbox', 'aria-label': t`Choose ${job.id}`,
        onchange: () => {
            if (box.checked) chosen.set(job.id, job);
            else chosen.delete(job.id);
            changed();
        },
    });
    return h('tr', { 'data-row': path('job', { id: job.id, queue: job.queue }) },
        h('td', { class: 'pick' }, box),
        h('th', { scope: 'row', class: 'id', title: job.id }, job.id ? link('job', { id: job.id, queue: job.queue }, job.id)
                                         : h('em', {}, t`not adopted yet`)),
        columns ? cells(job, columns) : [
            h('td', {}, badge(job.state)),
            h('td', { class: 'type' }, job.type ?? h('em', {}, t`none`),
              mixed && link('queue', { name: job.queue, state: job.state === 'ready' ? '' : job.state }, job.queue)),
            h('td', { class: 'when', 'data-head': WHEN[job.state], title: at === null ? '' : moment(at) }, at === null ? '–' : since(at)),
            h('td', { class: attempts ? 'n' : 'n zero', 'data-head': t`attempts` }, number(attempts)),
            h('td', { class: 'words' }, words(job))]);
}

// A table of jobs. again() is called after an action on some of them. state: if all have the same.
// mixed: they belong to several queues. columns: as its address says, and recolumn(columns) is called when
// somebody chooses others; otherwise they are those chosen in this browser, or the usual ones.
export function jobTable(label, again, { state, mixed, columns = chosenColumns(), recolumn } = {}) {
    const chosen = new Map();
    let present = [];
    const list = table(label, []);
    const count = h('b');
    const bar = h('div', { class: 'chosen', hidden: true, role: 'group', 'aria-label': t`Chosen jobs` },
        count,
        button(t`Kick`, () => all('kick', t`Kick`, (n) => many(n, 'Kick {} job?|Kick {} jobs?'), (id) => t`${id} is ready`)),
        button(t`Cancel`, () => all('cancel', t`Cancel`, (n) => many(n, 'Cancel {} job?|Cancel {} jobs?'), (id) => t`${id} is gone`), { class: 'danger' }),
        h('button', { type: 'button', class: 'quiet', onclick: () => clear() }, t`None`));

    function changed() {
        bar.hidden = chosen.size === 0;
        count.textContent = t`${number(chosen.size)} chosen`;
    }

    function clear() {
        chosen.clear();
        for (const box of list.body.querySelectorAll('input')) box.checked = false;
        changed();
    }

    async function all(where, verb, question, done) {
        const jobs = [...chosen.values()];
        if (!await confirm(question(jobs.length), jobs.length, verb)) return;
        for (const job of jobs)
            await perform(where, { id: job.id, queue: job.queue }, done(job.id));
        clear();
        again();
    }

    const draw = (job) => row(job, mixed, chosen, changed, columns);

    function begin() {
        const heads = columns ? headings(columns).map((name) => [name, ''])
            : [[t`State`, ''], [mixed ? t`Type, queue` : t`Type`, ''], [WHEN[state] || t`When`, ''], [t`Attempts`, 'n'], [t`Error or payload`, 'words']];
        list.element.classList.toggle('owned', columns !== '');
        list.element.querySelector('thead tr').replaceChildren(
            ...[[h('span', { class: 'hidden' }, t`Choose`), 'pick'], [t`Job`, ''], ...heads].map(([heading, kind]) => h('th', { class: kind, scope: 'col' }, heading)));
    }

    const choose = chooser(columns, (text) => {
        columns = text;
        begin();
        clear();
        list.set(present.map(draw));
        recolumn?.(text);
    });

    list.element.className = 'scroll jobs';
    begin();
    return {
        element: h('div', {}, bar, list.element, choose),
        body: list.body,
        chosen: () => chosen.size,
        set(all) {
            present = all;
            chosen.clear();
            changed();
            list.set(present.map(draw));
        },
        add(job) {
            present.push(job);
            list.body.append(draw(job));
        },
    };
}
