// history.js: throughput, failures, waits and runs over hours, days and months, by queue and type, or of one type.
import { busiest, get, repeat } from './api.js';
import { chart } from './chart.js';
import { compare, others } from './compare.js';
import { command, duration, empty, failsIn, h, link, path, setChildren, svg, table } from './dom.js';
import { live } from './live.js';
import { draw, list } from './marks.js';
import { decimal, number, rate, t } from './words.js';

// The last one is twice as long, if that is kept: to compare with what was before.
const RANGES = [['1h', 'minute', t`hour`, 3600, '2h'], ['8h', 'minute', t`8 hours`, 28800, '16h'],
                ['24h', 'ten', t`day`, 86400, '48h'], ['7d', 'ten', t`week`, 604800, '14d'],
                ['90d', 'hour', t`90 days`, 7776000]];
const LENGTH = { minute: 60, ten: 600, hour: 3600 };

// Returns a point for each period. A period without attempts is a zero, not a gap that a line
// crosses.
function points(rows, by, seconds) {
    const length = LENGTH[by], found = new Map();
    for (const row of rows) {
        const point = found.get(row.from) || { attempts: 0, failed: 0, seconds: row.seconds };
        point.attempts += row.attempts;
        point.failed += row.failed;
        point.wait = row.wait;
        point.run = row.run;
        found.set(row.from, point);
    }
    const now = Date.now() / 1000, all = [];
    for (let from = Math.floor((now - seconds) / length) * length; from <= now; from += length) {
        const point = found.get(from) || { attempts: 0, failed: 0, seconds: length };
        const before = found.get(from - seconds);
        all.push({ at: from * 1000, before: before ? before.attempts / Math.max(1, before.seconds) : 0, rate: point.attempts / Math.max(1, point.seconds),
                   failed: point.failed / Math.max(1, point.seconds),
                   wait: point.wait || {}, run: point.run || {} });
    }
    return all;
}

const upTo = (n) => duration(2 ** n); // of an octave

const octavesOf = ({ run }) => run.octaves ?? [];

// Draws how many runs took how long: a bar for each octave from the least to the most of all types.
function bars(octaves, from, to) {
    if (!octaves.length) return h('td');
    const most = Math.max(...octaves.map(([, count]) => count)), wide = 120 / (to - from + 1);
    const words = octaves.map(([n, count]) => t`${number(count)} up to ${upTo(n)}`).join(', ');
    return h('td', { title: words }, svg('svg', { class: 'curve bars', viewBox: '0 0 120 24', role: 'img', 'aria-label': words },
        svg('path', { d: octaves.map(([n, count]) => `M${((n - from + .5) * wide).toFixed(1)} 24V${(23 - 22 * count / most).toFixed(1)}`).join(''), 'stroke-width': wide * .8 })));
}

// Returns since when there have been attempts: in each queue and, under '', in any.
function begins(rows) {
    const found = new Map();
    for (const row of rows.filter(({ attempts }) => attempts))
        for (const name of [row.queue, ''])
            found.set(name, Math.min(row.from, found.get(name) ?? Infinity));
    return found;
}

export function history(main, parameters) {
    const [since, by, words, seconds, twice] = RANGES.find(([name]) => name === parameters.get('since')) || RANGES[0];
    const queue = parameters.get('queue') || '', type = parameters.get('type'), most = busiest(seconds);
    const names = [...new Set([...(live.snap?.queues || []).map((one) => one.queue), queue])].filter(Boolean);
    const choose = h('select', {
        id: 'history-queue', onchange: () => {
            location.hash = path('history', { since, type, queue: choose.value });
        },
    }, h('option', { value: '' }, t`all queues`), names.map((name) => h('option', { value: name }, name)));
    choose.value = queue;
    const tabs = h('nav', { class: 'tabs', 'aria-label': t`Time` }, RANGES.map(([name, , label]) => {
        const tab = link('history', { since: name, type, queue }, label);
        if (name === since) tab.setAttribute('aria-current', 'page');
        return tab;
    }));
    const part = (of, name) => ({ name, kind: { p50: 'ready', p95: 'reserved', p99: 'dead' }[name],
                                  of: (point) => point[of][name] ?? 0 });
    const span = seconds * 1000;
    const pace = chart(t`Attempts a second, the last ${words}`, [
        { name: t`all`, kind: 'ready', of: (point) => point.rate },
        { name: t`failed`, kind: 'dead', of: (point) => point.failed },
        ...(twice ? [{ name: t`the ${words} before`, kind: 'before', of: (point) => point.before }] : [])], span);
    const times = queue ? [['wait', t`Wait until an attempt began`], ['run', t`Run of an attempt`]].map(([of, label]) =>
        chart(t`${label}, the last ${words}`, ['p50', 'p95', 'p99'].map((name) => part(of, name)), span, duration)) : [];
    const types = table(t`Types`, [...(queue ? [] : [[t`Queue`, '']]), [t`Type`, ''], [t`Attempts`, 'n'], [t`A second since the first`, 'n'],
                                  [t`Failed`, 'n'], [t`Failing`, 'n'], ...[t`Wait`, t`Run`].flatMap((of) =>
                                      [[`${of} p50`, 'n'], ['p95', 'n', `${of} p95`], ['p99', 'n', `${of} p99`]]), [t`Runs`, '']]);
    const change = h('div'), against = h('select', { id: 'history-against', onchange: () => {
        location.hash = path('history', { since, type, queue, against: against.value });
    } });
    const happened = h('div'), typed = h('div'), note = h('div', { role: 'status' }), scale = h('p', { class: 'facts' });

    main.append(h('h1', {}, t`History`), tabs,
        h('p', { class: 'pick-queue' }, h('label', { for: 'history-queue' }, t`Of`), choose,
          type && h('span', {}, ' ', h('code', {}, type), ' ', link('history', { since, queue }, t`all types`)),
          !queue && names.length > most && h('span', {}, t`, of which the ${number(most)} with the most attempts`)),
        h('section', { class: 'charts', 'aria-label': t`Curves` }, pace.element, times.map((one) => one.element)),
        happened, h('h2', {}, t`By type`), types.element, scale, note, typed,
        h('h2', {}, t`What has changed`), h('p', { class: 'pick-queue' }, h('label', { for: 'history-against' }, t`Against`), against), change);

    async function showChange(marks, signal) {
        const possible = others(seconds, words, marks), chosen = possible[parameters.get('against')] ? parameters.get('against') : Object.keys(possible)[0];
        against.replaceChildren(...Object.entries(possible).map(([name, { label }]) => h('option', { value: name }, label)));
        against.value = chosen ?? '';
        if (chosen) await compare(change, possible[chosen], queue, signal);
        else change.replaceChildren(empty(t`Nothing is kept from before.`));
    }

    return repeat(30000, async (signal) => {
        const [periods, kinds, noted] = await Promise.all([
            get('history', { since: twice ?? since, by, type, queue, most }, signal), get('types', { since, type, queue, most }, signal),
            get('marks', { since, queue }, signal)]);
        const all = points(periods.answers, by, seconds);
        pace.update(all);
        times.forEach((one) => one.update(all));
        [pace, ...times].forEach(({ box }) => draw(box, noted.answers, seconds * 1000, all.at(-1).at));
        happened.replaceChildren(...(noted.answers.length ? [list(noted.answers)] : []));
        const began = begins(periods.answers), now = Date.now() / 1000;
        const known = kinds.answers.flatMap((row) => octavesOf(row).map(([n]) => n)), from = Math.min(...known), to = Math.max(...known);
        const span = (row) => Math.min(row.seconds, Math.max(1, now - (began.get(row.queue) ?? 0)));
        kinds.answers.sort((a, b) => b.attempts - a.attempts);
        types.set(kinds.answers.map((row) => h('tr', {},
            queue ? null : h('td', { class: 'name' }, link('history', { since, queue: row.queue }, row.queue)),
            h('th', { scope: 'row', class: 'name' }, !row.type ? t`others` : type ? row.type : link('history', { since, type: row.type, queue: row.queue }, row.type)), h('td', { class: 'n' }, number(row.attempts)),
            h('td', { class: 'n' }, rate(row.attempts / span(row))),
            h('td', { class: row.failed ? 'n late' : 'n zero' }, number(row.failed)),
            h('td', { class: row.failed ? 'n late' : 'n zero' }, row.attempts ? `${decimal(100 * row.failed / row.attempts)} %` : '–'),
            ...['wait', 'run'].flatMap((of) => ['p50', 'p95', 'p99'].map((name) =>
                h('td', { class: 'n' }, duration(row[of][name])))), bars(octavesOf(row), from, to))));
        scale.textContent = known.length ? t`Runs: a bar for each doubling, from ${upTo(from - 1)} to ${upTo(to)}.` : '';
        note.replaceChildren(...(kinds.answers.length ? [] : [empty(t`No attempts in the last ${words}.`)]));
        types.element.hidden = !kinds.answers.length;
        await showChange(noted.answers, signal);
        setChildren(typed, command(periods.command), command(kinds.command), command(noted.command));
    }, failsIn(note)).end;
}
