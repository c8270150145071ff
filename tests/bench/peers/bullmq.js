// bullmq.js: runs no-op jobs on BullMQ: pushes $JOBS, performs them, prints one row. $REDIS_PORT on
// 127.0.0.1; NODE_PATH must lead to bullmq.
'use strict';

const { Queue, Worker } = require('bullmq');
const Redis = require('ioredis');

const jobs = Number(process.env.JOBS);
const connection = {
    host: '127.0.0.1', port: Number(process.env.REDIS_PORT), maxRetriesPerRequest: null,
};

async function serverCpu(redis) {
    const info = await redis.info('cpu');
    const value = (name) => Number(new RegExp(`${name}:([0-9.]+)`).exec(info)[1]);

    return value('used_cpu_sys') + value('used_cpu_user');
}

async function push(queue) {
    for (let done = 0; done < jobs; done += 1000) {
        const size = Math.min(1000, jobs - done);

        await queue.addBulk(Array.from({ length: size }, () => (
            { name: 'null', data: { text: 'x'.repeat(60) }, opts: { removeOnComplete: true } })));
    }
}

async function main() {
    const queue = new Queue('bench', { connection });
    const redis = new Redis(connection);
    let left = jobs;

    await push(queue);
    const server = await serverCpu(redis);
    const cpu = process.cpuUsage();
    const start = process.hrtime.bigint();
    const worker = new Worker('bench', async () => {}, { connection, concurrency: 100 });

    await new Promise((resolve) => {
        worker.on('completed', () => { if (--left === 0) resolve(); });
    });
    const seconds = Number(process.hrtime.bigint() - start) / 1e9;
    const used = process.cpuUsage(cpu);

    console.log(JSON.stringify({
        bench: 'peer', peer: 'bullmq', jobs, rate: Math.round(jobs / seconds),
        server_us: ((await serverCpu(redis)) - server) / jobs * 1e6,
        worker_us: (used.user + used.system) / jobs,
    }));
    process.exit(0);
}

main();
