// action.js: performs actions: asks before, and reports afterwards with the command.
import { act, actLong, Refusal } from './api.js';
import { command, h, link, setText, showDialog } from './dom.js';
import { many, number, said, t } from './words.js';

export const me = { role: '', read_only: false, who: '' };
const ROLES = ['reader', 'operator', 'admin']; // each may do what those before may

export const may = (role) => ROLES.indexOf(me.role) >= ROLES.indexOf(role);

const notes = () => document.getElementById('notes');

// Shows in a corner what was done, or why it failed.
export function note(words, typed, bad) {
    const box = h('div', { class: bad ? 'note bad' : 'note', role: bad ? 'alert' : 'status' },
                  h('p', {}, words), typed && command(typed),
                  h('button', { type: 'button', class: 'quiet small close', 'aria-label': t`Close`,
                                onclick: () => box.remove() }, '×'));
    notes().append(box);
    while (notes().children.length > 4) notes().firstChild.remove();
    if (!bad) setTimeout(() => box.remove(), 9000);
}

// The more jobs are affected, the more it asks: from 100 on, their number has to be typed. more: what else
// is to be known; over: a signal that nobody needs the answer any longer.
export function confirm(question, count, verb, more, over) {
    return new Promise((resolve) => {
        const wanted = count >= 100 ? String(count) : '';
        // The first button of a form is the one that Enter presses.
        const yes = h('button', { type: 'submit', class: 'danger', value: 'yes',
                                  disabled: wanted !== '' }, verb);
        const field = wanted && h('input', {
            id: 'confirm-count', inputmode: 'numeric', autocomplete: 'off', autofocus: true,
            oninput: () => { yes.disabled = field.value.replace(/\D/g, '') !== wanted; },
        });
        const dialog = h('dialog', { 'aria-labelledby': 'confirm-title' },
            h('form', { method: 'dialog' },
              h('h2', { id: 'confirm-title' }, question),
              more && h('p', { class: 'facts' }, more),
              wanted && h('label', { for: 'confirm-count' }, t`Type ${number(count)} to go on`),
              field,
              h('p', { class: 'buttons' },
                yes, h('button', { type: 'submit', value: 'no', class: 'quiet', autofocus: !wanted }, t`Leave it`))));
        dialog.addEventListener('close', () => resolve(dialog.returnValue === 'yes'));
        over?.addEventListener('abort', () => dialog.close('no'));
        showDialog(dialog);
    });
}

// Performs an action and reports it. Returns the answer, or null if it was refused.
export async function perform(where, body, words) {
    try {
        const answer = await act(where, body);
        note(typeof words === 'function' ? words(answer.answers) : words, answer.command);
        return answer;
    } catch (error) {
        note(said(error.message), error.command, true);
        return null;
    }
}

// Shows the progress of something long, with a button that stops it. It goes on if the page is
// left.
export function meter(label, stop) {
    const bar = h('progress', { max: 1, 'aria-label': label });
    const words = h('span', { role: 'status' }, t`one moment`);
    const halt = h('button', { type: 'button', class: 'quiet small', onclick: () => {
        halt.disabled = true;
        stop();
    } }, t`Stop`);
    const element = h('section', { class: 'meter', 'aria-label': label },
                      h('p', {}, h('b', {}, label), ' ', words, halt), bar);
    return {
        element,
        tell(done, of, text) {
            setText(words, text);
            if (of) bar.value = Math.min(1, done / of);
            else bar.removeAttribute('value');
        },
    };
}

const ASKS = 120000; // ms that a question waits: another search may need its place

// Performs an action on many jobs, shows the progress in `place`, and reports it. asked: called if it asks
// before it acts, with the question, and a signal of its end; returns whether to go on. Returns the sums by
// name.
export async function performLong(where, body, label, place, told, asked) {
    let task = 0, found = 0, left = false;
    const sums = {}, over = new AbortController(), away = new AbortController();
    const leave = () => away.abort(); // the browser may keep a page that was left, and its connections
    const ask = async (line) => {
        const timer = setTimeout(() => over.abort(), ASKS);
        addEventListener('pagehide', leave);
        const yes = await asked(line, over.signal);
        removeEventListener('pagehide', leave);
        clearTimeout(timer);
        left = !yes && !over.signal.aborted;
        act(yes ? 'go-on' : 'stop', { task }).catch(() => {});
    };
    const shown = meter(label, () => act('stop', { task }).catch(() => {}));
    place.replaceChildren(shown.element, h('p', { class: 'facts' }, t`It goes on when this page is left: ${link('tasks', null, t`Tasks`)}`));
    try {
        const end = await actLong(where, body, (name, line) => {
            if (name === 'task') ({ task } = line);
            else if (line.asks !== undefined) ask(line);
            else if (line.acted !== undefined)
                shown.tell(line.acted, line.of, t`${number(line.acted)} of ${number(line.of)}`);
            else if (line.searched !== undefined) {
                found = line.found;
                shown.tell(line.searched, line.of, t`looking: ${number(line.searched)} of ${
                    number(line.of)}, ${number(found)} match`);
            } else {
                for (const [key, value] of Object.entries(line))
                    if (typeof value === 'number') sums[key] = (sums[key] || 0) + value;
            }
        }, away.signal);
        if (!left) note(end.status ? said(end.words) : told(sums), end.command, end.status !== 0 && end.status !== 75);
    } catch (error) {
        note(error instanceof Refusal ? said(error.message) : away.signal.aborted ? t`Nothing was done.` : said('later-web does not answer'), error.command, true);
    }
    over.abort();
    place.replaceChildren();
    return sums;
}

// What can be done to all that match: its verb, its button, and how it has ended for so many, or none.
export const ALL = {
    kicked: { verb: t`Kick`, label: t`Kick all that match`, told: (n) => many(n, '{} job is kicked|{} jobs are kicked'), none: t`No job is kicked: none meets these conditions now.` },
    buried: { verb: t`Bury`, label: t`Bury all that match`, told: (n) => many(n, '{} job is buried|{} jobs are buried'), none: t`No job is buried: none meets these conditions now.` },
    cancelled: { verb: t`Cancel`, label: t`Cancel all that match`, told: (n) => many(n, '{} job is cancelled|{} jobs are cancelled'),
                 none: t`No job is cancelled: none meets these conditions now.` },
};

// Does this to all that match: they are looked at once, counted, and after a yes it acts on those and on no
// others. done: of ALL.
export function performAll(where, conditions, done, place) {
    const { verb, label, told, none } = ALL[done];
    return performLong(where, { ...conditions, ask: 'line' }, label, place, (sums) => (sums[done] ? told(sums[done]) : none),
        ({ asks, found }, over) => confirm(`${said(asks)}?`, found, verb,
            t`They are noted now: it acts on these and on no others, on each if it is still as it was found.`, over));
}

// A button for those who may use it. Others do not see it.
export function button(words, onclick, properties, role = 'operator') {
    return may(role) && h('button', { type: 'button', onclick, ...properties }, words);
}
