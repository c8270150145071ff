// columns.js: which columns the lists of jobs have: chosen by whoever looks, and kept in the browser.
import { note } from './action.js';
import { badge, h, link, since } from './dom.js';
import { number, t } from './words.js';

const KEY = `later columns ${new URL('.', location).pathname}`, MOST = 12; // later search --columns has the same bound
const FORM = /^[\w.[\]-]{1,128}$/;
let kept = ''; // for a browser that stores nothing

const list = (text) => (text ? text.split(',').map((name) => name.trim()).filter(Boolean) : []);

export const fits = (text) => list(text).length <= MOST && list(text).every((name) => FORM.test(name));

// Those that were chosen in this browser, with commas between; '': none, so each list has its own.
export function chosenColumns() {
    try {
        kept = localStorage.getItem(KEY) ?? kept;
    } catch {
        // then it is kept for as long as this page is open
    }
    return fits(kept) ? kept : '';
}

function keep(text) {
    kept = text;
    try {
        localStorage.setItem(KEY, text);
    } catch {
        // as above
    }
}

const own = { // what a list's own columns show
    state: (job) => badge(job.state), type: (job) => job.type, queue: (job) => link('queue', { name: job.queue }, job.queue),
    attempts: (job) => number(job.finished?.attempt ?? job.attempts), priority: (job) => number(job.priority),
    due: (job) => (job.state === 'delayed' && job.score !== null ? since(job.score) : null),
    group: (job) => job.group, kind: (job) => job.error?.kind, host: (job) => (job.finished ?? job.error)?.host,
    error: (job) => job.error?.text ?? job.error,
};

// A member of the document, such as payload.customer; numbers as they are written there.
function member(job, path) {
    try {
        const whole = JSON.parse(job.document, (name, value, context) => (typeof value === 'number' ? context?.source ?? String(value) : value));
        return path.split('.').reduce((value, name) => (value !== null && typeof value === 'object' && Object.hasOwn(value, name) ? value[name] : undefined), whole);
    } catch {
        return undefined; // it is no JSON
    }
}

function shown(value) {
    if (value === undefined || value === null) return '–';
    if (value instanceof Node) return value;
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return text.length > 160 ? `${text.slice(0, 160)}…` : text;
}

export const headings = (text) => list(text).filter((name) => name !== 'id');

// The cells of a row, besides the id, which is always there.
export const cells = (job, text) => headings(text).map((name) =>
    h('td', { class: 'own', 'data-head': name }, shown(Object.hasOwn(own, name) ? own[name](job) : member(job, name))));

// Where somebody chooses them. chosen(text): what to show from now on.
export function chooser(text, chosen) {
    const names = headings(text), paths = names.filter((name) => !Object.hasOwn(own, name));
    const box = (name) => h('label', {}, h('input', { type: 'checkbox', name, checked: names.includes(name) }), ` ${name}`);
    const field = h('input', { name: 'paths', value: paths.join(', '), placeholder: 'payload.customer', spellcheck: 'false', autocomplete: 'off' });
    const take = (form) => {
        const checked = [...form.querySelectorAll(':checked')].map((one) => one.name), found = ['id', ...checked, ...list(field.value)].join();
        if (!fits(found)) {
            note(t`At most ${MOST} columns: these, and members of the document such as payload.customer`, null, true);
            return;
        }
        keep(found === 'id' ? '' : found);
        chosen(found === 'id' ? '' : found);
    };
    return h('details', { class: 'columns' }, h('summary', {}, t`Columns`), h('form', { onsubmit: (event) => {
        event.preventDefault();
        take(event.target);
    } }, h('fieldset', {}, h('legend', { class: 'hidden' }, t`Columns`), Object.keys(own).map(box)),
    h('label', {}, t`and`, ' ', field), h('p', { class: 'buttons' }, h('button', { type: 'submit', class: 'small' }, t`Show these`),
        h('button', { type: 'button', class: 'quiet small', onclick: () => {
            keep('');
            chosen('');
        } }, t`The usual ones`))));
}
