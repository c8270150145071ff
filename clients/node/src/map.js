/** map.js: a job for each of many payloads, pushed as they come. */
"use strict";

const { Refused } = require("./errors.js");
const { batch } = require("./flow.js");

const PART = 200; // jobs of a call

async function* chunks(items, size) {
    let chunk = [];
    for await (const item of items) {
        if (chunk.push(item) < size) continue;
        yield chunk;
        chunk = [];
    }
    if (chunk.length) yield chunk;
}

function checkMap(items, { chunk, flow, then, finally: last, failed, ...options }) {
    if (typeof items !== "object" || !(items?.[Symbol.iterator] || items?.[Symbol.asyncIterator])) {
        throw new Refused(`items: must be iterable (${String(items).slice(0, 70)})`);
    }
    if (options.id !== undefined || options.step !== undefined) {
        throw new Refused("map: each job has an id of its own; unique makes one");
    }
    if (chunk !== undefined && !(Number.isSafeInteger(chunk) && chunk >= 1)) {
        throw new Refused(`chunk: must be a whole number from 1 (${String(chunk).slice(0, 70)})`);
    }
    if (flow === undefined && (then ?? last ?? failed)) throw new Refused("then, finally and failed: go with flow");
    return options;
}

/** map() of a client or a fake. */
async function map(queues, type, items, { queue, ...how }) {
    const options = checkMap(items, how), { chunk, flow } = how, told = { pushed: 0, known: 0 };
    let number = 0;
    async function push(jobs, open) {
        const named = jobs.map((job) => { // as flow() would name them, so that the same again is the same
            number++;
            return flow === undefined || job.unique || job.id !== undefined || job.step !== undefined
                ? job : { ...job, id: `${flow}:${number}` };
        });
        const pushed = await (flow === undefined ? queues.pushMany(named, { queue }) : queues.flow(flow, named, { queue, open }));
        for (const { result } of pushed) told[result === "exists" ? "known" : "pushed"]++;
    }
    for await (const part of chunks(chunk === undefined ? items : chunks(items, chunk), PART)) {
        await push(part.map((payload) => ({ ...options, type, payload })), true);
    }
    if (flow !== undefined) await push(batch([], how), false);
    return told;
}

module.exports = { map };
