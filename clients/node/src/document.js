/** document.js: a job, and the document that is pushed for it. */
"use strict";

const { randomBytes } = require("node:crypto");

const { DEPTH_MAX, DOCUMENT_MAX, EXPIRES_ROOM } = require("./bounds.js");
const { LaterdError, Refused } = require("./errors.js");
const { checkStrict, endOfString } = require("./strict.js");

// @options pattern: const {UPPER} = /^{regex}$/;
const TYPE = /^[A-Za-z0-9_.:-]{1,128}$/;
const LABEL = /^[A-Za-z0-9_.-]{1,64}$/;
const WORD = /^[!-~]+$/;
const NAME = /^[!-z|~]+$/;
const HOOK = /^[A-Za-z0-9_.:-]{1,128}(@[A-Za-z0-9_.-]{1,64})?$/;
// @end
// @options wait.list: const {UPPER}_MAX = {most}; // {help}
const LIST_MAX = 32; // waits, one after the other; the last one is used again and again
// @end
const WAITS = [
    // @options member: "{name}", // {help}
    "base", // wait before the second attempt, doubled before each further one
    "max", // longest wait
    // @end
];

/** A payload that is JSON text already. Its bytes are pushed unchanged, and looked through before. */
class RawJSON {
    constructor(text) {
        this.text = text;
    }
}

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz01";
let drawn = Buffer.alloc(0), used = 0; // enough for many ids, since each draw is slow

/** Returns a new id: 14 random letters and digits, which are 83 bits. It is short because Redis
 * keeps it twice. */
function newId() {
    if (used + 14 > drawn.length) {
        drawn = randomBytes(14 * 256);
        used = 0;
    }
    let id = "";
    for (const end = used + 14; used < end; used++) id += DIGITS[drawn[used] & 63];
    return id;
}

/** Returns a new number: 18 random digits, the first of them not 0. */
function newNumber() {
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

function refuse(name, value, what) {
    throw new Refused(`${name}: must be ${what} (${String(value).slice(0, 70)})`);
}

function made(name, value, pattern, what) {
    return typeof value === "string" && pattern.test(value) ? value : refuse(name, value, what);
}

function number(name, value, least, most) {
    if (typeof value !== "number" || !(value >= least && value <= most) || !Number.isFinite(value)) {
        refuse(name, value, `a number from ${least} to ${most}`);
    }
    return value;
}

function whole(name, value, least, most) {
    return Number.isInteger(number(name, value, least, most)) ? value : refuse(name, value, "a whole number");
}

function waits(name, value, least, most) {
    if (Array.isArray(value)) {
        if (value.length < 1 || value.length > LIST_MAX) refuse(name, value, `a list of 1 to ${LIST_MAX} numbers`);
        return value.map((wait) => number(name, wait, least, most));
    }
    if (value && typeof value === "object") {
        const names = Object.keys(value);
        if (!names.length || names.some((part) => !WAITS.includes(part))) {
            throw new Refused(`${name}: must have some of ${WAITS.join(", ")}, nothing else`);
        }
        names.forEach((part) => number(`${name}.${part}`, value[part], least, most));
        return value;
    }
    return number(name, value, least, most);
}

// What each kind of option must be; returns it in the form of the document.
const KINDS = {
    word: (name, value, least, most) => made(name, value?.length > most ? null : value, WORD,
        `${least} to ${most} printable ASCII characters without space`),
    name: (name, value, least, most) => made(name, value?.length > most ? null : value, NAME,
        `${least} to ${most} printable ASCII characters without space or brace`),
    hook: (name, value) => made(name, value, HOOK, "a type, or TYPE@QUEUE"),
    text: (name, value, least, most) =>
        // eslint-disable-next-line no-control-regex
        typeof value === "string" && Buffer.byteLength(value) <= most && !/[\x00-\x1f\x7f]/.test(value)
            ? value : refuse(name, value, `text of at most ${most} bytes without control characters`),
    whole,
    count: whole,
    seconds: number,
    span: (name, value, least, most) =>
        number(name, value, least, most) > least ? value : refuse(name, value, `above ${least}`),
    time: (name, value, least, most) => { // UNIX seconds, or a Date
        const at = number(name, value instanceof Date ? value.getTime() / 1000 : value, -Infinity, Infinity);
        if (at >= least && at < most) return at;
        const duration = { at: "; for a duration use in", expiresAt: "; for a duration use expiresIn" };
        throw new Refused(`${name}: ${at} is not a plausible UNIX time${duration[name] ?? ""}`);
    },
    waits,
    flag: (name, value) => typeof value === "boolean" ? value : refuse(name, value, "true or false"),
    label: checkLabel,
    steps: (name, value, least, most) => {
        const steps = typeof value === "string" ? [value] : value;
        if (!Array.isArray(steps) || steps.length < least || steps.length > most) {
            refuse(name, value, `a list of ${least} to ${most} steps, or * for all jobs`);
        }
        return steps.length === 1 && steps[0] === "*" ? steps : steps.map((step) => checkLabel(name, step));
    },
    fate: (name, value) => made(name, value, /^(done|ended|failed)$/, "done, ended or failed"),
};

/** What middleware carries along: an object of JSON. */
function carried(name, value) {
    if (!value || Object.getPrototypeOf(value) !== Object.prototype) refuse(name, value, "an object");
    return JSON.parse(payloadOf(value, name));
}

// Of each option its name in Redis, its check, its range, and whether the document has it.
const OPTIONS = {
    // @options document: {camel}: ["{name}", KINDS.{kind}, {least}, {most}, true],
    id: ["id", KINDS.word, 1, 200, true],
    priority: ["priority", KINDS.whole, -100, 100, true],
    maxAttempts: ["max_attempts", KINDS.count, 1, 1000000, true],
    retryFor: ["retry_for", KINDS.span, 0, 315360000, true],
    timeout: ["timeout", KINDS.span, 0, 604800, true],
    backoff: ["backoff", KINDS.waits, 0, 1e300, true],
    expiresAt: ["expires_at", KINDS.time, 1e9, 1e300, true],
    result: ["result", KINDS.span, 0, 315360000, true],
    lock: ["lock", KINDS.name, 1, 200, true],
    group: ["group", KINDS.name, 1, 64, true],
    trace: ["trace", KINDS.text, 0, 256, true],
    description: ["description", KINDS.text, 0, 200, true],
    onDead: ["on_dead", KINDS.hook, 1, 193, true],
    onDone: ["on_done", KINDS.hook, 1, 193, true],
    flow: ["flow", KINDS.label, 1, 64, true],
    step: ["step", KINDS.label, 1, 64, true],
    after: ["after", KINDS.steps, 1, 100, true],
    when: ["when", KINDS.fate, 1, 6, true],
    // @end
    context: ["context", carried, 0, 0, true],
    // @options line,item,tie,part: {camel}: ["{name}", KINDS.{kind}, {least}, {most}, false],
    in: ["in", KINDS.seconds, 0, 315360000, false],
    at: ["at", KINDS.time, 1e9, 1e11, false],
    expiresIn: ["expires_in", KINDS.span, 0, 315360000, false],
    adder: ["adder", KINDS.word, 1, 200, false],
    home: ["home", KINDS.label, 1, 64, false],
    queue: ["queue", KINDS.label, 1, 64, false],
    uniqueFor: ["unique_for", KINDS.seconds, 0, 1000000000, false],
    replace: ["replace", KINDS.flag, 0, 1, false],
    again: ["again", KINDS.flag, 0, 1, false],
    debounce: ["debounce", KINDS.seconds, 0, 315360000, false],
    maxWait: ["max_wait", KINDS.span, 0, 315360000, false],
    throttle: ["throttle", KINDS.span, 0, 1000000000, false],
    // @end
};

// These go with an id.
const NAMED = [
    // @options named: "{camel}",
    "uniqueFor",
    "again",
    "debounce",
    "throttle",
    // @end
];

/** What other queues call it. */
const MEANT = {
    delay: "`in`, in seconds", jobId: "`id`", attempts: "`maxAttempts`", name: "`type`", data: "`payload`",
    children: "`after`, in the parent, which names steps", deduplication: "`unique`, `throttle` or `debounce`",
    repeat: "cronSet()", removeOnComplete: "`types.keep` in laterd.conf", removeOnFail: "`dead` in laterd.conf",
};

/** Refuses options that are none of those known, so that none is passed over; meant: what others call them. */
function checkOptions(given, known, meant = MEANT) {
    if (typeof given !== "object" || given === null) throw new Refused("options: must be an object, such as { queue: \"mail\" }");
    const name = Object.keys(given).find((option) => given[option] !== undefined && !Object.hasOwn(known, option));
    if (name === undefined) return;
    throw new Refused(`${name}: no such option${Object.hasOwn(meant, name) ? `; it is ${meant[name]}` : ""}`);
}

/** Returns the options of a job, checked, by their names in Redis: those that the document has, and
 * those that say how to push. */
function checked(job) {
    const document = {}, push = {};
    for (const [option, value] of Object.entries(job)) {
        if (option === "type" || option === "payload" || value === undefined) continue;
        if (!Object.hasOwn(OPTIONS, option)) checkOptions({ [option]: value }, OPTIONS);
        const [name, check, least, most, isMember] = OPTIONS[option];
        (isMember ? document : push)[name] = check(option, value, least, most);
    }
    return { document, push };
}

/** Throws a TypeError, as what is wrong is the program, not a job. */
function checkFunction(name, value) {
    if (typeof value !== "function") throw new TypeError(`${name} must be a function`);
    return value;
}

function checkLabel(name, value) {
    return made(name, value, LABEL, "1 to 64 letters, digits and _ . -");
}

function checkQueue(queue) {
    return checkLabel("queue", queue);
}

// ---- the payload

/** Returns how deep lists and objects are nested in this JSON. (By hand: a regular expression for a string of 8 MB
 * takes more of the stack than there is.) */
function depth(json) {
    let deepest = 0;
    let open = 0;
    for (let i = 0; i < json.length; i++) {
        const char = json[i];
        if (char === "[" || char === "{") deepest = Math.max(deepest, ++open);
        else if (char === "]" || char === "}") open--;
        else if (char === '"') i = endOfString(json, i);
    }
    return deepest;
}

const EMPTIED = [Promise, Map, Set, Error, RegExp, ArrayBuffer]; // JSON.stringify() makes {} of these

function isPlain(value) {
    const kind = typeof value; // undefined is left out, as everywhere in JavaScript
    return kind === "string" || kind === "boolean" || value === null || kind === "undefined" || (kind === "number" && value - value === 0);
}

/** Is there nothing that JSON.stringify() leaves out, or makes null or {} of? The value is no circle. */
function isWhole(value) {
    if (isPlain(value)) return true;
    if (typeof value !== "object") return false;
    if (Object.getPrototypeOf(value) !== Object.prototype && !Array.isArray(value)) {
        if (typeof value.toJSON === "function") return true;
        if (EMPTIED.some((kind) => value instanceof kind)) return false;
    }
    for (const one of Array.isArray(value) ? value : Object.values(value)) if (!isPlain(one) && !isWhole(one)) return false;
    return true;
}

/** Returns an error that says what of the value is no JSON, and where it is. */
function noJson(value, path) {
    if (typeof value === "number") return new Refused(`${path}: ${value} is no number of JSON`);
    const inner = typeof value === "object" ? Object.keys(value).find((name) => !isWhole(value[name])) : undefined;
    if (inner !== undefined) return noJson(value[inner], `${path}${Array.isArray(value) ? `[${inner}]` : `.${inner}`}`);
    return new Refused(`${path}: a ${typeof value === "object" ? value.constructor.name : typeof value} is no JSON`);
}

function payloadOf(payload, name = "payload") {
    let json;
    try {
        if (payload instanceof RawJSON) {
            JSON.parse(payload.text);
            json = payload.text.trim();
        } else {
            json = JSON.stringify(payload);
        }
    } catch (error) {
        throw new Refused(`${name}: ${error.message}`);
    }
    if (json === undefined) throw new Refused(`${name}: a ${typeof payload} is no JSON`);
    if (payload instanceof RawJSON) return checkStrict(checkDepth(json, name), name);
    if (!isWhole(payload)) throw noJson(payload, name);
    // It is rare, so a quick test comes first.
    if (json.includes("\\ud") && /(?<!\\)(?:\\\\)*\\ud[89a-f]/.test(json)) throw new Refused(`${name}: half a surrogate pair`);
    checkDepth(json, name);
    return json.includes("\\u0000") ? checkStrict(json, name) : json;
}

function checkDepth(json, name) {
    if (json.length < 2 * DEPTH_MAX || depth(json) < DEPTH_MAX) return json;
    throw new Refused(`${name}: nested deeper than ${DEPTH_MAX - 1} levels`);
}

// ---- the document

/** Formats plain decimals, since the scripts do not take 1e-7. */
function seconds(n) {
    return Number.isInteger(n) ? String(n) : n.toFixed(6);
}

/** Checks options that need an id, and options that exclude each other. */
function checkTurns(job) {
    const nameless = job.id === undefined ? NAMED.find((name) => job[name]) : undefined;
    if (nameless) throw new Refused(`${nameless}: goes with id or unique: the same id is the same job`);
    if ((job.debounce !== undefined) + (job.in !== undefined) + (job.at !== undefined) > 1) {
        throw new Refused("debounce, in and at: only one of them");
    }
    if (job.maxWait !== undefined && job.debounce === undefined) throw new Refused("maxWait: goes with debounce");
    if (job.expiresIn !== undefined && job.expiresAt !== undefined) {
        throw new Refused("expiresAt and expiresIn: only one of them");
    }
    if (job.expiresIn !== undefined && job.at !== undefined) {
        throw new Refused("at and expiresIn: give the time by expiresAt");
    }
    if (job.throttle !== undefined && job.uniqueFor) throw new Refused("throttle and uniqueFor: only one of them");
}

/** Checks what ties it to a flow. Some of what a push can do, the push into a flow cannot. */
function checkTie(job) {
    if (job.flow === undefined) {
        for (const name of ["step", "after", "when", "adder", "home"]) {
            if (job[name] !== undefined) throw new Refused(`${name}: goes with flow`);
        }
        return;
    }
    for (const name of ["expiresIn", "uniqueFor", "replace", "again", "debounce", "throttle"]) {
        if (job[name] !== undefined && job[name] !== false) throw new Refused(`${name}: not for a job of a flow`);
    }
    if (job.when !== undefined && job.after === undefined) throw new Refused("when: goes with after");
}

/** How the script takes what ties it to its flow; undefined for a job of none. */
function tieOf({ flow, step = "", after = [], when = "done" }, { adder = "", home, queue }) {
    return flow === undefined ? undefined : { flow, step, after: after.join(","), when, adder, home, queue };
}

/** Returns when it may begin, and in how many seconds it expires, in the form of the script. */
function whenOf(push) {
    const wait = push.debounce ?? push.in ?? 0;
    let when = "";
    if (push.at !== undefined) when = seconds(push.at);
    else if (push.debounce !== undefined || wait > 0) when = `+${seconds(wait)}`;
    if (push.max_wait !== undefined) when += `/${seconds(push.max_wait)}`;
    if (push.expires_in === undefined) return when;
    if (wait >= push.expires_in) {
        throw new Refused(`expiresIn: ${push.expires_in} seconds from now it is not due yet, and would be lost`);
    }
    return `${when}!${seconds(push.expires_in)}`;
}

/** Returns the priority, how long the id stays taken, and the group, in the form of the script. */
function rankOf(priority, push, group) {
    let rank = String(priority);
    if (push.throttle !== undefined) rank += `/+${seconds(push.throttle)}`;
    else if (push.unique_for) rank += `/${seconds(push.unique_for)}`;
    return group === undefined ? rank : `${rank}@${group}`;
}

function typeOf(job) {
    return made("type", job.type, TYPE, "1 to 128 letters, digits and _ . : -"); // needs no escaping
}

/** Returns a document that begins so, and how many bytes it may have in Redis. */
function written(begin, members, job) {
    let document = begin;
    for (const name of Object.keys(members)) document += `,"${name}":${JSON.stringify(members[name])}`;
    document += job.payload === undefined ? "}" : `,"payload":${payloadOf(job.payload)}}`;
    const bytes = Buffer.byteLength(document) + (job.expiresIn === undefined ? 0 : EXPIRES_ROOM);
    if (bytes <= DOCUMENT_MAX) return { document, bytes };
    throw new Refused(`too large: ${job.type}${job.id === undefined ? "" : `, id ${job.id}`}: ` +
        `a document of ${bytes} bytes, ${DOCUMENT_MAX} allowed`);
}

// What a schedule decides, or what a job of a schedule cannot be.
const UNSCHEDULED = [
    "id", "unique",
    // @options one: "{camel}",
    "in",
    "at",
    "expiresAt",
    "flow",
    "step",
    "after",
    "when",
    "adder",
    "home",
    "queue",
    "uniqueFor",
    "replace",
    "again",
    "debounce",
    "maxWait",
    "throttle",
    // @end
];
const PLACES = Object.keys(OPTIONS);

/** Checks a job of a schedule and builds its document, which has no id and no priority; throws Refused. What is the
 * same makes the same bytes, in whatever order it is said. */
function prepareScheduled({ unique = false, ...job }) {
    const wrong = UNSCHEDULED.find((name) => (name === "unique" ? unique : job[name] ?? false) !== false);
    if (wrong) throw new Refused(`${wrong}: not for a job of a schedule`);
    const sorted = Object.entries(job).sort(([one], [other]) => PLACES.indexOf(one) - PLACES.indexOf(other));
    const { document: { priority = 0, ...members }, push } = checked(Object.fromEntries(sorted));
    const { document } = written(`{"type":"${typeOf(job)}"`, members, job);
    return { document, priority, group: members.group, expiresIn: push.expires_in };
}

/** Checks a job and builds its document; throws Refused. */
function prepare(job) {
    const { document: { id: given, priority = 0, ...members }, push } = checked(job);
    checkTurns(job);
    checkTie(job);
    const tie = tieOf(members, push);
    const id = given ?? (tie?.step ? `${tie.flow}.${tie.step}` : newId());
    const when = whenOf(push);
    const rank = rankOf(priority, push, members.group);
    let begin = `{"type":"${typeOf(job)}","id":${job.id === undefined ? `"${id}"` : JSON.stringify(id)}`;
    if (priority) begin += `,"priority":${priority}`;
    const { document, bytes } = written(begin, members, job);
    const mode = push.again || push.debounce !== undefined ? "again" : push.replace ? "replace" : "new";
    const plain = when === "" && rank === "0" && mode === "new" && !tie;
    return { id, when, rank, document, bytes, mode, plain, tie, queue: push.queue };
}

/** As prepare(), for push(), which has its own word for the queue. */
function prepareOne(job) {
    if (job.queue !== undefined) throw new Refused("queue: for the jobs of pushMany() and flow()");
    if (typeof job.type === "object") throw new Refused("type: is the first word: push(type, payload, options)");
    return prepare(job);
}

/** As prepare(), for pushMany(), which takes no jobs of flows. */
function prepareMany(jobs) {
    return jobs.map((job, i) => {
        try {
            const made = prepare(job);
            if (made.tie) throw new Refused("flow: not here; flow() pushes many jobs of a flow, push() one");
            return made;
        } catch (error) {
            if (error instanceof LaterdError) error.message = `job ${i + 1}: ${error.message}`;
            throw error;
        }
    });
}

module.exports = {
    RawJSON, newId, newNumber, KINDS, checkOptions, checkFunction, checkLabel, checkQueue,
    payloadOf, prepareScheduled, prepare, prepareOne, prepareMany,
};
