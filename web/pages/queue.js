// queue.js: one queue: its counts and its jobs, page by page.
import { button, confirm, may, note, perform } from './action.js';
import { act as send, get } from './api.js';
import { age, command, empty, h, link, moment, path, setText, table } from './dom.js';
import { fillIn } from './form.js';
import { jobTable } from './jobs.js';
import { listen, live } from './live.js';
import { waited } from './merge.js';
import { many, number, said, t } from './words.js';

const PAGE = 50;
const PAUSES = [['', t`until it is resumed`], ['15m', t`for 15 minutes`], ['1h', t`for an hour`], ['8h', t`for 8 hours`], ['1d', t`for a day`]];
const MEANINGS = { ready: t`Jobs that wait for a free worker.`, reserved: t`Jobs that workers hold: they run, or are about to.`,
                   delayed: t`Jobs that are due later, or are to be tried again.`,
                   waiting: t`Jobs that wait for other jobs of their flow.`,
                   dead: t`Jobs that have failed for good. A kick makes one ready again, with all its attempts.`,
                   done: t`Jobs that are done, and kept for a while, as types.keep in laterd.conf says.` };
const STATES = Object.keys(MEANINGS);

const times = (properties) => h('select', properties, PAUSES.map(([value, label]) => h('option', { value }, label)));

// Asks which type is to be paused, for how long, and why. Types of the last day are proposed.
function pauseType(queue) {
    const known = h('datalist', { id: 'pause-known' });
    get('types', { since: '1d', queue }).then(({ answers }) => known.append(...answers.map(({ type: value }) => h('option', { value }))), () => {});
    fillIn('pause', t`Pause a type of ${queue}`, t`Pause it`, [
        ['glob', t`Type, or how types begin and *`, { required: true, list: known.id, placeholder: t`mail.bulk, or mail.*` }],
        ['for', t`For how long`, times()], ['reason', t`Why`, { maxlength: 200 }]], async (values) => {
        const answer = await send('type-pause', { queue, ...values });
        note(t`${values.glob} of ${queue} is paused: no more of its jobs begin`, answer.command);
    }, known);
}

// The types that are paused. set(queue) shows those of this queue.
function pausedTypes() {
    const list = table(t`Paused types`, [[t`Type`, ''], [t`Since`, ''], [t`Until`, ''], [t`By`, ''], [t`Reason`, 'words'], [t`Action`, 'do']]);
    const element = h('div', { hidden: true }, h('h2', {}, t`Paused types`), list.element);
    let shown = '';

    const row = (queue, { type, since, until, by, reason }) => h('tr', {},
        h('th', { scope: 'row', class: 'paused' }, `❚❚ ${type}`), h('td', {}, since ? moment(since) : '–'),
        h('td', {}, until ? moment(until) : t`it is resumed`), h('td', {}, by ?? '–'), h('td', { class: 'words' }, reason ?? '–'),
        h('td', { class: 'do' }, button(t`Resume`, () => perform('type-resume', { queue, glob: type }, t`${type} of ${queue} is resumed`),
                                        { class: 'quiet small', 'aria-label': t`Resume ${type}` })));
    return { element, set({ queue, paused_types: all = [] }) {
        const now = JSON.stringify(all);
        if (now === shown) return; // whoever is at a button stays there
        shown = now;
        list.set(all.map((one) => row(queue, one)));
        element.hidden = !all.length;
    } };
}

export function queue(main, parameters) {
    const name = parameters.get('name') || 'default';
    const state = STATES.includes(parameters.get('state')) ? parameters.get('state') : 'ready';
    const offset = Math.max(0, parseInt(parameters.get('offset'), 10) || 0);
    const stop = new AbortController();
    let size = null;

    const tabs = STATES.map((one) => link('queue', { name, state: one === 'ready' ? '' : one },
                                          h('span', {}, said(one)), h('b', {}, one === 'done' ? '' : '–')));
    tabs[STATES.indexOf(state)].setAttribute('aria-current', 'page');
    const apart = state === 'delayed' ? h('p', { class: 'examples' },
        ['retrying', 'planned'].map((one) => link('search', {
            q: `queue:${name} state:delayed attempts:${one === 'planned' ? '0' : '>0'}` },
            one === 'planned' ? t`Planned: never tried` : t`Retrying: have failed`))) : '';
    const facts = h('p', { class: 'facts' }), pages = h('nav', { class: 'pages', 'aria-label': t`Pages of jobs` });
    const typed = h('div'), words = h('div', { role: 'status' });
    const jobs = jobTable(t`Jobs of ${name}, ${said(state)}`, () => load(), { state });

    const act = async (where, body, question, count, verb, done) => {
        if (!question || await confirm(question, count, verb)) {
            if (await perform(where, { queue: name, ...body }, done)) load();
        }
    };
    const counted = (one) => size?.[one] ?? 0; // done jobs have no count
    const pause = button(t`Pause`, () => act(size?.paused ? 'resume' : 'pause', size?.paused || !until.value ? {} : { for: until.value }, null, 0, '',
        size?.paused ? t`${name} is resumed` : t`${name} is paused: no more jobs begin`), { class: 'quiet' });
    const until = pause && times({ 'aria-label': t`Pause for how long` }), held = pausedTypes();
    const buttons = h('p', { class: 'buttons' }, pause, until, button(t`Pause a type`, () => pauseType(name), { class: 'quiet' }),
        may('admin') && h('a', { class: 'button', href: path('push', { queue: name }) }, t`New job`),
        h('a', { class: 'button', href: path('history', { queue: name }) }, t`History`),
        state === 'dead' || state === 'delayed'
            ? button(t`Kick all ${said(state)}`, () => act('kick-all', { state },
                many(counted(state), 'Kick {} {} job of {}?|Kick {} {} jobs of {}?', said(state), name), counted(state), t`Kick all`,
                ([answer]) => many(answer.kicked, '{} job is ready|{} jobs are ready'))) : null,
        state !== 'reserved' && state !== 'done'
            ? button(t`Drop all ${said(state)}`, () => act('cancel-all', { state },
                many(counted(state), 'Drop {} {} job of {} for good?|Drop {} {} jobs of {} for good?', said(state), name), counted(state),
                t`Drop all`, ([answer]) => many(answer.cancelled, '{} job is gone|{} jobs are gone')),
                { class: 'danger' }, 'admin') : null);

    main.append(h('h1', {}, h('small', {}, t`Queue`), ' ', name), facts,
                h('nav', { class: 'tabs', 'aria-label': t`States` }, tabs),
                h('p', { class: 'facts' }, MEANINGS[state]), apart, buttons, held.element, jobs.element, words,
                pages, typed);

    function page(label, at, able) {
        return able ? link('queue', { name, state: state === 'ready' ? '' : state, offset: at || '' }, label)
                    : h('span', { 'aria-disabled': 'true' }, label);
    }

    function showPages(shown) {
        const open = state === 'done' && shown === PAGE; // there may be more
        const all = Math.max(counted(state), offset + shown + open);
        const last = Math.max(0, Math.floor((all - 1) / PAGE) * PAGE);
        pages.replaceChildren(page(t`« first`, 0, offset > 0),
            page(t`‹ previous`, Math.max(0, offset - PAGE), offset > 0),
            h('span', {}, shown ? `${number(offset + 1)}–${number(offset + shown)}${
                open ? '' : t` of ${number(all)}`}` : ''),
            page(t`next ›`, offset + PAGE, offset + shown < all), page(t`last »`, last, !open && offset < last));
    }

    async function load() {
        try {
            const answer = await get('jobs', { queue: name, state, number: PAGE, offset }, stop.signal);
            jobs.set(answer.answers);
            words.replaceChildren(...(answer.answers.length ? []
                : [empty(t`No job is ${said(state)} here.`)]));
            typed.replaceChildren(command(answer.command));
            showPages(answer.answers.length);
        } catch (error) {
            if (error.name !== 'AbortError') words.replaceChildren(empty(said(error.message)));
        }
    }

    function update() {
        size = live.snap.queues.find((one) => one.queue === name) || size;
        if (!size && live.snap.known) setText(facts, t`There is no queue ${name}. The first push makes one.`);
        if (!size) return;
        STATES.forEach((one, i) => size[one] !== undefined && setText(tabs[i].lastChild, number(size[one])));
        setText(facts, [size.paused ? t`❚❚ Paused.` : '',
                        size.since === null ? t`Nothing waits.` : t`The oldest ready job has waited for ${age(waited(size, live.snap))}.`,
                        size.served === null ? '' : size.served
                            ? many(size.served, 'Served by {} host.|Served by {} hosts.')
                            : t`Nobody serves it.`,
                        size.overdue ? many(size.overdue, '{} reservation is overdue.|{} reservations are overdue.') : '',
                        size.shards ? t`Spread over ${number(size.shards)} shards.` : ''].join(' '));
        held.set(size);
        if (!pause) return;
        setText(pause, size.paused ? t`Resume` : t`Pause`);
        until.hidden = size.paused;
    }
    const stopListening = listen(update);
    load();
    return () => {
        stopListening();
        stop.abort();
    };
}

