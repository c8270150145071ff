// queues.js: the queues as `later top` knows them. Those in trouble come first, quiet ones are folded;
// any column sorts, and a filter chooses by name.
import { button, perform } from './action.js';
import { age, h, link, number, path, rate, setAttribute, setText } from './dom.js';
import { live } from './live.js';
import { MARKS } from './trouble.js';

const MOST = 200; // rows that are built; the rest are shown on request

const failing = ({ pace }) => {
    const { done, failed } = pace?.now ?? { done: 0, failed: 0 };
    return done + failed > 0 ? failed / (done + failed) : null;
};

// Returns the seconds until it is empty at the present pace; Infinity if it grows; null if nothing is
// ready, or nothing moves.
function emptyIn({ ready, pace }) {
    const now = pace?.now;
    if (!ready || !now || (!now.in && !now.done)) return null;
    return now.done > now.in ? ready / (now.done - now.in) : Infinity;
}

// name: heading, the value that sorts, the words. The words of a number are by `put`.
const COLUMNS = [
    ['Queue', (queue) => queue.queue],
    ['Ready', (queue) => queue.ready, number],
    ['Oldest', (queue) => queue.oldest_ready, age],
    ['In a second', (queue) => queue.pace?.now?.in ?? null, rate],
    ['Done a second', (queue) => queue.pace?.now?.done ?? null, rate],
    ['Failing', failing, (part) => `${Math.round(100 * part)} %`],
    ['Empty in', emptyIn, (seconds) => (seconds === Infinity ? 'grows' : age(seconds))],
    ['Reserved', (queue) => queue.reserved, number],
    ['Delayed', (queue) => queue.delayed, number],
    ['Dead', (queue) => queue.dead, number],
    ['Hosts', (queue) => queue.served, number],
];
const ALWAYS = ['Ready', 'Oldest', 'Done a second', 'Dead']; // on a phone, too, if they are 0

const LATE = { Oldest: (seconds) => seconds > 60, Failing: (part) => part > 0.05, 'Empty in': (seconds) => seconds === Infinity };

function row(name) {
    const mark = h('span', { class: 'mark' }), state = h('span');
    const cells = COLUMNS.slice(1).map(([heading]) =>
        h('td', { class: 'n', 'data-head': heading }));
    let paused = false;
    const pause = button('Pause', async () => {
        if (paused) await perform('resume', { queue: name }, `${name} is resumed`);
        else await perform('pause', { queue: name }, `${name} is paused: no more jobs begin`);
    }, { class: 'quiet small' });
    const element = h('tr', { 'data-row': path('queue', { name }) },
        h('th', { scope: 'row' }, link('queue', { name }, name), mark, state), cells,
        h('td', { class: 'do' }, pause));

    function update(queue, troubles) {
        COLUMNS.slice(1).forEach(([heading, of, put], i) => {
            const value = of(queue);
            setText(cells[i], value === null || value === undefined ? '–' : put(value));
            setAttribute(cells[i], 'class', `n${value ? '' : ALWAYS.includes(heading) ? ' zero' : ' zero none'}${
                value !== null && LATE[heading]?.(value) ? ' late' : ''}`);
        });
        const [worst] = troubles;
        setText(mark, worst ? ` ${MARKS[worst.severity] ?? '!'}` : '');
        setAttribute(mark, 'title', worst ? troubles.map((one) => one.text).join('\n') : null);
        setAttribute(mark, 'class', worst ? `mark ${worst.severity}` : 'mark');
        ({ paused } = queue);
        setText(state, paused ? ' ❚❚ paused' : queue.partly_paused ? ' ❚❚ partly'
            : queue.served === 0 && queue.ready ? ' not served' : '');
        setAttribute(state, 'class', paused || queue.partly_paused ? 'paused' : 'late');
        if (pause) {
            setText(pause, paused ? 'Resume' : 'Pause');
            setAttribute(pause, 'aria-label', `${paused ? 'Resume' : 'Pause'} ${name}`);
        }
    }
    return { element, update };
}

const isQuiet = (queue) => !queue.ready && !queue.reserved && !queue.paused && !queue.partly_paused
    && !queue.pace?.now?.in && !queue.pace?.now?.done && !queue.pace?.now?.failed;

// What was chosen stays while other pages are looked at.
const chosen = { by: -1, down: true, filter: '', quiet: false, more: 0 };

function compare(a, b) {
    const [, of] = COLUMNS[chosen.by], x = of(a), y = of(b);
    if (x === y || (x ?? null) === (y ?? null)) return a.queue < b.queue ? -1 : 1;
    if (x === null || x === undefined) return 1; // what is not known comes last
    if (y === null || y === undefined) return -1;
    return (x < y) === chosen.down ? 1 : -1;
}

export function queueTable() {
    const rows = new Map(), body = h('tbody');
    const heads = COLUMNS.map(([heading], i) => h('th', { class: i ? 'n' : '', scope: 'col' },
        h('button', { type: 'button', class: 'sort', onclick: () => sort(i) }, heading)));
    const filter = h('input', { id: 'filter', type: 'search', value: chosen.filter, autocomplete: 'off',
                                spellcheck: 'false', placeholder: 'Filter by name',
                                oninput: () => { chosen.filter = filter.value; update(); } });
    const quiet = h('button', { type: 'button', class: 'quiet small', onclick: () => {
        chosen.quiet = !chosen.quiet;
        update();
    } });
    const more = h('button', { type: 'button', class: 'quiet', onclick: () => {
        chosen.more++;
        update();
    } });
    const table = h('div', { class: 'scroll queues cards', tabindex: '0', role: 'region', 'aria-label': 'Queues' },
        h('table', {}, h('thead', {}, h('tr', {}, heads, h('th', { class: 'do', scope: 'col' }, 'Action'))), body));
    const none = h('p', { class: 'empty', role: 'status' });
    const element = h('div', {}, h('div', { class: 'above' }, h('h2', {}, 'Queues'), quiet,
        h('label', { class: 'hidden', for: 'filter' }, 'Filter queues by name'), filter), table, none,
        h('p', { class: 'pages' }, more));

    function sort(i) {
        const first = i > 0; // numbers begin with the largest
        if (chosen.by !== i) Object.assign(chosen, { by: i, down: first });
        else if (chosen.down === first) chosen.down = !first;
        else chosen.by = -1;
        update();
    }

    function choose(queues, ill) {
        const words = chosen.filter.trim().toLowerCase();
        const found = queues.filter((queue) => queue.queue.toLowerCase().includes(words));
        const busy = found.filter((queue) => ill.has(queue.queue) || !isQuiet(queue));
        const folded = found.length - busy.length;
        const fold = folded > 0 && busy.length > 0 && !chosen.quiet && !words;
        const shown = fold ? busy : [...found];
        if (chosen.by >= 0) shown.sort(compare);
        else shown.sort((a, b) => (ill.get(a.queue)?.at ?? Infinity) - (ill.get(b.queue)?.at ?? Infinity) || isQuiet(a) - isQuiet(b)
            || (a.queue < b.queue ? -1 : 1));
        quiet.hidden = !folded || !busy.length || Boolean(words);
        setText(quiet, chosen.quiet ? 'Fold quiet queues' : `Show ${number(folded)} quiet queue${folded === 1 ? '' : 's'}`);
        setText(none, found.length || !queues.length ? '' : 'No queue has such a name.');
        return shown;
    }

    function update() {
        const { queues, troubles } = live.snap, ill = new Map();
        (troubles?.list ?? []).forEach((one, at) => {
            if (!one.queue) return;
            if (!ill.has(one.queue)) ill.set(one.queue, { at, all: [] });
            ill.get(one.queue).all.push(one);
        });
        const all = choose(queues, ill), shown = all.slice(0, MOST * (1 + chosen.more));
        heads.forEach((head, i) => setAttribute(head, 'aria-sort', chosen.by !== i ? null : chosen.down ? 'descending' : 'ascending'));
        more.hidden = all.length <= shown.length;
        setText(more, `${number(all.length - shown.length)} more: show ${number(Math.min(MOST, all.length - shown.length))}`);
        const names = new Set(shown.map((queue) => queue.queue));
        for (const [name, one] of rows) {
            if (!names.has(name)) {
                one.element.remove();
                rows.delete(name);
            }
        }
        shown.forEach((queue, i) => { // only those in the wrong place are moved
            if (!rows.has(queue.queue)) rows.set(queue.queue, row(queue.queue));
            const one = rows.get(queue.queue);
            one.update(queue, ill.get(queue.queue)?.all ?? []);
            if (body.children[i] !== one.element) body.insertBefore(one.element, body.children[i] || null);
        });
        element.hidden = !queues.length;
    }
    return { element, update };
}
