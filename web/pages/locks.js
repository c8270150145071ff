// locks.js: locks, permits and limits that are in use: by whom, since when, who waits; other numbers for them.
import { button, me, note, perform } from './action.js';
import { act, get, repeat } from './api.js';
import { age, command, empty, failsIn, h, link, machines, moment, setChildren, since, table } from './dom.js';
import { fillIn } from './form.js';
import { number, said, t } from './words.js';

const SHOWN = 3;     // of those that wait
const AGAIN = 10000; // ms between two looks: each goes through the names of all keys

const job = (queue, id) => link('job', { id, queue }, id);

// A job has a lock as HOST QUEUE ID, and waits as QUEUE ID; anybody else is named as they are.
function holder(owner) {
    const [host, queue, id, more] = (owner ?? '').split(' ');
    return id && more === undefined ? t`job ${job(queue, id)} of ${queue} on ${host}` : owner ?? '–';
}

function waiting(one) {
    const first = (one.waiters ?? []).slice(0, SHOWN).map((waiter, i) => {
        const [queue, id] = waiter.split(' ');
        return [i ? ', ' : ': ', id ? job(queue, id) : waiter];
    });
    return one.waiting ? [number(one.waiting), first, one.waiting > first.length && first.length ? ', …' : ''] : '0';
}

const used = (one) => `${number(one.held)}${one.max ? t` of ${number(one.max)}` : ''}${one.per ? t` in ${age(one.per)}` : ''}`;
const ends = (one) => (one.kind !== 'limit' ? (one.remaining === null ? '–' : t`in ${age(one.remaining)}, unless renewed`)
    : one.opens ? t`opens in ${age(one.opens)}` : one.opens === 0 ? t`is open` : one.remaining === null ? '–' : t`forgotten in ${age(one.remaining)}`);

const COLUMNS = [
    [t`Kind`, (one) => said(one.kind), ''], [t`Held, used`, used, 'n'], [t`By`, (one) => holder(one.owner), 'words'],
    [t`Since`, (one) => (one.since ? since(one.since) : '–'), ''], [t`Ends, opens`, ends, ''], [t`Waiting, the first`, waiting, 'words'],
];

// Asks for other numbers of a limit or max_running; one: those that hold now, {} if it is not known of which. names:
// some that it may be. Calls done() once they are set.
function ask({ kind, name, max, per }, names, done) {
    const known = h('datalist', { id: 'numbers-known' }, names.map((value) => h('option', { value })));
    fillIn('numbers', name ? t`Other numbers for ${kind} ${name}` : t`Other numbers`, t`Set`, [
        ...(name ? [] : [['what', t`Of what`, h('select', {}, ['limit', 'max_running'].map((value) => h('option', { value }, value)))],
                         ['need', t`Name`, { required: true, list: known.id, placeholder: 'type:sms, queue:mail' }]]),
        ['max', t`How many`, { required: true, inputmode: 'numeric', value: max }],
        ...(kind === 'max_running' ? [] : [['per', t`In this time, of a limit`, { placeholder: t`1m; as configured`, value: per && `${per}s` }]]),
        ['for', t`For how long`, { placeholder: t`1h; until it is unset` }],
        ['who', t`Who sets it`, { maxlength: 64, value: me.who.replace(/^user | \(.*/g, '') }]], async (values) => {
        const body = { what: kind, need: name, ...values }, answer = await act('numbers-set', body);
        note(t`${body.what} ${body.need} is ${body.max} within about a second`, answer.command);
        done();
    }, known);
}

const small = (words, { kind, name }, onclick) =>
    button(words, onclick, { class: 'quiet small', 'aria-label': `${words} ${kind} ${name}` }, 'admin');
const change = (one, done) => small(t`Change`, one, () => ask(one, [], done));

// What is set. set(rows, names) shows it; names: of what else may be set.
function settings(again) {
    const list = table(t`Numbers that are set`, [[t`Name`, ''], [t`Of`, ''], [t`How many`, 'n'], [t`Since`, ''], [t`Until`, ''], [t`By`, ''], [t`Action`, 'do']]);
    const some = h('div', { hidden: true }, h('h2', {}, t`Numbers that are set`), list.element);
    let names = [];
    const other = button(t`Set other numbers`, () => ask({}, names, again), {}, 'admin');

    async function unset(one) {
        if (await perform('numbers-unset', { what: one.kind, need: one.name }, t`What is configured holds again for ${one.kind} ${one.name}`)) again();
    }

    const row = (one) => h('tr', {},
        h('th', { scope: 'row' }, one.name), h('td', {}, one.kind), h('td', { class: 'n' }, number(one.max), one.per ? t` in ${age(one.per)}` : ''),
        h('td', { title: moment(one.since) }, since(one.since)), h('td', {}, one.until ? moment(one.until) : t`it is unset`), h('td', {}, one.by ?? '–'),
        h('td', { class: 'do' }, change(one, again), ' ', small(t`Unset`, one, () => unset(one))));
    return { element: h('div', {}, some, other ? h('p', { class: 'buttons' }, other) : ''), set(rows, known) {
        names = known;
        list.set(rows.map(row));
        some.hidden = !rows.length;
    } };
}

export function locks(main) {
    const list = table(t`Locks and limits`, [[t`Name`, ''], ...COLUMNS.map(([heading, , kind]) => [heading, kind]), [t`Action`, 'do']]);
    const words = h('div', { role: 'status' }), typed = h('div'), set = settings(() => looks.again());
    list.element.hidden = true;
    main.append(h('h1', {}, t`Locks and limits`), machines('locks'), list.element, words, set.element, typed);

    function row(one) {
        return h('tr', {}, h('th', { scope: 'row' }, one.name), COLUMNS.map(([heading, of, kind]) =>
            h('td', { class: kind === 'n' && one.opens ? 'n late' : kind,
                      title: heading === t`Since` && one.since ? moment(one.since) : null }, of(one))),
            h('td', { class: 'do' }, one.kind !== 'lock' && change(one.kind === 'permit' ? { ...one, kind: 'max_running' } : one, looks.again)));
    }

    const looks = repeat(AGAIN, async (signal) => {
        const [answer, numbers] = await Promise.all([get('locks', null, signal), get('numbers', null, signal).catch(() => ({ answers: [] }))]); // who may not see them sees the others
        const all = answer.answers.sort((a, b) => b.waiting - a.waiting || a.kind.localeCompare(b.kind) || a.name.localeCompare(b.name));
        list.set(all.map(row));
        list.element.hidden = !all.length;
        words.replaceChildren(...(all.length ? [] : [empty(t`No lock, permit or limit is in use.`)]));
        set.set(numbers.answers, [...new Set(all.filter(({ kind }) => kind !== 'lock').map(({ name }) => name))]);
        setChildren(typed, command(answer.command));
    }, failsIn(words));
    return looks.end;
}
