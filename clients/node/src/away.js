/** away.js: a wait outlasts a Redis that is away: when it asks again, when it gives up, and with which error. */
"use strict";

const { LaterdError, Unreachable } = require("./errors.js");
const { isReply } = require("./redis.js");

// @errors wait: const {UPPER} = {seconds} * 1000; // milliseconds {help}
const AGAIN = 0.5 * 1000; // milliseconds until a Redis that is away is asked again
const PATIENCE = 30.0 * 1000; // milliseconds without an answer after which a wait gives up
// @end
const SLOW = 5000; // milliseconds that a look has, if the wait is over before
// The first words of what is said by a server that cannot serve now, or not here.
const PASSING = [
    // @errors away: "{UPPER}", // {help}
    "BUSY", // a script runs longer than busy-reply-threshold
    "CLUSTERDOWN", // no master for the slot at the moment
    "LOADING", // it reads its file after a start
    "MASTERDOWN", // a replica that has lost its master
    "MISCONF", // it cannot write to its disk
    "NOREPLICAS", // min-replicas-to-write is not met
    "OOM", // maxmemory is reached
    "READONLY", // it has become a replica
    "TRYAGAIN", // the slot is being moved
    "UNBLOCKED", // its role has changed under a BLPOP
    // @end
];
const LATE = Symbol("no answer");

/** Returns what the promise brings, or LATE after these milliseconds. Rejects with the signal's reason. */
async function within(promise, milliseconds, signal) {
    let timer, stop;
    try {
        return await Promise.race([promise, new Promise((resolve, reject) => {
            timer = setTimeout(resolve, milliseconds, LATE);
            stop = () => reject(signal.reason);
            signal?.addEventListener("abort", stop);
        })]);
    } finally {
        clearTimeout(timer);
        signal?.removeEventListener("abort", stop);
    }
}

/** For one wait, which ends at `end` of performance.now(). */
class Away {
    static PATIENCE = PATIENCE;
    #redis;
    #end;
    #signal;

    constructor(redis, end, signal) {
        this.#redis = redis;
        this.#end = end;
        this.#signal = signal;
    }

    /** Returns what look() brings, as soon as Redis answers. Throws Unreachable when it is time to give up, and what
     * does not pass. */
    async outlast(look) {
        const since = performance.now();
        for (;;) {
            this.#signal?.throwIfAborted();
            const late = Math.max(this.#end, performance.now() + SLOW);
            const { told, lost } = await this.#ask(this.#redis, look(), Math.min(late, since + Away.PATIENCE));
            if (told !== undefined) return told;
            if (!await this.#pause(Math.min(this.#end, since + Away.PATIENCE))) {
                throw new Unreachable(`Redis is away: ${lost?.message || lost?.code || "no answer"}`, { cause: lost });
            }
        }
    }

    /** Has the link do what takes so many seconds. Returns undefined if it breaks, or takes longer: then a look decides. */
    async attempt(link, key, words, seconds) {
        const end = performance.now() + seconds * 1000;
        const { told } = await this.#ask(link, link.do(key, words), end + AGAIN);
        if (told === undefined) await this.#pause(end);
        return told;
    }

    /** Returns { told }, or { lost } if the link broke, or was silent until `limit`. A library keeps commands until it
     * has a connection, or for ever if it is refused one. */
    async #ask(link, promise, limit) {
        const begin = performance.now();
        promise.catch(() => {}); // if it comes too late
        try {
            for (;;) {
                const told = await within(promise, AGAIN, this.#signal);
                if (told !== LATE) return { told };
                const lost = link.failure(begin);
                if (isReply(lost)) this.#passing(lost);
                if (performance.now() >= limit) return { lost };
            }
        } catch (error) {
            return { lost: this.#passing(error) };
        }
    }

    /** Returns false, at once, after `limit`. */
    async #pause(limit) {
        const left = limit - performance.now();
        if (left > 0) await within(new Promise(() => {}), Math.min(AGAIN, left), this.#signal);
        return left > 0;
    }

    /** Returns the error, or throws it if it does not pass by itself. */
    #passing(error) {
        const passes = isReply(error) ? PASSING.includes(error.message.split(" ", 1)[0])
            : !(error instanceof LaterdError) && !this.#signal?.aborted && !this.#redis.closed;
        if (!passes) throw error;
        return error;
    }
}

module.exports = { Away };
