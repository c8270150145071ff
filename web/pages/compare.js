// compare.js: what has changed against another time: by type the rate, what fails, and p95.
import { busiest, get } from './api.js';
import { command, duration, empty, h, setChildren, table } from './dom.js';
import { decimal, number, rate, said, t } from './words.js';

const DAY = 86400, WEEK = 604800, KEPT = 90 * DAY;
const DEPLOYS = ['deploy', 'start', 'reload'];

// With what a range of `seconds` up to now can be compared: words, its length, and how long before it
// the other one is.
export function others(seconds, words, marks) {
    const last = marks.findLast(({ mark }) => DEPLOYS.includes(mark));
    const since = last && Math.max(60, Math.round(Date.now() / 1000 - last.to));
    return Object.fromEntries([
        ['before', t`the ${words} before`, seconds, seconds], ['day', t`yesterday`, seconds, DAY], ['week', t`last week`, seconds, WEEK],
        ...(last ? [['deploy', t`since the last ${said(last.mark)} with as long before it`, since, since]] : []),
    ].filter(([, , length, back]) => length <= back && length + back <= KEPT)
        .map(([name, label, length, back]) => [name, { label, length, back }]));
}

const ratio = (now, was) => (was > 0 ? `${now >= was ? '+' : '−'}${number(Math.abs((now / was - 1) * 100))} %` : now > 0 ? t`new` : '–');
const points = (now, was) => `${now >= was ? '+' : '−'}${decimal(Math.abs(now - was))}`;
const percent = (part) => `${decimal(part)} %`;

// What is compared: its name, its value in a row, how the value and the change are said, and from
// which change on it is bad.
const MEASURES = [
    [t`A second`, (row) => row.attempts / Math.max(1, row.seconds), rate, ratio, () => false],
    [t`Failing`, (row) => (row.attempts ? 100 * row.failed / row.attempts : 0), percent, points, (now, was) => now > was + 1],
    ...[['wait', t`Wait p95`], ['run', t`Run p95`]].map(([of, heading]) => [heading, (row) => row[of].p95, duration,
        (now, was) => (now === undefined || was === undefined ? '–' : ratio(now, was)), (now, was) => now > 0.01 && now > was * 1.25]),
];
const NONE = { attempts: 0, failed: 0, seconds: 1, wait: {}, run: {} };

function cells(row, before) {
    return MEASURES.flatMap(([, value, say, change, bad]) => {
        const now = value(row), was = value(before);
        return [h('td', { class: 'n' }, say(now)),
                h('td', { class: bad(now, was) ? 'n late' : 'n' }, change(now, was), h('small', { class: 'more' }, t`was ${say(was)}`))];
    });
}

// Fills `place` with the table. Types that are only in one of the two times are shown, too.
export async function compare(place, { length, back }, queue, signal) {
    const ask = (since, until) => get('types', { since: `${since}s`, until: `${until}s`, queue, most: busiest(length) }, signal);
    const [now, was] = await Promise.all([ask(length, 0), ask(length + back, back)]);
    const key = (row) => `${row.queue} ${row.type}`, before = new Map(was.answers.map((row) => [key(row), row]));
    const rows = now.answers.map((row) => [row, before.get(key(row)) || NONE]);
    const here = new Set(now.answers.map(key));
    rows.push(...was.answers.filter((row) => !here.has(key(row))).map((row) => [{ ...NONE, queue: row.queue, type: row.type }, row]));
    rows.sort(([a, b], [c, d]) => c.attempts + d.attempts - a.attempts - b.attempts);
    const shown = table(t`Change`, [...(queue ? [] : [[t`Queue`, '']]), [t`Type`, ''],
                                   ...MEASURES.flatMap(([name]) => [[name, 'n'], [t`change`, 'n']])]);
    shown.set(rows.map(([row, other]) => h('tr', {}, queue ? null : h('td', { class: 'name' }, row.queue),
        h('th', { scope: 'row', class: 'name' }, row.type || t`others`), cells(row, other))));
    setChildren(place, rows.length ? shown.element : empty(t`No attempts in either time.`), command(now.command), command(was.command));
}
