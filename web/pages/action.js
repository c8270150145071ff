// action.js: doing something: asked before, told after, with its command.
import { act } from './api.js';
import { command, h, number } from './dom.js';

export const me = { may_act: false, read_only: false, who: '' };

const notes = () => document.getElementById('notes');

// Tells in a corner what was done, or why it was not.
export function note(words, typed, bad) {
    const box = h('div', { class: bad ? 'note bad' : 'note', role: bad ? 'alert' : 'status' },
                  h('p', {}, words), typed && command(typed),
                  h('button', { type: 'button', class: 'quiet small close', 'aria-label': 'Close',
                                onclick: () => box.remove() }, '×'));
    notes().append(box);
    while (notes().children.length > 4) notes().firstChild.remove();
    if (!bad) setTimeout(() => box.remove(), 9000);
}

// The more jobs, the more is asked: from 100 on their number has to be typed.
export function confirm(question, count, verb) {
    return new Promise((resolve) => {
        const wanted = count >= 100 ? String(count) : '';
        const yes = h('button', { type: 'submit', class: 'danger', value: 'yes',
                                  disabled: wanted !== '' }, verb);
        const field = wanted && h('input', {
            id: 'confirm-count', inputmode: 'numeric', autocomplete: 'off',
            oninput: () => { yes.disabled = field.value.replace(/\D/g, '') !== wanted; },
        });
        const dialog = h('dialog', { 'aria-labelledby': 'confirm-title' },
            h('form', { method: 'dialog' },
              h('h2', { id: 'confirm-title' }, question),
              wanted && h('label', { for: 'confirm-count' }, `Type ${number(count)} to go on`),
              field,
              h('p', { class: 'buttons' },
                h('button', { type: 'submit', value: 'no', class: 'quiet' }, 'Leave it'), yes)));
        dialog.addEventListener('close', () => {
            dialog.remove();
            resolve(dialog.returnValue === 'yes');
        });
        document.body.append(dialog);
        dialog.showModal();
    });
}

// Does it, and tells. Returns the answer, or null where it was refused.
export async function perform(where, body, words) {
    try {
        const answer = await act(where, body);
        note(typeof words === 'function' ? words(answer.answers) : words, answer.command);
        return answer;
    } catch (error) {
        note(error.message, error.command, true);
        return null;
    }
}

// A button that is there only for who may.
export function button(words, onclick, properties) {
    return me.may_act && h('button', { type: 'button', onclick, ...properties }, words);
}
