/** driver.mjs ioredis|redis MODULES: the Node client, driven by judge.py. MODULES has both in
 * node_modules. driver.mjs fake: its Fake. */
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

import * as laterd from "../../clients/node/index.js";
import { Away } from "../../clients/node/src/away.js";
import { Fake } from "../../clients/node/testing.js";

const require = createRequire(`${process.argv[3] ?? "/none"}/index.js`);
const NAMES = { max_attempts: "maxAttempts", retry_for: "retryFor", expires_at: "expiresAt", unique_for: "uniqueFor",
    max_wait: "maxWait", expires_in: "expiresIn", on_dead: "onDead", on_done: "onDone", catch_up: "catchUp" };
let close = () => {};

async function ioredis({ kind, socket, nodes, master, password, client_prefix: keyPrefix }) {
    const { Redis } = require("ioredis");
    const hosts = nodes?.map(([host, port]) => ({ host, port }));
    const client = kind === "single" ? new Redis(socket, { keyPrefix, password })
        : kind === "cluster" ? new Redis.Cluster(hosts, { redisOptions: { keyPrefix } })
            : new Redis({ sentinels: hosts, name: master, keyPrefix });
    close = () => client.disconnect();
    return client;
}

async function nodeRedis({ kind, socket, nodes, master, password }) {
    const { createClient, createCluster, createSentinel } = require("redis");
    const client = kind === "single" ? createClient({ socket: { path: socket }, password })
        : kind === "cluster" ? createCluster({ rootNodes: nodes.map(([host, port]) => ({ url: `redis://${host}:${port}` })) })
            : createSentinel({ name: master, sentinelRootNodes: nodes.map(([host, port]) => ({ host, port })) });
    client.on("error", () => {}); // it reconnects, and failures are reported by the calls
    await client.connect();
    close = () => client.destroy();
    return client;
}

async function clientOf(place) {
    if (place.kind === "fake") return new Fake();
    if (place.patience) Away.PATIENCE = place.patience * 1000;
    const client = await (process.argv[2] === "ioredis" ? ioredis : nodeRedis)(place);
    return new laterd.Laterd(client, { prefix: place.prefix });
}

function jobOf(members) {
    const job = {};
    for (const [name, value] of Object.entries(members)) {
        if (name === "payload_json") job.payload = new laterd.RawJSON(value);
        else job[NAMES[name] ?? name] = value;
    }
    return job;
}

function scheduleOf({ job, ...members }) {
    return { ...jobOf(members), job: jobOf(job) };
}

function endsOf(call) {
    const ends = ["then", "finally", "failed"].filter((name) => call[name]);
    return Object.fromEntries(ends.map((name) => [name, jobOf(call[name])]));
}

/** The jobs as they are, a chain, or a batch. */
function flowJobs(call) {
    if (call.chain) return laterd.chain(...call.chain.map(jobOf));
    return call.batch ? laterd.batch(call.batch.map(jobOf), endsOf(call)) : call.jobs.map(jobOf);
}

function known(found) {
    return { ...found, document: JSON.parse(found.document) };
}

let queues, heard; // after pushes, of those whose client has a context
async function perform(call) {
    if (call.open) {
        close();
        queues = undefined;
        queues = await clientOf(call.open);
        const { context } = call.open;
        if (!context) return {};
        heard = [];
        queues.beforePush((job) => ({ ...job, context: { ...context, ...job.context } }))
            .afterPush((job, { id, result }) => heard.push(`${job.type} ${id} ${result}`));
        return {};
    }
    const { queue } = call;
    if (call.heard) return { heard };
    if (call.push) {
        const { type, payload, ...options } = jobOf(call.push);
        return queues.push(type, payload, { ...options, queue });
    }
    if (call.events !== undefined) {
        return queues.events({ after: call.events, queue, limit: call.limit, timeout: call.timeout });
    }
    if (call.map) {
        const { type, ...options } = jobOf(call.map), { chunk, flow } = call;
        return queues.map(type, call.items.values(), { ...options, ...endsOf(call), queue, chunk, flow });
    }
    if (call.flow !== undefined) {
        return { results: await queues.flow(call.flow, flowJobs(call), { queue, open: "stays_open" in call }) };
    }
    for (const verb of ["show", "wait", "kick", "cancel", "close"]) {
        if (!(`${verb}_flow` in call)) continue;
        const answer = await queues[`${verb}Flow`](call[`${verb}_flow`], { queue, timeout: call.timeout });
        return typeof answer === "number" ? { count: answer } : answer ?? { state: null };
    }
    if (call.push_many) return { results: await queues.pushMany(call.push_many.map(jobOf), { queue }) };
    if (call.call) return { value: await queues.call(call.call.type, call.call.payload, { queue, timeout: call.timeout }) };
    if (call.wait) return { value: await queues.wait(call.wait, { queue, timeout: call.timeout }) };
    if (call.wait_many) return { results: await queues.waitMany(call.wait_many, { queue, timeout: call.timeout }) };
    if (call.pause) return { changed: await queues.pause({ ...call.pause, queue }) };
    if (call.resume) return { changed: await queues.resume({ queue }) };
    if (call.search) return { jobs: (await queues.search({ ...call.search, queue })).map(known) };
    if (call.size) {
        const { oldestReady, ...size } = await queues.size({ queue });
        return { ...size, oldest_ready: oldestReady };
    }
    if (call.reschedule) {
        const { reschedule: id, in: seconds, at, priority } = call;
        return { state: await queues.reschedule(id, { queue, in: seconds, at, priority }) };
    }
    if (call.cron_set) return { changed: await queues.cronSet(scheduleOf(call.cron_set), { queue }) };
    if (call.cron_delete) return { changed: await queues.cronDelete(call.cron_delete, { queue }) };
    if (call.cron_list) return { schedules: await queues.cronList({ queue }) };
    if (call.forget) return { changed: await queues.forget(call.forget, { queue }) };
    if (call.kick) return { state: await queues.kick(call.kick, { queue }) };
    if (call.cancel) return { state: await queues.cancel(call.cancel, { queue }) };
    const found = await queues.show(call.show, { queue });
    return found ? known(found) : { state: null };
}

const KINDS = [[laterd.Refused, "refused"], [laterd.QueueFull, "full"], [laterd.FlowClosed, "closed"],
    [laterd.WrongProtocol, "protocol"], [laterd.PrefixRefused, "prefix"], [laterd.JobFailed, "failed"],
    [laterd.JobUnknown, "unknown"], [laterd.FlowUnknown, "unknown"], [laterd.TimeoutError, "timeout"]];
const kindOf = (error) => KINDS.find(([kind]) => error instanceof kind)?.[1] ?? "redis";

let last;
for await (const line of createInterface({ input: process.stdin })) {
    const call = JSON.parse(line);
    try {
        if (queues || call.open) last = await perform(call); // otherwise it was refused, and the answer stays the same
    } catch (error) {
        last = { error: kindOf(error), text: String(error) };
    }
    process.stdout.write(`${JSON.stringify(last)}\n`);
}
close();
