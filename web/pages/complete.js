// complete.js: completes conditions in the search field: their names, and the values that are known.
import { busiest, get } from './api.js';
import { h, setAttribute, setText } from './dom.js';
import { live } from './live.js';
import { NAMES, TURNED } from './query.js';
import { many, t } from './words.js';

const HINTS = { state: t`such as dead`, type: t`such as mail.*|sms.*`, older: t`than 1h`, newer: t`than 5m`, error: t`a regular expression`,
                kind: t`of the last error`, host: t`of the last error`, attempts: t`such as >3`, priority: t`such as >0`, queue: t`its name`, text: t`anywhere in the document`,
                limit: t`how many are shown`, where: t`such as payload.tenant=42`, columns: t`such as id,type,payload.to` };
const STATES = ['ready', 'delayed', 'reserved', 'dead', 'waiting', 'done'];
const KINDS = ['retry', 'timeout', 'crash', 'lapse', 'bad', 'buried', 'unknown', 'return'];
const SHOWN = 12, OLD = 10000; // ms

let types = null, askedAt = 0, askedFor = '';

// The types that were performed within a day. They are asked for once for each value that somebody begins, which
// stands behind this text: one that was performed since the last value is among them.
function knownTypes(before) {
    if (!types || before !== askedFor || Date.now() - askedAt > OLD) {
        [askedAt, askedFor] = [Date.now(), before];
        types = get('types', { since: '1d', most: busiest(86400) }).then(({ answers }) => [...new Set(answers.map((row) => row.type))].sort(), () => {
            types = null; // it is asked again
            return [];
        });
    }
    return types;
}

const VALUES = { state: () => STATES, kind: () => KINDS, type: knownTypes,
                 queue: () => (live.snap?.queues ?? []).map((queue) => queue.queue),
                 host: () => [...new Set((live.snap?.hosts ?? []).map((host) => host.host))].sort() };

// What the caret is in: where it begins, and what could stand there: [word, hint, how it goes on]. asks: also if
// nothing is typed yet.
async function completions(text, asks) {
    const [, minus, name, typed] = /(?:^|\s)(-?)(?:([a-z]+):(?:[^\s"|]*\|)*)?([^\s":|]*)$/.exec(text) ?? [];
    if (typed === undefined || (text.split('"').length % 2 === 0)) return { from: 0, words: [] };
    const from = text.length - typed.length;
    const fits = (words) => [...words.filter((word) => word.startsWith(typed)), ...words.filter((word) => word.indexOf(typed) > 0)];
    if (name) return { from, words: fits(await VALUES[name]?.(text.slice(0, from)) ?? []).filter((word) => word !== typed).map((word) => [word, '', ' ']) };
    askedFor = '';
    const names = minus ? TURNED : [...Object.keys(NAMES), 'where'];
    return { from, words: typed || minus || asks ? fits(names).map((word) => [word, HINTS[word], ':']) : [] };
}

// Makes a combobox of the field (WAI-ARIA, "Combobox": a list, without a value chosen by itself).
export function complete(field) {
    const list = h('ul', { role: 'listbox', id: 'completions', 'aria-label': t`Completions`, hidden: true });
    const told = h('span', { class: 'hidden', role: 'status' });
    let from = 0, active = -1, turn = 0;

    function mark(i) {
        active = i;
        for (const [at, one] of [...list.children].entries()) setAttribute(one, 'aria-selected', String(at === i));
        setAttribute(field, 'aria-activedescendant', i < 0 ? null : list.children[i].id);
        list.children[i]?.scrollIntoView({ block: 'nearest' });
    }

    function close() {
        turn++;
        list.hidden = true;
        list.replaceChildren();
        mark(-1);
        setAttribute(field, 'aria-expanded', 'false');
        setText(told, '');
    }

    function take(word, more) {
        const at = field.selectionStart, rest = field.value.slice(at);
        field.value = field.value.slice(0, from) + word + more + rest.replace(/^ /, more === ' ' ? '' : ' ');
        field.setSelectionRange(from + word.length + more.length, from + word.length + more.length);
        close();
        if (more === ':') open(true);
    }

    async function open(asks) {
        const mine = ++turn, found = await completions(field.value.slice(0, field.selectionStart), asks);
        if (mine !== turn || document.activeElement !== field) return;
        if (!found.words.length) {
            close();
            return;
        }
        ({ from } = found);
        list.replaceChildren(...found.words.slice(0, SHOWN).map(([word, hint, more], i) =>
            h('li', { role: 'option', id: `completion-${i}`, onmousedown: (event) => event.preventDefault(), // the field keeps the focus
                      onclick: () => take(word, more) }, h('b', {}, word, more.trim()), ' ', hint)));
        list.hidden = false;
        mark(-1);
        setAttribute(field, 'aria-expanded', 'true');
        setText(told, many(list.children.length, '{} completion|{} completions'));
    }

    // Is there one to take?
    function choose() {
        if (active < 0) return false;
        list.children[active].click();
        return true;
    }

    const KEYS = {
        ArrowDown: () => (list.hidden ? open(true) : mark(active + 1 < list.children.length ? active + 1 : -1)),
        ArrowUp: () => !list.hidden && mark(active < 0 ? list.children.length - 1 : active - 1),
        Enter: choose,
        Tab: choose,
        Escape: () => !list.hidden && (close(), true),
    };
    for (const [name, value] of Object.entries({ role: 'combobox', 'aria-autocomplete': 'list', 'aria-expanded': 'false', 'aria-controls': 'completions' }))
        setAttribute(field, name, value);
    field.form.append(list, told);
    field.addEventListener('input', () => open());
    field.addEventListener('blur', close);
    field.form.addEventListener('submit', close);
    field.addEventListener('keydown', (event) => {
        if (event.isComposing || !KEYS[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
        if (KEYS[event.key]() === false) return;
        event.preventDefault();
        event.stopPropagation();
    });
    if (field.value) open();
}
