// tasks.js: what was done here, by whom, how far it has come, how it ended; some can be undone.
import { button, note, perform } from './action.js';
import { act, get } from './api.js';
import { command, empty, h, link, moment, number, setAttribute, setText, since, table } from './dom.js';
import { live } from './live.js';
import { arrange } from './trouble.js';

const STOPPED = 75;
const runs = (one) => one.status === undefined;

// What its answers add up to, as `1,203 buried`.
function outcome(one) {
    const sums = {};
    if (runs(one)) return one.progress?.asks ? `asks whoever began it: ${one.progress.asks}?` : 'under way';
    for (const answer of one.answers)
        for (const [name, value] of Object.entries(answer))
            if (typeof value === 'number') sums[name] = (sums[name] || 0) + value;
    const done = Object.entries(sums).map(([name, value]) => `${number(value)} ${name}`);
    return [one.words || (one.status ? `status ${one.status}` : 'done'), ...done].join('; ');
}

function progress({ progress: at, ...one }) {
    if (!at) return '–';
    const done = at.acted ?? at.searched, text = `${at.acted === undefined ? 'looked at ' : ''}${number(done)} of ${number(at.of)}`;
    return runs(one) ? [h('progress', { max: at.of || 1, value: done, 'aria-label': 'Progress' }), ' ', text] : text;
}

const TURNS = { pause: 'resume', resume: 'pause' };
const turned = (one, queue) => TURNS[one.path] && one.queue === queue && one.status === 0 && one.answers.some((answer) => answer.changed);

// What undoes this task, or undefined: the latest change of a queue's pause, if the queue is still as it
// left it. `before` are those before it: a pause that had an end does not come back as it was.
function undo(one, before) {
    const now = live.snap?.queues.find((queue) => queue.queue === one.queue);
    const last = before.find((other) => turned(other, one.queue));
    if (!now || now.paused !== (one.path === 'pause')) return undefined;
    if (one.path === 'resume' && (last?.path !== 'pause' || / --for/.test(last.command))) return undefined;
    return TURNS[one.path];
}

export function tasks(main) {
    const stop = new AbortController();
    const list = table('Tasks', [['Began', ''], ['Who', ''], ['Command', ''], ['Progress', ''], ['Outcome', 'words'], ['Action', 'do']]);
    const words = h('div', { role: 'status' });
    let rows = new Map(); // number → its row
    list.element.classList.add('cards');
    main.append(h('h1', {}, 'Tasks'), h('p', { class: 'facts' }, 'What was done from these pages, the latest 500. The log has all of it.'),
                list.element, words);

    async function halt(one) {
        try {
            await act('stop', { task: one.number });
        } catch (error) {
            note(error.message, null, true);
        }
        load();
    }

    async function turn(one, back) {
        await perform(back, { queue: one.queue }, `${one.queue} is ${back}d`);
        load();
    }

    // Whoever is at its button stays there while the rest changes.
    function row({ number: name, who, command: typed, queue, began }) {
        const cell = (head, text) => h('td', { 'data-head': head }, text);
        const age = h('th', { scope: 'row', title: moment(began) }), how = cell('Progress'), end = cell('Outcome'), can = h('td', { class: 'do' });
        const quiet = (words, onclick, label) => button(words, onclick, { class: 'quiet small', 'aria-label': label });
        let had = '';

        function update(one, back) {
            const now = runs(one) && one.many ? 'stop' : back;
            setText(age, since(began));
            how.replaceChildren(...[progress(one)].flat());
            setText(end, outcome(one));
            setAttribute(end, 'class', one.status && one.status !== STOPPED ? 'words bad' : 'words');
            if (now === had) return;
            had = now;
            can.replaceChildren(now === 'stop' ? quiet('Stop', () => halt(one), `Stop task ${name}`)
                : now ? quiet('Undo', () => turn(one, back), `Undo task ${name}: ${back} ${queue}`) : '');
        }
        return { element: h('tr', {}, age, cell('Who', who), h('td', {}, command(typed), queue && link('queue', { name: queue }, queue)), how, end, can), update };
    }

    function show(all) {
        const before = rows, seen = new Set(); // queues whose pause was changed by a later one
        rows = new Map(all.map((one, i) => {
            const latest = TURNS[one.path] && !seen.has(one.queue), shown = before.get(one.number) ?? row(one);
            if (TURNS[one.path]) seen.add(one.queue);
            shown.update(one, latest && turned(one, one.queue) ? undo(one, all.slice(i + 1)) : undefined);
            return [one.number, shown];
        }));
        arrange(list.body, [...rows.values()].map((one) => one.element));
        list.element.hidden = !all.length;
        words.replaceChildren(...(all.length ? [] : [empty('Nothing was done here yet.')]));
    }

    async function load() {
        try {
            show((await get('tasks', null, stop.signal)).tasks);
        } catch (error) {
            if (error.name !== 'AbortError') words.replaceChildren(empty(error.message));
        }
    }
    load();
    const timer = setInterval(() => !document.hidden && load(), 2000);
    return () => {
        clearInterval(timer);
        stop.abort();
    };
}
