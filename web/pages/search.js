// search.js: finds jobs that meet conditions, shows them as they come, and acts on all of them.
import { button, confirm, meter, note, performLong } from './action.js';
import { get, streamPath } from './api.js';
import { command, empty, h, number, path, setText } from './dom.js';
import { jobTable } from './jobs.js';

const NAMES = { state: 'state', type: 'glob', older: 'older', newer: 'newer', error: 'error',
                kind: 'kind', attempts: 'attempts', limit: 'limit', queue: 'queue', text: 'text' };

// Turns `type:mail.* state:dead payload.to=a@b.c "some words"` into the server's parameters.
export function conditions(text) {
    const found = {}, words = [], where = [];
    for (const [token] of text.matchAll(/(?:[^\s":]+:)?"[^"]*"|\S+/g)) {
        const [, name, value] = /^([a-z]+):(.+)$/s.exec(token) || [];
        const bare = (value ?? token).replace(/^"(.*)"$/s, '$1');
        if (name && NAMES[name]) found[NAMES[name]] = bare;
        else if (name === 'where') where.push(bare);
        else if (/^[\w.[\]-]+=./.test(token)) where.push(token);
        else words.push(token.replace(/^"(.*)"$/s, '$1'));
    }
    if (words.length) found.text = words.join(' ');
    where.slice(0, 3).forEach((one, i) => { found[i ? `where${i + 1}` : 'where'] = one; });
    return found;
}

const EXAMPLES = ['type:mail.* state:dead', 'kind:timeout older:1h', 'payload.to=a@b.c', 'attempts:>3',
                  'error:"connection refused"', '"any text" queue:mail'];

function help() {
    return h('div', {}, h('p', { class: 'facts' }, 'An id, or conditions that must all hold:'),
        h('ul', { class: 'examples' }, EXAMPLES.map((q) =>
            h('li', {}, h('a', { href: path('search', { q }) }, h('code', {}, q))))));
}

// Counts, with a button to stop. Returns the number, or -1.
function countAll(asked, place) {
    return new Promise((resolve) => {
        const source = new EventSource(streamPath(asked.queue ? 'count-queue' : 'count', asked));
        let count = 0;
        const done = (value) => {
            source.close();
            place.replaceChildren();
            resolve(value);
        };
        const shown = meter('Counting', () => done(-1));
        place.replaceChildren(shown.element);
        source.onmessage = ({ data }) => {
            const line = JSON.parse(data);
            if (line.count !== undefined) count += line.count;
            else shown.tell(line.searched, line.of, `${number(line.searched)} of ${number(line.of)} looked at, ${
                number(line.found)} match`);
        };
        source.addEventListener('end', ({ data }) => {
            const { status, words, command: typed } = JSON.parse(data);
            if (status) note(words, typed, true);
            else if (!count) note('No job meets these conditions now.', typed);
            done(status ? -1 : count);
        });
        source.onerror = () => {
            note('They could not be counted: are two searches running already?', null, true);
            done(-1);
        };
    });
}

// Counts first, then asks, then acts: on no more jobs than were counted, and only on those still
// there.
async function actOnAll(where, verb, done, asked, place) {
    const { queue } = asked, count = await countAll(asked, place);
    if (count < 1 || !await confirm(`${verb} ${number(count)} jobs that match?`, count, verb)) return;
    await performLong(queue ? `${where}-queue-matching` : `${where}-matching`, { ...asked, most: count },
                      `${verb} ${number(count)} jobs`, place,
                      (sums) => `${number(sums[done] || 0)} jobs are ${done}`);
}

export function search(main, parameters) {
    const q = (parameters.get('q') || '').trim(), asked = conditions(q);
    const stop = new AbortController();
    const bar = h('progress', { max: 1, 'aria-label': 'Searched' }), words = h('p', { class: 'facts', role: 'status' });
    const halt = h('button', { type: 'button', class: 'quiet', onclick: () => end('stopped') }, 'Stop');
    const jobs = jobTable('What was found', () => {}, { state: asked.state, mixed: !asked.queue }), typed = h('div');
    const seen = new Set(), acting = h('div');
    const more = h('button', { type: 'button', hidden: true, onclick: () => goOn() }, 'Go on from here');
    let source = null, last = null, after = parameters.get('after') || '';

    main.append(h('h1', {}, h('small', {}, 'Search'), ' ', q));
    if (!q) {
        main.append(help());
        return null;
    }

    const act = (where, verb, done) => {
        end('stopped');
        actOnAll(where, verb, done, Object.fromEntries(Object.entries(asked)
            .filter(([name]) => name !== 'limit')), acting);
    };
    const all = h('p', { class: 'buttons' },
        button('Kick all that match', () => act('kick', 'Kick', 'kicked')),
        button('Bury all that match', () => act('bury', 'Bury', 'buried'), { class: 'danger' }),
        button('Cancel all that match', () => act('cancel', 'Cancel', 'cancelled'), { class: 'danger' }));

    function tell(why) {
        const part = last?.of ? `${number(last.searched)} of ${number(Math.max(last.of, last.searched))} jobs searched, ` : '';
        setText(words, `${part}${number(seen.size)} found${why ? `; ${why}` : '…'}`);
        if (last?.of) bar.value = Math.min(1, last.searched / last.of);
    }

    // If the search was stopped or has found enough, it can go on from there: now, or when the
    // page's address is opened again.
    function end(why) {
        source?.close();
        if (!source) return;
        source = null;
        halt.hidden = true;
        bar.hidden = true;
        more.hidden = !after;
        if (after) history.replaceState(null, '', path('search', { q, after }));
        tell(why);
    }

    function take(line) {
        if (line.searched !== undefined) {
            last = line;
            after = line.ended ? line.next ?? '' : line.next ?? after;
            tell();
            return;
        }
        const key = `${line.queue} ${line.id ?? line.document}`;
        if (seen.has(key)) return; // the job moved, and was found twice
        seen.add(key);
        jobs.add(line);
        tell();
    }

    function goOn() {
        const where = asked.queue ? 'search-queue' : 'search';
        halt.hidden = bar.hidden = false;
        more.hidden = true;
        words.textContent = 'one moment';
        source = new EventSource(streamPath(where, { ...asked, after }));
        source.onmessage = ({ data }) => take(JSON.parse(data));
        source.addEventListener('end', ({ data }) => {
            const answer = JSON.parse(data);
            typed.replaceChildren(command(answer.command));
            end(answer.status ? answer.words : after ? 'there may be more' : 'that is all');
            if (answer.status) main.append(empty(answer.words));
        });
        source.onerror = async () => {
            if (!source) return;
            end('it could not be done');
            if (last) return;
            // EventSource hides the body of an error, so it is fetched again.
            try {
                await get(streamPath(where, asked).slice(6), null, stop.signal);
            } catch (error) {
                if (error.name !== 'AbortError') main.append(empty(error.message));
            }
        };
    }

    function begin() {
        main.append(words, bar, h('p', { class: 'buttons' }, halt, more), all, acting, jobs.element, typed);
        goOn();
    }

    // A single word may be an id.
    const id = !/\s/.test(q) && q.length <= 200 && asked.text === q;
    (id ? get('job', { id: q }, stop.signal) : Promise.reject(new Error())).then((answer) => {
        const [job] = answer.answers;
        location.replace(path('job', { id: job.id, queue: job.queue }));
    }, (error) => {
        if (error.name !== 'AbortError') begin();
    });
    return () => {
        stop.abort();
        source?.close();
        source = null;
    };
}
