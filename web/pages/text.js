// text.js: JSON as text. Its bytes are shown and sent as they are, and never rewritten.

// Breaks JSON into lines without parsing it, so that every digit and escape stays.
export function indent(text) {
    let out = '', depth = 0, inside = false;
    for (let i = 0; i < text.length; i++) {
        const c = text[i];
        if (inside) {
            out += c;
            if (c === '\\') out += text[++i] ?? '';
            else if (c === '"') inside = false;
        } else if (c === '"') {
            inside = true;
            out += c;
        } else if (c === '{' || c === '[') {
            const close = /^\s*[}\]]/.exec(text.slice(i + 1, i + 40));
            if (close) {
                out += c + close[0].trim();
                i += close[0].length;
            } else {
                out += `${c}\n${'  '.repeat(++depth)}`;
            }
        } else if (c === '}' || c === ']') {
            out += `\n${'  '.repeat(depth = Math.max(0, depth - 1))}${c}`;
        } else if (c === ',') {
            out += `,\n${'  '.repeat(depth)}`;
        } else if (c === ':') {
            out += ': ';
        } else if (!/\s/.test(c)) {
            out += c;
        }
    }
    return out;
}

// Returns the exact bytes of one member of an object, or null if it has none.
export function member(text, name) {
    let depth = 0, start = -1;
    for (let i = 0; i < text.length; i++) {
        const c = text[i];
        if (c === '"') {
            const from = i;
            for (i++; i < text.length && text[i] !== '"'; i++) if (text[i] === '\\') i++;
            if (depth === 1 && start < 0 && text.slice(from, i + 1) === `"${name}"`) {
                const colon = /^\s*:\s*/.exec(text.slice(i + 1));
                if (colon) {
                    start = i + 1 + colon[0].length;
                    i = start - 1;
                }
            }
        } else if (c === '{' || c === '[') {
            depth++;
        } else if (c === '}' || c === ']') {
            depth--;
            if (start >= 0 && depth === 0) return text.slice(start, i).trim();
        } else if (c === ',' && depth === 1 && start >= 0) {
            return text.slice(start, i).trim();
        }
    }
    return null;
}
