/** strict.js: what JSON.parse() takes, and laterd buries: doc/protocol.md, "The document". */
"use strict";

const { Refused } = require("./errors.js");

/** Returns the text. Refuses a member that is there twice, a name with a NUL, half a surrogate pair, and a number that is infinite.
 * text: JSON that is not nested too deeply. */
function checkStrict(text, name) {
    const why = (what) => new Refused(`${name}: ${what}`);
    if (names(text) !== members(JSON.parse(text), why)) throw why("a member is there twice");
    return text;
}

/** Returns where the string ends that begins there: at a quote with an even number of backslashes before it. */
function endOfString(json, begin) {
    for (let end = begin; ;) {
        end = json.indexOf('"', end + 1);
        let before = end;
        while (json[before - 1] === "\\") before--;
        if ((end - before) % 2 === 0) return end;
    }
}

/** Returns how many names are written in it: strings before a colon. */
function names(text) {
    let count = 0;
    for (let i = text.indexOf('"'); i >= 0; i = text.indexOf('"', i)) {
        i = endOfString(text, i) + 1;
        while (" \t\r\n".includes(text[i])) i++;
        count += text[i] === ":";
    }
    return count;
}

/** Returns how many members it has, at all depths. */
function members(value, why) {
    if (typeof value === "string" && /\p{Cs}/u.test(value)) throw why("half a surrogate pair");
    if (typeof value === "number" && !Number.isFinite(value)) throw why("a number is too large");
    if (typeof value !== "object" || value === null) return 0;
    let count = 0;
    for (const [name, one] of Object.entries(value)) {
        if (name.includes("\0")) throw why("a name with a NUL");
        count += members(name, why) + members(one, why) + !Array.isArray(value);
    }
    return count;
}

module.exports = { checkStrict, endOfString };
