// redis.js: the Redis servers: memory, clients, commands, disk, replicas, slow commands, keys by kind.
import { get, repeat } from './api.js';
import { age, bytes, command, empty, failsIn, h, machines, moment, setChildren, table } from './dom.js';
import { decimal, number, rate, said, t } from './words.js';

const AGAIN = 10000; // ms between two looks

const known = (value, words) => (value === null || value === undefined ? '–' : words(value));
const state = (word) => h('span', { class: word === 'ok' || word === 'up' ? 'good' : 'late' }, said(word));

// Between two looks, if there were two; else since it was started.
function cpu(now, before) {
    const used = (one) => one.cpu_user + one.cpu_system;
    if (now.cpu_user === null || !now.uptime) return '–';
    return before && now.at > before.at && used(now) >= used(before)
        ? t`${decimal(100 * (used(now) - used(before)) / (now.at - before.at))} %, for ${age(now.at - before.at)}`
        : t`${decimal(100 * used(now) / now.uptime)} % since its start`;
}

// heading, the words for a server and the look before.
const FACTS = [
    [t`Version`, (one) => [one.version, one.mode, one.role].filter(Boolean).join(', ')],
    [t`Up`, (one) => known(one.uptime, age)],
    [t`Memory`, (one) => [known(one.memory, bytes), one.memory_limit ? t` of ${bytes(one.memory_limit)} (${Math.round(100 * one.memory / one.memory_limit)} %)`
        : t`, no limit`, t`; at most ${known(one.memory_most, bytes)}; the process has ${known(one.memory_process, bytes)}`]],
    [t`When it is full`, (one) => (one.policy === 'noeviction' ? t`refuses writes` : h('span', { class: 'late' }, t`drops keys: ${one.policy ?? '–'}`))],
    [t`Keys dropped`, (one) => known(one.evicted, (n) => (n ? h('span', { class: 'late' }, number(n)) : '0'))],
    [t`Clients`, (one) => t`${known(one.clients, number)} of ${known(one.clients_limit, number)}, ${known(one.clients_waiting, number)} wait, ${
        known(one.refused, number)} were refused`],
    [t`Commands a second`, (one) => known(one.commands_a_second, rate)],
    [t`CPU`, cpu],
    [t`Keys found`, (one) => (one.hits + one.misses ? `${Math.round(100 * one.hits / (one.hits + one.misses))} %` : '–')],
    [t`Append-only file`, (one) => (one.aof ? t`last write ${state(one.aof_write)}, last rewrite ${state(one.aof_rewrite)}, ${known(one.aof_bytes, bytes)}`
        : h('span', { class: 'paused' }, t`none: a crash loses what came after the last snapshot`))],
    [t`Snapshot`, (one) => [state(one.snapshot), one.saved ? t`, at ${moment(one.saved)}` : '', t`; ${known(one.unsaved, number)} changes since then`]],
    [t`Its master`, (one) => (one.master_link ? [state(one.master_link), t`, heard ${known(one.master_lag, age)} ago`] : null)],
];

// A table of the lines of a server that have such a member; none: the words.
function listOf(label, columns, lines, words) {
    const list = table(label, columns.map(([heading, , kind = '']) => [heading, kind]));
    if (!lines.length) return empty(words);
    list.set(lines.map((line) => h('tr', {}, columns.map(([, of, kind = ''], i) =>
        (i ? h('td', { class: kind }, of(line)) : h('th', { scope: 'row' }, of(line)))))));
    return list.element;
}

function section(one, lines, before, keys) {
    const mine = lines.filter((line) => line.server === one.server), of = (name) => mine.filter((line) => line[name] !== undefined);
    const replicas = of('replica'), kinds = of('keys');
    return h('section', { 'aria-label': one.server }, h('h2', {}, one.server),
        h('dl', { class: 'facts' }, FACTS.map(([heading, words]) => [heading, words(one, before.get(one.server))])
            .filter(([, words]) => words !== null).map(([heading, words]) => h('div', {}, h('dt', {}, heading), h('dd', {}, words)))),
        h('h3', {}, t`Replicas`),
        listOf(t`Replicas of ${one.server}`, [[t`Replica`, (line) => line.replica], [t`State`, (line) => said(line.state)],
            [t`Answered`, (line) => known(line.lag, (lag) => t`${age(lag)} ago`), 'n'], [t`Behind`, (line) => known(line.behind, bytes), 'n']], replicas, t`None.`),
        h('h3', {}, t`Slow commands, the newest`),
        listOf(t`Slow commands of ${one.server}`, [[t`Command, its first key`, (line) => line.slow], [t`When`, (line) => moment(line.at), 'n'],
            [t`Took`, (line) => t`${number(1000 * line.seconds)} ms`, 'n']], of('slow'), t`None, or they may not be read.`),
        kinds.length > 0 && [h('h3', {}, kinds[0].more ? t`Keys of laterd, of the first 10,000` : t`Keys of laterd`),
            listOf(t`Keys of ${one.server}`, [[t`Kind`, (line) => line.keys], [t`Keys`, (line) => number(line.count), 'n']], kinds, '')],
        keys && !kinds.length && empty(t`It has no keys of laterd.`));
}

export function redis(main) {
    const wrong = h('div', { role: 'status' }), all = h('div'), typed = h('div');
    let before = new Map(), keys = false;
    const count = h('button', { type: 'button', class: 'quiet small', onclick: () => {
        keys = true;
        count.hidden = true;
        looks.again();
    } }, t`Count keys by kind`);
    main.append(h('h1', {}, t`Redis`), machines('redis'), wrong, all, h('p', {}, count), typed);

    const looks = repeat(AGAIN, async (signal) => {
        const answer = await get(keys ? 'server-keys' : 'server', null, signal);
        const servers = answer.answers.filter((line) => line.version !== undefined).map((one) => ({ ...one, at: Date.now() / 1000 }));
        wrong.replaceChildren(...answer.answers.filter((line) => line.rule).map((line) =>
            h('p', { class: 'late' }, `! ${said(line.text)}${servers.length > 1 && line.host ? ` (${line.host})` : ''}: ${said(line.why)}. `, h('code', {}, line.command))));
        setChildren(all, ...servers.map((one) => section(one, answer.answers, before, keys)));
        before = new Map(servers.map((one) => [one.server, one]));
        setChildren(typed, command(answer.command));
    }, failsIn(wrong), () => !keys);
    return looks.end;
}
