// merge.js: the state of all queues and hosts, from the first message and all updates since.

// What is known of troubles: {known, age, away, list}, and when it came. For a page in the background it
// is all that it asks for.
export function mergeTroubles(known, troubles, at) {
    return troubles ? { ...known, troubles: { ...troubles, at } } : known;
}

const SOON = 5000, LATER = 12000; // ms between two looks of a rate: at least, and until it is 0

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

// known: the last state, or null. news: {whole, known, age, away, queues, gone, hosts, troubles}. Returns
// the next state: {known, age, away, queues, hosts, troubles, at}, or null if an update comes before a
// whole state.
export function merge(known, news, at) {
    if (!news.whole && !known) return null;
    const queues = new Map(news.whole ? [] : known.queues.map((queue) => [queue.queue, queue]));
    for (const { age, ...queue } of news.queues) {
        // A waiting job gets older without an update, so this is the time by our clock since when
        // it waits.
        queue.since = queue.oldest_ready === null ? null : at - (age + queue.oldest_ready) * 1000;
        queue.pace = queue.counts && paceOf(queues.get(queue.queue)?.pace, queue.counts, at - age * 1000, queues.size);
        queues.set(queue.queue, queue);
    }
    for (const name of news.gone ?? []) queues.delete(name);
    const all = [...queues.values()];
    if (news.whole || news.queues.length)
        all.sort((a, b) => (a.queue < b.queue ? -1 : a.queue > b.queue ? 1 : 0));
    for (const queue of all) {
        queue.oldest_ready = queue.since === null ? null : Math.max(0, (at - queue.since) / 1000);
        // A queue of which nothing is heard has not changed.
        if (queue.pace && at > queue.pace.until)
            queue.pace = { looks: [{ seen: at, counts: queue.counts }], until: Infinity, now: { in: 0, done: 0, failed: 0 } };
    }
    return mergeTroubles({ known: news.known, age: news.age, away: news.away, queues: all, at,
                           hosts: news.hosts ?? known?.hosts ?? [], troubles: known?.troubles },
                         news.troubles, at);
}
