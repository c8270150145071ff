// live.js: the state of everything as it changes, kept once for all pages.
import { token } from './api.js';
import { add, hear } from './merge.js';
import { follow, glance } from './stream.js';

export const SPAN = 120000; // ms of the live charts
const SILENT = 12;          // seconds without a report of a host, which sends one every 5 seconds

const listeners = new Map(); // function → is it called even if nothing is known yet?
export const live = {
    snap: null, // the last state: {known, age, away, queues, hosts}
    lost: '',   // why there is no newer one: later-web does not answer, or refuses
    points: [], // {at, rate, failed, ready}; failed is null until it is known
    marks: [],  // what else happened in their time, as `later history --marks` has it
};

let reports = new Map(); // host → its last report, and its rates since the one before

// A host's rate is that between two of its own reports, by its own clock. Before the second one it is
// what the host says itself, the mean of a minute.
function progress(before, host, at) {
    const { seen, started, performed, failed } = host;
    if (before && before.seen === seen) return before;
    const now = { seen, started, performed, failed, at, rate: host.rate ?? 0, bad: null };
    const seconds = seen - before?.seen;
    if (before?.started === started && seconds > 0.5 && seconds < SILENT) {
        now.rate = Math.max(0, performed - before.performed) / seconds;
        now.bad = Math.max(0, failed - before.failed) / seconds;
    }
    return now;
}

// Returns a sum of what is known, null if nothing is.
function total(all, of) {
    const known = all.map(of).filter((value) => value !== null);
    return known.length || !all.length ? known.reduce((sum, value) => sum + value, 0) : null;
}

function addPoint(snap, at) {
    const here = snap.hosts.filter((host) => !host.gone);
    reports = new Map(here.map((host) => [host.id, progress(reports.get(host.id), host, at)]));
    const heard = [...reports.values()].filter((one) => at - one.at < SILENT * 1000);
    live.points.push({ at, rate: total(heard, (one) => one.rate), failed: total(heard, (one) => one.bad),
                       ready: snap.queues.reduce((sum, queue) => sum + queue.ready, 0) });
    while (at - live.points[0].at > SPAN) live.points.shift();
}

let seen = [];             // marks of what was seen here
const lasting = new Map(); // what lasts: its kind and queue → its mark
let started = null;        // host → when it started

function addMark(mark, at, more) {
    const all = { mark, words: '', from: at, to: at, open: false, ...more };
    seen.push(all);
    return all;
}

// What was found lasts; what lasted and was not found has ended.
function addMarks(snap, at) {
    const here = snap.hosts.filter((host) => !host.gone);
    const found = new Map(snap.queues.filter((queue) => queue.paused).map(({ queue }) => [`pause ${queue}`, { queue }]));
    if (snap.away) found.set('away');
    else if (!here.length) found.set('down');
    for (const [key, mark] of lasting) {
        mark.to = at;
        mark.open = found.has(key);
        if (!mark.open) lasting.delete(key);
    }
    for (const [key, more] of found)
        if (!lasting.has(key)) lasting.set(key, addMark(key.split(' ')[0], at, { ...more, open: true }));
    if (snap.away) return;
    for (const { id, started: began, version } of here)
        if (started && started.get(id) !== began) addMark('start', at, { version });
    started = new Map(here.map((host) => [host.id, host.started]));
    seen = seen.filter((mark) => mark.open || (at - mark.to) * 1000 < SPAN);
}

// What is told of is what cannot be seen here. It goes on until it is told that it has ended.
function toldMarks({ marks = [] }, at) {
    return marks.filter(({ mark, type }) => type || ['set', 'reload'].includes(mark)).map((mark) => (mark.open ? { ...mark, to: at } : mark));
}

function take({ change, lost }) {
    const state = change ? add(live.snap, change) : live.snap, news = state && state.at !== live.snap?.at;
    live.lost = lost;
    live.snap = state;
    if (news && state.known) {
        addMarks(state, state.at / 1000);
        live.marks = [...seen, ...toldMarks(state, state.at / 1000)].sort((a, b) => a.from - b.from);
    }
    if (news && state.known && !state.away) addPoint(state, state.at);
    for (const [listener, always] of listeners) if (always || live.snap) listener();
}

// Returns the seconds since the numbers were right.
export function numbersAge() {
    return live.snap ? live.snap.age + (Date.now() - live.snap.at) / 1000 : 0;
}

export function listen(listener, always = false) {
    listeners.set(listener, always);
    if (live.snap || (always && live.lost)) listener();
    return () => listeners.delete(listener);
}

const policy = self.trustedTypes?.createPolicy('later', {
    createScriptURL: (url) => {
        if (url !== 'live-worker.js') throw new TypeError(url);
        return url;
    },
});

// Returns a function that is told of a new token, or that the page is hidden or shown.
function direct() {
    let stop = null, shown = '', hidden = false;
    const heard = hear();
    return () => {
        const now = token();
        if (stop && hidden === document.hidden && shown === now) return;
        stop?.();
        ({ hidden } = document);
        shown = now;
        stop = hidden ? glance(now, (troubles) => take({ change: heard.troubles(troubles, Date.now()), lost: live.lost }))
            : follow(now, (news) => take({ change: heard.take(news, Date.now()), lost: '' }), (words) => take({ lost: words }));
    };
}

function shared() {
    const worker = new SharedWorker(policy ? policy.createScriptURL('live-worker.js')
                                           : 'live-worker.js', { type: 'module' });
    worker.port.onmessage = ({ data }) => take(data);
    addEventListener('pagehide', () => worker.port.postMessage({ gone: true }));
    return () => worker.port.postMessage({ seen: !document.hidden, token: token() });
}

let tell = null;

// Begins, or goes on with the present token.
export function start() {
    if (!tell) {
        tell = self.SharedWorker ? shared() : direct();
        document.addEventListener('visibilitychange', tell);
        addEventListener('pageshow', tell);
    }
    tell();
}
