// tongue.js: says in another language what the pages and the server say. Its catalogue has a text for each text, and
// never elements: `pages` for texts of the pages, `server` and `cron` for sentences of the server.

const LONG = 1000, KEPT = 500; // letters of a sentence; translated ones that are kept

const mapOf = (part) => new Map(Object.entries(part ?? {}).filter(([, text]) => typeof text === 'string'));

// ---- sentences: `{} is paused{+}` has data for each {}, and for {+} what is said in turn: a number, a time, a
// sentence, or nothing

function patternOf([text, to]) {
    return { parts: text.split(/\{\+?\}/), to, inner: text.match(/\{\+?\}/g).map((one) => one === '{+}') };
}

// Returns what stands in the place of each {}, or null if the sentence is another one.
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
export function speak(language, catalogue, put) {
    const texts = mapOf(catalogue.pages), found = (text) => texts.get(text) ?? text;

    // 1,204 or 4.5 min or 12th or 3 dead, as the server writes them.
    function figure(text, sentences) {
        const [, digits, word] = /^(\d[\d,]*(?:\.\d+)?)(?:st|nd|rd|th)?(?: ([a-z]+))?$/.exec(text) ?? [];
        if (digits === undefined) return null;
        const same = { minimumFractionDigits: digits.split('.')[1]?.length ?? 0 };
        const number = new Intl.NumberFormat(language, same).format(digits.replaceAll(',', '')), unit = `{} ${word}`; // as an age of dom.js
        return !word ? number : texts.has(unit) ? put(texts.get(unit), [number]) : sentences.has(word) ? `${number} ${sentences.get(word)}` : null;
    }

    // Several of them have commas between.
    function figures(text, sentences) {
        const all = text.split(', ').map((one) => figure(one, sentences));
        return all.includes(null) ? null : all.join(', ');
    }

    function speaker(part) {
        const sentences = mapOf(catalogue[part]), patterns = [...sentences].filter(([text]) => text.includes('{')).map(patternOf), heard = new Map();

        function translate(sentence) {
            const known = sentences.get(sentence) ?? figures(sentence, sentences);
            if (known !== null) return known;
            for (const one of patterns) {
                const values = valuesOf(one, sentence);
                if (values) return put(one.to, values.map((value, i) => (one.inner[i] ? translate(value) : value)));
            }
            return sentence;
        }

        return (sentence) => {
            if (typeof sentence !== 'string' || sentence.length > LONG) return sentence;
            if (heard.size >= KEPT) heard.clear();
            if (!heard.has(sentence)) heard.set(sentence, translate(sentence));
            return heard.get(sentence);
        };
    }

    const parts = { server: speaker('server'), cron: speaker('cron') };
    return { language, texts, said: (sentence, part) => parts[part](sentence), settle: () => translateAll(language, found) };
}
