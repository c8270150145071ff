/** wait.js: waits for a job's result: doc/protocol.md, "Results". */
"use strict";

const { setTimeout: pause } = require("node:timers/promises");

const { Away } = require("./away.js");
const { JobFailed, TimeoutError } = require("./errors.js");

const BLOCK = 5; // seconds of one waiting call; a job may end without leaving anything
const LOOK = 200; // milliseconds between two looks, if no connection can wait
// In place of one.
const LOOKS = { do: (key, words) => pause(Math.min(LOOK, 1000 * words.at(-1)), null), failure() {}, close() {} };

/** Returns what the element's first line says: state, attempt, at, again. */
function headOf(element) {
    return JSON.parse(String(element).split("\n", 1)[0]);
}

/** Returns the result that the element holds. */
function valueOf(id, element) {
    const rest = JSON.parse(element.slice(element.indexOf("\n") + 1));
    if (headOf(element).state !== "done") throw new JobFailed(id, rest);
    return rest;
}

/**
 * look() returns the element's key, the element or null, and whether another job of the id follows
 * the one that runs: then that one is waited for. Waiting blocks a connection, so one is
 * made for it when it is needed; if it breaks, look() decides.
 */
async function wait(redis, id, look, timeout, signal) {
    const end = performance.now() + timeout * 1000;
    const away = new Away(redis, end, signal);
    let link;
    let behind = true; // what comes may be of an earlier job
    try {
        for (;;) {
            let [key, element, followed] = await away.outlast(look);
            behind &&= followed;
            const left = Math.min((end - performance.now()) / 1000, BLOCK);
            if (element === null && left <= 0) throw new TimeoutError(`${id} has not ended; it goes on`);
            if (element === null) {
                link ??= redis.another() ?? LOOKS;
                const seconds = Math.max(left, 0.001);
                const came = await away.attempt(link, key, ["BLMOVE", key, key, "LEFT", "LEFT", seconds.toFixed(3)], seconds);
                if (came === undefined) {
                    link.close();
                    link = undefined;
                }
                if (!behind) element = came ?? null;
            }
            if (element !== null) return valueOf(id, String(element));
        }
    } finally {
        link?.close();
    }
}

module.exports = { headOf, wait };
