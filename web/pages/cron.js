// cron.js: schedules: when each is due next, in words too, and how it went last; new ones, other times.
import { button, confirm, note as tell, perform } from './action.js';
import { act as send, get, repeat } from './api.js';
import { command, empty, failsIn, h, link, moment, setChildren, since, table } from './dom.js';
import { fillIn } from './form.js';
import { number, said, t } from './words.js';

const ASKED = 50; // last jobs that are asked for
const FIELDS = [['name', t`Name`, 'report'], ['queue', t`Queue`, 'default'], ['expression', t`When`, t`0 3 * * mon-fri, or @every 90s`],
                ['zone', t`Time zone`, 'UTC; Europe/Berlin'], ['type', t`Type of its jobs`, 'report.daily'], ['payload', t`Payload, JSON`, 'null']];

// Asks for a new schedule, or, of one, for another time. Calls done() once it is set.
function ask(one, done) {
    const fields = FIELDS.filter(([name]) => !one || name === 'expression' || name === 'zone').map(([name, label, hint]) =>
        [name, label, { placeholder: hint, required: !['zone', 'payload', 'queue'].includes(name), value: { expression: one?.at, zone: one?.zone }[name] }]);
    fillIn('cron', one ? t`When ${one.name} is due` : t`New schedule`, t`Set`, fields, async (values) => {
        const body = { name: one?.name, queue: one?.queue ?? 'default', ...values };
        const answer = await send('cron-set', body);
        tell(t`${body.name} is set`, answer.command);
        done();
    });
}

export function cron(main) {
    const list = table(t`Periodic jobs`, [[t`Name`, ''], [t`Queue`, ''], [t`When`, ''], [t`Zone`, ''], [t`Next`, ''],
                                         [t`Last`, ''], [t`State`, ''], [t`Action`, 'do']]);
    const note = h('div', { role: 'status' }), typed = h('div');
    const add = button(t`New schedule`, () => ask(null, looks.again), {}, 'admin');
    const became = new Map(); // queue and id of a last job → what became of it, a word
    main.append(h('h1', {}, t`Periodic jobs`), list.element, note, add ? h('p', { class: 'buttons' }, add) : '', typed);

    const act = async (verb, row, done) => {
        if (await perform(`cron-${verb}`, { name: row.name, queue: row.queue }, done)) looks.again();
    };

    async function drop(one) {
        if (await confirm(t`Delete the schedule ${one.name} of ${one.queue} for good?`, 1, t`Delete it`, t`The jobs that it has pushed stay.`))
            act('delete', one, t`${one.name} is deleted`);
    }

    // A job that nobody knows any more has ended: dead ones stay.
    async function follow(rows, signal) {
        const news = rows.filter((one) => one.job && !became.has(`${one.queue} ${one.job}`)).slice(0, ASKED);
        await Promise.all(news.map(async (one) => {
            const key = `${one.queue} ${one.job}`;
            const state = await get('job', { queue: one.queue, id: one.job }, signal)
                .then((answer) => answer.answers[0]?.state ?? 'ended', (error) => (error.status === 404 ? 'ended' : ''));
            if (state === 'ended' || state === 'dead' || state === 'done') became.set(key, state);
            for (const cell of list.body.querySelectorAll('[data-job]'))
                if (cell.dataset.job === key && state) {
                    cell.textContent = `, ${said(state)}`;
                    cell.className = state === 'dead' ? 'late' : '';
                }
        }));
    }

    function last(one) {
        const key = `${one.queue} ${one.job}`, state = became.get(key);
        if (!one.last) return '–';
        if (!one.job) return `${since(one.last)}${one.outcome ? `, ${said(one.outcome)}` : ''}`;
        return [link('job', { id: one.job, queue: one.queue }, since(one.last)),
                h('span', { 'data-job': key, class: state === 'dead' ? 'late' : '' }, state ? `, ${said(state)}` : '')];
    }

    const coming = (one) => (one.coming?.length > 1
        ? h('details', {}, h('summary', {}, one.next ? since(one.next) : '–'), one.coming.map((at) => h('div', {}, moment(at))))
        : one.next ? since(one.next) : '–');

    function row(one) {
        const paused = one.state === 'paused';
        return h('tr', { class: paused ? 'is-paused' : '', 'data-of': `${one.queue} ${one.name}` },
            h('th', { scope: 'row' }, one.name), h('td', {}, link('queue', { name: one.queue }, one.queue)),
            h('td', { class: 'words' }, one.words ? [said(one.words, 'cron'), ' '] : '', h('code', {}, one.at)), h('td', {}, one.zone),
            h('td', { title: one.next ? moment(one.next) : '' }, coming(one)),
            h('td', { title: one.last ? moment(one.last) : '' }, last(one)),
            h('td', { class: paused ? 'paused' : '' }, (paused ? t`❚❚ paused` : said(one.state)) +
                   (one.limit ? t`, ${number(one.fired)} of ${number(one.limit)}` : '')),
            h('td', { class: 'do' }, one.origin?.startsWith('config:') ? '' : button(t`Change`, () => ask(one, looks.again),
                                            { class: 'quiet small', 'aria-label': t`Change when ${one.name} is due` }, 'admin'), ' ', button(t`Run now`, () => act('run', one, t`${one.name} is pushed`),
                                            { class: 'quiet small', 'aria-label': t`Run now: ${one.name}` }, 'admin'), ' ',
              button(paused ? t`Resume` : t`Pause`, () => act(paused ? 'resume' : 'pause', one,
                     paused ? t`${one.name} is resumed` : t`${one.name} is paused`),
                     { class: 'quiet small', 'aria-label': paused ? t`Resume ${one.name}` : t`Pause ${one.name}` }, 'admin'), ' ',
              one.origin?.startsWith('config:') ? '' : button(t`Delete`, () => drop(one), { class: 'danger small', 'aria-label': t`Delete ${one.name}` }, 'admin')));
    }

    const looks = repeat(10000, async (signal) => {
        const answer = await get('cron', null, signal);
        const open = new Set([...list.body.querySelectorAll('details[open]')].map((e) => e.closest('tr').dataset.of));
        list.set(answer.answers.map(row));
        for (const e of list.body.querySelectorAll('details')) e.open = open.has(e.closest('tr').dataset.of);
        follow(answer.answers, signal);
        list.element.hidden = !answer.answers.length;
        note.replaceChildren(...(answer.answers.length ? [] : [empty(
            t`There are none. ${h('code', {}, 'later cron set report "0 3 * * *" report.daily')} makes one.`)]));
        setChildren(typed, command(answer.command));
    }, failsIn(note), () => !list.element.contains(document.activeElement));
    return looks.end;
}
