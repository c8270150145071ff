// query.js: the language of the search: conditions as people write them.
import { fits } from './columns.js';
import { t } from './words.js';

export const NAMES = { state: 'state', type: 'glob', older: 'older', newer: 'newer', error: 'error',
                kind: 'kind', host: 'host', attempts: 'attempts', priority: 'ranks', limit: 'limit', queue: 'queue', text: 'text', columns: 'columns' };
// What may be given several times. Of types and kinds one must hold, of `where` all, of `not` none.
const MANY = ['glob', 'kind', 'where', 'not'];
export const TURNED = ['state', 'type', 'kind', 'host', 'attempts', 'priority', 'where', 'text'];

// Returns the name of a condition that differs from this word by a letter or two.
function nearest(word) {
    const far = (a, b) => {
        const row = Array.from({ length: b.length + 1 }, (_, i) => i);
        for (let i = 1; i <= a.length; i++) {
            let before = row[0]++;
            for (let j = 1; j <= b.length; j++)
                [before, row[j]] = [row[j], Math.min(row[j] + 1, row[j - 1] + 1, before + (a[i - 1] !== b[j - 1]))];
        }
        return row[b.length];
    };
    const [best] = Object.keys(NAMES).sort((a, b) => far(word, a) - far(word, b));
    return far(word, best) <= 2 ? best : null;
}

// Why a word is probably not meant as a text that is in the document, or ''.
function mistake(token, name, value) {
    if (/^(OR|AND|NOT|\|\|?|&&?)$/.test(token))
        return t`${token}: all conditions must hold; type:a|b is one or the other, and -type:a is not`;
    if (!name || value.startsWith('//')) return '';
    const near = nearest(name);
    return `${near ? t`${name}: is not a condition; did you mean ${near}:?` : t`${name}: is not a condition.`} ${t`To look for the text, put it in quotes.`}`;
}

// Turns a word into the server's name of the condition, its own name, and its values; null: it is a
// text. Throws what cannot be meant.
function condition(token) {
    const [, name, value] = /^([a-z]+):(.+)$/s.exec(token) || [];
    const bare = (value ?? token).replace(/^"(.*)"$/s, '$1');
    if (name && NAMES[name]) return [NAMES[name], name, MANY.includes(NAMES[name]) ? bare.split('|') : [bare]];
    if (name === 'where') return ['where', 'where', [bare]];
    if (/^[\w.[\]-]+=./.test(token)) return ['where', 'where', [token]];
    const why = token.startsWith('"') ? '' : mistake(token, name, value);
    if (why) throw new Error(why);
    return null;
}

// Turns a word after a minus, too, of which each value is one that must not hold.
function turned(token) {
    const [, name, values] = condition(token) || ['text', 'text', [token.replace(/^"(.*)"$/s, '$1')]];
    if (!TURNED.includes(name)) throw new Error(t`-${name}: cannot be turned round; these can: ${TURNED.join(', ')}`);
    return ['not', 'not', values.map((value) => `${name}:${value}`)];
}

const tokens = (text) => text.match(/-?(?:[^\s":]+:)?"[^"]*"|\S+/g) ?? [];

// Turns `type:mail.*|sms.* -state:dead payload.to=a@b.c "some words"` into the server's parameters.
// Throws a word that cannot be meant.
export function conditions(text) {
    const found = {}, words = [];
    for (const token of tokens(text)) {
        const one = /^-(?:[a-z]+:.|"|[\w.[\]]+=.)/.test(token) ? turned(token.slice(1)) : condition(token);
        if (!one) words.push(token.replace(/^"(.*)"$/s, '$1'));
        else if (found[one[0]] && !MANY.includes(one[0])) throw new Error(t`${one[1]}: can be given only once`);
        else (found[one[0]] ??= []).push(...one[2]);
    }
    for (const [name, values] of Object.entries(found)) {
        if (values.includes('')) throw new Error(t`${name === 'glob' ? 'type' : name}: a value is missing beside |`);
    }
    if (found.columns && !fits(found.columns[0])) throw new Error(t`columns: names with commas between, such as id,type,payload.customer`);
    if (words.length && found.text) throw new Error(t`${'text'}: can be given only once`);
    if (words.length) found.text = [words.join(' ')];
    return Object.fromEntries(Object.entries(found).map(([name, values]) => [name, MANY.includes(name) ? values : values[0]]));
}

// The search without this condition.
export const without = (text, name) => tokens(text).filter((token) => !token.startsWith(`${name}:`)).join(' ');

// What finds those of a search that also have this value, as a search counts them; null: it cannot be said.
export function narrow(text, by, value) {
    const named = by !== 'text' && by in NAMES;
    if (named ? !/^[\w.:/-]+$/.test(value) : /["\x00-\x1f\x7f]/.test(value)) return null;
    const plain = `${by}=${value}`, where = /^[\w.[\]-]+=[^\s]+$/.test(plain) ? plain : `where:"${plain}"`;
    return `${named ? without(text, by) : text.trim()} ${named ? `${by}:${value}` : where}`.trim();
}

// Writes conditions in this language that `later search --saved` has listed: `type:mail.*`, `not:kind:timeout`.
export function spell(lines) {
    const found = [];
    for (const line of lines) {
        const [, not, name, value] = /^(not:)?([a-z]+):(.*)$/s.exec(line) ?? [];
        if (!name) continue;
        const word = `${not ? '-' : ''}${name === 'number' ? 'limit' : name}:`;
        const same = MANY.includes(NAMES[name]) && found.find((one) => one[0] === word);
        if (same) same[1] += `|${value}`;
        else found.push([word, /\s/.test(value) ? `"${value}"` : value]);
    }
    return found.map((one) => one.join('')).join(' ');
}
