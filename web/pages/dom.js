// dom.js: elements; numbers and times for people. Data reaches the page as text only.
import { dayOf, decimal, number, said, t } from './words.js';

const SVG = 'http://www.w3.org/2000/svg';

function fill(element, properties, children) {
    for (const [name, value] of Object.entries(properties || {})) {
        if (value === undefined || value === null || value === false) continue;
        if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
        else if (name === 'value') element.value = value;
        else element.setAttribute(name, value === true ? '' : value);
    }
    for (const child of children.flat(9)) {
        if (child !== null && child !== undefined && child !== false) element.append(child);
    }
    return element;
}

export function h(tag, properties, ...children) {
    return fill(document.createElement(tag), properties, children);
}

export function svg(tag, properties, ...children) {
    return fill(document.createElementNS(SVG, tag), properties, children);
}

// Only changes are written, so that nothing flickers and a selection stays.
export function setText(element, text) {
    text = String(text);
    if (element.textContent !== text) element.textContent = text;
}

export function setAttribute(element, name, value) {
    if (value === null || value === false) element.removeAttribute(name);
    else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
}

export function age(seconds) {
    if (seconds === null || seconds === undefined) return '–';
    if (seconds < 0) seconds = 0;
    if (seconds < 10) return t`${decimal(seconds)} s`;
    if (seconds < 120) return t`${number(seconds)} s`;
    if (seconds < 7200) return t`${number(seconds / 60)} min`;
    if (seconds < 172800) return t`${decimal(seconds / 3600)} h`;
    return t`${number(seconds / 86400)} d`;
}

export function bytes(n) {
    const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
    let unit = 0;
    for (; n >= 1024 && unit < units.length - 1; unit++) n /= 1024;
    return `${(unit && n < 100 ? decimal : number)(n)} ${units[unit]}`;
}

export function duration(seconds) {
    if (seconds === undefined || seconds === null) return '–';
    if (seconds >= 10) return age(seconds);
    if (seconds >= 1) return t`${decimal(seconds)} s`;
    if (seconds >= 0.001 || seconds === 0) return t`${(seconds < 0.01 ? decimal : number)(seconds * 1000)} ms`;
    return t`${number(seconds * 1e6)} µs`;
}

const pad = (n) => String(n).padStart(2, '0');

export function clock(unix) {
    const at = new Date(unix * 1000);
    return `${pad(at.getHours())}:${pad(at.getMinutes())}:${pad(at.getSeconds())}`;
}

export const date = (unix) => dayOf(unix).replace(/\D?\d{4}\D?/, ''); // without its year

export function moment(unix) {
    if (Number.isNaN(new Date(unix * 1000).getTime())) return '–';
    return (dayOf(unix) === dayOf(Date.now() / 1000) ? '' : `${dayOf(unix)} `) + clock(unix);
}

export function since(unix) {
    const away = Date.now() / 1000 - unix;
    return away >= 0 ? t`${age(away)} ago` : t`in ${age(-away)}`;
}

// Each state has a mark of its own, so that colour is not needed to tell them apart.
const MARKS = { ready: '●', delayed: '◔', reserved: '▶', dead: '✕', done: '✓' };

export function badge(state) {
    return h('span', { class: `state ${state}` },
             h('span', { 'aria-hidden': 'true' }, MARKS[state] || '○'), ` ${said(state)}`);
}

export function link(route, parameters, ...children) {
    return h('a', { href: path(route, parameters) }, ...children);
}

export function path(route, parameters) {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(parameters || {})) {
        if (value !== undefined && value !== null && value !== '') query.set(name, value);
    }
    const text = query.toString();
    return `#/${route}${text ? `?${text}` : ''}`;
}

// Shows the command that belongs to an action or a view, for copying. On plain HTTP there is no
// clipboard.
export function command(text) {
    const code = h('code', { tabindex: '0' }, text);
    const copy = h('button', {
        type: 'button', class: 'quiet small', onclick: async () => {
            try {
                await navigator.clipboard.writeText(text);
                setText(copy, t`copied`);
            } catch {
                getSelection().selectAllChildren(code);
                setText(copy, t`selected`);
            }
            setTimeout(() => setText(copy, t`copy`), 1500);
        },
    }, t`copy`);
    return h('p', { class: 'command' }, h('span', { class: 'prompt', 'aria-hidden': 'true' }, '$'),
             code, copy);
}

export function empty(words, ...more) {
    return h('p', { class: 'empty' }, words, ...more);
}

// Returns what says in `box` why there is nothing to show.
export const failsIn = (box) => (error) => box.replaceChildren(empty(said(error.message)));

// One who was at this control is there again, or, if another one has been put in its place, at the one that says the same.
function back(at, place) {
    const wordsOf = (e) => `${e.getAttribute('href') ?? ''} ${e.getAttribute('aria-label') ?? e.textContent}`;
    const alike = () => [...place.querySelectorAll(at.localName)].find((one) => wordsOf(one) === wordsOf(at));
    (at.isConnected ? at : alike())?.focus({ preventScroll: true });
}

// Puts these in the place of what is there. Whoever is at a control there by keyboard stays there.
export function setChildren(place, ...children) {
    const at = place.contains(document.activeElement) ? document.activeElement : null;
    place.replaceChildren(...children);
    if (at && !at.isConnected) back(at, place);
}

// Shows a dialog, which is gone once it is closed. By then the page may have been asked for again.
export function showDialog(dialog) {
    const at = document.activeElement;
    dialog.addEventListener('close', () => {
        dialog.remove();
        back(at, document);
    });
    document.body.append(dialog);
    dialog.showModal();
}

// A table, whose rows are cards on a narrow screen: columns are [heading, class, what its cells are called there].
// set(rows) shows these rows.
export function table(label, columns) {
    const body = h('tbody'), names = columns.map(([heading, , name = heading]) => name);
    const set = (rows) => {
        for (const { cells } of rows) names.forEach((name, i) => { cells[i].dataset.head = name; });
        setChildren(body, ...rows);
    };
    const element = h('div', { class: 'scroll cards', tabindex: '0', role: 'region', 'aria-label': label },
                      h('table', {},
                        h('thead', {}, h('tr', {}, columns.map(([heading, kind]) =>
                            h('th', { class: kind, scope: 'col' }, heading)))),
                        body));
    return { element, body, set };
}

// The pages of the machines that run it all, side by side; which: the present one.
export function machines(which) {
    return h('nav', { class: 'tabs', 'aria-label': t`Machines` }, [['hosts', t`Hosts`], ['redis', t`Redis`], ['locks', t`Locks and limits`]]
        .map(([page, words]) => h('a', { href: path(page), 'aria-current': page === which && 'page' }, words)));
}
