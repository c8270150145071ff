/** A client of ioredis (Redis, Cluster) or node-redis (client, sentinel, cluster), connected. */
export type RedisClient = object;

export interface Options {
    /** The same id is the same job; else a new one. */
    id?: string;
    /** -100 to 100, higher first. */
    priority?: number;
    /** Seconds from now. Not beside `at`. */
    in?: number;
    /** UNIX seconds, or a Date. */
    at?: number | Date;
    maxAttempts?: number;
    /** Seconds that one attempt may run. */
    timeout?: number;
    backoff?: number | number[] | { base?: number; max?: number };
    /** Not begun from then on, but dropped. */
    expiresAt?: number | Date;
    /** Logged with each line of the job. */
    trace?: string;
    /** The job runs only while it holds this lock. */
    lock?: string;
    /** Seconds for which its result is kept. */
    result?: number;
    /** Seconds that the id stays taken after the job has ended. */
    uniqueFor?: number;
    /** A job of this id that waits is replaced. */
    replace?: boolean;
    /** As replace; and of one that runs this job, or the last of several, is pushed when that has ended. */
    again?: boolean;
    /** Seconds, as in, and put off again by each such push of the id. */
    debounce?: number;
    /** With debounce: at most so many seconds after the first of them. */
    maxWait?: number;
    /** Seconds from now that the id stays taken: at most one in that time. */
    throttle?: number;
}

export interface NewJob extends Options {
    type: string;
    payload?: unknown;
}

export interface Pushed {
    id: string;
    /** exists: the id is known, nothing was changed; where it is dead, nothing will run. again: it runs, and
     * this one is pushed when that has ended. */
    result: "pushed" | "replaced" | "again" | "exists";
    state: "" | "ready" | "delayed" | "reserved" | "dead" | "ended";
}

export interface Found {
    id: string;
    /** The shard, where the queue has some. */
    queue: string;
    state: "ready" | "delayed" | "reserved" | "dead";
    score: number | null;
    attempts: number;
    priority: number;
    error: { at: number; attempt: number; kind: string; text: string; host: string } | null;
    document: string;
    readonly payload: unknown;
}

/** Pushes to the queues in one Redis. */
export class Laterd {
    constructor(client: RedisClient, options?: { prefix?: string });
    push(type: string, payload?: unknown, options?: Options & { queue?: string }): Promise<Pushed>;
    /** A bad one is refused before any is sent. */
    pushMany(jobs: NewJob[], options?: { queue?: string }): Promise<Pushed[]>;
    show(id: string, options?: { queue?: string }): Promise<Found | null>;
    /**
     * What a job has given back that was pushed with `result`; waits for its end, for `timeout` seconds or
     * until `signal` aborts, on a connection of its own. JobFailed: it is dead. JobUnknown, at once: no job
     * of this id, and no result. TimeoutError: the job goes on.
     */
    wait<T = unknown>(id: string, options?: { queue?: string; timeout?: number; signal?: AbortSignal }): Promise<T>;
}

/** A payload that is JSON text already. */
export class RawJSON {
    constructor(text: string);
    readonly text: string;
}

export class LaterdError extends Error {}
export class Refused extends LaterdError {}
export class QueueFull extends LaterdError {
    results: (Pushed | null)[];
}
export class WrongProtocol extends LaterdError {}
export class PrefixRefused extends LaterdError {}
export class Moving extends LaterdError {}
export class JobFailed extends LaterdError {
    readonly id: string;
    readonly error: Found["error"];
}
export class JobUnknown extends LaterdError {}
export class TimeoutError extends LaterdError {}

export interface Job<Payload = any> {
    readonly id: string;
    readonly type: string;
    readonly queue: string;
    /** From 1. */
    readonly attempt: number;
    readonly maxAttempts: number;
    readonly token: string;
    readonly trace?: string;
    /** Of a job with `lock`: the number of its taking; whoever guards a thing refuses a lower one. */
    readonly lockFence?: number;
    readonly document: Record<string, unknown>;
    readonly payload: Payload;
    /** Aborts when the job is over its time or cancelled. */
    readonly signal: AbortSignal;
    readonly cancelled: boolean;
    /** Seconds. */
    timeLeft(): number;
    progress(done: number, total?: number, text?: string): void;
}

export type Handler<Payload = any> = (job: Job<Payload>) => unknown;

export class Handlers {
    /** Performs jobs of this type; one that ends in * is a beginning. */
    on<Payload = any>(type: string | string[], handler: Handler<Payload>): this;
    readonly types: string[];
    find(type: string): Handler | undefined;
    perform(job: Job): Promise<{ result: string; error?: string; in?: number; value?: unknown }>;
    run(options?: { maxJobs?: number; maxMemory?: number; end?: () => Promise<void> }): Promise<never>;
}

/** Thrown by a handler; delay in seconds. */
export class Retry extends Error {
    constructor(why?: string, delay?: number);
}
export class Bury extends Error {
    constructor(why?: string);
}
export class Return extends Error {
    constructor(why?: string, delay?: number);
}

export function currentJob(): Job | null;
