// api.js: requests to later-web. Each is answered by a `later` command.

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
    } catch {
        // the answer is a proxy's, not ours
    }
    if (answer.ok) return body;
    throw new Refusal(answer.status, body.error || body.words || `HTTP ${answer.status}`,
                      body.command);
}

function query(parameters) {
    const all = Object.entries(parameters || {}).filter(([, value]) =>
        value !== undefined && value !== null && value !== '');
    return all.length ? `?${new URLSearchParams(all)}` : '';
}

let outstanding = 0;

function busy(more) {
    outstanding += more;
    document.getElementById('main').setAttribute('aria-busy', outstanding > 0);
}

async function ask(where, options) {
    busy(1);
    try {
        return await read(await fetch(`api/1/${where}`, { credentials: 'same-origin', ...options }));
    } catch (error) {
        if (error instanceof Refusal || error.name === 'AbortError') throw error;
        throw new Refusal(0, 'later-web does not answer');
    } finally {
        setTimeout(busy, 0, -1); // once the answer has been shown
    }
}

export function get(where, parameters, signal) {
    return ask(where + query(parameters), { signal });
}

export function act(where, body) {
    return ask(where, {
        method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body),
    });
}

// For long actions: calls take(name, data) for each event as it comes. Returns the last one,
// {command, status, words}.
export async function actLong(where, body, take) {
    const answer = await fetch(`api/1/${where}`, {
        method: 'POST', credentials: 'same-origin', headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
    });
    if (!answer.ok) return read(answer);
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = '', end = null;
    for (;;) {
        const { value, done } = await reader.read();
        if (done) break;
        const events = (text + value).split('\n\n');
        text = events.pop();
        for (const event of events) {
            const [, name, data] = /^(?:event: (.*)\n)?data: (.*)$/s.exec(event) || [];
            if (name === 'end') end = JSON.parse(data);
            else if (data) take(name, JSON.parse(data));
        }
    }
    if (!end) throw new Refusal(0, 'later-web ended in the middle of it');
    return end;
}

export function streamPath(where, parameters) {
    return `api/1/${where}${query(parameters)}`;
}

// The link that later-web prints has the token after #. It is moved into a cookie and removed from
// the address.
export async function login() {
    const token = new URLSearchParams(location.hash.slice(1)).get('token');
    if (!token) return;
    history.replaceState(null, '', location.pathname + location.search);
    await act('login', { token });
}
