// search.js: finds jobs that meet conditions, shows them as they come, and acts on all of them.
import { ALL, button, performAll } from './action.js';
import { get, getLong, mean, meant } from './api.js';
import { command, empty, h, path, setText } from './dom.js';
import { download } from './download.js';
import { facets } from './facets.js';
import { jobTable } from './jobs.js';
import { conditions, without } from './query.js';
import { savedList, saver } from './saved.js';
import { number, said, t } from './words.js';

const EXAMPLES = ['type:mail.*|sms.* state:dead', '-kind:timeout state:dead', 'kind:timeout older:1h', 'payload.to=a@b.c', 'attempts:>3', 'priority:>0',
                  'error:"connection refused"', '"any text" queue:mail'];

function help() {
    return h('div', {}, h('p', { class: 'facts' }, t`An id, or conditions that must all hold:`),
        h('ul', { class: 'examples' }, EXAMPLES.map((q) =>
            h('li', {}, h('a', { href: path('search', { q }), onclick: () => mean(q) }, h('code', {}, q))))));
}

export function search(main, parameters) {
    const q = (parameters.get('q') || '').trim(), stop = new AbortController();
    const bar = h('progress', { max: 1, 'aria-label': t`Searched` }), words = h('p', { class: 'facts', role: 'status' });
    const halt = h('button', { type: 'button', class: 'quiet', onclick: () => end(t`stopped`) }, t`Stop`);
    const typed = h('div'), seen = new Set(), acting = h('div'), wrong = h('div', { role: 'alert' });
    const more = h('button', { type: 'button', hidden: true, onclick: () => goOn() }, t`Go on from here`);
    let asked = {}, source = null, last = null, after = parameters.get('after') || '';

    main.append(h('h1', {}, h('small', {}, t`Search`), ' ', q), wrong);
    if (!q) {
        main.append(help(), savedList(stop.signal));
        return () => stop.abort();
    }
    try {
        asked = conditions(q);
    } catch (error) {
        wrong.append(empty(error.message));
        return null;
    }

    const { limit, columns, ...whole } = asked; // without how many to show, and how
    const counts = facets(q, whole), file = download(q, whole);
    // What is chosen is in this browser by now; a search that has columns of its own has these instead.
    const recolumn = (text) => {
        const other = `${without(q, 'columns')}${text && ` columns:${text}`}`.trim();
        mean(other);
        location.hash = path('search', { q: other });
    };
    const jobs = jobTable(t`What was found`, () => {}, { state: asked.state, mixed: !asked.queue, columns, recolumn: columns && recolumn });
    const keep = saver(asked, stop.signal);
    const act = (where, done) => {
        end(t`stopped`);
        performAll(asked.queue ? `${where}-queue-matching` : `${where}-matching`, whole, done, acting);
    };
    const all = h('p', { class: 'buttons' },
        button(ALL.kicked.label, () => act('kick', 'kicked')),
        button(ALL.buried.label, () => act('bury', 'buried'), { class: 'danger' }),
        button(ALL.cancelled.label, () => act('cancel', 'cancelled'), { class: 'danger' }), file.element);

    function tell(why) {
        const part = last?.of ? t`${number(last.searched)} of ${number(Math.max(last.of, last.searched))} jobs searched, ` : '';
        setText(words, `${part}${t`${number(seen.size)} found`}${why ? `; ${why}` : '…'}`);
        if (last?.of) bar.value = Math.min(1, last.searched / last.of);
    }

    // If the search was stopped or has found enough, it can go on from there: now, or when the
    // page's address is opened again.
    function end(why) {
        source?.abort();
        if (!source) return;
        source = null;
        halt.hidden = true;
        bar.hidden = true;
        more.hidden = !after;
        if (after) history.replaceState(null, '', path('search', { q, after }));
        tell(why);
        counts.offer(seen.size ? last?.of ?? 0 : null);
    }

    // The reason stands where it is read first, and nothing can be done to jobs that nobody chose.
    function refuse(reason, line) {
        end(t`it could not be done`);
        wrong.replaceChildren(empty(said(reason)));
        for (const part of seen.size ? [all, keep, counts.element] : [all, keep, counts.element, words, jobs.element]) part.hidden = true;
        if (line) typed.replaceChildren(command(line));
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

    async function goOn() {
        const mine = source = new AbortController();
        halt.hidden = bar.hidden = false;
        more.hidden = true;
        words.textContent = t`one moment`;
        try {
            const answer = await getLong(asked.queue ? 'search-queue' : 'search', { ...whole, limit, after }, (name, line) => {
                if (source === mine) take(line);
            }, mine.signal);
            if (source !== mine) return;
            if (answer.status) refuse(answer.words, answer.command);
            typed.replaceChildren(command(answer.command));
            end(after ? t`there may be more` : t`that is all`);
        } catch (error) {
            if (source === mine) refuse(error.message, error.command);
        }
    }

    function begin() {
        main.append(words, bar, h('p', { class: 'buttons' }, halt, more), all, acting, keep, counts.element, jobs.element, typed);
        goOn();
    }

    if (asked.error !== undefined && !meant.has(q)) {
        const question = h('div', {}, h('p', { class: 'facts' }, t`This search came with the address. Is it yours?`),
            h('p', { class: 'buttons' }, h('button', { type: 'button', onclick: () => {
                mean(q);
                question.remove();
                begin();
            } }, t`Search`)));
        main.append(question);
        return () => {
            counts.end();
            file.end();
            source?.abort();
            source = null;
        };
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
        counts.end();
        file.end();
        source?.abort();
        source = null;
    };
}
