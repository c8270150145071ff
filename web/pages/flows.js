// flows.js: jobs that wait for jobs: the list of flows, and one flow, level by level.
import { button, confirm, perform } from './action.js';
import { get, repeat } from './api.js';
import { age, badge, command, empty, failsIn, h, link, setChildren, table } from './dom.js';
import { edges } from './edges.js';
import { errorLine } from './jobs.js';
import { many, number, said, t } from './words.js';

const SHOWN = 40; // jobs of a level; the others are counted
const AGAIN = 5000;
const ORDER = ['blocked', 'running', 'open', 'ended', 'done'];

const endedPart = (flow) => (flow.total ? (flow.done + flow.gone + (flow.skipped ?? 0)) / flow.total : 0);
const bar = (flow) => h('progress', { max: 1, value: endedPart(flow), 'aria-label': t`${flow.flow}: ${Math.floor(100 * endedPart(flow))} % have ended` });
const stateOf = (flow) => h('span', { class: flow.state === 'blocked' ? 'late' : flow.state === 'done' ? 'good' : '' },
                            `${flow.state === 'blocked' ? '✕ ' : flow.state === 'done' ? '✓ ' : ''}${said(flow.state)}`);
const to = ({ flow, queue }) => link('flow', { name: flow, queue }, flow);

export function flows(main) {
    const list = table(t`Flows`, [[t`Flow`, ''], [t`Queue`, ''], [t`State`, ''], [t`Ended`, ''], [t`Jobs`, 'n'], [t`Open`, 'n'], [t`Waiting`, 'n'],
                                 [t`Dead`, 'n'], [t`Gone`, 'n'], [t`Age`, 'n']]);
    const note = h('div', { role: 'status' }), typed = h('div');
    main.append(h('h1', {}, t`Flows`), list.element, note, typed);

    function row(flow) {
        const cell = (n) => h('td', { class: n ? 'n' : 'n zero none' }, number(n));
        return h('tr', {}, h('th', { scope: 'row' }, to(flow)), h('td', {}, link('queue', { name: flow.queue }, flow.queue)),
            h('td', {}, stateOf(flow)), h('td', {}, bar(flow)), cell(flow.total), cell(flow.open),
            cell(flow.waiting), cell(flow.dead), cell(flow.gone),
            h('td', { class: 'n' }, age(Date.now() / 1000 - flow.made)));
    }

    return repeat(AGAIN, async (signal) => {
        const { answers, command: line } = await get('flows', null, signal);
        answers.sort((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state) || b.made - a.made);
        list.set(answers.map(row));
        list.element.hidden = !answers.length;
        note.replaceChildren(...(answers.length ? [] : [empty(t`There is none. ${h('code', {}, 'later push --flow NAME --file FILE')} makes one.`)]));
        setChildren(typed, command(line));
    }, failsIn(note)).end;
}

function node(job) {
    const after = job.after ? (job.when && job.when !== 'done' ? t`when ${said(job.when)}: ${job.after}` : t`after ${job.after}`) : '';
    return h('li', { class: job.state }, link('job', { id: job.id, queue: job.queue }, job.step || job.id), ' ', badge(job.state),
             after && h('small', { title: after }, after));
}

// The jobs of one level: those that are dead or open first, then those that wait. spots: gets job → its element.
function level(jobs, n, spots) {
    const rank = ({ state }) => (state === 'dead' ? 0 : state === 'waiting' ? 2 : state === 'done' ? 3 : 1);
    const sorted = [...jobs].sort((a, b) => rank(a) - rank(b)), rest = sorted.slice(SHOWN), states = new Map();
    for (const { state } of rest) states.set(state, (states.get(state) ?? 0) + 1);
    return h('li', {}, h('h2', {}, t`Level ${n}`), h('ul', {}, sorted.slice(0, SHOWN).map((job) => {
        spots.set(job, node(job));
        return spots.get(job);
    }),
        rest.length ? h('li', {}, t`and ${[...states].map(([state, count]) => `${number(count)} ${said(state)}`).join(', ')}`) : ''));
}

export function flow(main, parameters) {
    const name = parameters.get('name') || '', queue = parameters.get('queue');
    const facts = h('p', { class: 'lead' }), blocks = h('div', { role: 'status' }), levels = h('ol', { class: 'levels' });
    const typed = h('div'), buttons = h('p', { class: 'buttons' }), note = h('div', { role: 'status' });
    main.append(h('h1', {}, h('small', {}, t`Flow`), ' ', name), facts, blocks, buttons, note, h('div', { class: 'flow' }, levels), typed);
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
            ' ', t`is dead`, reasons[i] ? [': ', h('span', { class: 'error' }, errorLine(reasons[i]))] : '')),
            dead.length > 3 ? h('p', {}, t`and ${number(dead.length - 3)} more are dead`) : '');
    }

    const repeated = repeat(AGAIN, async (signal) => {
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
        facts.replaceChildren(...(sum ? [stateOf(sum), t` · ${number(sum.done)} of ${number(sum.total)} done, ${number(sum.open)} open, ${
            number(sum.waiting)} waiting, ${number(sum.dead)} dead, ${number(sum.gone)} gone`, ' ', bar(sum)] : []));
        const left = one.answers.filter((job) => !/^(done|gone|skipped)$/.test(job.state)).length;
        setChildren(buttons, ...[dead.length ? button(t`Kick its dead`, () => act('flow-kick', many(dead.length, 'Kick {} dead job of {}?|Kick {} dead jobs of {}?', name), dead.length, t`Kick`,
            t`${name} goes on`)) : '', left ? button(t`Cancel`, () => act('flow-cancel', many(left, 'Cancel the {} job of {} that has not ended?|Cancel the {} jobs of {} that have not ended?', name), left,
            t`Cancel them`, t`${name} is cancelled`), { class: 'danger' }) : ''].filter(Boolean));
        setChildren(typed, command(one.command));
    }, failsIn(note));
    return repeated.end;
}
