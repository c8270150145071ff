// flows.js: jobs that wait for jobs: the list of flows, and one flow, level by level.
import { button, confirm, perform } from './action.js';
import { get } from './api.js';
import { age, badge, command, empty, h, link, number, setChildren, table } from './dom.js';
import { edges } from './edges.js';
import { errorLine } from './jobs.js';

const SHOWN = 40; // jobs of a level; the others are counted
const AGAIN = 5000;
const ORDER = ['blocked', 'running', 'open', 'ended', 'done'];

// Calls load() now and every few seconds while the page is seen. Returns what ends that.
function repeat(load) {
    const stop = new AbortController();
    let busy = false;
    const go = async () => {
        if (busy || document.hidden) return;
        busy = true;
        await load(stop.signal);
        busy = false;
    };
    go();
    const timer = setInterval(go, AGAIN);
    return { again: go, end: () => {
        clearInterval(timer);
        stop.abort();
    } };
}

const endedPart = (flow) => (flow.total ? (flow.done + flow.gone + (flow.skipped ?? 0)) / flow.total : 0);
const bar = (flow) => h('progress', { max: 1, value: endedPart(flow), 'aria-label': `${flow.flow}: ${Math.floor(100 * endedPart(flow))} % have ended` });
const stateOf = (flow) => h('span', { class: flow.state === 'blocked' ? 'late' : flow.state === 'done' ? 'good' : '' },
                            `${flow.state === 'blocked' ? '✕ ' : flow.state === 'done' ? '✓ ' : ''}${flow.state}`);
const to = ({ flow, queue }) => link('flow', { name: flow, queue }, flow);

export function flows(main) {
    const list = table('Flows', [['Flow', ''], ['Queue', ''], ['State', ''], ['Ended', ''], ['Jobs', 'n'], ['Open', 'n'], ['Waiting', 'n'],
                                 ['Dead', 'n'], ['Gone', 'n'], ['Age', 'n']]);
    const note = h('div', { role: 'status' }), typed = h('div');
    main.append(h('h1', {}, 'Flows'), list.element, note, typed);

    function row(flow) {
        const cell = (n) => h('td', { class: n ? 'n' : 'n zero none' }, number(n));
        return h('tr', {}, h('th', { scope: 'row' }, to(flow)), h('td', {}, link('queue', { name: flow.queue }, flow.queue)),
            h('td', {}, stateOf(flow)), h('td', {}, bar(flow)), cell(flow.total), cell(flow.open),
            cell(flow.waiting), cell(flow.dead), cell(flow.gone),
            h('td', { class: 'n' }, age(Date.now() / 1000 - flow.made)));
    }

    return repeat(async (signal) => {
        try {
            const { answers, command: line } = await get('flows', null, signal);
            answers.sort((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state) || b.made - a.made);
            list.set(answers.map(row));
            list.element.hidden = !answers.length;
            note.replaceChildren(...(answers.length ? [] : [empty('There is none. ', h('code', {}, 'later push --flow NAME --file FILE'), ' makes one.')]));
            setChildren(typed, command(line));
        } catch (error) {
            if (error.name !== 'AbortError') note.replaceChildren(empty(error.message));
        }
    }).end;
}

function node(job) {
    const after = job.after ? `${job.when && job.when !== 'done' ? `when ${job.when}: ` : 'after '}${job.after}` : '';
    return h('li', { class: job.state }, link('job', { id: job.id, queue: job.queue }, job.step || job.id), ' ', badge(job.state),
             after && h('small', { title: after }, after));
}

// The jobs of one level: those that are dead or open first, then those that wait. spots: gets job → its element.
function level(jobs, n, spots) {
    const rank = ({ state }) => (state === 'dead' ? 0 : state === 'waiting' ? 2 : state === 'done' ? 3 : 1);
    const sorted = [...jobs].sort((a, b) => rank(a) - rank(b)), rest = sorted.slice(SHOWN), states = new Map();
    for (const { state } of rest) states.set(state, (states.get(state) ?? 0) + 1);
    return h('li', {}, h('h2', {}, `Level ${n}`), h('ul', {}, sorted.slice(0, SHOWN).map((job) => {
        spots.set(job, node(job));
        return spots.get(job);
    }),
        rest.length ? h('li', {}, `and ${[...states].map(([state, count]) => `${number(count)} ${state}`).join(', ')}`) : ''));
}

export function flow(main, parameters) {
    const name = parameters.get('name') || '', queue = parameters.get('queue');
    const facts = h('p', { class: 'lead' }), blocks = h('div', { role: 'status' }), levels = h('ol', { class: 'levels' });
    const typed = h('div'), buttons = h('p', { class: 'buttons' }), note = h('div', { role: 'status' });
    main.append(h('h1', {}, h('small', {}, 'Flow'), ' ', name), facts, blocks, buttons, note, h('div', { class: 'flow' }, levels), typed);
    const draw = edges(levels);
    let shown = '';

    const act = async (where, question, count, verb, done) => {
        if (!await confirm(question, count, verb)) return;
        if (await perform(where, { queue, flow: name }, done)) repeated.again();
    };

    async function tellBlocks(dead, signal) {
        const first = dead.slice(0, 3);
        const reasons = await Promise.all(first.map((job) => get('job', { id: job.id, queue: job.queue }, signal)
            .then(({ answers }) => answers[0]?.error, () => null)));
        setChildren(blocks, ...first.map((job, i) => h('p', {}, h('span', { class: 'late' }, '✕ '), link('job', { id: job.id, queue: job.queue }, job.step || job.id),
            ' is dead', reasons[i] ? [': ', h('span', { class: 'error' }, errorLine(reasons[i]))] : '')),
            dead.length > 3 ? h('p', {}, `and ${number(dead.length - 3)} more are dead`) : '');
    }

    const repeated = repeat(async (signal) => {
        try {
            const [one, all] = await Promise.all([get('flow', { flow: name, queue }, signal), get('flows', { queue }, signal)]);
            const sum = all.answers.find((each) => each.flow === name), now = JSON.stringify([sum, one.answers]);
            note.replaceChildren();
            if (now === shown) return; // what is being read stays
            shown = now;
            const spots = new Map(), byLevel = Map.groupBy ? Map.groupBy(one.answers, (job) => job.level) : one.answers.reduce((map, job) =>
                map.set(job.level, [...map.get(job.level) ?? [], job]), new Map());
            setChildren(levels, ...[...byLevel].sort(([a], [b]) => a - b).map(([n, jobs]) => level(jobs, n, spots)));
            draw(one.answers, spots);
            const dead = one.answers.filter((job) => job.state === 'dead');
            await tellBlocks(dead, signal);
            facts.replaceChildren(...(sum ? [stateOf(sum), ` · ${number(sum.done)} of ${number(sum.total)} done, ${number(sum.open)} open, ${
                number(sum.waiting)} waiting, ${number(sum.dead)} dead, ${number(sum.gone)} gone `, bar(sum)] : []));
            const left = one.answers.filter((job) => !/^(done|gone|skipped)$/.test(job.state)).length;
            setChildren(buttons, ...[dead.length ? button('Kick its dead', () => act('flow-kick', `Kick ${number(dead.length)} dead jobs of ${name}?`, dead.length, 'Kick',
                `${name} goes on`)) : '', left ? button('Cancel', () => act('flow-cancel', `Cancel the ${number(left)} jobs of ${name} that have not ended?`, left,
                'Cancel them', `${name} is cancelled`), { class: 'danger' }) : ''].filter(Boolean));
            setChildren(typed, command(one.command));
        } catch (error) {
            if (error.name !== 'AbortError') note.replaceChildren(empty(error.message));
        }
    });
    return repeated.end;
}
