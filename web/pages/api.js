// api.js: requests to later-web. Each is answered by a `later` command.
import { headersOf, readEvents } from './stream.js';

export class Refusal extends Error {
    constructor(status, words, command) {
        super(words);
        this.status = status;
        this.command = command;
    }
}

async function read(answer) {
    let body = {};
    try {
        body = await answer.json();
    } catch (error) {
        if (error.name === 'AbortError') throw error;
        // else the answer is a proxy's, not ours
    }
    if (answer.ok) return body;
    throw new Refusal(answer.status, body.error || body.words || `HTTP ${answer.status}`,
                      body.command);
}

function query(parameters) {
    const all = Object.entries(parameters || {}).flatMap(([name, values]) => [values].flat().map((value) => [name, value]))
        .filter(([, value]) => value !== undefined && value !== null && value !== '');
    return all.length ? `?${new URLSearchParams(all)}` : '';
}

let outstanding = 0;

function busy(more) {
    outstanding += more;
    document.getElementById('main').setAttribute('aria-busy', outstanding > 0);
}

// ---- the token, which only pages of this origin can read: a cookie would go to every port of the host

const KEY = `later token ${new URL('.', location).pathname}`;
let kept = ''; // for a browser that stores nothing

export function token() {
    try {
        return localStorage.getItem(KEY) ?? kept;
    } catch {
        return kept;
    }
}

// The link that later-web prints has the token after #. It is kept, and the address is `back` again.
// Returns false if there is none.
export function login(back) {
    const [, found] = /^#token=([\w-]+)$/.exec(location.hash) || [];
    if (!found) return false;
    history.replaceState(null, '', location.pathname + location.search + back);
    kept = found;
    try {
        localStorage.setItem(KEY, found);
    } catch {
        // then it is kept for as long as this page is open
    }
    return true;
}

// ---- searches that were begun here. Another page may have made the link of any other one, and a regular
// expression may be made to cost, so that waits for a click.

export const meant = new Set();
export const mean = (q) => meant.add(q);

// ---- requests

async function send(where, options = {}) {
    try {
        return await fetch(`api/1/${where}`, { credentials: 'same-origin', ...options,
                                               headers: { ...headersOf(token()), ...options.headers } });
    } catch (error) {
        if (error.name === 'AbortError') throw error;
        throw new Refusal(0, 'later-web does not answer');
    }
}

function post(body) {
    return { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) };
}

// A page that has been left gets no answer: its `main` is another page's by now.
async function ask(where, options) {
    busy(1);
    try {
        return await read(await send(where, options));
    } finally {
        setTimeout(busy, 0, -1); // once the answer has been shown
        options.signal?.throwIfAborted();
    }
}

export function get(where, parameters, signal) {
    return ask(where + query(parameters), { signal });
}

// Calls load(signal) now, and each `pause` milliseconds while the page is seen and may(); fail(error) if it throws. A
// look that takes longer puts off the next. Returns again(), for what was changed here, and end(), for who leaves.
export function repeat(pause, load, fail, may = () => true) {
    const stop = new AbortController();
    let busy = false, more = false;
    async function again() {
        more = true;
        if (busy) return;
        busy = true;
        while (more && !stop.signal.aborted) {
            more = false;
            await load(stop.signal).catch((error) => error.name === 'AbortError' || fail(error));
        }
        busy = false;
    }
    again();
    const timer = setInterval(() => !document.hidden && !busy && may() && again(), pause);
    return { again, end() {
        clearInterval(timer);
        stop.abort();
    } };
}

// Of how many queues the history of so many seconds is asked for: those with the most attempts. More than some
// 50,000 periods of a minute, ten or an hour would keep Redis busy.
export const busiest = (seconds) =>
    Math.max(20, Math.floor(50000 * (seconds <= 28800 ? 60 : seconds <= 604800 ? 600 : 3600) / seconds));

export function act(where, body) {
    return ask(where, post(body));
}

// Asks for a file. Returns {command, blob()}; blob() fails if the file breaks off.
export async function getFile(where, parameters, signal) {
    const answer = await send(where + query(parameters), { signal });
    if (!answer.ok) await read(answer);
    const bytes = Uint8Array.from(answer.headers.get('Later-Command') ?? '', (byte) => byte.charCodeAt(0));
    return { command: new TextDecoder().decode(bytes), blob: () => answer.blob() };
}

async function readLong(answer, take) {
    let end = null;
    if (!answer.ok) return read(answer);
    await readEvents(answer, (name, data) => {
        if (name === 'end') end = data;
        else take(name, data);
    });
    if (!end) throw new Refusal(0, 'later-web ended in the middle of it');
    return end;
}

// For what takes long: call take(name, data) for each event as it comes. Return the last one,
// {command, status, words}.
export async function actLong(where, body, take, signal) {
    return readLong(await send(where, { ...post(body), signal }), take);
}

export async function getLong(where, parameters, take, signal) {
    return readLong(await send(where + query(parameters), { signal }), take);
}
