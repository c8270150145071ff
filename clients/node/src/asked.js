/** asked.js: what pause(), reschedule(), search(), waitMany() are asked, for clients and Fakes. */
import { KINDS, prepareOne, refuseUnknown } from "./document.js";
import { JobFailed, JobUnknown, Refused, TimeoutError } from "./errors.js";

const STATES = ["reserved", "ready", "delayed", "dead", "waiting"];
const FOUND_MAX = 500;
const WAITED_MAX = 1000;
const PAUSE_MAX = 31536000; // a year, in seconds

/** Returns how the script takes them: milliseconds, 0 without an end, and who pauses. */
export function pauseWords(seconds, by) {
    const ms = seconds === undefined ? 0 : Math.round(1000 * KINDS.seconds("seconds", seconds, 0.001, PAUSE_MAX));
    return [String(ms), by === undefined ? "" : KINDS.word("by", by, 1, 64)];
}

/** Returns how the script takes them, with "" for what stays. */
export function rescheduleWords({ in: seconds, at, priority, ...unknown }) {
    const moves = seconds !== undefined || at !== undefined;
    refuseUnknown(unknown);
    if (!moves && priority === undefined) throw new Refused("reschedule: in, at or priority");
    const one = prepareOne({ type: "reschedule", in: seconds, at, priority });
    return [one.when || (moves ? "+0" : ""), priority === undefined ? "" : one.rank];
}

/** Returns the jobs that are pushed in one call. */
export function checkJobs(jobs) {
    if (typeof jobs === "object" && typeof jobs?.[Symbol.iterator] === "function") return Array.from(jobs);
    throw new Refused("jobs: must be a list of them");
}

export function checkIds(ids) {
    if (Array.isArray(ids) && ids.length >= 1 && ids.length <= WAITED_MAX) return ids;
    throw new Refused(`ids: must be a list of 1 to ${WAITED_MAX}`);
}

/** Returns what has become of a job that wait() is asked about. */
export async function outcomeOf(id, wait) {
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
export class Search {
    #type;
    #text;

    constructor({ state, type, text, limit = 100, ...unknown }) {
        refuseUnknown(unknown);
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
