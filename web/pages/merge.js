// merge.js: the state of all queues and hosts, from the first message and all updates since.

// What is known of troubles: {known, age, away, list}, and when it came. For a page in the background it
// is all that it asks for.
export function mergeTroubles(known, troubles, at) {
    return troubles ? { ...known, troubles: { ...troubles, at } } : known;
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
        queues.set(queue.queue, queue);
    }
    for (const name of news.gone ?? []) queues.delete(name);
    const all = [...queues.values()];
    if (news.whole || news.queues.length)
        all.sort((a, b) => (a.queue < b.queue ? -1 : a.queue > b.queue ? 1 : 0));
    for (const queue of all)
        queue.oldest_ready = queue.since === null ? null : Math.max(0, (at - queue.since) / 1000);
    return mergeTroubles({ known: news.known, age: news.age, away: news.away, queues: all, at,
                           hosts: news.hosts ?? known?.hosts ?? [], troubles: known?.troubles },
                         news.troubles, at);
}
