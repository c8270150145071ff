/** What can go wrong. Errors of the Redis client pass unchanged. */
export class LaterdError extends Error {
    constructor(message) {
        super(message);
        this.name = new.target.name;
    }
}

/** A bad job or queue name: nothing was sent. */
export class Refused extends LaterdError {}

/** The queue has as many jobs as its operator allows. results: of pushMany(), null where not pushed. */
export class QueueFull extends LaterdError {
    constructor(queue, results = []) {
        super(`queue ${queue} is full`);
        this.results = results;
    }
}

/** This Redis is kept by a laterd of another protocol. */
export class WrongProtocol extends LaterdError {}

/** The Redis client puts a prefix before every key, where no worker would look. */
export class PrefixRefused extends LaterdError {}

/** The shards of a queue kept changing while it was pushed to. */
export class Moving extends LaterdError {}

/** wait(): the job has ended without success; it is dead. error: as of show(), or null. */
export class JobFailed extends LaterdError {
    constructor(id, error) {
        super(`${id}: ${error?.text ?? "dead"}`);
        this.id = id;
        this.error = error;
    }
}

/** wait(): no job of this id, and no result of it. */
export class JobUnknown extends LaterdError {}

/** wait(): its time is up; the job goes on. */
export class TimeoutError extends LaterdError {}
