/** errors.js: the errors of this package. Those of the Redis client are passed on unchanged. */
"use strict";


class LaterdError extends Error {
    constructor(message, options) {
        super(message, options);
        this.name = new.target.name;
    }
}

/** A bad job or queue name. Nothing was sent. */
class Refused extends LaterdError {}

/** The queue has as many jobs as its operator allows. results: those of pushMany(); null for jobs
 * that were not pushed. */
class QueueFull extends LaterdError {
    constructor(queue, results = []) {
        super(`queue ${queue} is full`);
        this.results = results;
    }
}

/** Only a running job of the flow may add to it (`adder`). Nothing was pushed by this call. */
class FlowClosed extends LaterdError {
    constructor(flow) {
        super(`flow ${flow} is closed: only a running job of it may add to it`);
    }
}

/** There is no flow of this name in the queue. */
class FlowUnknown extends LaterdError {
    constructor(flow, queue) {
        super(`no flow ${flow} in queue ${queue}`);
    }
}

/** The queues in this Redis are of another protocol, or this client does not know what a push was answered. */
class WrongProtocol extends LaterdError {}

/** The Redis client adds a prefix to every key, so no worker would find the jobs. */
class PrefixRefused extends LaterdError {}

/** The shards of a queue kept changing during a push. */
class Moving extends LaterdError {}

/** From wait(): the job is dead. error: as in show(), or null. */
class JobFailed extends LaterdError {
    constructor(id, error) {
        super(`${id}: ${error?.text ?? "dead"}`);
        this.id = id;
        this.error = error;
    }
}

/** From wait(): there is no job of this id, and no result of one. */
class JobUnknown extends LaterdError {
    constructor(id, queue) {
        super(`no job ${id} in queue ${queue}, and no result of it; push it with result: SECONDS to keep one`);
    }
}

/** From wait(): the time is over, and the job has not ended. */
class TimeoutError extends LaterdError {}

/** From wait(): Redis has been away for too long, so nobody knows how the job is. cause: the Redis client's error, if it
 * has told any. */
class Unreachable extends LaterdError {}

module.exports = {
    LaterdError, Refused, QueueFull, FlowClosed, FlowUnknown, WrongProtocol, PrefixRefused, Moving,
    JobFailed, JobUnknown, TimeoutError, Unreachable,
};
