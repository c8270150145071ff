// cron.js: schedules: when each is due next, and how it went last.
import { button, perform } from './action.js';
import { get } from './api.js';
import { command, empty, h, link, moment, since, table } from './dom.js';

export function cron(main) {
    const stop = new AbortController();
    const list = table('Periodic jobs', [['Name', ''], ['Queue', ''], ['When', ''], ['Zone', ''], ['Next', ''],
                                         ['Last', ''], ['State', ''], ['Action', 'do']]);
    const note = h('div', { role: 'status' }), typed = h('div');
    main.append(h('h1', {}, 'Periodic jobs'), list.element, note, typed);

    const time = (at) => h('td', { title: at ? moment(at) : '' }, at ? since(at) : '–');
    const act = async (verb, row, done) => {
        if (await perform(`cron-${verb}`, { name: row.name, queue: row.queue }, `${row.name} ${done}`)) load();
    };

    function row(one) {
        const paused = one.state === 'paused';
        return h('tr', { class: paused ? 'is-paused' : '' },
            h('th', { scope: 'row' }, one.name), h('td', {}, link('queue', { name: one.queue }, one.queue)),
            h('td', {}, h('code', {}, one.at)), h('td', {}, one.zone), time(one.next),
            h('td', { title: one.last ? moment(one.last) : '' },
              one.last ? `${since(one.last)}${one.outcome ? `, ${one.outcome}` : ''}` : '–'),
            h('td', { class: paused ? 'paused' : '' }, (paused ? '❚❚ paused' : one.state) +
                   (one.limit ? `, ${one.fired} of ${one.limit}` : '')),
            h('td', { class: 'do' }, button('Run now', () => act('run', one, 'is pushed'),
                                            { class: 'quiet small', 'aria-label': `Run ${one.name} now` }, 'admin'), ' ',
              button(paused ? 'Resume' : 'Pause', () => act(paused ? 'resume' : 'pause', one,
                     paused ? 'is resumed' : 'is paused'),
                     { class: 'quiet small', 'aria-label': `${paused ? 'Resume' : 'Pause'} ${one.name}` }, 'admin')));
    }

    async function load() {
        try {
            const answer = await get('cron', null, stop.signal);
            list.body.replaceChildren(...answer.answers.map(row));
            list.element.hidden = !answer.answers.length;
            note.replaceChildren(...(answer.answers.length ? [] : [empty(
                'There are none. ', h('code', {},
                'later cron set report "0 3 * * *" report.daily'), ' makes one.')]));
            typed.replaceChildren(command(answer.command));
        } catch (error) {
            if (error.name !== 'AbortError') note.replaceChildren(empty(error.message));
        }
    }
    load();
    const timer = setInterval(() => !document.hidden && load(), 10000);
    return () => {
        clearInterval(timer);
        stop.abort();
    };
}
