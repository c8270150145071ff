// app.js: chooses the page, handles keys, and shows how fresh the numbers are.
import { may, me, note } from './action.js';
import { get, login, mean } from './api.js';
import { age, clock, empty, h, setAttribute, setText, showDialog } from './dom.js';
import { live, listen, numbersAge, start } from './live.js';
import { overview } from './overview.js';
import { entitle, trouble, update as showTrouble } from './trouble.js';
import { said, t } from './words.js';

// A browser may keep in mind that the script of these pages did not come; a reload asks for it again.
const onDemand = (title, name) => [title, (to, parameters) => {
    let end = null, left = false;
    import('./more.js').then(({ more }) => { end = left ? null : more[name](to, parameters); }, () => {
        if (left) return;
        to.append(h('h1', {}, title), empty(t`later-web does not answer.`, ' ',
                                            h('button', { type: 'button', onclick: () => location.reload() }, t`Try again`)));
    });
    return () => {
        left = true;
        end?.();
    };
}];

const pages = {
    '': [t`Overview`, overview],
    queue: onDemand(t`Queue`, 'queue'),
    push: onDemand(t`New job`, 'create'),
    job: onDemand(t`Job`, 'job'),
    dead: onDemand(t`Dead`, 'dead'),
    running: onDemand(t`Running`, 'reserved'),
    history: onDemand(t`History`, 'history'),
    cron: onDemand(t`Periodic jobs`, 'cron'),
    flows: onDemand(t`Flows`, 'flows'),
    flow: onDemand(t`Flow`, 'flow'),
    hosts: onDemand(t`Hosts`, 'hosts'),
    redis: onDemand(t`Redis`, 'redis'),
    locks: onDemand(t`Locks and limits`, 'locks'),
    search: onDemand(t`Search`, 'search'),
    tasks: onDemand(t`Tasks`, 'tasks'),
};
const main = document.getElementById('main'), field = document.getElementById('search-field');
let leave = null, shown = '';

function show() {
    const [name, text] = location.hash.replace(/^#\/?/, '').split(/\?(.*)/s);
    const parameters = new URLSearchParams(text || '');
    const [title, page] = pages[name] || [t`Nothing`, (to) => {
        to.append(h('h1', {}, t`There is nothing here`), empty(t`Back to the ${h('a', { href: '#/' }, t`overview`)}.`));
    }];
    if (location.hash === '#main') return;
    leave?.();
    main.replaceChildren();
    const subject = parameters.get('name') || parameters.get('id') || parameters.get('q');
    entitle(`${subject ? `${subject} – ` : ''}${title} – later`, name === '');
    for (const one of document.querySelectorAll('header nav a'))
        setAttribute(one, 'aria-current', one.getAttribute('href') === `#/${name}` ? 'page' : null);
    field.value = name === 'search' ? parameters.get('q') || '' : '';
    leave = page(main, parameters) || null;
    if (shown && shown !== location.hash) {
        scrollTo(0, 0);
        if (document.activeElement !== field) main.focus({ preventScroll: true });
    }
    shown = location.hash;
}

// ---- how fresh the numbers are

const connection = document.getElementById('connection');

function showPulse() {
    const away = live.lost || live.snap?.away;
    const old = numbersAge(), known = live.snap?.known;
    const right = known ? t`numbers from ${clock(Date.now() / 1000 - old)}, ${age(Math.round(old))} old` : '';
    const now = trouble();
    setAttribute(connection, 'class', away ? 'away' : known ? `live ${now.level}`.trim() : '');
    setText(connection, away ? `${said(away.replace(/^later status: /, '').slice(0, 160))}${right ? ` – ${right}` : ''}`
                        : known ? `${t`live`}${now.words && `, ${now.words}`}` : t`one moment`);
    setAttribute(document.body, 'class', away && known ? 'stale' : '');
}

// ---- keys

const KEYS = [['/', t`search`], [t`g then o, r, d, p, c, f, h, t`, t`overview, running, dead, history, periodic jobs, flows, hosts, tasks`],
              ['j k', t`next row, previous row`], [t`Enter`, t`open the row`], ['x', t`choose the row`], ['f', t`filter the queues`],
              ['?', t`this list`], [t`Esc`, t`back out`]];
const GO = { o: '#/', r: '#/running', d: '#/dead', p: '#/history', c: '#/cron', f: '#/flows', h: '#/hosts', t: '#/tasks' };
let waiting = false;

function help() {
    const dialog = h('dialog', { 'aria-labelledby': 'keys-title' },
        h('form', { method: 'dialog' }, h('h2', { id: 'keys-title' }, t`Keys`),
          h('dl', { class: 'keys' }, KEYS.map(([key, does]) =>
              h('div', {}, h('dt', {}, h('kbd', {}, key)), h('dd', {}, does)))),
          h('p', { class: 'buttons' }, h('button', { type: 'submit' }, t`Close`))));
    showDialog(dialog);
}

const rows = () => [...main.querySelectorAll('tr[data-row]')];
const current = () => document.activeElement?.closest?.('tr[data-row]');

function move(step) {
    const all = rows(), at = all.indexOf(current());
    const next = all[at < 0 ? (step > 0 ? 0 : all.length - 1) : at + step];
    next?.querySelector('a')?.focus();
    next?.scrollIntoView({ block: 'nearest' });
}

addEventListener('keydown', (event) => {
    const typing = event.target.closest?.('input:not([type=checkbox]), textarea, select, dialog');
    if (event.key === 'Escape' && event.target.matches?.('#search-field, #filter')) event.target.blur();
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    const go = waiting && GO[event.key];
    waiting = event.key === 'g';
    if (go) location.hash = go;
    else if (event.key === '/') field.focus();
    else if (event.key === 'f') document.getElementById('filter')?.focus();
    else if (event.key === '?') help();
    else if (event.key === 'j') move(1);
    else if (event.key === 'k') move(-1);
    else if (event.key === 'x') current()?.querySelector('input')?.click();
    else return;
    event.preventDefault();
});

document.getElementById('keys').addEventListener('click', help);

document.getElementById('search').addEventListener('submit', (event) => {
    event.preventDefault();
    const q = field.value.trim();
    mean(q);
    location.hash = q ? `#/search?${new URLSearchParams({ q })}` : '#/search';
});

// A browser that cannot have the script does without.
field.addEventListener('focus', () => import('./more.js').then(({ more }) => more.complete(field), () => {}), { once: true });

// ---- begin

// Also when a link with a token is pasted into an open tab: its page is shown again.
async function enter() {
    login(shown);
    start();
    Object.assign(me, { role: '' });
    try {
        Object.assign(me, await get('me'));
        setText(document.getElementById('role'), me.read_only ? t`read-only` : me.role === 'admin' ? '' : said(me.role));
        document.getElementById('tasks').hidden = !may('operator');
    } catch (error) {
        note(said(error.message), null, true);
    }
    show();
}

listen(showPulse, true);
listen(showTrouble);
setInterval(showPulse, 1000);
addEventListener('hashchange', () => (location.hash.startsWith('#token=') ? enter() : show()));
enter();
