/** pushed.js: calls of the scripts that push, and what their answers mean. */
"use strict";

const { BYTES_MAX } = require("./bounds.js");
const { WrongProtocol } = require("./errors.js");

const RESULTS = { PUSHED: "pushed", REPLACED: "replaced", AGAIN: "again", EXISTS: "exists" };

/** Returns lists of the items, by their keys. */
function groupBy(items, keyOf) {
    const groups = new Map();
    for (const item of items) {
        const key = keyOf(item);
        if (!groups.has(key)) groups.set(key, []);
        groups.get(key).push(item);
    }
    return groups;
}

/** Splits jobs into calls of so many, and of bounded size. */
function* bounded(items, most) {
    let part = [];
    let size = 0;
    for (const item of items) {
        if (part.length && (part.length === most || size + item.bytes > BYTES_MAX)) {
            yield part;
            part = [];
            size = 0;
        }
        part.push(item);
        size += item.bytes;
    }
    if (part.length) yield part;
}

/** Returns an error about an answer that means nothing here; what became of the job is not known. */
function strange(answer) {
    const said = JSON.stringify(String(answer).slice(0, 40));
    return new WrongProtocol(`the answer ${said} to a push is not known to this client, which is older than its ` +
        "scripts: take the client that came with the laterd that serves the queue");
}

/** Returns what became of a job; null means that the queue is full. */
function pushedOf(id, answer) {
    const [word, state = ""] = answer.split(" ");
    if (word === "FULL") return null;
    if (word === "WAITING") return { id, result: "pushed", state: "waiting" };
    if (!Object.hasOwn(RESULTS, word)) throw strange(answer);
    return { id, result: RESULTS[word], state };
}

module.exports = { groupBy, bounded, strange, pushedOf };
