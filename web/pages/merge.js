// merge.js: the state of all queues and hosts, from the first message and all updates since. Whoever hears the
// messages makes a change of each: it has only what is new, reckoned once for all pages, which add it to what
// they show.

const SOON = 5000, LATER = 12000;       // ms between two looks of a rate: at least, and until it is 0
const STEP = 10000;                     // ms between two points of a trail
export const TRAIL = 600000;            // ms that it covers

// Returns how many jobs a second came, were done and failed between two looks, which are seconds apart;
// null until that is known. seen: the time of this look. all: how many queues take turns.
function paceOf(before, counts, seen, all) {
    const looks = [...before?.looks ?? [], { seen, counts }];
    while (looks.length > 2 && seen - looks[1].seen >= SOON) looks.shift();
    const seconds = (seen - looks[0].seen) / 1000;
    const sum = (names) => names.reduce((total, name) => total + counts[name] - looks[0].counts[name], 0);
    // A counter may have started again from 0.
    const rate = (...names) => Math.max(0, sum(names)) / seconds;
    return { looks, until: seen + Math.max(LATER, 200 * all),
             now: seconds < 0.5 ? before?.now ?? null
                 : { in: rate('pushed', 'adopted'), done: rate('done'), failed: rate('released', 'buried') } };
}

// Returns how many were ready, as [time, number] from each time on: what is within the time of a trail, and the
// last one before it. Of two changes within a step only the second one stays.
function trailOf(before, ready, seen) {
    const last = before.at(-1);
    if (last?.[1] === ready) return before;
    const kept = last && seen - last[0] < STEP && before.length > 1 ? before.slice(0, -1) : before;
    const first = kept.findLastIndex(([at]) => seen - at > TRAIL);
    return [...kept.slice(Math.max(0, first)), [kept === before ? seen : last[0], ready]];
}

// Returns one who hears messages. take(news, at): {whole, known, age, away, queues, gone, hosts, troubles, marks}
// becomes a change, or null if it is an update and there was no whole state before it. troubles(list, at): the
// same for what a page in the background asks for. whole(): a change that has everything; null if nothing is
// known.
export function hear() {
    let head = null, told = false, all = new Map(); // name → {queue, pace, trail}

    const note = (troubles, at) => ({ troubles: { ...troubles, at } });

    function see({ age, counts, oldest_ready: oldest, ...queue }, at, before, many) {
        const old = before.get(queue.queue), seen = at - age * 1000;
        const pace = counts && paceOf(all.get(queue.queue)?.pace, counts, seen, many), trail = trailOf(old?.trail ?? [], queue.ready, seen);
        // A waiting job gets older without an update, so this is the time by our clock since when it waits.
        Object.assign(queue, { since: oldest === null ? null : at - (age + oldest) * 1000, pace: pace?.now ?? null,
                               buried: counts?.buried, trail });
        all.set(queue.queue, { queue, pace, trail });
        return queue;
    }

    // A queue of which nothing is heard has not changed.
    function rest(one, at) {
        one.pace = { looks: [{ seen: at, counts: one.pace.looks.at(-1).counts }], until: Infinity, now: { in: 0, done: 0, failed: 0 } };
        one.queue = { ...one.queue, pace: one.pace.now };
        return one.queue;
    }

    function take({ whole, known, age, away, queues, gone = [], hosts, troubles, marks }, at) {
        const before = all;
        if (!whole && !told) return null;
        told = true;
        if (whole) all = new Map();
        const fresh = queues.map((queue) => see(queue, at, before, Math.max(before.size, queues.length)));
        for (const name of gone) all.delete(name);
        for (const one of all.values()) if (one.pace && at > one.pace.until) fresh.push(rest(one, at));
        const change = { known, age, away, at, ...(hosts && { hosts }), ...(marks && { marks }), ...(troubles && note(troubles, at)) };
        head = { ...head, ...change };
        return { ...change, whole, queues: fresh, gone };
    }

    return {
        take,
        troubles(list, at) {
            const change = note(list, at);
            head = { ...head, ...change };
            return change;
        },
        whole: () => head && { ...head, whole: true, queues: [...all.values()].map((one) => one.queue) },
    };
}

function addQueues(known, { whole, queues, gone }) {
    const fresh = new Map(queues.map((queue) => [queue.queue, queue])), away = new Set(gone);
    const now = whole ? [] : known.filter(({ queue }) => !away.has(queue)).map((old) => {
        const one = fresh.get(old.queue) ?? old;
        fresh.delete(old.queue);
        return one;
    });
    if (fresh.size) now.push(...fresh.values());
    return fresh.size ? now.sort((a, b) => (a.queue < b.queue ? -1 : a.queue > b.queue ? 1 : 0)) : now;
}

// Returns the state after a change: {known, age, away, at, hosts, troubles, marks, queues}, the queues by name. What has
// not changed is the same object. state: null at first.
export function add(state, change) {
    const before = state ?? { known: false, age: 0, away: '', at: 0, queues: [], hosts: [] };
    const { whole, gone, ...now } = change;
    return { ...before, ...now, queues: change.queues ? addQueues(before.queues, change) : before.queues };
}

// Returns for how many seconds a queue's oldest ready job has waited; null if none is ready.
export const waited = (queue, state) => (queue.since === null ? null : Math.max(0, (state.at - queue.since) / 1000));
