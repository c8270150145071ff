// queue.js: one queue: its counts and its jobs, page by page.
import { button, confirm, may, note, perform } from './action.js';
import { act as send, get } from './api.js';
import { age, command, empty, h, link, moment, number, path, setText, table } from './dom.js';
import { fillIn } from './form.js';
import { jobTable } from './jobs.js';
import { listen, live } from './live.js';
import { waited } from './merge.js';

const PAGE = 50;
const PAUSES = [['', 'until it is resumed'], ['15m', 'for 15 minutes'], ['1h', 'for an hour'], ['8h', 'for 8 hours'], ['1d', 'for a day']];
const STATES = ['ready', 'reserved', 'delayed', 'dead', 'done'];

const times = (properties) => h('select', properties, PAUSES.map(([value, label]) => h('option', { value }, label)));

// Asks which type is to be paused, for how long, and why. Types of the last day are proposed.
function pauseType(queue) {
    const known = h('datalist', { id: 'pause-known' });
    get('types', { since: '1d', queue }).then(({ answers }) => known.append(...answers.map(({ type: value }) => h('option', { value }))), () => {});
    fillIn('pause', `Pause a type of ${queue}`, 'Pause it', [
        ['glob', 'Type, or how types begin and *', { required: true, list: known.id, placeholder: 'mail.bulk, or mail.*' }],
        ['for', 'For how long', times()], ['reason', 'Why', { maxlength: 200 }]], async (values) => {
        const answer = await send('type-pause', { queue, ...values });
        note(`${values.glob} of ${queue} is paused: no more of its jobs begin`, answer.command);
    }, known);
}

// The types that are paused. set(queue) shows those of this queue.
function pausedTypes() {
    const list = table('Paused types', [['Type', ''], ['Since', ''], ['Until', ''], ['By', ''], ['Reason', 'words'], ['Action', 'do']]);
    const element = h('div', { hidden: true }, h('h2', {}, 'Paused types'), list.element);
    let shown = '';

    const row = (queue, { type, since, until, by, reason }) => h('tr', {},
        h('th', { scope: 'row', class: 'paused' }, `❚❚ ${type}`), h('td', {}, since ? moment(since) : '–'),
        h('td', {}, until ? moment(until) : 'it is resumed'), h('td', {}, by ?? '–'), h('td', { class: 'words' }, reason ?? '–'),
        h('td', { class: 'do' }, button('Resume', () => perform('type-resume', { queue, glob: type }, `${type} of ${queue} is resumed`),
                                        { class: 'quiet small', 'aria-label': `Resume ${type}` })));
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
                                          h('span', {}, one), h('b', {}, one === 'done' ? '' : '–')));
    tabs[STATES.indexOf(state)].setAttribute('aria-current', 'page');
    const apart = state === 'delayed' ? h('p', { class: 'examples' },
        ['retrying', 'planned'].map((one) => link('search', {
            q: `queue:${name} state:delayed attempts:${one === 'planned' ? '0' : '>0'}` },
            one === 'planned' ? 'Planned: never tried' : 'Retrying: have failed'))) : '';
    const facts = h('p', { class: 'facts' }), pages = h('nav', { class: 'pages', 'aria-label': 'Pages of jobs' });
    const typed = h('div'), words = h('div', { role: 'status' });
    const jobs = jobTable(`Jobs of ${name}, ${state}`, () => load(), { state });

    const act = async (where, body, question, count, verb, done) => {
        if (!question || await confirm(question, count, verb)) {
            if (await perform(where, { queue: name, ...body }, done)) load();
        }
    };
    const counted = (one) => size?.[one] ?? 0; // done jobs have no count
    const pause = button('Pause', () => act(size?.paused ? 'resume' : 'pause', size?.paused || !until.value ? {} : { for: until.value }, null, 0, '',
        size?.paused ? `${name} is resumed` : `${name} is paused: no more jobs begin`), { class: 'quiet' });
    const until = pause && times({ 'aria-label': 'Pause for how long' }), held = pausedTypes();
    const buttons = h('p', { class: 'buttons' }, pause, until, button('Pause a type', () => pauseType(name), { class: 'quiet' }),
        may('admin') && h('a', { class: 'button', href: path('push', { queue: name }) }, 'New job'),
        h('a', { class: 'button', href: path('history', { queue: name }) }, 'History'),
        state === 'dead' || state === 'delayed'
            ? button(`Kick all ${state}`, () => act('kick-all', { state },
                `Kick ${number(counted(state))} ${state} jobs of ${name}?`, counted(state), 'Kick all',
                ([answer]) => `${number(answer.kicked)} jobs are ready`)) : null,
        state !== 'reserved' && state !== 'done'
            ? button(`Drop all ${state}`, () => act('cancel-all', { state },
                `Drop ${number(counted(state))} ${state} jobs of ${name} for good?`, counted(state),
                'Drop all', ([answer]) => `${number(answer.cancelled)} jobs are gone`),
                { class: 'danger' }, 'admin') : null);

    main.append(h('h1', {}, h('small', {}, 'Queue'), ' ', name), facts,
                h('nav', { class: 'tabs', 'aria-label': 'States' }, tabs), apart, buttons, held.element, jobs.element, words,
                pages, typed);

    function page(label, at, able) {
        return able ? link('queue', { name, state: state === 'ready' ? '' : state, offset: at || '' }, label)
                    : h('span', { 'aria-disabled': 'true' }, label);
    }

    function showPages(shown) {
        const open = state === 'done' && shown === PAGE; // there may be more
        const all = Math.max(counted(state), offset + shown + open);
        const last = Math.max(0, Math.floor((all - 1) / PAGE) * PAGE);
        pages.replaceChildren(page('« first', 0, offset > 0),
            page('‹ previous', Math.max(0, offset - PAGE), offset > 0),
            h('span', {}, shown ? `${number(offset + 1)}–${number(offset + shown)}${
                open ? '' : ` of ${number(all)}`}` : ''),
            page('next ›', offset + PAGE, offset + shown < all), page('last »', last, !open && offset < last));
    }

    async function load() {
        try {
            const answer = await get('jobs', { queue: name, state, number: PAGE, offset }, stop.signal);
            jobs.set(answer.answers);
            words.replaceChildren(...(answer.answers.length ? []
                : [empty(`No job is ${state} here.`)]));
            typed.replaceChildren(command(answer.command));
            showPages(answer.answers.length);
        } catch (error) {
            if (error.name !== 'AbortError') words.replaceChildren(empty(error.message));
        }
    }

    function update() {
        size = live.snap.queues.find((one) => one.queue === name) || size;
        if (!size) return;
        STATES.forEach((one, i) => size[one] !== undefined && setText(tabs[i].lastChild, number(size[one])));
        setText(facts, [size.paused ? '❚❚ Paused.' : '',
                        size.since === null ? 'Nothing waits.' : `The oldest ready job has waited for ${age(waited(size, live.snap))}.`,
                        size.served === null ? '' : size.served
                            ? `Served by ${number(size.served)} host${size.served > 1 ? 's' : ''}.`
                            : 'Nobody serves it.',
                        size.overdue ? `${number(size.overdue)} reservations are overdue.` : '',
                        size.shards ? `Spread over ${number(size.shards)} shards.` : ''].join(' '));
        held.set(size);
        if (!pause) return;
        setText(pause, size.paused ? 'Resume' : 'Pause');
        until.hidden = size.paused;
    }
    const stopListening = listen(update);
    load();
    return () => {
        stopListening();
        stop.abort();
    };
}

