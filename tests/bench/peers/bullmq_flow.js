// bullmq_flow.js: $JOBS children of one parent on BullMQ, which is its batch: pushes and performs them,
// prints one row. $REDIS_PORT on 127.0.0.1; NODE_PATH must lead to bullmq.
'use strict';

const { FlowProducer, Worker } = require('bullmq');
const Redis = require('ioredis');

const jobs = Number(process.env.JOBS);
const connection = {
    host: '127.0.0.1', port: Number(process.env.REDIS_PORT), maxRetriesPerRequest: null,
};

async function number(redis, section, names) {
    const info = await redis.info(section);

    return names.reduce((sum, name) => sum + Number(new RegExp(`${name}:([0-9.]+)`).exec(info)[1]), 0);
}

const serverCpu = (redis) => number(redis, 'cpu', ['used_cpu_sys', 'used_cpu_user']);
const memory = (redis) => number(redis, 'memory', ['used_memory']);

const since = (start) => Number(process.hrtime.bigint() - start) / 1e9;

// The batch has run once its parent has.
async function perform() {
    let ended;
    const end = new Promise((resolve) => { ended = resolve; });
    const worker = new Worker('bench', async (job) => {
        if (job.name === 'end') ended();
    }, { connection, concurrency: 100 });

    await end;
    return worker;
}

async function main() {
    const flows = new FlowProducer({ connection });
    const redis = new Redis(connection);
    const opts = { removeOnComplete: true };
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
    await perform();
    const run = since(start);

    console.log(JSON.stringify({
        bench: 'flow', peer: 'bullmq', jobs, push_s: Number(push.toFixed(3)), run_rate: Math.round(jobs / run),
        redis_us: Math.round(((await serverCpu(redis)) - cpu) / jobs * 1e7) / 10,
        bytes: Math.round((peak - bytes) / jobs),
    }));
    process.exit(0);
}

main();
