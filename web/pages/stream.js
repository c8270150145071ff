// stream.js: reads events from later-web as they come. Unlike EventSource, fetch can show the token.

const AGAIN = 3000;   // ms until a broken stream is asked for again
const GLANCE = 30000; // ms between two looks of pages in the background

// Without a token nothing is said, so that a proxy's password stays.
export const headersOf = (token) => (token ? { Authorization: `Bearer ${token}` } : {});

// Calls take(name, data) for each event, until the stream ends.
export async function readEvents(answer, take) {
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let parts = []; // of an event that has not come to its end: a large one comes in many
    for (;;) {
        const { value, done } = await reader.read();
        if (done) return;
        const cut = value.startsWith('\n') && parts.at(-1)?.endsWith('\n');
        parts.push(value);
        if (!cut && !value.includes('\n\n')) continue;
        const events = parts.join('').split('\n\n');
        parts = [events.pop()];
        for (const event of events) {
            const [, name, data] = /^(?:event: (.*)\n)?data: (.*)$/s.exec(event) || [];
            if (data) take(name, JSON.parse(data));
        }
    }
}

// Looks now and then whether there is trouble: take(troubles). Returns a function that ends it.
export function glance(token, take) {
    const timer = setInterval(async () => {
        try {
            const answer = await fetch('api/1/troubles', { headers: headersOf(token) });
            if (answer.ok) take(await answer.json());
        } catch {
            // the next look tells
        }
    }, GLANCE);
    return () => clearInterval(timer);
}

// Follows the state of everything: take(news) gets each update, fail(words) why there are none. Only
// another token helps if this one is refused. Returns a function that ends it.
export function follow(token, take, fail) {
    const stop = new AbortController();
    const attempt = async () => {
        const answer = await fetch('api/1/live', { headers: headersOf(token), signal: stop.signal });
        if (answer.ok) {
            await readEvents(answer, (name, data) => take(data));
            return true;
        }
        const { error } = await answer.json();
        fail(error);
        return answer.status !== 401;
    };
    const go = async () => {
        let again = true;
        while (again && !stop.signal.aborted) {
            again = await attempt().then((more) => more, () => null);
            if (again === null && !stop.signal.aborted) fail('later-web does not answer');
            again ??= true;
            if (again) await new Promise((done) => setTimeout(done, AGAIN));
        }
    };
    go();
    return () => stop.abort();
}
