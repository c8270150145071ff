// form.js: a form in a dialog.
import { h, setText, showDialog } from './dom.js';
import { said, t } from './words.js';

// Asks for these: fields: [name, label, its properties, or an element in the place of an input]. kind: what their ids
// begin with. more: what stands below them. send(values) gets those in which something is; what it is refused for is
// told there, and otherwise the dialog is closed.
export function fillIn(kind, title, verb, fields, send, more = '') {
    const wrong = h('p', { class: 'error', role: 'alert' });
    const inputs = fields.map(([name, label, of]) => {
        const input = of instanceof Element ? of : h('input', { autocomplete: 'off', spellcheck: 'false', ...of });
        input.id = `${kind}-${name}`;
        return [name, label, input];
    });
    const go = async () => {
        const values = inputs.map(([name, , input]) => [name, input.value.trim()]).filter(([, text]) => text);
        try {
            await send(Object.fromEntries(values));
            dialog.close();
        } catch (error) {
            setText(wrong, said(error.message.replace(/^later \w+: (--)?/, '')));
        }
    };
    const dialog = h('dialog', { 'aria-labelledby': `${kind}-title` },
        h('form', { class: 'edit', onsubmit: (event) => {
            event.preventDefault();
            go();
        } }, h('h2', { id: `${kind}-title` }, title),
          inputs.map(([, label, input]) => [h('label', { for: input.id }, label), input]), more, wrong,
          h('p', { class: 'buttons' }, h('button', { type: 'submit' }, verb),
            h('button', { type: 'button', class: 'quiet', onclick: () => dialog.close() }, t`Leave it`))));
    showDialog(dialog);
    inputs[0][2].focus();
}
