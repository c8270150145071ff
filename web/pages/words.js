// words.js: the words of the pages, in the language of whoever reads them. English is what stands in the source; for
// another language, its catalogue (words/LANGUAGE.json) has what to say instead, and tongue.js says it.

const KEY = `later language ${new URL('.', location).pathname}`;
const PATIENCE = 5000; // ms for a catalogue

// ---- which language

const chooser = document.getElementById('language');
const languages = [...chooser?.options ?? []].map((one) => one.value);

function wanted() {
    let kept = '';
    try {
        kept = localStorage.getItem(KEY) ?? '';
    } catch {
        // it stores nothing
    }
    const fits = (name) => languages.find((one) => name === one || name.startsWith(`${one}-`));
    return [kept, ...navigator.languages].map(fits).find(Boolean) ?? 'en';
}

// Returns who speaks this language; null: English, also if what is needed for another one cannot be had.
async function speaker(name) {
    if (name === 'en') return null;
    try {
        const [answer, { speak }] = await Promise.all([fetch(`${name}.json`, { signal: AbortSignal.timeout(PATIENCE) }), import('./tongue.js')]);
        return answer.ok ? speak(name, await answer.json(), put) : null;
    } catch {
        return null;
    }
}

const tongue = await speaker(wanted()), language = tongue ? tongue.language : 'en';

// ---- numbers

const form = (digits) => new Intl.NumberFormat(language, { maximumFractionDigits: digits, minimumFractionDigits: digits });
const [whole, tenth] = [form(0), form(1)];
const small = new Intl.NumberFormat(language, { maximumSignificantDigits: 2, minimumSignificantDigits: 2 });

export const number = (n) => whole.format(n);
export const decimal = (n) => tenth.format(n);
export const rate = (n) => (n >= 100 ? whole.format(n) : n >= 0.1 || n === 0 ? tenth.format(n) : small.format(n));

// In English a day is as in logs and commands: 2026-01-31.
const days = new Intl.DateTimeFormat(tongue ? language : 'sv', { year: 'numeric', month: '2-digit', day: '2-digit' });
export const dayOf = (unix) => days.format(unix * 1000);

// ---- texts

// Puts values into the {} of a text, or the second one into {2}. If an element is among them, these are parts for h().
function put(text, values) {
    let next = 0;
    const parts = text.split(/\{(\d?)\}/).map((part, i) => (i % 2 ? values[part ? part - 1 : next++] : part));
    return values.some((one) => one instanceof Node || Array.isArray(one)) ? parts : parts.join('');
}

const found = (text) => tongue?.texts.get(text) ?? text;

// A text of the page: t`Queue`, t`since ${moment}`. What is put in stays as it is: it is data, or was translated before.
export const t = (parts, ...values) => put(found(parts.join('{}')), values);

const plural = new Intl.PluralRules(language);
const ranks = ['zero', 'one', 'two', 'few', 'many', 'other'].filter((rank) => plural.resolvedOptions().pluralCategories.includes(rank));

// A text that depends on a number, which is its first {}: many(n, '{} job of {}|{} jobs of {}', queue). A catalogue has
// as many forms as its language needs, from none to many; the last one is for all others, too.
export function many(n, text, ...more) {
    const forms = found(text).split('|');
    return put(forms[Math.min(ranks.indexOf(plural.select(n)), forms.length - 1)], [number(n), ...more]);
}

// What the server says. Words of its own are said in the language of the page; what its catalogue does not know stays.
// part: of the catalogue, which has patterns for it.
export const said = (sentence, part = 'server') => tongue?.said(sentence, part) ?? sentence;

tongue?.settle();
if (chooser) {
    chooser.value = language;
    chooser.addEventListener('change', () => {
        try {
            localStorage.setItem(KEY, chooser.value);
        } catch {
            // then it is what the browser asks for
        }
        location.reload();
    });
}
