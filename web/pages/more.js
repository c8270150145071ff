// more.js: all pages but the first. They are loaded when one of them is opened, so that the first page is small.
import { complete } from './complete.js';
import { cron } from './cron.js';
import { create } from './edit.js';
import { flow, flows } from './flows.js';
import { history } from './history.js';
import { hosts } from './hosts.js';
import { job } from './job.js';
import { dead, reserved } from './lists.js';
import { locks } from './locks.js';
import { queue } from './queue.js';
import { redis } from './redis.js';
import { search } from './search.js';
import { tasks } from './tasks.js';

export const more = { complete, create, cron, dead, flow, flows, history, hosts, job, locks, queue, redis, reserved, search, tasks };
