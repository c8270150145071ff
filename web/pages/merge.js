// merge.js: the state of all queues and hosts, from the first message and all updates since.

// known: the last state, or null. news: {whole, known, age, away, queues, gone, hosts}. Returns the
// next state: {known, age, away, queues, hosts, at}, or null if an update comes before a whole
// state.
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
    return { known: news.known, age: news.age, away: news.away, queues: all, at,
             hosts: news.hosts ?? known?.hosts ?? [] };
}
