// reasons.js: why jobs died. What differs from job to job is folded: numbers, addresses, what is quoted.
// Each reason that the latest ones have is then counted among all dead jobs, one walk after the other. If
// others remain, older ones are looked at, too.
import { button, performAll } from './action.js';
import { get, getLong, mean } from './api.js';
import { h, moment, path, setText, table } from './dom.js';
import { errorLine } from './jobs.js';
import { number, said, t } from './words.js';

const SHOWN = 20, COUNTED = 12;
const AGAIN = 30000;   // ms between two counts
const PLACES = 8, QUEUES = 5, TAKEN = 50; // of older ones: places in a queue, queues, jobs at a place
const ERROR_MAX = 200; // of the 256 bytes that a regular expression may have

// Each kind of what differs, and how it is found again.
const VARYING = [[/https?:\/\/[^\s"']+/, "https?://[^ ']+"], [/[\w.+-]+@[\w.-]+\w/, '[A-Za-z0-9_.+-]+@[A-Za-z0-9_.-]+'], [/"[^"]*"/, '.+'],
                 [/'[^']*'/, "'[^']*'"], [/\b0x[0-9a-f]+\b|\b(?=[a-z-]*\d)[0-9a-f-]{8,}\b/, '[0-9A-Fa-fx-]+'], [/\d+(?:\.\d+)*/, '[0-9.]+']];
const ANY = new RegExp(VARYING.map(([one]) => `(${one.source})`).join('|'), 'gi');

// Returns {key, pattern} of a text: the same key for those that differ in nothing but what is folded.
export function fold(text) {
    const [line, ...more] = text.trimEnd().split('\n');
    const parts = [];
    let at = 0, cut = more.length > 0;
    // A quote would end the condition; what is not printable may not be in it.
    const literal = (words) => words.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/["\x00-\x1f\x7f-\uffff]+/g, '.+');
    for (const found of line.matchAll(ANY)) {
        parts.push(literal(line.slice(at, found.index)), VARYING[found.slice(1).findIndex((one) => one !== undefined)][1]);
        at = found.index + found[0].length;
    }
    parts.push(literal(line.slice(at)));
    let pattern = '^';
    for (const part of parts) {
        if (pattern.length + part.length > ERROR_MAX) {
            cut = true;
            break;
        }
        pattern += part;
    }
    return { key: line.replace(ANY, '…'), pattern: pattern === '^' ? '' : `${pattern}${cut ? '' : '$'}` };
}

function groupsOf(jobs) {
    const groups = new Map();
    for (const job of jobs) {
        const { kind = '', text = '' } = typeof job.error === 'string' ? { text: job.error } : job.error ?? {};
        const { key, pattern } = fold(text), name = `${kind}: ${key}`;
        const group = groups.get(name) || { name, kind, pattern, count: 0, types: new Set(), shown: job.error ? errorLine(job.error) : t`no reason is known` };
        group.count++;
        group.types.add(job.type ?? t`none`);
        groups.set(name, group);
    }
    return [...groups.values()].sort((a, b) => b.count - a.count);
}

const asked = ({ kind, pattern }) => ({ state: 'dead', error: pattern, kind: /^[a-z]+$/i.test(kind) ? kind : '' });
const question = (group) => Object.entries(asked(group)).filter(([, value]) => value)
    .map(([name, value]) => (/^[\w]+$/.test(value) ? `${name}:${value}` : `${name}:"${value}"`)).join(' ');

// again() is called after something was done to some of them.
export function reasonTable(again) {
    const list = table(t`Reasons`, [[t`Jobs`, 'n'], [t`Why`, 'words'], [t`Types`, ''], [t`Action`, 'do']]);
    const words = h('p', { class: 'facts', role: 'status' }), acting = h('div');
    let stop = new AbortController(), counted = 0, timer = 0;

    async function count(group) {
        let sum = 0;
        const end = await getLong('count', asked(group), (name, line) => { sum += line.count ?? 0; }, stop.signal);
        return end.status ? null : sum;
    }

    async function kick(group) {
        await performAll('kick-matching', asked(group), 'kicked', acting);
        again();
    }

    function row(group) {
        const q = question(group);
        const can = group.pattern || asked(group).kind;
        const cell = h('td', { class: 'n' }, number(group.count));
        return { group, cell, element: h('tr', {}, cell, h('td', { class: 'words' }, h('span', { class: 'error' }, group.shown)),
            h('td', {}, [...group.types].join(', ')),
            h('td', { class: 'do' }, can && h('a', { href: path('search', { q }), onclick: () => mean(q),
                                                     'aria-label': t`See all: ${group.shown}` }, t`See all`), ' ',
              can && button(t`Kick all`, () => kick(group), { class: 'quiet small', 'aria-label': t`Kick all: ${group.shown}` }))) };
    }

    // Returns how many jobs have died for one of them.
    async function countRows(rows) {
        let known = 0;
        for (const { group, cell } of rows) {
            if (!group.pattern && !asked(group).kind) continue;
            group.all = await count(group);
            if (group.all === null) continue;
            known += group.all;
            setText(cell, number(group.all));
            cell.classList.remove('part');
        }
        return known;
    }

    // Returns jobs from all over the queues with the most dead ones.
    async function older(queues) {
        const jobs = [];
        for (const { queue, dead } of [...queues].sort((a, b) => b.dead - a.dead).slice(0, QUEUES)) {
            for (let i = 0; i < PLACES && dead > TAKEN; i++) {
                const offset = Math.floor(i * (dead - TAKEN) / PLACES);
                jobs.push(...(await get('jobs', { queue, state: 'dead', number: TAKEN, offset }, stop.signal)).answers);
            }
        }
        return jobs;
    }

    function rowsOf(groups) {
        const rows = groups.slice(0, SHOWN).map(row);
        for (const { cell } of rows) {
            setText(cell, `≥ ${cell.textContent}`);
            cell.classList.add('part');
        }
        return rows;
    }

    async function countAll(rows, all, queues) {
        let known = await countRows(rows.slice(0, COUNTED));
        if (known < all) {
            const others = rowsOf(groupsOf(await older(queues)).filter(({ name }) => !rows.some(({ group }) => group.name === name)));
            rows.push(...others);
            list.set(rows.map((one) => one.element));
            known += await countRows(others.slice(0, COUNTED));
        }
        rows.sort((a, b) => (b.group.all ?? b.group.count) - (a.group.all ?? a.group.count));
        list.set(rows.map((one) => one.element));
        setText(words, known < all ? t`${number(all - known)} of ${number(all)} died for other reasons, or as here with more to it.`
            : t`All ${number(all)} are counted.`);
        words.append(t` As of ${moment(counted / 1000)}.`);
    }

    function show(jobs, queues) {
        const all = queues.reduce((sum, queue) => sum + queue.dead, 0), groups = groupsOf(jobs), whole = jobs.length >= all;
        const rows = whole ? groups.slice(0, SHOWN).map(row) : rowsOf(groups);
        stop.abort();
        stop = new AbortController();
        counted = Date.now();
        list.set(rows.map((one) => one.element));
        setText(words, whole ? '' : t`The latest ${number(jobs.length)} of ${number(all)}; all are being counted …`);
        if (whole) return;
        countAll(rows, all, queues).catch((error) => {
            if (error.name !== 'AbortError') setText(words, said(error.message));
        });
    }

    return {
        element: h('div', {}, list.element, words, acting),
        // jobs: the latest ones of these queues. Unless it is `again`, what takes walks through all that are
        // dead waits until the last count is old.
        show(jobs, queues, again) {
            const few = queues.every((queue) => queue.dead <= TAKEN);
            clearTimeout(timer);
            timer = setTimeout(show, again || few ? 0 : Math.max(0, counted + AGAIN - Date.now()), jobs, queues);
        },
        end() {
            clearTimeout(timer);
            stop.abort();
        },
    };
}
