/** A job, and the document that is pushed for it. */
import { randomBytes } from "node:crypto";

import { Refused } from "./errors.js";

const DOCUMENT_MAX = 1 << 20;
const DEPTH_MAX = 128;
const DELAY_MAX = 315360000;
const AT_MIN = 1e9;
const AT_END = 1e11;
const EXPIRES_ROOM = 40; // bytes that expiresIn adds to a document, in Redis
const OPTIONS = new Set(["type", "payload", "id", "priority", "in", "at", "maxAttempts", "timeout",
    "backoff", "expiresAt", "trace", "lock", "result", "uniqueFor", "replace", "again", "debounce",
    "maxWait", "throttle", "expiresIn"]);

/** A payload that is JSON text already. Its bytes are pushed unchanged. */
export class RawJSON {
    constructor(text) {
        this.text = text;
    }
}

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz01";
let drawn = Buffer.alloc(0), used = 0; // enough for many ids, since each draw is slow

/** Returns a new id: 14 random letters and digits, which are 83 bits. It is short because Redis
 * keeps it twice. */
export function newId() {
    if (used + 14 > drawn.length) {
        drawn = randomBytes(14 * 256);
        used = 0;
    }
    let id = "";
    for (const end = used + 14; used < end; used++) id += DIGITS[drawn[used] & 63];
    return id;
}

/** Returns a new number: 18 random digits, the first of them not 0. */
export function newNumber() {
    if (used + 8 > drawn.length) {
        drawn = randomBytes(14 * 256);
        used = 0;
    }
    const high = 1e8 + drawn.readUInt32LE(used) % 9e8;
    const low = 1e9 + drawn.readUInt32LE(used + 4) % 1e9;
    used += 8;
    return `${high}${String(low).slice(1)}`;
}

// ---- checks

function text(name, value, pattern, what) {
    if (typeof value !== "string" || !pattern.test(value)) {
        throw new Refused(`${name}: must be ${what} (${String(value).slice(0, 70)})`);
    }
    return value;
}

function number(name, value, least, most, above = false) {
    if (typeof value !== "number" || !(value >= least && value <= most) || !Number.isFinite(value) ||
        (above && value === least)) {
        throw new Refused(`${name}: must be a number ${above ? "above" : "from"} ${least}, at most ${most} (${value})`);
    }
    return value;
}

function whole(name, value, least, most) {
    if (!Number.isInteger(number(name, value, least, most))) {
        throw new Refused(`${name}: must be a whole number (${value})`);
    }
    return value;
}

/** UNIX seconds, or a Date. */
function time(name, value, least, most) {
    return number(name, value instanceof Date ? value.getTime() / 1000 : value, least, most);
}

function backoff(value) {
    if (Array.isArray(value)) {
        if (value.length < 1 || value.length > 32) throw new Refused("backoff: must be a list of 1 to 32 numbers");
        return value.map((wait) => number("backoff", wait, 0, Infinity));
    }
    if (value && typeof value === "object") {
        const names = Object.keys(value);
        if (!names.length || names.some((name) => name !== "base" && name !== "max")) {
            throw new Refused("backoff: must have base, max or both, nothing else");
        }
        names.forEach((name) => number(`backoff.${name}`, value[name], 0, Infinity));
        return value;
    }
    return number("backoff", value, 0, Infinity);
}

function trace(value) {
    // eslint-disable-next-line no-control-regex
    if (typeof value !== "string" || Buffer.byteLength(value) > 256 || /[\x00-\x1f\x7f]/.test(value)) {
        throw new Refused("trace: must be text of at most 256 bytes without control characters");
    }
    return value;
}

export function checkQueue(queue) {
    return text("queue", queue, /^[A-Za-z0-9_.-]{1,64}$/, "1 to 64 letters, digits and _ . -");
}

// ---- the payload

/** Returns how deep lists and objects are nested in this JSON. */
function depth(json) {
    let deepest = 0;
    let open = 0;
    for (const [bracket] of json.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/g)) {
        if (bracket === "[" || bracket === "{") deepest = Math.max(deepest, ++open);
        else if (bracket === "]" || bracket === "}") open--;
    }
    return deepest;
}

function payloadOf(payload) {
    let json;
    try {
        if (payload instanceof RawJSON) {
            JSON.parse(payload.text);
            json = payload.text.trim();
        } else {
            json = JSON.stringify(payload);
        }
    } catch (error) {
        throw new Refused(`payload: ${error.message}`);
    }
    if (json === undefined) throw new Refused(`payload: a ${typeof payload} is no JSON`);
    // Both are rare, so a quick test comes first.
    if (json.includes("\\ud") && !(payload instanceof RawJSON) && /(?<!\\)(?:\\\\)*\\ud[89a-f]/.test(json)) {
        throw new Refused("payload: half a surrogate pair");
    }
    if (json.length >= 2 * DEPTH_MAX && depth(json) >= DEPTH_MAX) {
        throw new Refused(`payload: nested deeper than ${DEPTH_MAX - 1} levels`);
    }
    return json;
}

// ---- the document

/** Formats plain decimals, since the scripts do not take 1e-7. */
function seconds(n) {
    return Number.isInteger(n) ? String(n) : n.toFixed(6);
}

const TYPE = /^[A-Za-z0-9_.:-]{1,128}$/;
const ID = /^[!-~]{1,200}$/;

/** Checks options that need an id, and options that exclude each other. */
function checkTurns(job) {
    for (const name of ["debounce", "throttle", "again"]) {
        if (job[name] !== undefined && job[name] !== false && job.id === undefined) {
            throw new Refused(`${name}: goes with an id: the same id is the same job`);
        }
    }
    if (job.debounce !== undefined && (job.in !== undefined || job.at !== undefined)) {
        throw new Refused("debounce, in and at: only one of them");
    }
    if (job.maxWait !== undefined && job.debounce === undefined) throw new Refused("maxWait: goes with debounce");
    if (job.throttle !== undefined && job.uniqueFor) throw new Refused("throttle and uniqueFor: only one of them");
}

function expiresAt(value) {
    const at = time("expiresAt", value, -Infinity, 1e15);
    if (at < AT_MIN) {
        throw new Refused(`expiresAt: ${at} is not a plausible UNIX time; for a duration use expiresIn`);
    }
    return at;
}

/** Returns in how many seconds it expires, in the form of the script; "" if never. */
function lifeOf(job) {
    if (job.expiresIn === undefined) return "";
    if (job.expiresAt !== undefined) throw new Refused("expiresAt and expiresIn: only one of them");
    if (job.at !== undefined) throw new Refused("at and expiresIn: give the time by expiresAt");
    const life = number("expiresIn", job.expiresIn, 0, DELAY_MAX, true);
    if ((job.debounce ?? job.in ?? 0) >= life) {
        throw new Refused(`expiresIn: ${life} seconds from now it is not due yet, and would be lost`);
    }
    return `!${seconds(life)}`;
}

function whenOf(job) {
    if (job.debounce !== undefined) {
        const most = job.maxWait === undefined ? "" : `/${seconds(number("maxWait", job.maxWait, 0, DELAY_MAX, true))}`;
        return `+${seconds(number("debounce", job.debounce, 0, DELAY_MAX))}${most}`;
    }
    if (job.in !== undefined && job.at !== undefined) throw new Refused("in and at: only one of them");
    if (job.in !== undefined) {
        const delay = number("in", job.in, 0, DELAY_MAX);
        return delay > 0 ? `+${seconds(delay)}` : "";
    }
    if (job.at === undefined) return "";
    const at = time("at", job.at, 0, Infinity);
    if (at < AT_MIN || at >= AT_END) {
        throw new Refused(`at: ${at} are no UNIX seconds of this age; a delay is \`in\``);
    }
    return seconds(at);
}

const MEMBERS = [
    ["maxAttempts", "max_attempts", (v) => whole("maxAttempts", v, 1, 1000000)],
    ["timeout", "timeout", (v) => number("timeout", v, 0, 604800, true)],
    ["backoff", "backoff", backoff],
    ["expiresAt", "expires_at", expiresAt],
    ["trace", "trace", trace],
    ["lock", "lock", (v) => text("lock", v, /^[!-z|~]{1,200}$/,
        "1 to 200 printable ASCII characters without space or brace")],
    ["result", "result", (v) => number("result", v, 0, 86400, true)],
];

/** Returns the beginning of a document. A type needs no escaping. */
function headOf(job, id, priority) {
    const type = text("type", job.type, TYPE, "1 to 128 letters, digits and _ . : -");
    let head = `{"type":"${type}","id":${job.id === undefined ? `"${id}"` : JSON.stringify(id)}`;
    if (priority) head += `,"priority":${priority}`;
    for (const [option, member, check] of MEMBERS) {
        if (job[option] !== undefined) head += `,"${member}":${JSON.stringify(check(job[option]))}`;
    }
    return head;
}

/** Checks a job and builds its document; throws Refused. */
export function prepare(job) {
    for (const name of Object.keys(job)) {
        if (!OPTIONS.has(name)) throw new Refused(`${name}: no such option`);
    }
    const id = job.id === undefined ? newId()
        : text("id", job.id, ID, "1 to 200 printable ASCII characters without space");
    const priority = whole("priority", job.priority ?? 0, -100, 100);
    const unique = number("uniqueFor", job.uniqueFor ?? 0, 0, 1e9);
    checkTurns(job);
    const life = lifeOf(job);
    const when = whenOf(job) + life;
    const head = headOf(job, id, priority);
    const document = job.payload === undefined ? `${head}}` : `${head},"payload":${payloadOf(job.payload)}}`;
    const bytes = Buffer.byteLength(document) + (life ? EXPIRES_ROOM : 0);
    if (bytes > DOCUMENT_MAX) throw new Refused(`too large: a document of ${bytes} bytes, ${DOCUMENT_MAX} allowed`);
    const taken = job.throttle !== undefined ? `/+${seconds(number("throttle", job.throttle, 0, 1e9, true))}`
        : unique ? `/${seconds(unique)}` : "";
    const rank = `${priority}${taken}`;
    const mode = job.again || job.debounce !== undefined ? "again" : job.replace ? "replace" : "new";
    return { id, when, rank, document, bytes, mode, plain: when === "" && rank === "0" && mode === "new" };
}
