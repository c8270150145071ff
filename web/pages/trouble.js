// trouble.js: what is wrong, above every page: since when, how many, why, and what helps. It is also
// told by the tab's title and icon, so that it is seen while another tab is open.
import { age, command, h, moment, path, setAttribute, setText } from './dom.js';
import { live } from './live.js';
import { many, number, said, t } from './words.js';

const SHOWN = 5;   // more are folded
const BUILT = 100; // more are only counted

export const MARKS = { critical: '✕', warning: '!', info: '❚❚' };

// Where the pages show more of it.
const PLACES = {
    no_laterd: () => ['hosts'], host_lost: () => ['hosts'], host_fault: () => ['hosts'],
    type_elsewhere: ({ queue }) => ['search', { q: `queue:${queue} kind:unknown` }],
    type_unknown: ({ queue }) => ['search', { q: `queue:${queue} kind:unknown` }],
    failing: ({ queue, type }) => ['search', { q: `queue:${queue} type:${type} attempts:>0` }],
    dead_growing: ({ queue }) => ['queue', { name: queue, state: 'dead' }],
    over_time: ({ queue }) => ['queue', { name: queue, state: 'reserved' }],
    schedule_missed: () => ['cron'], flow_blocked: () => ['flows'],
};

function place(trouble) {
    const [route, parameters] = PLACES[trouble.rule]?.(trouble)
        ?? (trouble.queue ? ['queue', { name: trouble.queue }] : []);
    return route === undefined ? null : path(route, parameters);
}

const key = ({ rule, queue, host, type }) => JSON.stringify([rule, queue, host, type]);
const same = ({ text, why, command: typed }) => JSON.stringify([text, why, typed]);

function row(trouble) {
    const href = place(trouble), facts = h('small');
    const element = h('li', { class: trouble.severity },
        h('p', { class: 'fact' }, h('span', { class: 'mark', 'aria-hidden': 'true' }, MARKS[trouble.severity] ?? '!'), ' ',
          h(href ? 'a' : 'b', { href }, said(trouble.text)), ' ', facts),
        h('p', { class: 'because' }, said(trouble.why)), trouble.command ? command(trouble.command) : '');
    return {
        element, shown: same(trouble), update({ rule, since, count }) {
            const now = Date.now() / 1000;
            setText(facts, [said(rule), since && t`since ${moment(since)}, for ${age(Math.max(0, now - since))}`,
                            count > 0 && number(count)].filter(Boolean).join(' · '));
        },
    };
}

// Puts these elements into a list, and moves only those in the wrong place: what is being read or
// copied stays.
export function arrange(list, elements) {
    const stay = new Set(elements);
    for (const child of [...list.children]) if (!stay.has(child)) child.remove();
    elements.forEach((element, i) => {
        if (list.children[i] !== element) list.insertBefore(element, list.children[i] ?? null);
    });
}

const count = h('b'), worst = h('span'), heading = h('summary', {}, count, worst), first = h('ul'), others = h('ul'), beyond = h('p', { class: 'facts' });
const more = h('details', { class: 'more', hidden: true }, h('summary'), others, beyond);
const box = h('details', { hidden: true }, heading, first, more);
const well = h('p', { class: 'well', hidden: true });
const icon = document.querySelector('link[rel=icon]');
const rows = new Map();
let title = '', onOverview = false;

function show(list) {
    const elements = list.slice(0, BUILT).map((trouble) => {
        const name = key(trouble);
        if (rows.get(name)?.shown !== same(trouble)) rows.set(name, row(trouble));
        rows.get(name).update(trouble);
        return rows.get(name).element;
    });
    const now = new Set(list.slice(0, BUILT).map(key));
    for (const name of rows.keys()) if (!now.has(name)) rows.delete(name);
    arrange(first, elements.slice(0, SHOWN));
    arrange(others, elements.slice(SHOWN));
    more.hidden = list.length <= SHOWN;
    setText(more.firstChild, t`and ${number(list.length - SHOWN)} more`);
    setText(beyond, list.length > BUILT ? t`The first ${number(BUILT)} are shown; later status --trouble has all.` : '');
}

const words = (count) => many(count, '{} trouble|{} troubles');

// Returns what is known of troubles: how many, and how bad they are. Whether a laterd is alive is known
// at once, before troubles have been asked for.
export function trouble() {
    const { known, hosts = [], troubles } = live.snap ?? {}, list = troubles?.list ?? [];
    const nobody = known && !hosts.some((host) => !host.gone);
    const bad = nobody || list.some((one) => one.severity === 'critical');
    return { count: list.length, level: bad ? 'bad' : list.length ? 'warn' : '',
             words: list.length ? words(list.length) : nobody ? t`no laterd is alive` : '' };
}

function showTitle() {
    const { count, level } = trouble();
    const mark = level === 'bad' ? '✕' : level ? '!' : '';
    document.title = `${mark}${count || ''}${mark && ' '}${title}`;
    setAttribute(icon, 'href', level ? 'icon-trouble.svg' : 'icon.svg');
}

// Another page is shown: the overview has the troubles open.
export function entitle(text, overview) {
    title = text;
    if (overview !== onOverview) box.open = overview;
    onOverview = overview;
    well.hidden = !well.textContent || !overview;
    showTitle();
}

export function update() {
    const { troubles } = live.snap ?? {}, list = troubles?.list ?? [];
    const at = troubles?.known ? troubles.at / 1000 - troubles.age : 0;
    box.hidden = !list.length;
    show(list);
    setText(count, words(list.length));
    setText(worst, list.length ? `${list.length > 1 ? t`, the worst:` : ':'} ${said(list[0].text)}` : '');
    setAttribute(heading, 'class', trouble().level);
    setText(well, troubles?.away ? t`Whether there is trouble is not known: ${said(troubles.away)}`
            : troubles?.known && !list.length ? t`✓ No trouble, looked at ${moment(at)}` : '');
    setAttribute(well, 'class', troubles?.away ? 'well late' : 'well');
    well.hidden = !well.textContent || !onOverview;
    showTitle();
}

document.getElementById('trouble').append(box, well);
