// locks.js: locks, permits and limits that are in use: by whom, since when, who waits.
import { get } from './api.js';
import { age, command, empty, h, link, machines, moment, number, setChildren, since, table } from './dom.js';

const SHOWN = 3;     // of those that wait
const AGAIN = 10000; // ms between two looks: each goes through the names of all keys

const job = (queue, id) => link('job', { id, queue }, id);

// A job has a lock as HOST QUEUE ID, and waits as QUEUE ID; anybody else is named as they are.
function holder(owner) {
    const [host, queue, id, more] = (owner ?? '').split(' ');
    return id && more === undefined ? ['job ', job(queue, id), ` of ${queue} on ${host}`] : owner ?? '–';
}

function waiting(one) {
    const first = (one.waiters ?? []).slice(0, SHOWN).map((waiter, i) => {
        const [queue, id] = waiter.split(' ');
        return [i ? ', ' : ': ', id ? job(queue, id) : waiter];
    });
    return one.waiting ? [number(one.waiting), first, one.waiting > first.length && first.length ? ', …' : ''] : '0';
}

const used = (one) => `${number(one.held)}${one.max ? ` of ${number(one.max)}` : ''}${one.per ? ` in ${age(one.per)}` : ''}`;
const ends = (one) => (one.kind !== 'limit' ? (one.remaining === null ? '–' : `in ${age(one.remaining)}, unless renewed`)
    : one.opens ? `opens in ${age(one.opens)}` : one.opens === 0 ? 'is open' : one.remaining === null ? '–' : `forgotten in ${age(one.remaining)}`);

const COLUMNS = [
    ['Kind', (one) => one.kind, ''], ['Held, used', used, 'n'], ['By', (one) => holder(one.owner), 'words'],
    ['Since', (one) => (one.since ? since(one.since) : '–'), ''], ['Ends, opens', ends, ''], ['Waiting, the first', waiting, 'words'],
];

export function locks(main) {
    const stop = new AbortController();
    const list = table('Locks and limits', [['Name', ''], ...COLUMNS.map(([heading, , kind]) => [heading, kind])]);
    const words = h('div', { role: 'status' }), typed = h('div');
    list.element.hidden = true;
    main.append(h('h1', {}, 'Locks and limits'), machines('locks'), list.element, words, typed);

    function row(one) {
        return h('tr', {}, h('th', { scope: 'row' }, one.name), COLUMNS.map(([heading, of, kind]) =>
            h('td', { class: kind === 'n' && one.opens ? 'n late' : kind,
                      title: heading === 'Since' && one.since ? moment(one.since) : null }, of(one))));
    }

    async function load() {
        try {
            const answer = await get('locks', null, stop.signal);
            const all = answer.answers.sort((a, b) => b.waiting - a.waiting || a.kind.localeCompare(b.kind) || a.name.localeCompare(b.name));
            list.set(all.map(row));
            list.element.hidden = !all.length;
            words.replaceChildren(...(all.length ? [] : [empty('No lock, permit or limit is in use.')]));
            setChildren(typed, command(answer.command));
        } catch (error) {
            if (error.name !== 'AbortError') words.replaceChildren(empty(error.message));
        }
    }
    load();
    const timer = setInterval(() => !document.hidden && load(), AGAIN);
    return () => {
        clearInterval(timer);
        stop.abort();
    };
}
