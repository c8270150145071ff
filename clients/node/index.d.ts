// index.d.ts: the types of the package, for TypeScript: Laterd, Options, Handlers, Job, flows.

/** A connected client of ioredis (Redis, Cluster) or node-redis (client, sentinel, cluster). */
export type RedisClient = object;

/** Durations are seconds, which may have a fraction. What is not given is as laterd is configured. */
export interface Options {
    // @options option: /** {help} ({value}) */\n{camel}?: {ts};
    /** the same id is the same job (text) */
    id?: string;
    /** -100 to 100, higher first (whole number) */
    priority?: number;
    /** how long until it may run (seconds) */
    in?: number;
    /** not before this time (UNIX seconds) */
    at?: number|Date;
    /** failed attempts after which it is buried (whole number) */
    maxAttempts?: number;
    /** how long after its first failure it is tried again; what fails later is buried (seconds, above 0) */
    retryFor?: number;
    /** how long one attempt may run (seconds, above 0) */
    timeout?: number;
    /** wait before each next attempt, or a list of waits (seconds, a list of them, or base and max) */
    backoff?: number|number[]|{ base?: number; max?: number };
    /** if it has not begun by then, it is dropped (UNIX seconds) */
    expiresAt?: number|Date;
    /** if it has not begun this long from now, it is dropped (seconds, above 0) */
    expiresIn?: number;
    /** how long its result is kept (seconds, above 0) */
    result?: number;
    /** it runs only while it holds this lock (text) */
    lock?: string;
    /** whose job it is: groups share a queue fairly (text) */
    group?: string;
    /** logged with each line of the job (text) */
    trace?: string;
    /** what it is, for people who look at it (text) */
    description?: string;
    /** push a job of this type when it is dead (TYPE, or TYPE@QUEUE) */
    onDead?: string;
    /** push a job of this type when it is done (TYPE, or TYPE@QUEUE) */
    onDone?: string;
    /** the flow that it belongs to (name) */
    flow?: string;
    /** its name in the flow (name) */
    step?: string;
    /** steps of the flow that it waits for; *: all jobs without * (list of names, or *) */
    after?: string|string[];
    /** how they must end: all done, all ended, or one failed (done, ended or failed) */
    when?: "done"|"ended"|"failed";
    /** the running job of the flow that adds this one to it (text) */
    adder?: string;
    /** the queue that its flow lies in, if that is another one (name) */
    home?: string;
    /** among the jobs of a whole flow: the queue that it goes into (name) */
    queue?: string;
    /** the id stays taken this long after the job has ended (seconds) */
    uniqueFor?: number;
    /** replace a job of this id that waits (yes or no) */
    replace?: boolean;
    /** replace a job of this id that waits; if it runs, run this after it (yes or no) */
    again?: boolean;
    /** begin after this long without another push of the id (seconds) */
    debounce?: number;
    /** with debounce: but at the latest this long after the first push (seconds, above 0) */
    maxWait?: number;
    /** the id stays taken this long from now, at least until the job ends (seconds, above 0) */
    throttle?: number;
    // @end
    /** its id is a hash of type and payload, or of these members of it: what is pushed twice is one job */
    unique?: boolean | string | string[];
    /** what middleware carries along (locale, tenant …): any JSON, by name; laterd hands it on */
    context?: Record<string, unknown>;
}

export interface NewJob extends Options {
    type: string;
    payload?: unknown;
}

export interface Pushed {
    id: string;
    /** exists: the id is known and nothing was changed; if that job is dead, nothing will run.
     * again: one of this id runs, and this one is pushed when it ends. */
    result: "pushed" | "replaced" | "again" | "exists";
    /** waiting, skipped, done, gone: of jobs of a flow. */
    state: "" | "ready" | "delayed" | "reserved" | "dead" | "ended" | "waiting" | "skipped" | "done" | "gone";
}

export interface Found {
    id: string;
    /** The shard, if the queue has shards. */
    queue: string;
    /** done: its type's option `keep` keeps it for a while. */
    state: "ready" | "delayed" | "reserved" | "dead" | "done" | "waiting";
    score: number | null;
    attempts: number;
    priority: number;
    error: { at: number; attempt: number; kind: string; text: string; host: string } | null;
    /** How far it has come; a Fake keeps none. */
    progress: { at: number; done: number; total: number; text: string } | null;
    /** Where its next attempt goes on; null at its beginning. */
    checkpoint: any;
    /** What it has logged, if its queue keeps that (queues.logs_kept); a Fake keeps none. */
    log: { dropped: number; lines: { at: number; attempt: number; level: string; text: string }[] } | null;
    document: string;
    readonly type: string | null;
    readonly payload: unknown;
}

/** How many jobs of a queue are in each state. */
export interface Size {
    ready: number;
    delayed: number;
    reserved: number;
    dead: number;
    /** With shards: all of them. */
    paused: boolean;
    /** Seconds for which the oldest ready job has waited. */
    oldestReady: number | null;
}

/** What has become of a job that was waited for, with others. */
export interface Outcome<T = unknown> {
    id: string;
    /** done: it has a value; dead: it has an error; gone: there is no such job and no result; waiting: the
     * time was up, and it goes on. */
    state: "done" | "dead" | "gone" | "waiting";
    value: T | null;
    error: Found["error"];
}

/** What search() looks for; what is not given may be anything. */
export interface Conditions {
    queue?: string;
    /** Jobs that are done and kept are found only by their state. */
    state?: Found["state"];
    /** One that ends in * is a prefix. */
    type?: string;
    /** Somewhere in the document. */
    text?: string;
    /** 1 to 500; by default 100. */
    limit?: number;
}

/** How a flow stands, and how many of its jobs are in which state. */
export interface Flow {
    name: string;
    /** open: more may be added. blocked: what is left waits for a dead job, and a kick lets it go on.
     * ended: some jobs are gone (cancelled, expired …). */
    state: "open" | "running" | "blocked" | "done" | "ended";
    closed: boolean;
    /** UNIX seconds. */
    made: number;
    total: number;
    /** Ready, delayed or reserved. */
    open: number;
    waiting: number;
    dead: number;
    done: number;
    gone: number;
    /** Was to run after a failure that did not come. */
    skipped: number;
}

/** An attempt that has ended. */
export interface End {
    queue: string;
    id: string;
    type: string | null;
    /** done, retry, timeout, crash, bury, expired …: doc/protocol.md, "Attempts". */
    ending: string;
    /** What the job is now. */
    state: "done" | "expired" | "dead" | "delayed" | "ready";
    /** UNIX seconds. */
    at: number;
    host: string;
    /** Of its error. */
    kind: string | null;
    attempt: number | null;
    /** How long it took. */
    ms: number | null;
    /** For how many seconds it had been ready. */
    waited: number | null;
}

export interface Events {
    ends: End[];
    /** How many are no longer kept; null: they are counted anew, since the queue was forgotten or Redis has lost some. */
    missed: number | null;
    /** What the next call goes on after. */
    bookmark: string;
}

/** A schedule to set: such a job is pushed whenever `at` is due. Durations are whole seconds. */
export interface NewSchedule {
    name: string;
    /** "0 3 * * mon-fri", "@every 90s": later(1), `later cron`. */
    at: string;
    job: Omit<NewJob, "id" | "unique"
        // @options one: | "{camel}"
        | "in"
        | "at"
        | "expiresAt"
        | "flow"
        | "step"
        | "after"
        | "when"
        | "adder"
        | "home"
        | "queue"
        | "uniqueFor"
        | "replace"
        | "again"
        | "debounce"
        | "maxWait"
        | "throttle"
        // @end
    >;
    // @schedule own: /** {help} ({value}; {unsaid}) */\n{camel}?: {ts};
    /** by whose clocks it is due, such as Europe/Berlin (a time zone; UTC) */
    zone?: string;
    /** ticks missed while no host was up: the last, none, or all of a day, at most 100 (last, none, all; last) */
    catchUp?: "last"|"none"|"all";
    /** if the last job has not ended: allow, skip, replace it if it waits, queue one (allow, skip, replace, queue; allow) */
    overlap?: "allow"|"skip"|"replace"|"queue";
    /** jobs are spread over this time after their ticks (whole seconds; 0) */
    spread?: number;
    /** a tick that is later than this is missed (whole seconds; 60) */
    late?: number;
    /** no tick is before this time (UNIX seconds; no bound) */
    from?: number|Date;
    /** no tick is after this time (UNIX seconds; no bound) */
    until?: number|Date;
    /** how many jobs it pushes in all (whole number; no limit) */
    limit?: number;
    // @end
}

/** A schedule that is in Redis. */
export interface Schedule {
    name: string;
    at: string;
    zone: string;
    /** When it is due, UNIX seconds; null: never, or it is paused; a Fake does not know. */
    next: number | null;
    paused: boolean;
    /** set, or config:HOST:ID: it stands in the configuration of that laterd. */
    origin: string;
}

/** Returns the jobs, each of which waits for the one before. */
export function chain(...jobs: NewJob[]): NewJob[];
/** Returns the jobs and those that wait for all of them: `then` runs when all are done, `finally` when
 * all have ended in whatever way, `failed` when the first one is dead or gone. */
export function batch(jobs: Iterable<NewJob>, ends?: { then?: NewJob; finally?: NewJob; failed?: NewJob }): NewJob[];

/** What clients and fakes do. */
export class Pushing {
    /** Pushes one job, waits for its end, and returns its result: see wait(). After TimeoutError the job
     * goes on. */
    call<T = unknown>(type: string, payload?: unknown,
        options?: { queue?: string; timeout?: number; signal?: AbortSignal }): Promise<T>;
    push(type: string, payload?: unknown, options?: Options & { queue?: string }): Promise<Pushed>;
    /** Each goes into its own `queue` if it has one. All jobs are checked before any is sent. */
    pushMany(jobs: NewJob[], options?: { queue?: string }): Promise<Pushed[]>;
    show(id: string, options?: { queue?: string }): Promise<Found | null>;
    /** Counts the jobs of a queue, in all its shards. */
    size(options?: { queue?: string }): Promise<Size>;
    /** Makes a dead or delayed job ready. A dead one starts afresh. Returns the state it came from, or
     * null if it is in neither. */
    kick(id: string, options?: { queue?: string }): Promise<"dead" | "delayed" | null>;
    /** Has a ready or delayed job begin after `in` seconds, or at a time, or gives it another priority; all else
     * stays. Returns the state it had, or null if it is in neither. */
    reschedule(id: string, options: { queue?: string; in?: number; at?: number|Date; priority?: number }): Promise<"ready" | "delayed" | null>;
    /** Drops the result of a job that has ended. Returns whether there was one. */
    forget(id: string, options?: { queue?: string }): Promise<boolean>;
    /** Drops a job, whatever its state; the handler of one that runs is stopped. Returns the state that
     * it had, or null if there is none of this id. ended: its id was taken still, and is free now. */
    cancel(id: string, options?: { queue?: string }): Promise<Exclude<Found["state"], "done"> | "ended" | null>;
    /**
     * Waits for the end of a job that was pushed with `result`, and returns its result. It waits
     * for `timeout` seconds, or until `signal` aborts, on a connection of its own. JobFailed: the
     * job is dead. JobUnknown, at once: there is no such job and no result. TimeoutError: the job
     * has not ended. Unreachable: Redis is away.
     */
    wait<T = unknown>(id: string, options?: { queue?: string; timeout?: number; signal?: AbortSignal }): Promise<T>;
    /** Waits for the ends of up to 1,000 jobs that were pushed with `result`, which should last at least as long
     * as this timeout. Returns what has become of each, in their order. */
    waitMany<T = unknown>(ids: string[],
        options?: { queue?: string; timeout?: number; signal?: AbortSignal }): Promise<Outcome<T>[]>;
    /** Nothing of the queue is handed out until resume(), or for so many seconds. by: who pauses it, for
     * people. Returns whether that changed anything: false if it was paused without an end before. */
    pause(options?: { queue?: string; seconds?: number; by?: string }): Promise<boolean>;
    /** Ends a pause. Returns whether there was one. */
    resume(options?: { queue?: string }): Promise<boolean>;
    /** Makes a schedule, or changes it; a paused one stays paused. Returns whether that changed anything: what is so
     * already stays so, and a deploy may say its schedules each time. laterd reads `at` and `zone` within a second;
     * what is wrong with them stands in its log and in `later cron`. */
    cronSet(schedule: NewSchedule, options?: { queue?: string }): Promise<boolean>;
    /** Takes a schedule away. Returns whether there was one. One of a configuration comes back. */
    cronDelete(name: string, options?: { queue?: string }): Promise<boolean>;
    /** Returns the schedules of a queue, the one that is due next first. */
    cronList(options?: { queue?: string }): Promise<Schedule[]>;
    /** Returns the jobs that meet all conditions, the newest of each state first. It looks at 100,000 jobs at
     * most; `later search` looks at all. */
    search(options?: Conditions): Promise<Found[]>;
    /** Returns the ends that a queue has told of after a bookmark, in the order of their times, at most `limit` (1 to
     * 1,000; 500); "" is what is kept, "now" nothing before. If there is none, it waits for `timeout` seconds (0). The
     * queue tells if its laterd has queues.events_kept. */
    events(options?: { queue?: string; after?: string; limit?: number; timeout?: number }): Promise<Events>;
    /** Pushes a whole flow: jobs that wait for each other, by `step`, `after` and `when`. What waits for
     * what is checked before anything is sent. The same call again pushes only what is missing. open:
     * more jobs of it are pushed later, until closeFlow(). */
    flow(name: string, jobs: Iterable<NewJob>, options?: { queue?: string; open?: boolean }): Promise<Pushed[]>;
    showFlow(name: string, options?: { queue?: string }): Promise<Flow | null>;
    /** Waits until a flow has ended or is blocked. FlowUnknown: there is none. TimeoutError: it goes on.
     * Unreachable: Redis is away. */
    waitFlow(name: string, options?: { queue?: string; timeout?: number; signal?: AbortSignal }): Promise<Flow>;
    /** Kicks its dead jobs, so that it goes on; returns how many there were. */
    kickFlow(name: string, options?: { queue?: string }): Promise<number>;
    /** Cancels its jobs that have not ended; returns how many there were. */
    cancelFlow(name: string, options?: { queue?: string }): Promise<number>;
    /** Says that no more jobs of it will be pushed. */
    closeFlow(name: string, options?: { queue?: string }): Promise<void>;
    /** Each job that is pushed is given to the function, which returns the job to push. */
    beforePush(change: (job: NewJob) => NewJob): this;
    /** The function is told of each job that was pushed, and what became of it. After an error it is not
     * called. */
    afterPush(tell: (job: NewJob, pushed: Pushed) => unknown): this;
    /** Pushes a job for each item, as they come from wherever they are: a call for 200 of them, and no more in
     * memory. chunk: so many items are the payload of a job, as a list. flow: the jobs are a flow of this name, for
     * whose end then, finally and failed wait, as of batch(). The same call again pushes what is missing, if it is a
     * flow, or `unique`. Returns how many jobs were new, and how many were known. */
    map(type: string, items: Iterable<unknown> | AsyncIterable<unknown>,
        options?: Omit<Options, "id" | "step"> & { chunk?: number; then?: NewJob; finally?: NewJob; failed?: NewJob }):
        Promise<{ pushed: number; known: number }>;
}

/** Pushes to the queues of one Redis. */
export class Laterd extends Pushing {
    constructor(client: RedisClient, options?: { prefix?: string });
}

/** Returns the id that push() gives a job of this type and payload. */
export function uniqueId(type: string, payload?: unknown, unique?: true | string | string[]): string;

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
export class FlowClosed extends LaterdError {}
export class FlowUnknown extends LaterdError {}
export class WrongProtocol extends LaterdError {}
export class PrefixRefused extends LaterdError {}
export class Moving extends LaterdError {}
export class JobFailed extends LaterdError {
    readonly id: string;
    readonly error: Found["error"];
}
export class JobUnknown extends LaterdError {}
export class TimeoutError extends LaterdError {}
/** From wait() and waitFlow(): Redis has been away for too long, so nobody knows how the job is. cause: the Redis client's
 * error, if it has told any. */
export class Unreachable extends LaterdError {}

export interface FlowCounts {
    readonly name: string;
    readonly total: number;
    readonly open: number;
    readonly waiting: number;
    readonly done: number;
    readonly dead: number;
    readonly gone: number;
    readonly skipped: number;
    readonly failed: string[];
}

export interface Job<Payload = any> {
    readonly id: string;
    readonly type: string;
    readonly queue: string;
    /** Counts from 1. */
    readonly attempt: number;
    readonly maxAttempts: number;
    readonly token: string;
    readonly trace?: string;
    /** For a job with `lock`: the fencing number. Whatever the lock protects should refuse a lower
     * one. */
    readonly lockFence?: number;
    readonly document: Record<string, unknown>;
    readonly payload: Payload;
    readonly context: Record<string, any>;
    /** What the steps that it has waited for gave back, by step; null for one that gave nothing. */
    readonly values: Record<string, any>;
    /** If it has waited for all others ("*"): the flow's counts, and the ids of the jobs that failed. */
    readonly flow: FlowCounts | null;
    /** Aborts when the job's time is over or it was cancelled. */
    readonly signal: AbortSignal;
    readonly cancelled: boolean;
    /** In seconds. */
    timeLeft(): number;
    progress(done: number, total?: number, text?: string): void;
    /** Leaves a checkpoint, any JSON up to 64 KiB, which the next attempt finds in `resumes`. */
    checkpoint(state: unknown): void;
    /** What an earlier attempt has left; null if it has left nothing. */
    readonly resumes: any;
    /** Does laterd stop? A handler that has seen this, has left a checkpoint and returns undefined goes on
     * elsewhere at once. */
    readonly stopping: boolean;
}

export type Handler<Payload = any> = (job: Job<Payload>) => unknown;

/** The payload of a job that tells of one that is dead. */
export interface GivenUp {
    id: string;
    type: string | null;
    queue: string;
    ending: "dead";
    attempts: number;
    error: NonNullable<Found["error"]>;
    value: null;
}

/** What counts for a type if neither the job nor laterd.conf says otherwise. */
export interface Policy {
    /** How often a job is tried again. */
    retries?: number;
    backoff?: NewJob["backoff"] | ((job: Job, error: unknown) => number | undefined | Promise<number | undefined>);
    /** Errors after which another try cannot help: the job is buried at once. */
    bury?: (new (...words: any[]) => Error)[];
    /** The type of a job that is pushed when one of these is dead, or done, also after a crash. */
    onDead?: string;
    onDone?: string;
}

/** A type whose jobs are pushed by its program. */
export interface Task<Payload = any> {
    readonly type: string;
    /** Pushes a job of the type, by app.queues. */
    later(payload: Payload, options?: Options & { queue?: string }): Promise<Pushed>;
}

export class Handlers {
    constructor(options?: { queues?: Pick<Laterd, "push"> | null });
    /** A Laterd, or a Fake in a test: tasks push by it. */
    queues: Pick<Laterd, "push"> | null;
    /** Registers the handler for one type, and returns what pushes its jobs. */
    task<Payload = any>(type: string, handler: Handler<Payload>): Task<Payload>;
    task<Payload = any>(type: string, policy: Policy, handler: Handler<Payload>): Task<Payload>;
    /** The handler gets a job of type TYPE.given_up when one of this type is dead, also after a crash. */
    givenUp(type: string | string[], handler: Handler<GivenUp>): this;
    /** Called before each job. What it throws ends the attempt. */
    before(hook: (job: Job) => unknown): this;
    /** Called after each job that is done. What it throws is logged. */
    after(hook: (job: Job, value: unknown) => unknown): this;
    /** Called after each attempt that has thrown, but Return. What it throws is logged. */
    failed(hook: (job: Job, error: unknown) => unknown): this;
    /** Called in the place of each job with its other hooks; next() performs it. */
    around(middleware: (job: Job, next: () => Promise<unknown>) => unknown): this;
    /** Registers the handler for this type. A type that ends in * is a prefix. A type has one handler. */
    on<Payload = any>(type: string | string[], handler: Handler<Payload>): this;
    on<Payload = any>(type: string | string[], policy: Policy, handler: Handler<Payload>): this;
    readonly hello: { hello: number; types: { name: string }[] };
    readonly types: string[];
    find(type: string): Handler | undefined;
    perform(job: Job): Promise<{ result: string; error?: string; in?: number; value?: unknown }>;
    run(options?: { maxJobs?: number; maxMemory?: number; end?: () => Promise<void> }): Promise<never>;
}

// What handlers throw. delay is in seconds.
// @answers so_long: /@* {Help} @/\nexport class {Pascal} extends Error {\n    constructor(why?: string, delay?: number);\n}
/** Tries the job again, after the backoff or the wait given; after the last attempt it is buried. */
export class Retry extends Error {
    constructor(why?: string, delay?: number);
}
/** Gives the job back for the wait given, as if it had not begun; it is no attempt. */
export class Return extends Error {
    constructor(why?: string, delay?: number);
}
// @end
// @answers at_once: /@* {Help} @/\nexport class {Pascal} extends Error {\n    constructor(why?: string);\n}
/** Buries the job at once, because another try cannot help. */
export class Bury extends Error {
    constructor(why?: string);
}
// @end

export function currentJob(): Job | null;
