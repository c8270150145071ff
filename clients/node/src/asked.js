/** asked.js: what the methods of clients and Fakes are asked: their options, and what these must be. */
"use strict";

const { FOUND_MAX, PAUSE_MAX, WAITED_MAX } = require("./bounds.js");
const { KINDS, checkOptions, checkQueue, prepareOne } = require("./document.js");
const { JobFailed, JobUnknown, Refused, TimeoutError } = require("./errors.js");

const STATES = ["reserved", "ready", "delayed", "dead", "waiting"];

// The options of each method, and what they are if they are not given.
const QUEUE = { queue: "default" };
const WAIT = { ...QUEUE, timeout: Infinity, signal: undefined };
const SIZE = [0, QUEUE], JOB = [1, QUEUE], FLOW = [2, { ...QUEUE, open: false }]; // words before them
const METHODS = {
    pushMany: JOB, call: [2, { ...WAIT, timeout: 60 }], show: JOB, wait: [1, WAIT], waitMany: [1, WAIT],
    kick: JOB, cancel: JOB, forget: JOB, reschedule: [1, { ...QUEUE, in: undefined, at: undefined, priority: undefined }],
    size: SIZE, pause: [0, { ...QUEUE, seconds: undefined, by: undefined }], resume: SIZE,
    search: [0, { ...QUEUE, state: undefined, type: undefined, text: undefined, limit: 100 }],
    events: [0, { ...QUEUE, after: "", limit: 500, timeout: 0 }],
    cronSet: JOB, cronDelete: JOB, cronList: SIZE,
    flow: FLOW, showFlow: JOB, waitFlow: [1, WAIT], kickFlow: JOB, cancelFlow: JOB, closeFlow: JOB,
};

/** Returns all options of a method. */
function completed(given = {}, options) {
    checkOptions(given, options);
    const all = Object.fromEntries(Object.entries(options).map(([name, value]) => [name, given[name] === undefined ? value : given[name]]));
    checkQueue(all.queue);
    return all;
}

/** Has the methods of a class get all their options, and refuse what is none of them. */
function takeOptions(kind) {
    for (const [name, [words, options]] of Object.entries(METHODS)) {
        const { prototype } = kind, method = prototype[name];
        const { value } = Object.getOwnPropertyDescriptor({
            async [name](...given) {
                return method.call(this, ...Array.from({ length: words }, (_, i) => given[i]), completed(given[words], options));
            },
        }, name);
        Object.defineProperty(prototype, name, { value });
    }
}

/** Returns how the script takes them: milliseconds, 0 without an end, and who pauses. */
function pauseWords(seconds, by) {
    const ms = seconds === undefined ? 0 : Math.round(1000 * KINDS.seconds("seconds", seconds, 0.001, PAUSE_MAX));
    return [String(ms), by === undefined ? "" : KINDS.word("by", by, 1, 64)];
}

/** Returns how the script takes them, with "" for what stays. */
function rescheduleWords({ in: seconds, at, priority }) {
    const moves = seconds !== undefined || at !== undefined;
    if (!moves && priority === undefined) throw new Refused("reschedule: in, at or priority");
    const one = prepareOne({ type: "reschedule", in: seconds, at, priority });
    return [one.when || (moves ? "+0" : ""), priority === undefined ? "" : one.rank];
}

/** Returns the jobs that are pushed in one call. */
function checkJobs(jobs) {
    if (typeof jobs !== "object" || typeof jobs?.[Symbol.iterator] !== "function") throw new Refused("jobs: must be a list of them");
    const all = Array.from(jobs), wrong = all.findIndex((job) => typeof job !== "object" || job === null);
    if (wrong >= 0) throw new Refused(`job ${wrong + 1}: must be an object, such as { type: "mail.send" }`);
    return all;
}

function checkIds(ids) {
    if (Array.isArray(ids) && ids.length >= 1 && ids.length <= WAITED_MAX) return ids;
    throw new Refused(`ids: must be a list of 1 to ${WAITED_MAX}`);
}

/** Returns what has become of a job that wait() is asked about. */
async function outcomeOf(id, wait) {
    try {
        return { id, state: "done", value: await wait(id), error: null };
    } catch (error) {
        if (error instanceof JobFailed) return { id, state: "dead", value: null, error: error.error };
        if (error instanceof JobUnknown) return { id, state: "gone", value: null, error: null };
        if (error instanceof TimeoutError) return { id, state: "waiting", value: null, error: null };
        throw error;
    }
}

function read(document) {
    try {
        return JSON.parse(document);
    } catch {
        return undefined; // a plain ZADD may be anything
    }
}

/** The conditions of a search. */
class Search {
    #type;
    #text;

    constructor({ state, type, text, limit }) {
        if (state !== undefined && ![...STATES, "done"].includes(state)) {
            throw new Refused(`state: must be done or one of ${STATES.join(", ")} (${String(state).slice(0, 70)})`);
        }
        for (const [name, value] of Object.entries({ type, text })) {
            if (value !== undefined && (typeof value !== "string" || !value)) throw new Refused(`${name}: must be text`);
        }
        this.limit = KINDS.whole("limit", limit, 1, FOUND_MAX);
        this.states = state ? [state] : STATES; // what is done and kept is found only if it is asked for
        this.#type = type;
        this.#text = text;
    }

    /** Does the job meet the conditions? Its text is looked for as it is written and without escapes. */
    fits(document) {
        const job = read(document), text = this.#text;
        if (this.#type !== undefined && !this.#isType(job?.type)) return false;
        return text === undefined || document.includes(text) || (JSON.stringify(job)?.includes(text) ?? false);
    }

    #isType(type) {
        const wanted = this.#type;
        return typeof type === "string" &&
            (type === wanted || (wanted.endsWith("*") && type.startsWith(wanted.slice(0, -1))));
    }
}

module.exports = {
    takeOptions, pauseWords, rescheduleWords, checkJobs, checkIds, outcomeOf, Search,
};
