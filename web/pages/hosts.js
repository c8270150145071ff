// hosts.js: the hosts: how busy they are, their memory, their pools; a host can be made quiet.
import { button, perform } from './action.js';
import { age, bytes, command, empty, h, machines, moment, setAttribute, setText, since, svg, table } from './dom.js';
import { listen, live, numbersAge } from './live.js';
import { number, rate, said, t } from './words.js';

const MINUTES = 30, WIDTH = 120, HEIGHT = 24;

const listOf = (value) => (Array.isArray(value) ? value : []); // what hosts say of themselves may be anything

const quietWords = ({ since: from, until, by }) => [t`❚❚ quiet`, from ? t` since ${moment(from)}` : '', by ? t` by ${by}` : '',
                                                    until ? t`, until ${moment(until)}` : ''].join('');

const stateWords = (host) => (host.gone ? t`✕ gone, seen ${since(host.seen)}` : host.fault ? `! ${said(host.fault)}`
    : host.quiet ? quietWords(host.quiet) : t`● alive`);
const stateKind = (host) => (host.gone || host.fault ? 'late' : host.quiet ? 'paused' : 'good');

// How many jobs ran at once in each of the last minutes, as a small picture: its top is the number of
// workers, or the most that ran.
function curve() {
    const line = svg('path', { class: 'line reserved' }), area = svg('path', { class: 'area reserved' });
    const picture = svg('svg', { class: 'curve', viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none', role: 'img' }, area, line);

    function update({ busy: told, workers = 0 }) {
        const busy = listOf(told).slice(-MINUTES), known = busy.filter((one) => typeof one === 'number'), top = Math.max(workers, ...known, 1);
        const mean = known.length ? known.reduce((a, b) => a + b, 0) / known.length : null;
        const spot = (value, i) => [WIDTH * (1 - (busy.length - 1 - i) / (MINUTES - 1)), HEIGHT - 1 - (HEIGHT - 2) * (value / top)]
            .map((n) => n.toFixed(1)).join(' ');
        let path = '', shape = '', run = [];
        [...busy, null].forEach((value, i) => {
            if (typeof value === 'number') {
                run.push(spot(value, i));
                return;
            }
            if (!run.length) return;
            const [from, to] = [run[0], run.at(-1)].map((one) => one.split(' ')[0]);
            path += `M${run.join('L')}${run.length === 1 ? 'h.1' : ''}`;
            shape += `M${from} ${HEIGHT}L${run.join('L')}L${to} ${HEIGHT}Z`;
            run = [];
        });
        line.setAttribute('d', path);
        area.setAttribute('d', shape);
        picture.setAttribute('aria-label', mean === null ? t`not told` : t`${known.length} minutes: ${rate(mean)} at once on average, ${rate(Math.max(...known))} at most`);
        return mean === null ? '–' : t`${rate(mean)} of ${number(workers)}`;
    }
    return { picture, update };
}

// name: heading, the words. A host that is gone does nothing now.
const now = (words) => (host) => (host.gone ? '–' : words(host));
const COLUMNS = [
    [t`State`, stateWords, ''], [t`Version`, (host) => host.version ?? '', ''],
    [t`Up`, now((host) => age(host.seen - host.started + numbersAge()))], [t`Workers`, now((host) => number(host.workers ?? 0))],
    [t`Running`, now((host) => number(host.running ?? 0))], [t`Busy, 30 min`, null],
    [t`Performed`, (host) => number(host.performed ?? 0)], [t`Failed`, (host) => number(host.failed ?? 0)],
    [t`A second, last minute`, now((host) => rate(host.rate ?? 0))], [t`Memory`, now((host) => (host.memory ? bytes(host.memory) : '–'))],
    [t`Crashes`, (host) => number(host.crashes ?? 0)],
    [t`Pools`, (host) => listOf(host.pools).map((pool) => `${pool?.name}: ${number(pool?.workers ?? 0)}`).join(', '), 'words'],
    [t`Queues`, (host) => listOf(host.queues).join(', '), 'words'],
];

function row(id) {
    const busy = h('span'), { picture, update: draw } = curve();
    const cells = COLUMNS.map(([heading, words, kind = 'n']) => h('td', { class: kind, 'data-head': heading }, words ? [] : [picture, ' ', busy]));
    let host = null;
    const quiet = button(t`Quiet`, () => (host.quiet
        ? perform('host-resume', { host: host.host }, t`${host.host} goes on within 5 s`)
        : perform('host-pause', { host: host.host }, t`${host.host} will be quiet within 5 s: it begins no more jobs`)),
                         { class: 'quiet small' });
    const element = h('tr', {}, h('th', { scope: 'row' }, id), cells, h('td', { class: 'do' }, quiet));

    function update(fresh) {
        host = fresh;
        COLUMNS.forEach(([heading, words], i) => {
            if (words) setText(cells[i], words(host));
            if (heading === t`Crashes`) setAttribute(cells[i], 'class', host.crashes ? 'n late' : 'n');
        });
        setText(busy, draw(host.gone ? {} : host));
        setAttribute(element, 'class', host.gone ? 'gone' : '');
        setAttribute(cells[0], 'class', stateKind(host));
        if (!quiet) return;
        quiet.hidden = host.gone;
        setText(quiet, host.quiet ? t`Resume` : t`Quiet`);
        setAttribute(quiet, 'title', host.quiet ? null : t`It begins no more jobs; what runs there goes on.`);
        setAttribute(quiet, 'aria-label', host.quiet ? t`Resume ${host.host}` : t`Quiet ${host.host}`);
    }
    return { element, update };
}

export function hosts(main) {
    const list = table(t`Hosts`, [[t`Host`, ''], ...COLUMNS.map(([heading, , kind = 'n']) => [heading, kind]), [t`Action`, 'do']]);
    const words = h('div'), rows = new Map();
    main.append(h('h1', {}, t`Hosts`), machines('hosts'), list.element, words, command('later status'));

    return listen(() => {
        const all = live.snap.hosts;
        for (const host of all) {
            if (!rows.has(host.id)) {
                rows.set(host.id, row(host.id));
                list.body.append(rows.get(host.id).element);
            }
            rows.get(host.id).update(host);
        }
        for (const [id, one] of rows) {
            if (all.some((host) => host.id === id)) continue;
            one.element.remove();
            rows.delete(id);
        }
        words.replaceChildren(...(all.length ? [] : [empty(t`No laterd has announced itself.`)]));
        list.element.hidden = !all.length;
    });
}
