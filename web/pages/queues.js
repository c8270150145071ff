// queues.js: the queues as `later top` knows them. Those in trouble come first, quiet ones are folded;
// any column sorts, and a filter chooses by name.
import { button, perform } from './action.js';
import { age, h, link, moment, path, setAttribute, setText, svg } from './dom.js';
import { live } from './live.js';
import { TRAIL, waited } from './merge.js';
import { MARKS } from './trouble.js';
import { many, number, rate, said, t } from './words.js';

const FIRST = 25, MORE = 200; // rows that are built at first, and whenever their end comes into sight

const failing = ({ pace }) => {
    const { done, failed } = pace ?? { done: 0, failed: 0 };
    return done + failed > 0 ? failed / (done + failed) : null;
};

// Returns the seconds until it is empty at the present pace; Infinity if it grows; null if nothing is
// ready, or nothing moves.
function emptyIn({ ready, pace }) {
    if (!ready || !pace || (!pace.in && !pace.done)) return null;
    return pace.done > pace.in ? ready / (pace.done - pace.in) : Infinity;
}

// Returns how many more are ready than at the beginning of the trail; null if they are always as many.
const growth = ({ ready, trail }) => (trail.length > 1 ? ready - trail[0][1] : null);

// name: heading, the value that sorts, the words. The words of a number are by `put`.
const COLUMNS = [
    [t`Queue`, (queue) => queue.queue],
    [t`Ready`, (queue) => queue.ready, number],
    [t`Oldest`, (queue) => waited(queue, live.snap), age],
    [t`In a second`, (queue) => queue.pace?.in ?? null, rate],
    [t`Done a second`, (queue) => queue.pace?.done ?? null, rate],
    [t`Failing`, failing, (part) => `${Math.round(100 * part)} %`],
    [t`Empty in`, emptyIn, (seconds) => (seconds === Infinity ? t`grows` : age(seconds))],
    [t`Trend`, growth], // a picture
    [t`Reserved`, (queue) => queue.reserved, number],
    [t`Delayed`, (queue) => queue.delayed, number],
    [t`Dead`, (queue) => queue.dead, number],
    [t`Hosts`, (queue) => queue.served, number],
];
const ALWAYS = [t`Ready`, t`Oldest`, t`Done a second`, t`Dead`]; // on a phone, too, if they are 0

const LATE = { [t`Oldest`]: (seconds) => seconds > 60, [t`Failing`]: (part) => part > 0.05, [t`Empty in`]: (seconds) => seconds === Infinity };

const OLDEST = COLUMNS.findIndex(([heading]) => heading === t`Oldest`), DRAWN = COLUMNS.findIndex(([, , put], i) => i && !put);

// How many were ready in the last minutes, as steps: a queue of which nothing is heard stays as it is.
function sparkline() {
    const line = svg('path'), picture = svg('svg', { viewBox: '0 0 100 20', preserveAspectRatio: 'none', role: 'img', class: 'spark' }, line);
    return { picture, draw({ ready, trail }, at) {
        const most = Math.max(...trail.map(([, n]) => n), 1), begin = Math.max(trail[0][0], at - TRAIL);
        const x = (time) => Math.max(0, 100 * (1 - (at - time) / TRAIL)).toFixed(1), y = (n) => (19 - 18 * n / most).toFixed(1);
        setAttribute(line, 'd', `${trail.map(([time, n], i) => `${i ? 'H' : 'M'}${x(time)}${i ? 'V' : ' '}${y(n)}`).join('')}H100`);
        setAttribute(picture, 'aria-label', t`${number(ready)} ready, ${number(trail[0][1])} ${age((at - begin) / 1000)} ago, at most ${
            number(most)}`);
    } };
}

// The types that are paused, in short: two of them; and all, with all that is known.
const heldShort = (all) => ` ❚❚ ${all.slice(0, 2).map(({ type }) => type).join(', ')}${all.length > 2 ? t` and ${all.length - 2} more` : ''}`;
const heldWords = (all) => all.map(({ type, since, until, by, reason }) => [type, since && t`since ${moment(since)}`, until && t`until ${moment(until)}`,
    by && t`by ${by}`, reason].filter(Boolean).join(', ')).join('\n');

function row(name) {
    const mark = h('span', { class: 'mark' }), state = h('span');
    const cells = COLUMNS.slice(1).map(([heading]) =>
        h('td', { class: 'n', 'data-head': heading }));
    let paused = false, spark = null, drawn = 0, shown = null, ill = null;
    const pause = button(t`Pause`, async () => {
        if (paused) await perform('resume', { queue: name }, t`${name} is resumed`);
        else await perform('pause', { queue: name }, t`${name} is paused: no more jobs begin`);
    }, { class: 'quiet small' });
    const element = h('tr', { 'data-row': path('queue', { name }) },
        h('th', { scope: 'row' }, link('queue', { name }, name), mark, state), cells,
        h('td', { class: 'do' }, pause));

    function put(i, value, [heading, , words] = COLUMNS[i]) {
        const cell = cells[i - 1];
        if (words) setText(cell, value === null || value === undefined ? '–' : words(value));
        setAttribute(cell, 'class', `n${value ? '' : ALWAYS.includes(heading) ? ' zero' : ' zero none'}${
            value !== null && LATE[heading]?.(value) ? ' late' : ''}`);
    }

    function trend(queue, at) {
        drawn = at;
        if (queue.trail.length < 2) return;
        spark ??= sparkline();
        if (!spark.picture.parentNode) cells[DRAWN - 1].replaceChildren(spark.picture);
        cells[DRAWN - 1].classList.remove('none');
        spark.draw(queue, at);
    }

    // What waits gets older, and its trend moves, also if nothing else has changed.
    function update(queue, troubles) {
        const { at } = live.snap, same = queue === shown && troubles === ill;
        if (same) put(OLDEST, COLUMNS[OLDEST][1](queue));
        if (!same || at - drawn > TRAIL / 100) trend(queue, at);
        if (same) return;
        shown = queue;
        ill = troubles;
        COLUMNS.forEach(([, of], i) => i && put(i, of(queue)));
        const [worst] = troubles;
        setText(mark, worst ? ` ${MARKS[worst.severity] ?? '!'}` : '');
        setAttribute(mark, 'title', worst ? troubles.map((one) => said(one.text)).join('\n') : null);
        setAttribute(mark, 'class', worst ? `mark ${worst.severity}` : 'mark');
        ({ paused } = queue);
        setText(state, paused ? t` ❚❚ paused` : queue.partly_paused ? t` ❚❚ partly`
            : queue.paused_types ? heldShort(queue.paused_types)
            : queue.served === 0 && queue.ready ? t` not served` : '');
        setAttribute(state, 'class', paused || queue.partly_paused || queue.paused_types ? 'paused' : 'late');
        setAttribute(state, 'title', queue.paused_types ? heldWords(queue.paused_types) : null);
        if (pause) {
            setText(pause, paused ? t`Resume` : t`Pause`);
            setAttribute(pause, 'aria-label', paused ? t`Resume ${name}` : t`Pause ${name}`);
        }
    }
    return { element, update };
}

const isQuiet = (queue) => !queue.ready && !queue.reserved && !queue.paused && !queue.partly_paused && !queue.paused_types
    && !queue.pace?.in && !queue.pace?.done && !queue.pace?.failed;

// What was chosen stays while other pages are looked at.
const chosen = { by: -1, down: true, filter: '', quiet: false };

// Sorts by the chosen column. What is not known comes last; those that are alike stay by name.
function sorted(queues) {
    const [, of] = COLUMNS[chosen.by], turn = chosen.down ? -1 : 1;
    return queues.map((queue) => [of(queue) ?? null, queue]).sort(([x], [y]) =>
        (x === y ? 0 : x === null ? 1 : y === null ? -1 : x < y ? -turn : turn)).map(([, queue]) => queue);
}

const NONE = [];

// Returns which queues are in trouble: their names, with their place among all troubles and a list of theirs.
function illOf(troubles) {
    const ill = new Map();
    (troubles?.list ?? []).forEach((one, at) => {
        if (!one.queue) return;
        if (!ill.has(one.queue)) ill.set(one.queue, { at, all: [] });
        ill.get(one.queue).all.push(one);
    });
    return ill;
}

export function queueTable() {
    const rows = new Map(), body = h('tbody');
    let told = null, ill = illOf(told), most = FIRST;
    const heads = COLUMNS.map(([heading], i) => h('th', { class: i ? 'n' : '', scope: 'col' },
        h('button', { type: 'button', class: 'sort', onclick: () => sort(i) }, heading)));
    const filter = h('input', { id: 'filter', type: 'search', value: chosen.filter, autocomplete: 'off',
                                spellcheck: 'false', placeholder: t`Filter by name`,
                                oninput: () => { chosen.filter = filter.value; update(); } });
    const quiet = h('button', { type: 'button', class: 'quiet small', onclick: () => {
        chosen.quiet = !chosen.quiet;
        update();
    } });
    const more = h('button', { type: 'button', class: 'quiet', hidden: true, onclick: () => {
        most += MORE;
        update();
    } });
    const table = h('div', { class: 'scroll queues cards', tabindex: '0', role: 'region', 'aria-label': t`Queues` },
        h('table', {}, h('thead', {}, h('tr', {}, heads, h('th', { class: 'do', scope: 'col' }, t`Action`))), body));
    const none = h('p', { class: 'empty', role: 'status' });
    const element = h('div', {}, h('div', { class: 'above' }, h('h2', {}, t`Queues`), quiet,
        h('label', { class: 'hidden', for: 'filter' }, t`Filter queues by name`), filter), table, none,
        h('p', { class: 'pages' }, more));
    new IntersectionObserver(([one]) => one.isIntersecting && more.click(), { rootMargin: '200px' }).observe(more);

    function sort(i) {
        const first = i > 0; // numbers begin with the largest
        if (chosen.by !== i) Object.assign(chosen, { by: i, down: first });
        else if (chosen.down === first) chosen.down = !first;
        else chosen.by = -1;
        update();
    }

    function choose(queues) {
        const words = chosen.filter.trim().toLowerCase();
        const found = words ? queues.filter((queue) => queue.queue.toLowerCase().includes(words)) : queues;
        const bad = found.filter((queue) => ill.has(queue.queue)).sort((a, b) => ill.get(a.queue).at - ill.get(b.queue).at);
        const rests = (queue) => !ill.has(queue.queue) && isQuiet(queue);
        const folded = found.filter(rests), busy = found.filter((queue) => !ill.has(queue.queue) && !isQuiet(queue));
        const some = bad.length + busy.length > 0, fold = folded.length > 0 && some && !chosen.quiet && !words;
        const shown = chosen.by < 0 ? [...bad, ...busy, ...(fold ? [] : folded)]
            : sorted(fold ? found.filter((queue) => !rests(queue)) : found);
        quiet.hidden = !folded.length || !some || Boolean(words);
        setText(quiet, chosen.quiet ? t`Fold quiet queues` : many(folded.length, 'Show {} quiet queue|Show {} quiet queues'));
        setText(none, found.length || !queues.length ? '' : t`No queue has such a name.`);
        return shown;
    }

    function update() {
        const { queues, troubles } = live.snap;
        if (troubles !== told) ill = illOf(told = troubles);
        const all = choose(queues), shown = all.slice(0, most), rest = all.length - shown.length;
        heads.forEach((head, i) => setAttribute(head, 'aria-sort', chosen.by !== i ? null : chosen.down ? 'descending' : 'ascending'));
        more.hidden = !rest;
        setText(more, t`${number(rest)} more: show ${number(Math.min(MORE, rest))}`);
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
            one.update(queue, ill.get(queue.queue)?.all ?? NONE);
            if (body.children[i] !== one.element) body.insertBefore(one.element, body.children[i] || null);
        });
        element.hidden = !queues.length;
    }
    return { element, update };
}
