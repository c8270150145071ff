/**
 * testing.js: for tests of programs that use laterd, without Redis and without a client for it.
 *
 *     import { Fake, perform } from "laterd/testing";
 *
 *     const queues = new Fake();                                    // in the place of new Laterd(redis)
 *     await queues.push("mail.send", { to: "a@b.c" }, { queue: "mail" });
 *     queues.assertPushed("mail.send", { to: "a@b.c" }, { queue: "mail" });
 *     await queues.drain(app);                                      // performs what was pushed
 *     assert.equal((await perform(app, "mail.send", {})).result, "bury");
 *
 * What is pushed is checked as the real client checks it, and a handler gets what JSON makes of its
 * payload. Time does not pass: a delay is kept but not waited for, and an id that stays taken stays so.
 * Jobs of a flow wait for each other, and get values. What the handlers say of their types counts, and a
 * job that is dead or done pushes what its onDead or onDone says.
 */
"use strict";

const { AssertionError } = require("node:assert");
const { createHash } = require("node:crypto");
const { isDeepStrictEqual } = require("node:util");

const { linesOf } = require("./answers.js");
const { Search, checkJobs, pauseWords, rescheduleWords, takeOptions } = require("./asked.js");
const { schedulesOf, scheduled } = require("./crontab.js");
const { checkLabel, checkQueue, prepare, prepareMany, prepareOne } = require("./document.js");
const { FlowClosed, FlowUnknown, JobFailed, JobUnknown, LaterdError, TimeoutError } = require("./errors.js");
const { Page } = require("./events.js");
const { check, prepared } = require("./flow.js");
const { Job } = require("./handlers.js");
const { Pushing } = require("./pushing.js");
const { KeptFlow } = require("./testing_flows.js");

const MAX_ATTEMPTS = 25; // as laterd is configured by default
const DRAINED_MAX = 10000; // a handler may push without end
const ENDED = ["done", "cancelled", "skipped"];

/** Any payload, for assertPushed(). */
const ANY = Symbol("any payload");

async function attemptOf(app, type, queue, one, attempt, most, given, stopping = false) {
    const progress = [];
    let checkpoint = null;
    const line = { id: one.id, type, queue, attempt, max_attempts: most, time_left: 300, token: "test",
                   ...JSON.parse(JSON.stringify(given)), document: JSON.parse(one.document) };
    const job = new Job(line, (told) => {
        if (told.progress) progress.push(told.progress);
        checkpoint = told.checkpoint ?? checkpoint;
    });
    if (stopping) job.stop();
    const last = JSON.parse(linesOf({ id: one.id, ...await app.perform(job) }).at(-1));
    return { result: last.result, value: last.value, error: last.error ?? "", delay: last.in, progress, checkpoint };
}

/**
 * Performs one job with its handler, and returns what became of it: { result, value, error, delay,
 * progress, checkpoint }. The options are those of push(), and queue, attempt; values: what steps of its flow
 * gave back; resumes: a checkpoint; stopping: laterd stops.
 */
async function perform(app, type, payload, { queue = "default", attempt = 1, values = {}, resumes = null,
                                                    stopping = false, ...options } = {}) {
    const most = options.maxAttempts ?? MAX_ATTEMPTS;
    return attemptOf(app, type, queue, prepare({ ...options, type, payload }), attempt, most, { values, checkpoint: resumes },
                     stopping);
}

/** A job that was pushed to a Fake. */
class Kept {
    constructor(job, queue, made = prepare(job), hookOf = null) {
        this.job = job;
        this.queue = queue;
        this.made = made;
        this.id = this.made.id;
        this.type = job.type;
        this.payload = JSON.parse(this.made.document).payload;
        this.state = this.due; // or reserved, dead, waiting; done, cancelled, skipped (not needed in its flow)
        this.attempts = 0;
        this.checkpoint = null;
        this.error = null;
        this.value = undefined;
        this.successor = null; // pushed with `again` while this one ran
        this.home = null; // the flow in which it waits, or has waited
        this.hookOf = hookOf; // pushed since the job of this id is dead, or done
        this.policy = {}; // what its program says of its type
    }

    /** Its state when it may run. */
    get due() {
        return this.dueBy(this.made.when.split("!")[0]);
    }

    dueBy(when) {
        return when !== "+0" && when.startsWith("+") || Number(when) > Date.now() / 1000 ? "delayed" : "ready";
    }

    /** As show() tells it. */
    get found() {
        const { id, queue, state, attempts, error, checkpoint, type, payload, made: { document } } = this;
        return { id, queue, state, score: null, attempts, priority: this.job.priority ?? 0, error, progress: null, checkpoint,
                 log: null, document, type, payload };
    }

    get most() {
        return this.job.maxAttempts ?? this.policy.max_attempts ?? MAX_ATTEMPTS;
    }

    /** The job that tells of its end, or null. */
    get hook() {
        const { state, id, queue, attempts } = this, dead = state === "dead";
        if (this.hookOf || !(dead || state === "done")) return null;
        const hook = dead ? this.job.onDead ?? this.policy.on_dead : this.job.onDone ?? this.policy.on_done;
        if (!hook) return null;
        const [type, to = queue] = hook.split("@");
        const of = id.length > 160 ? createHash("sha1").update(id).digest("hex") : id;
        const payload = { id, type: this.type, queue, ending: state, attempts, error: dead ? this.error : null,
                          value: dead ? null : this.value ?? null };
        const now = Math.floor((performance.timeOrigin + performance.now()) * 1000);
        return new Kept({ type, payload, id: `${of}.${state}.${now}` }, to, undefined, id);
    }
}

/** Keeps what is pushed, in the place of a Laterd. With `app`, each job is performed as it is pushed. */
class Fake extends Pushing {
    jobs = []; // all, in the order of their pushes
    #byId = new Map(); // the last one of each queue and id
    #taken = new Set(); // ids that stay taken
    #ends = [];
    #flows = new Map(); // by queue and name
    #woken = []; // whose time in a flow has come
    #paused = new Map(); // queues, and whether only resume() ends it
    #crontabs = new Map(); // of each queue the definitions, by name
    #app;

    static {
        takeOptions(this);
    }

    constructor(app = null) {
        super();
        this.#app = app;
    }

    // ---- what a client can

    async push(type, payload, { queue = "default", ...options } = {}) {
        checkQueue(queue);
        const job = this.passed({ ...options, type, payload }), kept = new Kept(job, queue, prepareOne(job));
        return this.told(job, await (kept.made.tie ? this.#add(kept) : this.#push(kept)));
    }

    async pushMany(jobs, { queue }) {
        const list = checkJobs(jobs).map((job) => this.passed(job)), pushed = [];
        for (const [i, made] of prepareMany(list).entries()) pushed.push(await this.#push(new Kept(list[i], made.queue ?? queue, made)));
        return this.toldMany(list, pushed);
    }

    async show(id, { queue }) {
        const kept = this.#find(id, queue);
        return kept && kept.found;
    }

    /** It never waits: so call() is only for inline. */
    async wait(id, { queue }) {
        const kept = this.#find(id, queue);
        if (kept?.state === "dead") throw new JobFailed(id, kept.error);
        if (kept) throw new TimeoutError(`${id} has not ended; drain() performs it`);
        const last = this.#byId.get(`${queue} ${id}`);
        if (last?.state === "done" && last.job.result !== undefined) return last.value ?? null;
        throw new JobUnknown(id, queue);
    }

    async size({ queue }) {
        const [ready, delayed, reserved, dead] = ["ready", "delayed", "reserved", "dead"].map((state) =>
            this.jobs.filter((kept) => kept.queue === queue && kept.state === state).length);
        return { ready, delayed, reserved, dead, paused: this.#paused.has(queue), oldestReady: ready ? 0 : null };
    }

    /** Nothing of the queue is performed until resume(): time does not pass. */
    async pause({ queue, seconds, by }) {
        const ends = pauseWords(seconds, by)[0] !== "0", changed = ends || !this.#paused.get(queue);
        this.#paused.set(queue, !ends);
        return changed;
    }

    /** What was pushed meanwhile is performed by drain(), also inline. */
    async resume({ queue }) {
        return this.#paused.delete(queue);
    }

    /** Kept, and no more: time does not pass. */
    async cronSet(schedule, { queue }) {
        const { name, definition } = scheduled(schedule), crontab = this.#crontabs.get(queue) ?? new Map();
        const before = crontab.get(name);
        this.#crontabs.set(queue, crontab.set(name, definition));
        return before !== definition;
    }

    async cronDelete(name, { queue }) {
        return this.#crontabs.get(queue)?.delete(checkLabel("name", name)) ?? false;
    }

    /** By their names. */
    async cronList({ queue }) {
        const sorted = [...this.#crontabs.get(queue) ?? []].sort(([one], [other]) => (one < other ? -1 : 1));
        return schedulesOf(["", "", ...sorted.flatMap(([name, definition]) => [name, "inf", "", definition, "origin=set"])]);
    }

    /** No job that is done is kept. */
    async search({ queue, ...conditions }) {
        const what = new Search(conditions), newest = [...this.jobs].reverse().filter((kept) => kept.queue === queue);
        return what.states.filter((state) => state !== "done").flatMap((state) => newest.filter((kept) =>
            kept.state === state && what.fits(kept.made.document))).slice(0, what.limit).map((kept) => kept.found);
    }

    /** All ends are kept. */
    async events(options) {
        const page = new Page(options);
        return page.tellOf(this.#ends.filter((end) => end.queue === page.queue));
    }

    async kick(id, { queue }) {
        const kept = this.#find(id, queue);
        if (!kept || !["dead", "delayed"].includes(kept.state)) return null;
        const came = kept.state;
        kept.state = "ready";
        if (came === "dead") kept.attempts = 0;
        this.#settleFlows();
        return came;
    }

    async reschedule(id, { queue, ...how }) {
        const [when] = rescheduleWords(how), kept = this.#find(id, queue);
        if (!kept || !["ready", "delayed"].includes(kept.state)) return null;
        const came = kept.state;
        if (when) kept.state = kept.dueBy(when);
        if (how.priority !== undefined) kept.job = { ...kept.job, priority: how.priority };
        return came;
    }

    async forget(id, { queue }) {
        const kept = this.#find(id, queue) ?? this.#byId.get(`${queue} ${id}`);
        const had = ["done", "dead"].includes(kept?.state) && kept.job.result !== undefined;
        if (had) kept.job = { ...kept.job, result: undefined };
        return had;
    }

    async cancel(id, { queue }) {
        const kept = this.#find(id, queue);
        if (!kept) return this.#taken.delete(`${queue} ${id}`) ? "ended" : null;
        const came = kept.state;
        kept.state = "cancelled";
        this.#settleFlows();
        return came;
    }

    async flow(name, jobs = [], { queue, open }) {
        this.#key(name, queue);
        const list = checkJobs(jobs).map((job) => this.passed(job)), made = prepared(name, list, queue);
        check(made, open);
        const flow = this.#flowOf(name, queue);
        if (flow.closed && made.some(({ id }) => !flow.jobs.has(id))) throw new FlowClosed(name);
        const pushed = list.map((job, i) => this.#join(flow, new Kept(job, job.queue ?? queue, made[i])));
        flow.closed ||= !open;
        this.#settleFlows();
        await this.#performWoken();
        return this.toldMany(list, pushed);
    }

    async showFlow(name, { queue }) {
        return this.#flows.get(this.#key(name, queue))?.stands() ?? null;
    }

    async waitFlow(name, { queue }) {
        const flow = this.#known(name, queue).stands();
        if (!["open", "running"].includes(flow.state)) return flow;
        throw new TimeoutError(`flow ${name} is ${flow.state}; drain() performs its jobs`);
    }

    async kickFlow(name, { queue }) {
        let count = 0;
        for (const kept of [...this.#known(name, queue).jobs.values()].filter(({ state }) => state === "dead")) {
            count += (await this.kick(kept.id, { queue: kept.queue })) !== null;
        }
        return count;
    }

    async cancelFlow(name, { queue }) {
        let count = 0;
        for (const states of [["waiting"], ["waiting", "ready", "delayed", "reserved", "dead"]]) {
            for (const kept of this.#known(name, queue).jobs.values()) {
                count += states.includes(kept.state) && (await this.cancel(kept.id, { queue: kept.queue })) !== null;
            }
        }
        await this.closeFlow(name, { queue });
        return count;
    }

    async closeFlow(name, { queue }) {
        this.#known(name, queue).closed = true;
        this.#settleFlows();
        await this.#performWoken();
    }

    // ---- what a test wants to know

    /** Returns what was pushed, whatever has become of it. */
    pushed(type, queue) {
        return this.jobs.filter((kept) => (!type || kept.type === type) && (!queue || kept.queue === queue));
    }

    /** Throws unless such a job was pushed: as often as `count` says, otherwise at least once. */
    assertPushed(type, payload = ANY, { queue, count, ...options } = {}) {
        const same = JSON.parse(JSON.stringify(payload === ANY || payload === undefined ? null : payload));
        const such = this.pushed(type, queue).filter((kept) =>
            (payload === ANY || isDeepStrictEqual(kept.payload ?? null, same)) &&
            Object.entries(options).every(([name, value]) => isDeepStrictEqual(kept.job[name], value)));
        if (count === undefined ? such.length : such.length === count) return;
        const all = this.jobs.map((kept) => `${kept.queue} ${kept.type} ${JSON.stringify(kept.payload ?? null)}`);
        throw new AssertionError({
            message: `${type} was pushed so ${such.length} times; there are: ${all.join(", ") || "none"}`,
        });
    }

    assertNothingPushed(type, queue) {
        const such = this.pushed(type, queue);
        if (such.length) throw new AssertionError({ message: `pushed: ${such.map((kept) => kept.type).join(", ")}` });
    }

    /** Performs each job that is ready or delayed once, the highest priority first, then those that were
     * pushed meanwhile. One that is to be tried again waits for the next drain(). */
    async drain(app, queue) {
        const attempts = [], begun = new Set();
        const lines = new Map(); // priority → jobs; those before `next` had their turn
        for (let seen = 0;;) {
            const more = [...this.jobs.slice(seen), ...this.#woken.splice(0)];
            seen = this.jobs.length;
            for (const kept of more) {
                const priority = kept.job.priority ?? 0;
                if (!lines.has(priority)) lines.set(priority, { next: 0, jobs: [] });
                lines.get(priority).jobs.push(kept);
            }
            const open = [...lines.keys()].filter((priority) => lines.get(priority).next < lines.get(priority).jobs.length);
            if (!open.length) return attempts;
            const line = lines.get(Math.max(...open)), kept = line.jobs[line.next++];
            if ((queue && kept.queue !== queue) || !this.#mayRun(kept) || begun.has(kept)) continue;
            begun.add(kept);
            if (attempts.length === DRAINED_MAX) {
                throw new LaterdError(`drain: ${DRAINED_MAX} jobs were performed, and they push more and more`);
            }
            attempts.push(await this.#perform(app, kept));
        }
    }

    // ---- inside

    #find(id, queue) {
        const kept = this.#byId.get(`${queue} ${id}`);
        return kept && !ENDED.includes(kept.state) ? kept : null;
    }

    #mayRun({ state, queue }) {
        return ["ready", "delayed"].includes(state) && !this.#paused.has(queue);
    }

    #key(name, queue) {
        return `${queue} ${checkLabel("flow", name)}`;
    }

    #flowOf(name, queue) {
        const key = this.#key(name, queue);
        if (!this.#flows.has(key)) this.#flows.set(key, new KeptFlow(name));
        return this.#flows.get(key);
    }

    #known(name, queue) {
        const flow = this.#flows.get(this.#key(name, queue));
        if (!flow) throw new FlowUnknown(name, queue);
        return flow;
    }

    /** Adds a job to its flow, as push() does. */
    async #add(kept) {
        const { flow: name, adder, home } = kept.made.tie, flow = this.#flowOf(name, home ?? kept.queue);
        if (flow.closed && !flow.jobs.has(kept.id) && flow.jobs.get(adder)?.state !== "reserved") throw new FlowClosed(name);
        const pushed = this.#join(flow, kept);
        this.#settleFlows();
        await this.#performWoken();
        return pushed;
    }

    #join(flow, kept) {
        const { id, queue } = kept, old = flow.jobs.get(id) ?? this.#find(id, queue);
        flow.add(old ?? kept, kept.made.tie);
        if (old) return { id, result: "exists", state: old.state === "cancelled" ? "gone" : old.state };
        const waits = Boolean(kept.made.tie.after);
        kept.home = flow;
        if (waits) kept.state = "waiting";
        else this.#woken.push(kept);
        this.jobs.push(kept);
        this.#byId.set(`${queue} ${id}`, kept);
        return { id, result: "pushed", state: waits ? "waiting" : "" };
    }

    #settleFlows() {
        const run = (kept) => {
            kept.state = kept.due;
            this.#woken.push(kept);
        };
        while ([...this.#flows.values()].map((flow) => flow.settle(run)).some(Boolean));
    }

    /** Inline: those whose time has come. */
    async #performWoken() {
        while (this.#app && this.#woken.length) {
            const kept = this.#woken.shift();
            if (this.#mayRun(kept)) await this.#perform(this.#app, kept);
        }
    }

    async #push(kept) {
        const { id, queue, made } = kept, old = this.#find(id, queue);
        if (!old && this.#taken.has(`${queue} ${id}`)) return { id, result: "exists", state: "ended" };
        if (old?.state === "reserved" && made.mode === "again") {
            old.successor = kept;
            return { id, result: "again", state: "" };
        }
        if (old && (made.mode === "new" || ["dead", "reserved", "waiting"].includes(old.state))) {
            return { id, result: "exists", state: old.state };
        }
        if (old) this.#replace(old, kept);
        this.jobs.push(kept);
        this.#byId.set(`${queue} ${id}`, kept);
        if (this.#app && this.#mayRun(kept)) await this.#perform(this.#app, kept);
        await this.#performWoken();
        return { id, result: old ? "replaced" : "pushed", state: "" };
    }

    #replace(old, kept) {
        old.state = "cancelled";
        for (const flow of this.#flows.values()) { // it takes the other's place there, too
            if (flow.jobs.get(kept.id) !== old) continue;
            kept.made.tie = old.made.tie;
            kept.home = old.home;
            flow.replace(old, kept);
        }
    }

    async #perform(app, kept) {
        kept.policy = app.policy(kept.type);
        kept.state = "reserved";
        kept.attempts++;
        const attempt = await attemptOf(app, kept.type, kept.queue, kept.made, kept.attempts, kept.most,
                                        { ...kept.home?.heard(kept), checkpoint: kept.checkpoint });
        kept.checkpoint = attempt.checkpoint ?? kept.checkpoint;
        if (kept.state === "reserved") { // else it was cancelled meanwhile
            this.#settle(kept, attempt);
            this.#noteEnd(kept, attempt);
            const { hook } = kept;
            if (hook) await this.#push(hook);
        }
        const { successor } = kept;
        kept.successor = null;
        if (successor && ENDED.includes(kept.state)) await this.#push(successor);
        this.#settleFlows();
        return attempt;
    }

    #noteEnd({ queue, id, type, state, attempts: attempt, error }, { result: ending }) {
        if (ending === "return") return;
        const kind = ending === "done" ? null : error.kind;
        this.#ends.push({ queue, id, type, ending, state, at: Date.now() / 1000, host: "test", kind, attempt, ms: null, waited: null });
    }

    #settle(kept, { result, value, error }) {
        if (result === "done") {
            Object.assign(kept, { state: "done", value });
            if (kept.job.uniqueFor || kept.job.throttle) this.#taken.add(`${kept.queue} ${kept.id}`);
            return;
        }
        const dead = result === "bury" || (result === "retry" && kept.attempts >= kept.most);
        const kind = result === "bury" ? "buried" : result;
        kept.error = { at: Date.now() / 1000, attempt: kept.attempts, kind, text: error, host: "test" };
        kept.state = dead ? "dead" : "delayed";
        if (result === "return") kept.attempts--;
    }
}

module.exports = { ANY, perform, Fake };
