// tongue.js: says in another language what the pages and the server say. Its catalogue has a text for each text, and
// never elements: `pages` for texts of the pages, `server` for sentences of the server.

const LONG = 1000, KEPT = 500; // letters of a sentence; translated ones that are kept

const mapOf = (part) => new Map(Object.entries(part ?? {}).filter(([, text]) => typeof text === 'string'));

// ---- sentences: `{} is paused` with data for each {}, or {+}: a number, a time, or a sentence itself

function patternOf([text, to]) {
    const parts = text.split(/\{\+?\}/);
    return { parts, to, inner: text.match(/\{\+?\}/g).map((one) => one === '{+}'), weight: parts.join('').length };
}

// Returns what stands in the place of each {}, or null if the sentence is another one. Only {+} may be nothing.
function valuesOf({ parts, inner }, sentence) {
    const values = [];
    let at = parts[0].length;
    if (!sentence.startsWith(parts[0])) return null;
    for (let i = 1; i < parts.length; i++) {
        const from = at + !inner[i - 1], last = i === parts.length - 1;
        const end = !last ? sentence.indexOf(parts[i], from) : sentence.endsWith(parts[i]) ? sentence.length - parts[i].length : -1;
        if (end < from) return null;
        values.push(sentence.slice(at, end));
        at = end + parts[i].length;
    }
    return values;
}

// ---- the page as it was sent: it has no data yet

function translateAll(language, found) {
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
        const { data } = walk.currentNode;
        walk.currentNode.data = data.replace(data.trim(), found);
    }
    for (const name of ['aria-label', 'placeholder'])
        for (const one of document.querySelectorAll(`[${name}]`)) one.setAttribute(name, found(one.getAttribute(name)));
    document.documentElement.lang = language;
}

// put(text, values): as in words.js.
export function speak(language, { pages, server }, put) {
    const texts = mapOf(pages), sentences = mapOf(server), heard = new Map();
    const found = (text) => texts.get(text) ?? text;
    // What says most fits best.
    const patterns = [...sentences].filter(([text]) => text.includes('{')).map(patternOf).sort((a, b) => b.weight - a.weight);

    // 1,204 or 4.5 min, as the server writes them.
    function figure(text) {
        const [, digits, unit] = /^(\d[\d,]*(?:\.\d+)?)(?: (s|min|h|d))?$/.exec(text) ?? [];
        if (digits === undefined) return null;
        const same = { minimumFractionDigits: digits.split('.')[1]?.length ?? 0 };
        const number = new Intl.NumberFormat(language, same).format(digits.replaceAll(',', ''));
        return unit ? put(found(`{} ${unit}`), [number]) : number; // as an age of dom.js
    }

    function translate(sentence) {
        const known = sentences.get(sentence) ?? figure(sentence);
        if (known !== null) return known;
        for (const one of patterns) {
            const values = valuesOf(one, sentence);
            if (values) return put(one.to, values.map((value, i) => (one.inner[i] ? translate(value) : value)));
        }
        return sentence;
    }

    function said(sentence) {
        if (typeof sentence !== 'string' || sentence.length > LONG) return sentence;
        if (heard.size >= KEPT) heard.clear();
        if (!heard.has(sentence)) heard.set(sentence, translate(sentence));
        return heard.get(sentence);
    }
    return { language, texts, said, settle: () => translateAll(language, found) };
}
