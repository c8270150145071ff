// bullmq_flow.js: on BullMQ $JOBS children of one parent, which is its batch, or with $STEPS a chain of so many
// jobs, each the parent of the one before: pushes and performs them, prints one row. $REDIS_PORT on 127.0.0.1;
// NODE_PATH must lead to bullmq.
'use strict';

const { FlowProducer, Worker } = require('bullmq');
const Redis = require('ioredis');

const jobs = Number(process.env.JOBS);
const steps = Number(process.env.STEPS || 0);
const connection = {
    host: '127.0.0.1', port: Number(process.env.REDIS_PORT), maxRetriesPerRequest: null,
};
const opts = { removeOnComplete: true };

async function number(redis, section, names) {
    const info = await redis.info(section);

    return names.reduce((sum, name) => sum + Number(new RegExp(`${name}:([0-9.]+)`).exec(info)[1]), 0);
}

const serverCpu = (redis) => number(redis, 'cpu', ['used_cpu_sys', 'used_cpu_user']);
const memory = (redis) => number(redis, 'memory', ['used_memory']);

const since = (start) => Number(process.hrtime.bigint() - start) / 1e9;
const round = (value, digits) => Number(value.toFixed(digits));

// A flow has run once its root has. `begun` gets the second in which each job began.
async function perform(concurrency, begun) {
    let ended;
    const end = new Promise((resolve) => { ended = resolve; });
    const worker = new Worker('bench', async (job) => {
        begun.push(Number(process.hrtime.bigint()) / 1e9);
        if (job.name === 'end') ended();
    }, { connection, concurrency });

    await end;
    return worker;
}

async function batch(flows, redis) {
    const bytes = await memory(redis);
    const cpu = await serverCpu(redis);
    let start = process.hrtime.bigint();

    await flows.add({
        name: 'end', queueName: 'bench', opts,
        children: Array.from({ length: jobs }, () => ({ name: 'null', queueName: 'bench', data: {}, opts })),
    });
    const push = since(start);
    const peak = await memory(redis);

    start = process.hrtime.bigint();
    await perform(100, []);
    const run = since(start);

    return {
        bench: 'flow', peer: 'bullmq', jobs, push_s: round(push, 3), run_rate: Math.round(jobs / run),
        redis_us: round(((await serverCpu(redis)) - cpu) / jobs * 1e6, 1), bytes: Math.round((peak - bytes) / jobs),
    };
}

// One at a time: more than that a chain cannot use.
async function chain(flows, redis) {
    let root = { name: 'null', queueName: 'bench', data: { at: 1 }, opts };

    for (let at = 2; at <= steps; at++)
        root = { name: at === steps ? 'end' : 'null', queueName: 'bench', data: { at }, opts, children: [root] };
    await flows.add(root);
    const cpu = await serverCpu(redis);
    const begun = [];

    await perform(1, begun);
    const used = (await serverCpu(redis)) - cpu;
    const gaps = begun.slice(1).map((at, i) => at - begun[i]).sort((a, b) => a - b);
    const part = (p) => round(gaps[Math.ceil(p * gaps.length) - 1] * 1e3, 3);

    return {
        bench: 'chain', peer: 'bullmq', steps: begun.length, p50_ms: part(0.5), p99_ms: part(0.99),
        max_ms: part(1), redis_us: round(used / steps * 1e6, 1),
    };
}

async function main() {
    const flows = new FlowProducer({ connection });
    const redis = new Redis(connection);

    console.log(JSON.stringify(await (steps ? chain : batch)(flows, redis)));
    process.exit(0);
}

main();
