// saved.js: searches that are saved under a name, for everybody who uses these pages.
import { button, confirm, may, perform } from './action.js';
import { get, mean } from './api.js';
import { chosenColumns } from './columns.js';
import { command, empty, h, link, path, setChildren, setText, table } from './dom.js';
import { spell } from './query.js';
import { said, t } from './words.js';

// The list of them. stop: a signal that it is not needed any longer.
export function savedList(stop) {
    const words = h('p', { class: 'facts', role: 'status' }, t`one moment`), typed = h('div');
    const rows = table(t`Saved searches`, [[t`Name`, ''], [t`Search`, 'words'], ...(may('operator') ? [[h('span', { class: 'hidden' }, t`Remove`), 'do', '']] : [])]);
    rows.element.hidden = true;

    async function remove(name) {
        if (await confirm(t`Remove the saved search ${name}?`, 1, t`Remove`) && await perform('search-unsave', { search: name }, t`${name} is removed`)) load();
    }

    // Readers do not see what looks into jobs of which something is masked for them.
    function row({ search, conditions, looks_inside: inside = [] }) {
        const q = Array.isArray(inside) ? spell([...conditions, ...inside]) : '';
        return h('tr', {}, h('th', { scope: 'row' }, q ? h('a', { href: path('search', { q }), onclick: () => mean(q) }, search) : search),
            h('td', { class: 'words' }, h('code', {}, q || (Array.isArray(inside) ? t`all jobs` : t`it looks into jobs: for operators`))),
            may('operator') && h('td', { class: 'do' }, button(t`Remove`, () => remove(search), { class: 'quiet small', 'aria-label': t`Remove ${search}` })));
    }

    async function load() {
        try {
            const { answers, command: line } = await get('searches', {}, stop);
            rows.set(answers.map(row));
            rows.element.hidden = answers.length === 0;
            setText(words, answers.length ? '' : t`None is saved yet: search for something, and give it a name.`);
            setChildren(typed, command(line));
        } catch (error) {
            if (error.name !== 'AbortError') words.replaceChildren(empty(said(error.message)));
        }
    }

    load();
    return h('section', {}, h('h2', {}, t`Saved searches`), words, rows.element, typed);
}

// Where a search is given a name. asked: its conditions, as the server names them.
export function saver(asked, stop) {
    const field = h('input', { id: 'save-name', maxlength: 64, required: true, placeholder: t`its name`, autocomplete: 'off' });

    async function save() {
        const name = field.value.trim();
        try {
            const { answers } = await get('searches', {}, stop);
            const there = answers.some((one) => one.search === name);
            if (there && !await confirm(t`Another search is saved as ${name}. Replace it?`, 1, t`Replace`)) return;
        } catch {
            // saving tells the reason
        }
        const columns = asked.columns || chosenColumns() || undefined;
        if (await perform('search-save', { ...asked, columns, search: name }, t`It is saved as ${name}`)) field.value = '';
    }

    return h('form', { class: 'also', onsubmit: (event) => {
        event.preventDefault();
        save();
    } }, may('operator') && [h('label', { for: 'save-name' }, t`save for all as`), field, h('button', { type: 'submit', class: 'quiet small' }, t`Save`)],
    link('search', null, t`Saved searches`));
}
