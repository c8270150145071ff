// live.js: the state of everything as it changes, kept once for all pages.
import { merge } from './merge.js';

const KEPT = 150; // points of the live chart: about two minutes

const listeners = new Set();
export const live = {
    snap: null,  // the last state: {known, age, away, queues, hosts}
    lost: false, // later-web itself does not answer
    points: [],  // {at, rate, failed, ready, running}
};

const sum = (list, of) => list.reduce((all, one) => all + (of(one) || 0), 0);
let counted = null; // attempts so far, of the hosts that were there
let current = { rate: 0, failed: 0 };

// Daemons report their numbers every few seconds, so a rate is that between two reports.
function totals(snap) {
    const hosts = snap.hosts.filter((host) => !host.gone);
    return {
        ids: hosts.map((host) => host.id).sort().join(' '),
        seen: Math.max(0, ...hosts.map((host) => host.seen)),
        performed: sum(hosts, (host) => host.performed), failed: sum(hosts, (host) => host.failed),
    };
}

function addPoint(snap, at) {
    const now = totals(snap);
    if (!counted || counted.ids !== now.ids) {
        counted = now;
    } else if (now.seen - counted.seen > 0.5) {
        const seconds = now.seen - counted.seen;
        current = { rate: Math.max(0, now.performed - counted.performed) / seconds,
                    failed: Math.max(0, now.failed - counted.failed) / seconds };
        counted = now;
    }
    live.points.push({ at, ...current, ready: sum(snap.queues, (queue) => queue.ready) });
    if (live.points.length > KEPT) live.points.shift();
}

function take({ state, lost }) {
    const news = state && state.at !== live.snap?.at;
    live.lost = lost;
    live.snap = state ?? live.snap;
    if (news && state.known && !state.away) addPoint(state, state.at);
    for (const listener of listeners) listener();
}

// Returns the seconds since the numbers were right.
export function numbersAge() {
    return live.snap ? live.snap.age + (Date.now() - live.snap.at) / 1000 : 0;
}

export function listen(listener) {
    listeners.add(listener);
    if (live.snap) listener();
    return () => listeners.delete(listener);
}

const policy = self.trustedTypes?.createPolicy('later', {
    createScriptURL: (url) => {
        if (url !== 'live-worker.js') throw new TypeError(url);
        return url;
    },
});

function direct() {
    let source = null;
    const update = () => {
        if (document.hidden && source) {
            source.close();
            source = null;
        } else if (!document.hidden && !source) {
            source = new EventSource('api/1/live');
            source.onmessage = ({ data }) =>
                take({ state: merge(live.snap, JSON.parse(data), Date.now()), lost: false });
            source.onerror = () => take({ state: live.snap, lost: true });
        }
    };
    document.addEventListener('visibilitychange', update);
    update();
}

export function start() {
    if (!self.SharedWorker) {
        direct();
        return;
    }
    const worker = new SharedWorker(policy ? policy.createScriptURL('live-worker.js')
                                           : 'live-worker.js', { type: 'module' });
    worker.port.onmessage = ({ data }) => take(data);
    const tell = () => worker.port.postMessage(document.hidden ? 'hidden' : 'seen');
    document.addEventListener('visibilitychange', tell);
    addEventListener('pagehide', () => worker.port.postMessage('gone'));
    addEventListener('pageshow', tell);
    tell();
}
