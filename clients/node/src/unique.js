/** unique.js: an id that says what a job is: doc/protocol.md, "An id of type and payload". */
"use strict";

const { createHash } = require("node:crypto");

const { payloadOf } = require("./document.js");
const { Refused } = require("./errors.js");

/** Returns the id that push() gives a job of this type and payload. */
function uniqueId(type, payload = null, unique = true) {
    const value = JSON.parse(payloadOf(payload));
    const text = textOf([type, unique === true ? value : chosen(value, [unique].flat())]);
    return createHash("sha256").update(text).digest("hex").slice(0, 32);
}

/** Returns the job with the id that its `unique` means. */
function named(given) {
    if (given.unique === undefined) return given;
    const { unique, ...job } = given;
    if (unique === false) return job;
    if (job.id !== undefined) throw new Refused("id and unique: only one of them");
    return { ...job, id: uniqueId(job.type, job.payload, unique) };
}

function chosen(value, names) {
    if (!names.length || names.some((name) => typeof name !== "string")) {
        throw new Refused(`unique: must be true, or names of members of the payload (${names.join(" ").slice(0, 70)})`);
    }
    const isObject = value !== null && typeof value === "object" && !Array.isArray(value);
    return Object.fromEntries(names.map((name) => {
        if (!isObject || !Object.hasOwn(value, name)) {
            throw new Refused(`unique: the payload has no member ${name.slice(0, 70)}`);
        }
        return [name, value[name]];
    }));
}

/** Returns the JSON of RFC 8785, which is the same bytes in every language. */
function textOf(value) {
    if (Array.isArray(value)) return `[${value.map(textOf).join()}]`;
    if (value !== null && typeof value === "object") {
        return `{${Object.keys(value).sort().map((name) => `${JSON.stringify(name)}:${textOf(value[name])}`).join()}}`;
    }
    if (typeof value === "number" && Math.abs(value) > Number.MAX_SAFE_INTEGER) {
        throw new Refused(`unique: ${value}: above 2^53, not every language has the same number; make it text`);
    }
    return JSON.stringify(value);
}

module.exports = { uniqueId, named };
