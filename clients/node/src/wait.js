/** wait.js: waits for a job's result: doc/protocol.md, "Results". */
import { setTimeout as pause } from "node:timers/promises";

import { JobFailed, TimeoutError } from "./errors.js";
import { isReply } from "./redis.js";

const BLOCK = 5; // seconds of one waiting call; a job may end without leaving anything
const LOOK = 200; // milliseconds between two looks, if no connection can wait

/** Returns what the element's first line says: state, attempt, at, again. */
export function headOf(element) {
    return JSON.parse(String(element).split("\n", 1)[0]);
}

/** Returns the result that the element holds. */
function valueOf(id, element) {
    const rest = JSON.parse(element.slice(element.indexOf("\n") + 1));
    if (headOf(element).state !== "done") throw new JobFailed(id, rest);
    return rest;
}

/** Waits this many seconds for the element, then returns null. If the connection breaks, look()
 * decides. */
async function block(link, key, seconds) {
    if (!link) {
        await pause(Math.min(seconds * 1000, LOOK));
        return null;
    }
    try {
        return await link.do(key, ["BLMOVE", key, key, "LEFT", "LEFT", Math.max(seconds, 0.001).toFixed(3)]);
    } catch (error) {
        if (isReply(error)) throw error;
        await pause(Math.min(seconds * 1000, LOOK));
        return null;
    }
}

/**
 * look() returns the element's key, the element or null, and whether another job of the id follows
 * the one that runs: then that one is waited for. Waiting blocks a connection, so one is
 * made for it when it is needed.
 */
export async function wait(redis, id, look, timeout, signal) {
    const end = performance.now() + timeout * 1000;
    let link;
    let stop;
    let behind = true; // what comes may be of an earlier job
    const stopped = signal && new Promise((_, reject) => {
        stop = () => reject(signal.reason);
        signal.addEventListener("abort", stop);
    });
    try {
        for (;;) {
            signal?.throwIfAborted();
            let [key, element, followed] = await look();
            behind &&= followed;
            const left = Math.min((end - performance.now()) / 1000, BLOCK);
            if (element === null && left <= 0) throw new TimeoutError(`${id} has not ended; it goes on`);
            if (element === null) {
                if (link === undefined) link = await redis.another();
                const told = block(link, key, left);
                element = await (stopped ? Promise.race([told, stopped]) : told);
                if (behind) continue;
            }
            if (element !== null) return valueOf(id, String(element));
        }
    } finally {
        signal?.removeEventListener("abort", stop);
        link?.close();
    }
}
