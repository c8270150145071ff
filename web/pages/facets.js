// facets.js: what the jobs that match have in common: how many have each type, reason, host, tenant.
import { me, meter } from './action.js';
import { getLong, mean } from './api.js';
import { command, h, path, setText } from './dom.js';
import { narrow } from './query.js';
import { many, number, said, t } from './words.js';

const NAMES = ['state', 'type', 'kind', 'host', 'queue', 'group'], SHOWN = 10;
const FEW = 20000; // so many jobs are looked at unasked

// One name: its values, each of which narrows the search.
function list(q, name, rows, all) {
    const row = ({ value, others, count }) => {
        const narrower = value !== null && count < all ? narrow(q, name, value) : null;
        const shown = value === null ? h('em', {}, others ? t`others` : t`none`) : value === '' ? h('em', {}, t`empty`) : value;
        return h('li', {}, narrower ? h('a', { href: path('search', { q: narrower }), onclick: () => mean(narrower) }, shown) : h('span', {}, shown),
                 h('b', {}, number(count)));
    };
    const values = rows.filter((one) => one.value !== null), rest = rows.filter((one) => one.value === null);
    const folded = values.slice(SHOWN);
    return h('section', { 'aria-label': t`By ${name}` }, h('h3', {}, name), h('ul', {}, values.slice(0, SHOWN).map(row)),
             folded.length > 0 && h('details', {}, h('summary', {}, t`${number(folded.length)} more`), h('ul', {}, folded.map(row))),
             rest.length > 0 && h('ul', {}, rest.map(row)));
}

// q: the search; asked: its conditions, as the server names them.
export function facets(q, asked) {
    const words = h('p', { class: 'facts', role: 'status' }), shown = h('div', { class: 'facets' }), place = h('div'), typed = h('div');
    const field = h('input', { id: 'facet-path', placeholder: 'payload.tenant', maxlength: 200, spellcheck: 'false', autocomplete: 'off' });
    const form = h('form', { class: 'also', onsubmit: (event) => {
        event.preventDefault();
        count();
    } }, me.masked ? '' : [h('label', { for: 'facet-path' }, t`also by`), field], h('button', { type: 'submit', class: 'quiet small' }, t`Count`));
    const element = h('section', { 'aria-label': t`Counts`, hidden: true },
                      h('h2', {}, t`Counts`, ' ', h('small', {}, t`by state, type, reason, host, queue, group`)), form, words, place, shown, typed);
    let stop = new AbortController();

    async function count() {
        const mine = stop = (stop.abort(), new AbortController());
        const more = field.value.trim(), names = [...NAMES.filter((name) => asked[name] === undefined), ...(more ? [more] : [])];
        const at = meter(t`Counting`, () => mine.abort()), found = new Map();
        let all = 0;
        setText(words, '');
        place.replaceChildren(at.element);
        try {
            const end = await getLong(asked.queue ? 'count-queue' : 'count', { ...asked, facets: names.join() }, (name, line) => {
                if (line.by !== undefined) found.set(line.by, [...found.get(line.by) ?? [], line]);
                else at.tell(line.searched, line.of, t`${number(line.searched)} of ${number(line.of)} looked at, ${number(all = line.found)} match`);
            }, mine.signal);
            if (mine !== stop) return;
            const kept = [...found].filter(([, rows]) => rows.some((row) => row.value !== null));
            setText(words, end.status ? said(end.words) : many(all, '{} job matches.|{} jobs match.'));
            shown.replaceChildren(...kept.map(([name, rows]) => list(q, name, rows, all)));
            typed.replaceChildren(command(end.command));
        } catch (error) {
            if (mine === stop && error.name !== 'AbortError') setText(words, said(error.message));
        }
        if (mine === stop) place.replaceChildren();
    }

    return {
        element,
        // The search has ended; it had so many jobs to look at, or has found none (null).
        offer(of) {
            const first = element.hidden;
            element.hidden = of === null;
            if (of !== null && first && of <= FEW) count();
        },
        end: () => stop.abort(),
    };
}
