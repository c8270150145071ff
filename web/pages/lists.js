// lists.js: the dead jobs and why they died, the running jobs, the hosts.
import { get } from './api.js';
import { age, command, empty, h, link, number, rate, setAttribute, setText, table } from './dom.js';
import { errorLine, errorText, jobTable } from './jobs.js';
import { listen, live, numbersAge } from './live.js';

const SHOWN = 50; // of each queue

// Shows some jobs of each queue that has any in this state, once that is known.
function gather(state, last, show) {
    const stop = new AbortController();
    let stopListening = null;

    async function load() {
        const queues = live.snap.queues.filter((queue) => queue[state] > 0);
        const answers = await Promise.all(queues.map((queue) => get('jobs', {
            queue: queue.queue, state, number: SHOWN,
            offset: last ? Math.max(0, queue[state] - SHOWN) : 0,
        }, stop.signal).catch(() => ({ answers: [], command: '' }))));
        if (!stop.signal.aborted)
            show(answers.flatMap((answer) => answer.answers), queues, answers.map((one) => one.command));
    }
    stopListening = listen(() => {
        if (!live.snap.known) return;
        setTimeout(() => stopListening?.());
        load();
    });
    return {
        load, end() {
            stopListening();
            stop.abort();
        },
    };
}

export function dead(main) {
    const jobs = jobTable('Dead jobs', () => gathered.load(), { state: 'dead', mixed: true });
    const why = table('Reasons', [['Jobs', 'n'], ['Why', 'words'], ['Types', '']]);
    const words = h('div', { role: 'status' }), typed = h('div'), queues = h('p', { class: 'examples' });
    main.append(h('h1', {}, 'Dead'), queues, h('h2', {}, 'Why the latest ones died'), why.element,
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
        why.body.replaceChildren(...reasons(all).slice(0, 20).map((group) => h('tr', {},
            h('td', { class: 'n' }, number(group.count)),
            h('td', { class: 'words' }, h('span', { class: 'error' }, group.shown)),
            h('td', {}, [...group.types].join(', ')))));
        queues.replaceChildren(...from.map((queue) =>
            link('queue', { name: queue.queue, state: 'dead' }, queue.queue, ' ', h('b', {}, number(queue.dead)))));
        words.replaceChildren(...(all.length ? [] : [empty('Nothing is dead.')]));
        typed.replaceChildren(...commands.filter(Boolean).slice(0, 1).map(command));
    });
    return gathered.end;
}

export function running(main) {
    const jobs = jobTable('Running jobs', () => gathered.load(), { state: 'reserved', mixed: true });
    const words = h('div', { role: 'status' });
    const refresh = h('button', { type: 'button', class: 'quiet', onclick: () => gathered.load() },
                      'Look again');
    main.append(h('h1', {}, 'Running'),
                h('p', { class: 'facts' }, 'Jobs that workers hold: they run, or are about to. ', refresh),
                jobs.element, words);
    const gathered = gather('reserved', false, (all) => {
        jobs.set(all);
        words.replaceChildren(...(all.length ? [] : [empty('Nothing runs now.')]));
    });
    return gathered.end;
}

export function hosts(main) {
    const list = table('Hosts', [['Host', ''], ['State', ''], ['Version', ''], ['Up', 'n'], ['Workers', 'n'],
                                 ['Running', 'n'], ['Performed', 'n'], ['Failed', 'n'], ['A second', 'n'],
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
            [host.gone ? '✕ gone' : host.fault ? `! ${host.fault}` : '● alive', host.version ?? '',
             age(host.seen - host.started + (host.gone ? 0 : numbersAge())), number(host.workers ?? 0),
             number(host.running ?? 0), number(host.performed ?? 0), number(host.failed ?? 0),
             rate(host.rate ?? 0), (host.queues ?? []).join(', ')].forEach((text, i) => setText(cells[i], text));
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
