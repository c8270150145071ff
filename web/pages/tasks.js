// tasks.js: what was done here, by whom, how far it has come, how it ended; some can be undone.
import { button, note, perform } from './action.js';
import { act, get, repeat } from './api.js';
import { command, empty, failsIn, h, link, moment, setAttribute, setText, since, table } from './dom.js';
import { live } from './live.js';
import { arrange } from './trouble.js';
import { number, said, t } from './words.js';

const STOPPED = 75;
const runs = (one) => one.status === undefined;

// What its answers add up to, as `1,203 buried`.
function outcome(one) {
    const sums = {};
    if (runs(one)) return one.progress?.asks ? t`asks whoever began it: ${said(one.progress.asks)}?` : t`under way`;
    for (const answer of one.answers)
        for (const [name, value] of Object.entries(answer))
            if (typeof value === 'number') sums[name] = (sums[name] || 0) + value;
    const done = Object.entries(sums).map(([name, value]) => `${number(value)} ${said(name)}`);
    return [said(one.words) || (one.status ? t`status ${one.status}` : t`done`), ...done].join('; ');
}

function progress({ progress: at, ...one }) {
    if (!at) return '–';
    const done = at.acted ?? at.searched, text = at.acted === undefined ? t`looked at ${number(done)} of ${number(at.of)}` : t`${number(done)} of ${number(at.of)}`;
    return runs(one) ? [h('progress', { max: at.of || 1, value: done, 'aria-label': t`Progress` }), ' ', text] : text;
}

// What turns back what changed a pause, of a queue, a type, a host or a schedule, or a schedule's time.
const TURNS = { 'pause': 'resume', 'resume': 'pause', 'host-pause': 'host-resume', 'host-resume': 'host-pause',
                'type-pause': 'type-resume', 'type-resume': 'type-pause',
                'cron-pause': 'cron-resume', 'cron-resume': 'cron-pause', 'cron-set': 'cron-set' };

// To what it was done, as the server names it.
const subject = ({ path: way, queue, answers: [answer] = [] }) => (way.startsWith('host-') ? { host: answer?.host } : way.startsWith('cron-') ? { queue, name: answer?.name }
    : way.startsWith('type-') ? { queue, glob: answer?.type } : { queue });
const key = (one) => `${one.path.replace(/-?(pause|resume|set)$/, '')} ${Object.values(subject(one)).join(' ')}`;
const turned = (one) => TURNS[one.path] && one.status === 0 && one.answers.some((answer) => answer.changed || answer.was);

// Is it paused now? undefined: it is not known, or not there.
function isPaused(one, schedules) {
    const { queue, host, name, glob } = subject(one), here = live.snap?.queues.find((other) => other.queue === queue);
    if (host) return live.snap?.hosts.filter((other) => other.host === host && !other.gone).map((other) => Boolean(other.quiet))[0];
    if (name) return schedules.filter((other) => other.queue === queue && other.name === name).map((other) => other.state === 'paused')[0];
    if (glob) return here && Boolean(here.paused_types?.some(({ type }) => type === glob));
    return here?.paused;
}

// What undoes this task: where and what to post, and in words; or undefined. That is the latest change of something,
// if it is still as that left it. `before` are those before it: a pause that had an end does not come back as it was.
function undo(one, before, schedules) {
    const back = TURNS[one.path], of = subject(one), [answer] = one.answers;
    const last = before.find((other) => turned(other) && key(other) === key(one));
    if (back === 'cron-set') {
        const now = schedules.find((other) => other.queue === of.queue && other.name === of.name);
        return now?.at !== answer.at || now.zone !== answer.zone ? undefined
            : { where: back, body: { ...of, expression: answer.was, zone: answer.was_zone }, words: t`${of.name} is due ${answer.was} again` };
    }
    if (isPaused(one, schedules) !== one.path.endsWith('pause')) return undefined;
    if (one.path.endsWith('resume') && (!last?.path.endsWith('pause') || / --for/.test(last.command))) return undefined;
    const { reason } = one.path === 'type-resume' ? last.answers[0] : {};
    const name = of.name ?? of.host ?? of.glob ?? of.queue;
    return { where: back, body: { ...of, reason }, words: back.endsWith('resume') ? t`${name} is resumed` : t`${name} is paused` };
}

export function tasks(main) {
    const list = table(t`Tasks`, [[t`Began`, ''], [t`Who`, ''], [t`Command`, ''], [t`Progress`, ''], [t`Outcome`, 'words'], [t`Action`, 'do']]);
    const words = h('div', { role: 'status' });
    let rows = new Map(); // number → its row
    main.append(h('h1', {}, t`Tasks`), h('p', { class: 'facts' }, t`What was done from these pages, the latest 500. The log has all of it.`),
                list.element, words);

    async function halt(one) {
        try {
            await act('stop', { task: one.number });
        } catch (error) {
            note(said(error.message), null, true);
        }
        looks.again();
    }

    async function turn({ where, body, words: done }) {
        await perform(where, body, done);
        looks.again();
    }

    // Whoever is at its button stays there while the rest changes.
    function row({ number: name, who, command: typed, queue, began }) {
        const cell = (head, text) => h('td', { 'data-head': head }, text);
        const age = h('th', { scope: 'row', title: moment(began) }), how = cell(t`Progress`), end = cell(t`Outcome`), can = h('td', { class: 'do' });
        const quiet = (words, onclick, label, role) => button(words, onclick, { class: 'quiet small', 'aria-label': label }, role) || '';
        let had = '';

        function update(one, back) {
            const now = runs(one) && one.many ? 'stop' : back && JSON.stringify(back);
            setText(age, since(began));
            how.replaceChildren(...[progress(one)].flat());
            setText(end, outcome(one));
            setAttribute(end, 'class', one.status && one.status !== STOPPED ? 'words bad' : 'words');
            if (now === had) return;
            had = now;
            can.replaceChildren(now === 'stop' ? quiet(t`Stop`, () => halt(one), t`Stop task ${name}`)
                : now ? quiet(t`Undo`, () => turn(back), t`Undo task ${name}: ${back.words}`, back.where.startsWith('cron-') ? 'admin' : 'operator') : '');
        }
        return { element: h('tr', {}, age, cell(t`Who`, said(who)), h('td', {}, command(typed), queue && link('queue', { name: queue }, queue)), how, end, can), update };
    }

    function show(all, schedules) {
        const before = rows, seen = new Set(); // what was changed by a later one
        rows = new Map(all.map((one, i) => {
            const latest = TURNS[one.path] && !seen.has(key(one)), shown = before.get(one.number) ?? row(one);
            if (TURNS[one.path]) seen.add(key(one));
            shown.update(one, latest && turned(one) ? undo(one, all.slice(i + 1), schedules) : undefined);
            return [one.number, shown];
        }));
        arrange(list.body, [...rows.values()].map((one) => one.element));
        list.element.hidden = !all.length;
        words.replaceChildren(...(all.length ? [] : [empty(t`Nothing was done here yet.`)]));
    }

    const looks = repeat(2000, async (signal) => {
        const { tasks: all } = await get('tasks', null, signal), cron = all.some((one) => one.path.startsWith('cron-') && turned(one));
        show(all, cron ? (await get('cron', null, signal)).answers : []);
    }, failsIn(words));
    return looks.end;
}
