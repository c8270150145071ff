/**
 * answers.js: what a program of handlers writes to laterd, one JSON object per line.
 * later-job(3), section exec, describes it. laterd takes no other line, so what a handler says is
 * made fit for one here.
 */
"use strict";

const { inspect } = require("node:util");

// @answers said: const {UPPER}_MAX = {most}; // {help}
const ERROR_MAX = 1000; // bytes of an error that are kept
const TEXT_MAX = 16384; // bytes of a text for the log that a client sends
const VALUE_MAX = 65536; // bytes of a value or a checkpoint
const LEVELS_MAX = 128; // levels of a value or a checkpoint
// @end
const OWN = typeof __dirname === "string" ? `${__dirname}/` : "\0"; // bundled as a module it has no folder
const NO_MARK = /"(?:[^"\\]|\\.)*"|[^[\]{}"]+/g;
const ESCAPE = /\\(?:u(d[89a-f][0-9a-f]{2})|.)/g;

/** The value is JSON, but laterd does not keep it. */
class TooMuch extends Error {}

/** Returns a text that laterd takes: without NUL and half characters, and cut to this many bytes. */
function textOf(said, most = TEXT_MAX) {
    let text;
    try {
        text = String(said);
    } catch {
        text = `a ${typeof said} without a text`;
    }
    const bytes = Buffer.from(text.replaceAll("\0", "\ufffd"));
    let end = Math.min(bytes.length, most);
    while (end < bytes.length && (bytes[end] & 0xc0) === 0x80) end--;
    return bytes.subarray(0, end).toString();
}

/** Returns a number that JSON has: 0 if it is none. */
function numberOf(said) {
    try {
        return Number.isFinite(Number(said)) ? Number(said) : 0;
    } catch {
        return 0;
    }
}

/** Returns the error's message and its stack, without the frames of laterd's own below the
 * handler's. */
function stackOf(error) {
    const lines = String(error.stack || error).split("\n");
    let end = lines.findIndex((line) => line.includes(`(${OWN}`) && /at (async )?Handlers\./.test(line));
    while (end > 1 && /^ +at .*node:/.test(lines[end - 1])) end--; // how it was called
    return (end < 0 ? lines : lines.slice(0, end)).join("\n");
}

/** Returns why a handler has failed: the message first, then the stack, as much as laterd keeps. */
function errorOf(error) {
    try {
        if (!(error instanceof Error)) return textOf(typeof error === "object" ? inspect(error) : error, ERROR_MAX);
        const cause = error.cause ? `\nCaused by: ${errorOf(error.cause)}` : "";
        return textOf(stackOf(error) + cause, ERROR_MAX);
    } catch {
        return textOf(error, ERROR_MAX);
    }
}

/** Returns what a handler said on purpose, with the cause if there is one. */
function saidBy(outcome) {
    const said = textOf(outcome.message, ERROR_MAX) || outcome.constructor.name;
    return outcome.cause ? textOf(`${said}\n${errorOf(outcome.cause)}`, ERROR_MAX) : said;
}

/** JSON.stringify() would make null or {} of these. */
function checked(_, value) {
    if (typeof value === "number" && !Number.isFinite(value)) throw new TypeError(`${value} is no number of JSON`);
    if (value instanceof Set || value instanceof Map) throw new TypeError(`a ${value.constructor.name} is no JSON`);
    return value;
}

function encode(value) {
    try {
        return JSON.stringify(value, checked);
    } catch (error) {
        throw error instanceof RangeError && /call stack/.test(error.message)
            ? new TooMuch(`it is deeper than ${LEVELS_MAX} levels`) : error;
    }
}

/** Returns the value as JSON. Throws TooMuch, or whatever JSON.stringify() throws for what is not
 * JSON. */
function valueText(value) {
    let text = encode(value);
    if (text === undefined) throw new TypeError(`a ${typeof value} is no JSON`);
    if (text.includes("\\ud")) text = text.replace(ESCAPE, (escape, half) => (half ? "\ufffd" : escape));
    const size = Buffer.byteLength(text);
    if (size > VALUE_MAX) throw new TooMuch(`it has ${size} bytes of JSON, and at most ${VALUE_MAX} are kept`);
    let depth = 0;
    for (const mark of size > 2 * LEVELS_MAX ? text.replace(NO_MARK, "") : "") { // else it has too few brackets
        depth += mark === "[" || mark === "{" ? 1 : -1;
        if (depth > LEVELS_MAX) throw new TooMuch(`it is deeper than ${LEVELS_MAX} levels`);
    }
    return text;
}

/** Returns what JSON makes of a value that laterd would keep; throws an error about `what` if it would not. */
function checkJson(what, value) {
    try {
        return JSON.parse(valueText(value));
    } catch (error) {
        throw new TypeError(`${what}: ${error.message}`, { cause: error });
    }
}

/**
 * Returns the lines for an answer. The handler has done its work, so a value that cannot be sent has
 * nothing run again: what is no JSON buries the job if somebody wants it, and what is too much for
 * laterd is left out, with a line for the log.
 */
function linesOf(answer) {
    if (answer.value === undefined) return [`${JSON.stringify(answer)}\n`];
    const { value, ...rest } = answer;
    try {
        return [`${JSON.stringify(rest).slice(0, -1)},"value":${valueText(value)}}\n`];
    } catch (error) {
        const lines = error instanceof TooMuch
            ? [{ log: "error", text: `its value is not sent: ${error.message}`, id: rest.id }, rest]
            : [{ ...rest, result: "bury", error: textOf(`its value is not JSON: ${textOf(error)}`, ERROR_MAX), done: true }];
        return lines.map((line) => `${JSON.stringify(line)}\n`);
    }
}

module.exports = { OWN, textOf, numberOf, errorOf, saidBy, checkJson, linesOf };
