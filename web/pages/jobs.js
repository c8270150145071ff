// jobs.js: lists of jobs: rows that can be chosen, and what is done with those.
import { button, confirm, perform } from './action.js';
import { badge, h, link, moment, number, path, since, table } from './dom.js';

// When something happens, or happened, to a job. A score is a time less a million a priority.
export function when(job) {
    if (job.score === null) return null;
    if (job.state === 'ready') return job.score > 0 ? job.score + 1e6 * job.priority : null;
    return job.score;
}

export const WHEN = { ready: 'ready since', delayed: 'due', reserved: 'ready since', dead: 'died' };

export function errorText(error) {
    if (!error) return '';
    if (typeof error === 'string') return error;
    return `${error.kind ? `${error.kind}: ` : ''}${error.text ?? JSON.stringify(error)}`;
}

// A few words of the payload: its bytes, as they are.
export function glance(text) {
    const at = text.indexOf('"payload":');
    const from = at >= 0 ? text.slice(at + 10) : text;
    return from.length > 160 ? `${from.slice(0, 160)}…` : from.replace(/}$/, '');
}

function row(job, chosen, changed) {
    const at = when(job);
    const box = button('', null) === false ? null : h('input', {
        type: 'checkbox', 'aria-label': `Choose ${job.id}`,
        onchange: () => {
            if (box.checked) chosen.set(job.id, job);
            else chosen.delete(job.id);
            changed();
        },
    });
    return h('tr', { 'data-row': path('job', { id: job.id, queue: job.queue }) },
        h('td', { class: 'pick' }, box),
        h('th', { scope: 'row', class: 'id' }, job.id ? link('job', { id: job.id, queue: job.queue }, job.id)
                                         : h('em', {}, 'not adopted yet')),
        h('td', {}, badge(job.state)), h('td', {}, job.type ?? h('em', {}, 'none')),
        h('td', { title: at === null ? '' : moment(at) }, at === null ? '–' : since(at)),
        h('td', { class: job.attempts ? 'n' : 'n zero' }, number(job.attempts)),
        h('td', { class: 'words' }, job.error
            ? h('span', { class: 'error' }, errorText(job.error)) : h('code', {}, glance(job.document))));
}

// A table of jobs. again() is called when something was done to some of them.
export function jobTable(label, again) {
    const chosen = new Map();
    const list = table(label, [['', 'pick'], ['Job', ''], ['State', ''], ['Type', ''], ['When', ''],
                               ['Attempts', 'n'], ['Error or payload', 'words']]);
    list.body.closest('table').querySelector('th').append(h('span', { class: 'hidden' }, 'Choose'));
    const count = h('b');
    const bar = h('div', { class: 'chosen', hidden: true, role: 'group', 'aria-label': 'Chosen jobs' },
        count,
        button('Kick', () => all('kick', 'Kick', 'is ready')),
        button('Cancel', () => all('cancel', 'Cancel', 'is gone'), { class: 'danger' }),
        h('button', { type: 'button', class: 'quiet', onclick: () => clear() }, 'None'));

    function changed() {
        bar.hidden = chosen.size === 0;
        count.textContent = `${number(chosen.size)} chosen`;
    }

    function clear() {
        chosen.clear();
        for (const box of list.body.querySelectorAll('input')) box.checked = false;
        changed();
    }

    async function all(where, verb, done) {
        const jobs = [...chosen.values()];
        if (!await confirm(`${verb} ${number(jobs.length)} jobs?`, jobs.length, verb)) return;
        for (const job of jobs)
            await perform(where, { id: job.id, queue: job.queue }, `${job.id} ${done}`);
        clear();
        again();
    }

    list.element.classList.add('jobs');
    return {
        element: h('div', {}, bar, list.element),
        body: list.body,
        set(jobs) {
            chosen.clear();
            changed();
            list.body.replaceChildren(...jobs.map((job) => row(job, chosen, changed)));
        },
        add(job) {
            list.body.append(row(job, chosen, changed));
        },
    };
}
