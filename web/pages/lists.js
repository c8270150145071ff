// lists.js: the dead jobs, and those that run and are reserved.
import { busiest, get } from './api.js';
import { age, command, empty, h, link, path, setChildren, setText, table } from './dom.js';
import { jobTable, progressText } from './jobs.js';
import { listen, live } from './live.js';
import { reasonTable } from './reasons.js';
import { many, number, said, t } from './words.js';

const SHOWN = 50;    // of each queue
const EVERY = 2000;  // ms between two looks at what has changed

// Changes whenever one of the queue's jobs gets into this state, or out of it.
const markOf = (queue, state) => `${queue[state]} ${queue.buried}`;

// Shows some jobs of each queue that has any in this state, once that is known. What is shown stays if
// some cannot be asked for: then `fail` gets the reason. follows() says whether changes may be shown
// now; then only the queues that have changed are asked. What was asked before somebody chose jobs, and comes
// after it, is not shown, and asked again.
function gather(state, last, show, fail, follows) {
    const stop = new AbortController();
    let stopListening = null, busy = false, shown = false, at = 0;
    let known = new Map(); // queue → {mark, answer}

    async function ask(queue, again) {
        const mark = markOf(queue, state), before = known.get(queue.queue);
        if (!again && before?.mark === mark) return [queue.queue, before];
        const answer = await get('jobs', {
            queue: queue.queue, state, number: SHOWN,
            offset: last ? Math.max(0, queue[state] - SHOWN) : 0,
        }, stop.signal).catch((error) => {
            if (error.status === 404) return { answers: [], command: '' }; // it was forgotten
            throw error;
        });
        return [queue.queue, { mark, answer }];
    }

    const some = () => live.snap.queues.filter((queue) => queue[state] > 0);
    const same = (queues) => queues.length === known.size && queues.every((queue) => known.get(queue.queue)?.mark === markOf(queue, state));

    async function load(again = true) {
        const queues = some();
        busy = true;
        at = Date.now();
        try {
            const asked = new Map(await Promise.all(queues.map((queue) => ask(queue, again))));
            if (!shown || !follows || follows()) {
                known = asked;
                shown = true;
                const answers = [...known.values()].map((one) => one.answer);
                show(answers.flatMap((answer) => answer.answers), queues, answers.map((one) => one.command), again);
            }
        } catch (error) {
            if (error.name !== 'AbortError') fail(error.message);
        }
        busy = false;
    }
    stopListening = listen(() => {
        const away = live.lost || live.snap?.away;
        if (away && !shown) fail(away);
        if (away || !live.snap.known || busy || (shown && !follows?.())) return;
        if (!shown) load();
        else if (Date.now() - at >= EVERY && !same(some())) load(false);
    }, true);
    return {
        load, end() {
            stopListening();
            stop.abort();
        },
    };
}

export function dead(main) {
    const jobs = jobTable(t`Dead jobs`, () => gathered.load(), { state: 'dead', mixed: true });
    const why = reasonTable(() => gathered.load());
    const words = h('div', { role: 'status' }), typed = h('div'), queues = h('p', { class: 'examples' });
    main.append(h('h1', {}, t`Dead`), queues, h('p', {}, t`${link('search', { q: 'state:delayed attempts:>0' }, t`Retrying`)}: those that have failed and will be tried again.`), h('h2', {}, t`Why they died`), why.element,
                h('h2', {}, t`The latest of each queue`), jobs.element, words, typed);

    const gathered = gather('dead', true, (all, from, commands, again) => {
        all.sort((a, b) => b.score - a.score);
        jobs.set(all);
        why.show(all, from, again);
        queues.replaceChildren(...from.map((queue) =>
            link('queue', { name: queue.queue, state: 'dead' }, queue.queue, ' ', h('b', {}, number(queue.dead)))));
        words.replaceChildren(...(all.length ? [] : [empty(t`Nothing is dead.`)]));
        setChildren(typed, ...commands.filter(Boolean).slice(0, 1).map(command));
    }, (reason) => words.replaceChildren(empty(said(reason))), () => !jobs.chosen() && !document.querySelector('dialog'));
    return () => {
        gathered.end();
        why.end();
    };
}

// The jobs that run for the longest time on each host, as the host reports them every five seconds.
function runningBox() {
    const box = h('div'), sections = new Map();
    const heard = new Map(); // host → its last report, and when it came, by our clock
    const usual = new Map(); // queue and type → seconds within which 99 of 100 end
    const stop = new AbortController();
    get('types', { since: '1d', most: busiest(86400) }, stop.signal).then(({ answers }) => {
        for (const one of answers) usual.set(`${one.queue} ${one.type}`, one.run?.p99);
    }, () => {}); // then it is not known

    function section(id) {
        const list = table(t`Running on ${id}`, [[t`Job`, ''], [t`Type, queue`, ''], [t`Running for`, 'n'], [t`Usually within`, 'n'],
                                                [t`Timeout`, 'n'], [t`Attempt`, 'n'], [t`Worker`, 'n'], [t`Progress`, 'words']]);
        const facts = h('small');
        return { element: h('section', { 'aria-label': id }, h('h2', {}, id, ' ', facts), list.element), facts, list };
    }

    function row(job, now, progress) {
        const runs = Math.max(0, now - job.since), most = usual.get(`${job.queue} ${job.type}`) ?? null;
        const over = (most && runs > most) || (job.timeout && runs > job.timeout);
        const cell = (text, kind = 'n') => h('td', { class: kind }, text);
        return h('tr', { 'data-row': path('job', { id: job.id, queue: job.queue }) },
            h('th', { scope: 'row', class: 'id', title: job.id }, link('job', { id: job.id, queue: job.queue }, job.id)),
            h('td', { class: 'type' }, job.type, link('queue', { name: job.queue, state: 'reserved' }, job.queue)),
            cell(`${age(runs)}${over ? ' !' : ''}`, over ? 'n late' : 'n'), cell(age(most)),
            cell(job.timeout ? age(job.timeout) : '–'), cell(number(job.attempt)),
            cell(String(job.worker)), cell(progress ?? '', 'words'));
    }

    function update(progress) {
        const here = live.snap.hosts.filter((host) => !host.gone && host.running);
        for (const [id, one] of sections) {
            if (here.some((host) => host.id === id)) continue;
            one.element.remove();
            sections.delete(id);
        }
        for (const host of here) {
            if (!sections.has(host.id)) sections.set(host.id, section(host.id));
            const { element, facts, list } = sections.get(host.id), jobs = host.jobs ?? [];
            if (heard.get(host.id)?.seen !== host.seen) heard.set(host.id, { seen: host.seen, at: Date.now() });
            const now = host.seen + (Date.now() - heard.get(host.id).at) / 1000;
            box.append(element);
            setText(facts, `${many(host.workers, '{2} running on {1} worker|{2} running on {1} workers', number(host.running))}${
                jobs.length < host.running ? jobs.length ? t`, the ${number(jobs.length)} longest` : t`, none for longer than a second` : ''}`);
            list.element.hidden = !jobs.length;
            list.set(jobs.map((job) => row(job, now, progress.get(`${job.queue} ${job.id}`))));
        }
        return here.length;
    }
    return { element: box, update, end: () => stop.abort() };
}

export function reserved(main) {
    const jobs = jobTable(t`Reserved jobs`, () => gathered.load(), { state: 'reserved', mixed: true });
    const words = h('div', { role: 'status' });
    const refresh = h('button', { type: 'button', class: 'quiet', onclick: () => gathered.load() },
                      t`Look again`);
    const running = runningBox(), none = h('div'), progress = new Map();
    main.append(h('h1', {}, t`Running`), running.element, none, h('h2', {}, t`Reserved`),
                h('p', { class: 'facts' }, t`Jobs that workers hold: they run, or are about to.`, ' ', refresh),
                jobs.element, words);
    const gathered = gather('reserved', false, (all) => {
        jobs.set(all);
        for (const job of all)
            if (job.progress?.done !== undefined) progress.set(`${job.queue} ${job.id}`, progressText(job.progress));
        words.replaceChildren(...(all.length ? [] : [empty(t`Nothing is reserved now.`)]));
    }, (reason) => words.replaceChildren(empty(said(reason))));
    const stopListening = listen(() => {
        if (!live.snap.known) return;
        const some = running.update(progress);
        none.replaceChildren(...(some ? [] : [empty(t`No host reports a job that runs.`)]));
    });
    return () => {
        stopListening();
        running.end();
        gathered.end();
    };
}
