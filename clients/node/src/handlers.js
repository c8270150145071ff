/**
 * handlers.js: functions that perform jobs, in a program of the plugin exec with `lines = true`.
 * later-job(3), section exec, describes the lines that it reads and writes.
 */
"use strict";

const { AsyncLocalStorage } = require("node:async_hooks");
const { spawn } = require("node:child_process");
const { readFileSync, writeSync } = require("node:fs");
const { Socket } = require("node:net");
const { basename } = require("node:path");
const { format } = require("node:util");

const { checkFunction, prepare } = require("./document.js");
const { OWN, checkJson, errorOf, linesOf, numberOf, saidBy, textOf } = require("./answers.js");
const { LaterdError, Refused } = require("./errors.js");

const READ = 1 << 18;
const PROGRESS_EVERY = 100; // milliseconds between two progress lines of a job
const TYPES = /^(?!$)[A-Za-z0-9_.:-]{0,128}\*?$/;
const LEVELS = { error: "error", warn: "warn", info: "info", log: "info", debug: "debug" };
const STATUS = {
    // @answers answer: {name}: {status},
    done: 0,
    retry: 75,
    bury: 65,
    return: 75,
    // @end
};

const current = new AsyncLocalStorage();

/** What a handler throws to end its attempt; `result` of its class is the answer. delay is in seconds. */
class Verdict extends Error {
    constructor(why = new.target.name, delay = undefined) {
        super(why);
        if ((delay ?? 0) !== 0 && !Number.isFinite(delay)) throw new TypeError(`delay: ${textOf(delay)} is no number of seconds`);
        this.result = new.target.result;
        this.in = delay ?? undefined;
    }
}

// @answers raised: /@* {Help} @/\nclass {Pascal} extends Verdict {\n    static result = "{name}";\n}\n
/** Tries the job again, after the backoff or the wait given; after the last attempt it is buried. */
class Retry extends Verdict {
    static result = "retry";
}

/** Buries the job at once, because another try cannot help. */
class Bury extends Verdict {
    static result = "bury";
}

/** Gives the job back for the wait given, as if it had not begun; it is no attempt. */
class Return extends Verdict {
    static result = "return";
}

// @end
/** The job goes on at its checkpoint, in another laterd. */
class GoesOn extends Return {}

/** Returns the job whose handler is the caller, directly or indirectly. */
function currentJob() {
    return current.getStore() ?? null;
}

function answerOf(error) {
    if (error instanceof GoesOn) return { result: "return", in: 0 };
    if (!(error instanceof Verdict)) return { result: "retry", error: errorOf(error) };
    return { result: error.result, error: saidBy(error), ...(error.in === undefined ? {} : { in: Math.max(error.in, 0) }) };
}

class Job {
    #put;
    #end;
    #told = -PROGRESS_EVERY;
    #abort = null; // made when its signal is asked for
    #stops = false;
    #knows = false; // it has been told that laterd stops
    #left = false; // it has left a checkpoint

    constructor(line, put) {
        this.id = line.id;
        this.type = line.type;
        this.queue = line.queue;
        this.attempt = line.attempt;
        this.maxAttempts = line.max_attempts;
        this.token = line.token;
        this.trace = line.trace;
        this.document = line.document;
        this.payload = line.document.payload ?? null;
        this.context = line.document.context ?? {};
        this.lockFence = line.lock_fence;
        this.values = line.values ?? {};
        this.flow = line.flow ?? null;
        this.resumes = line.checkpoint ?? null;
        this.cancelled = false;
        this.#put = put;
        this.#end = performance.now() + (line.time_left ?? 0) * 1000;
    }

    /** Aborts when the job's time is over or it was cancelled. Pass it to fetch(), timers and
     * streams. */
    get signal() {
        if (!this.#abort) {
            this.#abort = new AbortController();
            if (this.cancelled) this.#tellSignal();
        }
        return this.#abort.signal;
    }

    #tellSignal() {
        this.#abort.abort(new Error("cancelled"));
    }

    /** Returns the seconds until it is asked to stop. */
    timeLeft() {
        return Math.max(this.#end - performance.now(), 0) / 1000;
    }

    /** Reports progress. It is cheap, since most calls send nothing. */
    progress(done, total = 0, text = "") {
        if (performance.now() - this.#told < PROGRESS_EVERY) return;
        this.#told = performance.now();
        this.#put({ id: this.id, progress: { done: numberOf(done), total: numberOf(total), text: textOf(text) } });
    }

    /** Leaves a checkpoint, any JSON up to 64 KiB: the next attempt finds the last one in `resumes`, whatever
     * ends this one. Throws if it is no JSON, or longer. */
    checkpoint(state) {
        this.#put({ id: this.id, checkpoint: checkJson("checkpoint", state) });
        this.#left = true;
    }

    /** Does laterd stop, as at a deploy? A handler that has seen this, has left a checkpoint and returns
     * undefined goes on in another laterd at once, and has not used up an attempt. */
    get stopping() {
        this.#knows ||= this.#stops;
        return this.#stops;
    }

    stop() {
        this.#stops = true;
    }

    /** Throws what ends the attempt if it is to go on elsewhere; returns the value. */
    endWith(value) {
        if (value === undefined && this.#knows && this.#left) throw new GoesOn();
        return value;
    }

    cancel() {
        this.cancelled = true;
        if (this.#abort) this.#tellSignal();
    }
}

/** Returns the members of a job's document that say the same. */
function policyOf({ retries, backoff, onDead, onDone }) {
    const maxAttempts = retries === undefined ? undefined : retries + 1;
    const { document } = prepare({ type: "policy", maxAttempts, backoff, onDead, onDone });
    const { max_attempts, backoff: waits, on_dead, on_done } = JSON.parse(document);
    return { max_attempts, backoff: waits, on_dead, on_done };
}

/** A type whose jobs are pushed by its program: what app.task() returns. */
class Task {
    constructor(app, type) {
        this.app = app;
        this.type = type;
    }

    /** Pushes a job of the type, by app.queues. The options are those of push(). */
    later(payload, options) {
        if (!this.app.queues) throw new LaterdError("later: app.queues is not set; give it a Laterd");
        return this.app.queues.push(this.type, payload, options);
    }
}

/** Returns which FILE:LINE has called this package. */
function placeOfCaller() {
    const frame = new Error().stack.split("\n").slice(1).find((line) => !line.includes(OWN)) ?? "";
    return frame.replace(/^ *at (?:.*\()?(?:file:\/\/)?/, "").replace(/:\d+\)?$/, "");
}

/** Returns the type of the jobs that tell of one that was given up. */
function givenUpOf(type) {
    return [type.replace(/\.?\*$/, ""), "given_up"].filter(Boolean).join(".");
}

/** The functions of a program, by type. queues: a Laterd, or a Fake in a test, by which tasks push. */
class Handlers {
    #functions = new Map();
    #places = new Map(); // where each was registered
    #policies = new Map();
    #bury = new Map();
    #waits = new Map(); // functions that say after which wait a job is tried again
    #givenUp = new Map();
    #hooks = { before: [], after: [], failed: [], around: [] };

    constructor({ queues = null } = {}) {
        this.queues = queues;
    }

    /**
     * Registers the handler for this type: on(type, handler) or on(type, policy, handler), with
     * { retries, backoff, bury, onDead, onDone }. A type that ends in * is a prefix. A type has one handler.
     *
     * retries, backoff: how often a job is tried again and after which waits, as of a new job, if
     * neither the job nor laterd.conf says otherwise. bury: a list of classes of errors after which
     * another try cannot help: the job is buried at once. onDead, onDone: the type of a job that is
     * pushed when one of these is dead, or done, also after a crash. backoff may be a function (job, error),
     * which is asked after each attempt that throws: the seconds, or undefined for laterd's own waits.
     */
    on(type, ...words) {
        const handler = words.pop();
        const { retries, backoff, bury = [], onDead, onDone, ...unknown } = words[0] ?? {};
        const [name] = Object.keys(unknown);
        if (name) throw new TypeError(`on: ${name}: no such option`);
        checkFunction(`on: ${type}: the handler`, handler);
        const place = placeOfCaller() + (handler.name && ` (${handler.name})`);
        const waits = typeof backoff === "function" ? backoff : undefined;
        const policy = policyOf({ retries, backoff: waits ? undefined : backoff, onDead, onDone });
        for (const one of [type].flat()) {
            this.#checkOnDead(one, onDead);
            if (!TYPES.test(one)) throw new Refused(`on: ${one} is neither a type nor a prefix of types that ends in *`);
            const other = this.#places.get(one);
            if (other) throw new Refused(`type ${one} has two handlers, at ${other} and at ${place}: remove one`);
            this.#places.set(one, place);
            this.#functions.set(one, handler);
            this.#policies.set(one, policy);
            this.#bury.set(one, [bury].flat());
            this.#waits.set(one, waits);
        }
        return this;
    }

    /** The same, for one type without a star; returns its task, whose later(payload, options) pushes. */
    task(type, ...words) {
        if (Array.isArray(type) || type.endsWith("*")) throw new TypeError(`task: ${type} is not one type`);
        this.on(type, ...words);
        return new Task(this, type);
    }

    /** The handler gets a job when one of this type is dead, whatever the reason, also after a crash. Its
     * payload has id, type, queue, attempts and error of the other. Its own type is TYPE.given_up, which
     * laterd.conf must give to the program, too, where it names types. */
    givenUp(type, handler) {
        for (const one of [type].flat()) {
            const name = givenUpOf(one);
            this.#checkOnDead(one, this.#policies.get(one)?.on_dead, name);
            this.on(name, handler);
            this.#givenUp.set(one, name);
        }
        return this;
    }

    #checkOnDead(type, onDead, name = this.#givenUp.get(type)) {
        if (onDead && name) throw new Refused(`onDead: of type ${type} it is givenUp()`);
    }

    // ---- around a job

    /** Calls hook(job) before each job. What it throws ends the attempt. */
    before(hook) {
        return this.#hook("before", hook);
    }

    /** Calls hook(job, value) after each job that is done. What it throws is logged. */
    after(hook) {
        return this.#hook("after", hook);
    }

    /** Calls hook(job, error) after each attempt that has thrown, but Return. What it throws is logged. It
     * does not see crashes and time-outs; givenUp() does. */
    failed(hook) {
        return this.#hook("failed", hook);
    }

    /** Calls around(job, next) in the place of each job with its other hooks; next() performs it. */
    around(middleware) {
        return this.#hook("around", middleware);
    }

    #hook(name, hook) {
        this.#hooks[name].push(checkFunction(`${name}: the hook`, hook));
        return this;
    }

    async #tell(name, job, what) {
        for (const hook of this.#hooks[name]) {
            try {
                await hook(job, what);
            } catch (error) {
                console.error(`the hook ${name}: ${errorOf(error)}`);
            }
        }
    }

    async #hooked(handler, job) {
        try {
            for (const hook of this.#hooks.before) await hook(job);
            const value = job.endWith(await handler(job));
            await this.#tell("after", job, value);
            return value;
        } catch (error) {
            if (!(error instanceof Return)) await this.#tell("failed", job, error);
            throw error;
        }
    }

    /** Returns the handler with all that is around it. */
    #withHooks(handler) {
        const { before, after, failed, around } = this.#hooks;
        if (!(before.length + after.length + failed.length + around.length)) return handler;
        return (job) => around.reduceRight((next, one) => () => one(job, next), () => this.#hooked(handler, job))();
    }

    /** The line by which the program introduces itself. */
    get hello() {
        return { hello: 1, stopping: true, types: this.types.map((name) => ({ name, ...this.#policies.get(name), ...this.#gone(name) })) };
    }

    #gone(type) {
        return this.#givenUp.has(type) ? { on_dead: this.#givenUp.get(type) } : {};
    }

    get types() {
        return [...this.#functions.keys()].sort();
    }

    /** Finds the exact name, otherwise the longest prefix. */
    #match(type) {
        let name = this.#functions.has(type) ? type : undefined;
        for (let end = type.length; name === undefined && end >= 0; end--) {
            if (this.#functions.has(`${type.slice(0, end)}*`)) name = `${type.slice(0, end)}*`;
        }
        return name;
    }

    /** What the program tells laterd of a type, by the names of a job's document. */
    policy(type) {
        const name = this.#match(type);
        return name === undefined ? {} : { ...this.#policies.get(name), ...this.#gone(name) };
    }

    find(type) {
        return this.#functions.get(this.#match(type));
    }

    /** Performs one job and returns its answer, or what `end` returns for it. */
    async perform(job, end = (answer) => answer) {
        const name = this.#match(job.type);
        const handler = this.#functions.get(name);
        if (!handler) return end({ result: "bury", error: `the program has no handler for type ${job.type}` });
        let answer;
        try {
            const value = job.endWith(await current.run(job, this.#withHooks(handler), job));
            answer = value === undefined ? { result: "done" } : { result: "done", value };
        } catch (error) {
            answer = await this.#answerOf(name, job, error);
        }
        return end(answer);
    }

    async #answerOf(name, job, error) {
        if (this.#bury.get(name).some((one) => error instanceof one)) return { result: "bury", error: errorOf(error) };
        return { ...answerOf(error), ...await this.#waitOf(name, job, error) };
    }

    /** Asks a function; one that fails, or has no number, leaves it to laterd. */
    async #waitOf(name, job, error) {
        const waits = this.#waits.get(name);
        if (!waits || error instanceof Verdict && (error.result !== "retry" || error.in !== undefined)) return {};
        try {
            const seconds = await waits(job, error);
            if (seconds === undefined) return {};
            if (!Number.isFinite(seconds)) throw new TypeError(`${seconds} is no number of seconds`);
            return { in: Math.max(seconds, 0) };
        } catch (wrong) {
            console.error(`the backoff of job ${job.id}: ${errorOf(wrong)}`);
            return {};
        }
    }

    /**
     * Under laterd: performs jobs until laterd closes standard input, and then finishes those under
     * way. By hand, `node app.js TYPE [PAYLOAD]`: performs one job, and exits with 0 if it is done,
     * 65 if buried, else 75. `node app.js --work [Q…] [OPTIONS of later work]`: a laterd for this
     * program alone, until ^C.
     *
     * maxJobs, maxMemory (bytes): after this the program ends, and laterd starts it again. end:
     * awaited last.
     */
    async run({ maxJobs = 0, maxMemory = 0, end = async () => {} } = {}) {
        const fd = process.env.LATER_ANSWERS;
        if (fd) await new Program(this, Number(fd), maxJobs, maxMemory).run();
        const words = process.argv.slice(2);
        const status = fd ? 0 : words[0] === "--work" ? await work(words.slice(1)) : await this.#tryOnce(...words);
        await end();
        process.exit(status);
    }

    async #tryOnce(type, payload = "null") {
        if (!type) {
            console.log(this.types.join("\n"));
            return 0;
        }
        if (type.startsWith("-") && !this.types.includes(type)) return usage(type);
        let document;
        try {
            document = { type, payload: JSON.parse(payload === "-" ? readFileSync(0, "utf8") : payload) };
        } catch (error) {
            console.error(`PAYLOAD is no JSON: ${error.message}`);
            return 64;
        }
        const line = { id: "try", type, queue: "default", attempt: 1, max_attempts: 25, time_left: 300, document };
        const answer = await this.perform(new Job(line, (told) => console.error(JSON.stringify(told))));
        const lines = linesOf(answer).map((told) => JSON.parse(told));
        const last = lines.pop();
        for (const note of lines) console.error(note.text);
        if (last.error) console.error(`${last.result}: ${last.error}`);
        else console.log(JSON.stringify(last.value ?? null));
        return STATUS[last.result];
    }
}

/** Says how the program is called, by hand; option: what it was called with. Returns its exit status. */
function usage(option) {
    if (option !== "--help" && option !== "-h") {
        console.error(`${option}: no such option; it is --work [Q...], or TYPE [PAYLOAD]`);
        return 64;
    }
    const program = `node ${basename(process.argv[1])}`;
    console.log(`usage: ${program} [TYPE [PAYLOAD|-]]
       ${program} --work [Q...] [OPTIONS of later work]

Performs one job, without laterd; without a TYPE it lists its types. --work: a laterd for
this program alone, until ^C; \`later help work\` has the options.`);
    return 0;
}

/** Runs `later work`, which starts a laterd that runs this program. Without -p, it gets ten jobs at once.
 * Returns its exit status. */
function work(words) {
    const queues = words[0] && !words[0].startsWith("-") ? [] : ["default"];
    const many = words.some((word) => /^(-p|--parallel)/.test(word)) ? [] : ["-p", "10"];
    const program = ["--lines", "--", process.execPath, ...process.execArgv, process.argv[1]];
    const later = spawn("later", ["work", ...queues, ...words, ...many, ...program], { stdio: "inherit" });
    process.on("SIGINT", () => {}); // the terminal sends it to both
    process.on("SIGTERM", () => later.kill());
    return new Promise((resolve) => {
        later.on("exit", (status) => resolve(status ?? 1));
        later.on("error", (error) => {
            console.error(`later: ${error.code}; it comes with laterd`);
            resolve(69);
        });
    });
}

/** The main loop, which reads lines, performs jobs and writes answers. */
class Program {
    #jobs = new Map();
    #rest = [];
    #begun = 0;
    #ending = false;
    #waiting = [];
    #soon = false;

    constructor(handlers, fd, maxJobs, maxMemory) {
        this.handlers = handlers;
        this.fd = fd;
        this.isEnough = () => (maxJobs && this.#begun >= maxJobs) ||
            (maxMemory && process.memoryUsage.rss() > maxMemory);
        this.over = new Promise((resolve) => { this.finished = resolve; });
    }

    async run() {
        for (const [name, level] of Object.entries(LEVELS)) {
            console[name] = (...words) => {
                const job = current.getStore();
                this.put({ log: level, text: textOf(format(...words)), ...(job ? { id: job.id } : {}) });
            };
        }
        process.on("SIGTERM", () => {
            this.#jobs.forEach((job) => job.cancel());
            this.#ending = true;
            this.#endIfIdle();
        });
        process.on("SIGINT", () => {}); // laterd handles ^C
        process.on("exit", () => this.#flush());
        this.put(this.handlers.hello);
        this.#read();
        await this.over;
        this.#flush();
    }

    // ---- descriptor 3: the answers of one turn of the loop are written together, other lines at
    // once, since the turn may be long

    put(line) {
        this.#waiting.push(...linesOf(line));
        if (!line.result) this.#flush();
        else if (!this.#soon) this.#soon = Boolean(setImmediate(() => this.#flush()));
    }

    #flush() {
        this.#soon = false;
        const bytes = Buffer.from(this.#waiting.join(""));
        this.#waiting = [];
        for (let at = 0; at < bytes.length;) at += writeSync(this.fd, bytes, at);
    }

    // ---- standard input: it is read only while more jobs are wanted, since a job counts as begun
    // once it is read. It does not use fs.read(), which holds a thread that process.exit() would
    // wait for.

    #read() {
        const buffer = Buffer.allocUnsafe(READ);
        const callback = (length) => {
            this.#take(buffer.subarray(0, length));
            if (!this.#rest.length && this.isEnough()) this.#ending = true;
            if (this.#ending) this.#endIfIdle();
            return !this.#ending; // false: stop reading
        };
        const input = new Socket({ fd: 0, readable: true, writable: false, onread: { buffer, callback } });
        const ended = () => {
            this.#ending = true;
            this.#endIfIdle();
        };
        input.on("end", ended);
        input.on("error", ended);
        input.resume();
    }

    #take(chunk) {
        const last = chunk.lastIndexOf(10);
        if (last < 0) {
            this.#rest.push(Buffer.from(chunk));
            return;
        }
        const whole = this.#rest.length ? Buffer.concat([...this.#rest, chunk.subarray(0, last)]) : chunk.subarray(0, last);
        const lines = whole.toString().split("\n");
        this.#rest = last + 1 < chunk.length ? [Buffer.from(chunk.subarray(last + 1))] : [];
        for (const line of lines) this.#begin(JSON.parse(line));
    }

    #begin(line) {
        if (line.cancel) {
            this.#jobs.get(line.id)?.cancel();
            return;
        }
        if (line.stopping) {
            this.#jobs.get(line.id)?.stop();
            return;
        }
        const job = new Job(line, (told) => this.put(told));
        this.#begun++;
        this.#jobs.set(job.id, job);
        this.handlers.perform(job, (answer) => this.#finish(job, answer));
    }

    #finish(job, answer) {
        this.#jobs.delete(job.id);
        answer.id = job.id;
        if (this.#ending && !this.#jobs.size) answer.last = true;
        this.put(answer);
        this.#endIfIdle();
    }

    #endIfIdle() {
        if (this.#ending && !this.#jobs.size) this.finished();
    }
}

module.exports = { Retry, Bury, Return, currentJob, Job, Handlers };
