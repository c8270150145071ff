/** Waiting for what a job gives back: doc/protocol.md, "Results". */
import { setTimeout as pause } from "node:timers/promises";

import { JobFailed, TimeoutError } from "./errors.js";
import { isReply } from "./redis.js";

const BLOCK = 5; // seconds of one call that waits: a job may go without leaving anything
const LOOK = 200; // milliseconds between two looks, where no connection can wait

/** What the element says that a job has left. */
function valueOf(id, element) {
    const end = element.indexOf("\n");
    const { state } = JSON.parse(element.slice(0, end));
    const rest = JSON.parse(element.slice(end + 1));
    if (state !== "done") throw new JobFailed(id, rest);
    return rest;
}

/** Waits until the element is there, or for so many seconds: then null. What breaks is looked at anew. */
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
 * look() answers the key of the element, and the element or null. To wait blocks a connection, so it is
 * done on one of its own, made when it is needed.
 */
export async function wait(redis, id, look, timeout, signal) {
    const end = performance.now() + timeout * 1000;
    let link;
    let stop;
    const stopped = signal && new Promise((_, reject) => {
        stop = () => reject(signal.reason);
        signal.addEventListener("abort", stop);
    });
    try {
        for (;;) {
            signal?.throwIfAborted();
            let [key, element] = await look();
            const left = Math.min((end - performance.now()) / 1000, BLOCK);
            if (element === null && left <= 0) throw new TimeoutError(`${id} has not ended; it goes on`);
            if (element === null) {
                if (link === undefined) link = await redis.another();
                const told = block(link, key, left);
                element = await (stopped ? Promise.race([told, stopped]) : told);
            }
            if (element !== null) return valueOf(id, String(element));
        }
    } finally {
        signal?.removeEventListener("abort", stop);
        link?.close();
    }
}
