// lists.js: the dead jobs and why they died, the reserved jobs, the hosts.
import { get } from './api.js';
import { age, command, empty, h, link, number, rate, setAttribute, setText, since, table } from './dom.js';
import { errorLine, errorText, jobTable } from './jobs.js';
import { listen, live, numbersAge } from './live.js';

const SHOWN = 50; // of each queue

// Shows some jobs of each queue that has any in this state, once that is known. What is shown stays if
// some cannot be asked for: then `fail` gets the reason.
function gather(state, last, show, fail) {
    const stop = new AbortController();
    let stopListening = null, busy = false;

    async function load() {
        busy = true;
        const queues = live.snap.queues.filter((queue) => queue[state] > 0);
        try {
            const answers = await Promise.all(queues.map((queue) => get('jobs', {
                queue: queue.queue, state, number: SHOWN,
                offset: last ? Math.max(0, queue[state] - SHOWN) : 0,
            }, stop.signal).catch((error) => {
                if (error.status === 404) return { answers: [], command: '' }; // it was forgotten
                throw error;
            })));
            stopListening();
            show(answers.flatMap((answer) => answer.answers), queues, answers.map((one) => one.command));
        } catch (error) {
            if (error.name !== 'AbortError') fail(error.message);
        }
        busy = false;
    }
    stopListening = listen(() => {
        const away = live.lost || live.snap?.away;
        if (away) fail(away);
        else if (live.snap.known && !busy) load();
    }, true);
    return {
        load, end() {
            stopListening();
            stop.abort();
        },
    };
}

export function dead(main) {
    const jobs = jobTable('Dead jobs', () => gathered.load(), { state: 'dead', mixed: true });
    const why = table('Reasons', [['Of these', 'n'], ['Why', 'words'], ['Types', '']]);
    const words = h('div', { role: 'status' }), typed = h('div'), queues = h('p', { class: 'examples' });
    const sample = h('small');
    main.append(h('h1', {}, 'Dead'), queues, h('h2', {}, 'Why the latest ones died ', sample), why.element,
                h('h2', {}, 'The latest of each queue'), jobs.element, words, typed);

    function reasons(all) {
        const groups = new Map();
        for (const job of all) {
            // The same reason may come with different numbers.
            const text = errorText(job.error).replace(/\d+/g, '#') || 'no reason is known';
            const group = groups.get(text) || { count: 0, types: new Set(), shown: errorLine(job.error) || text };
            group.count++;
            group.types.add(job.type ?? 'none');
            groups.set(text, group);
        }
        return [...groups.values()].sort((a, b) => b.count - a.count);
    }

    const gathered = gather('dead', true, (all, from, commands) => {
        all.sort((a, b) => b.score - a.score);
        jobs.set(all);
        const count = from.reduce((sum, queue) => sum + queue.dead, 0);
        setText(sample, all.length < count
            ? `in a sample of ${number(all.length)} of ${number(count)}: the latest ${SHOWN} of each queue` : '');
        why.body.replaceChildren(...reasons(all).slice(0, 20).map((group) => h('tr', {},
            h('td', { class: 'n' }, number(group.count)),
            h('td', { class: 'words' }, h('span', { class: 'error' }, group.shown)),
            h('td', {}, [...group.types].join(', ')))));
        queues.replaceChildren(...from.map((queue) =>
            link('queue', { name: queue.queue, state: 'dead' }, queue.queue, ' ', h('b', {}, number(queue.dead)))));
        words.replaceChildren(...(all.length ? [] : [empty('Nothing is dead.')]));
        typed.replaceChildren(...commands.filter(Boolean).slice(0, 1).map(command));
    }, (reason) => words.replaceChildren(empty(reason)));
    return gathered.end;
}

export function reserved(main) {
    const jobs = jobTable('Reserved jobs', () => gathered.load(), { state: 'reserved', mixed: true });
    const words = h('div', { role: 'status' });
    const refresh = h('button', { type: 'button', class: 'quiet', onclick: () => gathered.load() },
                      'Look again');
    main.append(h('h1', {}, 'Reserved'),
                h('p', { class: 'facts' }, 'Jobs that workers hold: they run, or are about to. ', refresh),
                jobs.element, words);
    const gathered = gather('reserved', false, (all) => {
        jobs.set(all);
        words.replaceChildren(...(all.length ? [] : [empty('Nothing is reserved now.')]));
    }, (reason) => words.replaceChildren(empty(reason)));
    return gathered.end;
}

export function hosts(main) {
    const list = table('Hosts', [['Host', ''], ['State', ''], ['Version', ''], ['Up', 'n'], ['Workers', 'n'],
                                 ['Running', 'n'], ['Performed', 'n'], ['Failed', 'n'], ['A second, last minute', 'n'],
                                 ['Queues', 'words']]);
    const words = h('div');
    const rows = new Map();
    main.append(h('h1', {}, 'Hosts'), list.element, words, command('later status'));

    function row(host) {
        const cells = Array.from({ length: 9 }, (_, i) =>
            h('td', { class: i === 8 ? 'words' : i < 2 ? '' : 'n' }));
        const element = h('tr', {}, h('th', { scope: 'row' }, host.id), cells);
        list.body.append(element);
        return { element, cells };
    }

    function update() {
        const seen = new Set();
        for (const host of live.snap.hosts) {
            seen.add(host.id);
            if (!rows.has(host.id)) rows.set(host.id, row(host));
            const { element, cells } = rows.get(host.id);
            const here = (value, words = number) => (host.gone ? '–' : words(value ?? 0));
            [host.gone ? `✕ gone, seen ${since(host.seen)}` : host.fault ? `! ${host.fault}` : '● alive', host.version ?? '',
             here(host.seen - host.started + numbersAge(), age), here(host.workers), here(host.running),
             number(host.performed ?? 0), number(host.failed ?? 0), here(host.rate, rate), (host.queues ?? []).join(', ')].forEach((text, i) => setText(cells[i], text));
            setAttribute(element, 'class', host.gone ? 'gone' : '');
            setAttribute(cells[0], 'class', host.gone || host.fault ? 'late' : 'good');
        }
        for (const [id, one] of rows) {
            if (!seen.has(id)) {
                one.element.remove();
                rows.delete(id);
            }
        }
        words.replaceChildren(...(live.snap.hosts.length ? [] : [empty('No laterd has announced itself.')]));
        list.element.hidden = !live.snap.hosts.length;
    }
    return listen(update);
}
