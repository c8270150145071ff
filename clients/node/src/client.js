/** client.js: pushes jobs through a client of ioredis or node-redis. */
"use strict";

const { setTimeout: nap } = require("node:timers/promises");

const { Search, checkJobs, pauseWords, rescheduleWords, takeOptions } = require("./asked.js");
const { Away } = require("./away.js");
const { JOBS_MAX } = require("./bounds.js");
const { schedulesOf, scheduled } = require("./crontab.js");
const { checkLabel, checkQueue, newId, newNumber, prepareMany, prepareOne } = require("./document.js");
const { JobFailed, JobUnknown, Moving, QueueFull, WrongProtocol } = require("./errors.js");
const { Page } = require("./events.js");
const { Flows } = require("./flow.js");
const { Plan } = require("./plan.js");
const { bounded, groupBy, pushedOf, strange } = require("./pushed.js");
const { Pushing } = require("./pushing.js");
const { adapt, isReply } = require("./redis.js");
const {
    CANCEL, CRON_LOOK, CRON_MOVE, CRON_PUT, KICK, PAUSE, PUSH, PUSH_NOW, RESCHEDULE, RESUME, SHOW, SIZE,
} = require("./script.js");
const { search } = require("./search.js");
const { headOf, wait } = require("./wait.js");

const PROTOCOL = "2";
const CALL_KEPT = "60"; // seconds for which Redis remembers the answer to a call
const CALLS_TIME = 60000; // milliseconds, see #newNumber()
const TRIES = 20; // changes of plan, or of a job's holder, in a row before it gives up
const NAP = 50; // milliseconds
const WHOLE = new Plan(null);

function foundOf(id, place, [state, score, record, document]) {
    const tags = Object.fromEntries(record.split("\n").filter((line) => line.includes("="))
        .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]));
    return {
        id, queue: place, state,
        score: score === "" ? null : Number(score),
        attempts: Number(tags.a ?? 0),
        priority: Number(tags.p ?? 0),
        error: tags.e ? JSON.parse(tags.e) : null,
        progress: tags.g ? JSON.parse(tags.g) : null,
        checkpoint: tags.m ? JSON.parse(tags.m) : null,
        log: tags.o ? JSON.parse(tags.o) : null,
        document,
        get type() {
            return JSON.parse(document).type ?? null;
        },
        get payload() {
            return JSON.parse(document).payload ?? null;
        },
    };
}

class Laterd extends Pushing {
    #redis;
    #prefix;
    #greeted = null;
    #plans = new Map();
    #announced = new Set();
    #calls = ""; // see #newNumber()
    #callsLeft = 0;
    #callsUntil = 0;
    #link;
    #flows;

    static {
        takeOptions(this);
    }

    constructor(client, { prefix = "later" } = {}) {
        super();
        this.#redis = adapt(client);
        this.#prefix = prefix;
        this.#link = { // what flows, searches and events need of it
            prefix, found: foundOf,
            greet: () => this.#greet(),
            announce: (place) => this.#announce(place),
            call: (call) => this.#call(call),
            do: (key, words) => this.#do(key, words),
            away: (end, signal) => new Away(this.#redis, end, signal),
            kick: (id, options) => this.kick(id, options),
            cancel: (id, options) => this.cancel(id, options),
            plan: (queue) => this.#plan(queue),
            learn: (queue) => this.#learn(queue),
            byPlan: (queue, once) => this.#byPlan(queue, once),
        };
        this.#flows = new Flows(this.#link);
    }

    async push(type, payload, { queue = "default", ...options } = {}) {
        options.type = type;
        options.payload = payload;
        const job = this.passed(options);
        return this.told(job, await this.#pushOne(job, queue));
    }

    async #pushOne(job, queue) {
        checkQueue(queue);
        const one = prepareOne(job);
        if (!this.#announced.has(queue)) await this.#greet();
        if (one.tie) return this.#flows.add(one, queue);
        const plan = this.#plan(queue);
        const [place, ...further] = plan.route(queue, one.id);
        if (one.plain && !further.length) {
            if (!this.#announced.has(place)) await this.#announce(place);
            const number = this.#newNumber();
            const answer = await this.#call(
                PUSH_NOW.call(this.#prefix, place, [plan.epoch, one.id, one.document, number], this.#calls));
            if (answer === "PUSHED") return { id: one.id, result: "pushed", state: "" };
            if (answer !== "ASK") throw strange(answer);
        }
        return (await this.#pushAll([one], queue))[0];
    }

    /** Makes the number of a call of push_now, which Redis remembers in the set #calls. A new set is
     * used after 500 calls or a minute. */
    #newNumber() {
        const now = performance.now();
        if (this.#callsLeft <= 0 || now >= this.#callsUntil) {
            this.#calls = newId();
            this.#callsLeft = JOBS_MAX;
            this.#callsUntil = now + CALLS_TIME;
        }
        this.#callsLeft--;
        return newNumber();
    }

    async pushMany(jobs, { queue }) {
        const passed = checkJobs(jobs).map((job) => this.passed(job)), items = prepareMany(passed);
        await this.#greet();
        return this.toldMany(passed, await this.#pushOver(items, queue));
    }

    /** Each into its queue. With QueueFull, all were tried. */
    async #pushOver(items, home) {
        const results = new Map();
        let full;
        for (const queue of new Set(items.map((item) => item.queue ?? home))) {
            const own = items.filter((item) => (item.queue ?? home) === queue);
            const told = await this.#pushAll(own, queue).catch((error) => {
                if (!(error instanceof QueueFull)) throw error;
                full ??= queue;
                return error.results;
            });
            own.forEach((item, i) => results.set(item, told[i]));
        }
        const all = items.map((item) => results.get(item));
        if (full !== undefined) throw new QueueFull(full, all);
        return all;
    }

    async show(id, { queue }) {
        const plan = await this.#learn(queue);
        for (const place of plan.route(queue, id).reverse()) {
            const reply = await this.#call(SHOW.call(this.#prefix, place, [id]));
            if (reply[0]) return foundOf(id, place, reply);
        }
        return null;
    }

    async size({ queue }) {
        const plan = await this.#learn(queue), parts = [];
        for (const place of plan.places(queue)) {
            parts.push(await this.#call(SIZE.call(this.#prefix, place, [])));
        }
        const sum = (i) => parts.reduce((total, part) => total + Number(part[i]), 0);
        const ages = parts.filter((part) => part[5] !== "").map((part) => Number(part[5]));
        return {
            ready: sum(0), delayed: sum(1), reserved: sum(2), dead: sum(3),
            paused: sum(4) === parts.length,
            oldestReady: ages.length ? Math.max(...ages) : null,
        };
    }

    async kick(id, { queue }) {
        return this.#act(id, queue, async (place) => (await this.#call(KICK.call(this.#prefix, place, [id])))[0]);
    }

    async cancel(id, { queue }) {
        return this.#act(id, queue, (place) => this.#cancelAt(id, place));
    }

    async reschedule(id, { queue, ...how }) {
        const words = rescheduleWords(how);
        return this.#act(id, queue, async (place) => {
            const state = await this.#call(RESCHEDULE.call(this.#prefix, place, [id, ...words]));
            return ["ready", "delayed"].includes(state) ? state : ""; // of another one nothing was done
        });
    }

    async forget(id, { queue }) {
        return await this.#act(id, queue, (place) => {
            const key = `${this.#prefix}:{${place}}:result:${id}`;
            return this.#do(key, ["DEL", key]);
        }) !== null;
    }

    async pause({ queue, seconds, by }) {
        return this.#setPause(queue, PAUSE, pauseWords(seconds, by));
    }

    async resume({ queue }) {
        return this.#setPause(queue, RESUME, []);
    }

    /** The plain queue comes first, and then the plan is read: whoever adds shards writes the plan and then
     * copies the plain queue's pause to them, so that one of the two sees the other. */
    async #setPause(queue, script, words) {
        await this.#greet();
        let changed = Number(await this.#call(script.call(this.#prefix, queue, words)));
        const plan = await this.#learn(queue);
        for (const place of plan.places(queue).slice(1)) {
            changed |= Number(await this.#call(script.call(this.#prefix, place, words)));
        }
        return changed > 0;
    }

    /** `?`: laterd works out when it is due. */
    async cronSet(schedule, { queue }) {
        const { name, definition } = scheduled(schedule);
        await this.#greet();
        const [what] = await this.#call(CRON_PUT.call(this.#prefix, queue, [name, definition, "?", "set"]));
        await this.#announce(queue);
        return what === "PUT";
    }

    async cronDelete(name, { queue }) {
        checkLabel("name", name);
        await this.#greet();
        const [had] = await this.#call(CRON_MOVE.call(this.#prefix, queue, ["drop", name, ""]));
        return Number(had) === 1;
    }

    /** By pages, in the order of their next ticks. One that is fired meanwhile may be listed twice. */
    async cronList({ queue }) {
        await this.#greet();
        for (const found = []; ;) {
            const words = [String(found.length), String(JOBS_MAX)];
            const page = schedulesOf(await this.#call(CRON_LOOK.call(this.#prefix, queue, words)));
            if (!page.length) return [...new Map(found.map((one) => [one.name, one])).values()];
            found.push(...page);
        }
    }

    async search({ queue, ...conditions }) {
        const what = new Search(conditions), plan = await this.#learn(queue);
        return search(this.#link, plan.places(queue), what);
    }

    async events(options) {
        const page = new Page(options), plan = await this.#learn(page.queue);
        return page.read(this.#link, plan.places(page.queue));
    }

    async flow(name, jobs = [], { queue, open }) {
        const passed = checkJobs(jobs).map((job) => this.passed(job));
        return this.toldMany(passed, await this.#flows.push(name, passed, queue, open));
    }

    async showFlow(name, { queue }) {
        return this.#flows.look(name, queue);
    }

    async waitFlow(name, { queue, timeout, signal }) {
        return this.#flows.wait(name, queue, timeout, signal);
    }

    async kickFlow(name, { queue }) {
        return this.#flows.kick(name, queue);
    }

    async cancelFlow(name, { queue }) {
        return this.#flows.cancel(name, queue);
    }

    async closeFlow(name, { queue }) {
        return this.#flows.close(name, queue);
    }

    /** Returns what act() says at the first place that has the job, or null. */
    async #act(id, queue, act) {
        const plan = await this.#learn(queue);
        for (const place of plan.route(queue, id)) {
            const state = await act(place);
            if (state) return state;
        }
        return null;
    }

    /** A reserved job is under a token, which its id does not tell. While it is looked for, the job may
     * come under another one, or become ready. */
    async #cancelAt(id, place) {
        let token = "";
        for (let tries = 0; tries < TRIES; tries++) {
            const [cancelled] = await this.#call(CANCEL.call(this.#prefix, place, [id], token));
            if (cancelled) return cancelled;
            const [state] = await this.#call(SHOW.call(this.#prefix, place, [id]));
            if (state === "" || state === "done") return "";
            token = await this.#holder(id, place);
        }
        throw new Moving(`${id}: it changes its state faster than it can be cancelled`);
    }

    /** Returns the token that holds a reserved job, or nothing. */
    async #holder(id, place) {
        const key = `${this.#prefix}:{${place}}:reserved`;
        for (const token of await this.#do(key, ["ZRANGE", key, "0", "-1"])) {
            if (await this.#do(key, ["ZSCORE", `${key}:${token}`, id]) !== null) return token;
        }
        return "";
    }

    async wait(id, { queue, timeout, signal }) {
        return wait(this.#redis, id, () => this.#lookForResult(id, queue), timeout, signal);
    }

    /**
     * Returns the key under which the result comes, the result if it is there, and whether the job
     * runs and another of its id follows it. The element is read before the state: an element that
     * was there while the job is not over belongs to an earlier job of that id.
     */
    async #lookForResult(id, queue) {
        const plan = await this.#learn(queue);
        for (const place of plan.route(queue, id).reverse()) {
            const key = `${this.#prefix}:{${place}}:result:${id}`;
            let element = await this.#do(key, ["LINDEX", key, "0"]);
            const reply = await this.#call(SHOW.call(this.#prefix, place, [id]));
            if (reply[0] === "dead") throw new JobFailed(id, foundOf(id, place, reply).error);
            const over = reply[0] === "" || reply[0] === "done"; // done: it is kept
            if (!over && element !== null) await this.#do(key, ["LREM", key, "1", element]);
            if (!over) return [key, null, reply[0] === "reserved" && /^n=/m.test(reply[2])];
            element = await this.#do(key, ["LINDEX", key, "0"]); // it may have ended in between, and the first was older
            if (element !== null && !headOf(element).again) return [key, element, false]; // else of an earlier job
        }
        throw new JobUnknown(id, queue);
    }

    // ---- before the first call

    /** Callers that come while the question is under way wait for the same answer. */
    #greet() {
        this.#greeted ??= this.#checkProtocol().catch((error) => {
            this.#greeted = null;
            throw error;
        });
        return this.#greeted;
    }

    async #checkProtocol() {
        const key = `${this.#prefix}:protocol`;
        const number = await this.#do(key, ["GET", key]);
        if (number !== null && String(number) !== PROTOCOL) {
            throw new WrongProtocol(`this Redis is kept by protocol ${number}; this client knows ${PROTOCOL}: ` +
                "take the client that came with the laterd that serves it");
        }
    }

    async #announce(place) {
        if (this.#announced.has(place)) return;
        const key = `${this.#prefix}:queues`;
        await this.#do(key, ["SADD", key, place]);
        this.#announced.add(place);
    }

    #plan(queue) {
        return this.#plans.get(queue) ?? WHOLE;
    }

    /** Returns the plan as Redis has it, which #plan() knows from then on. */
    async #learn(queue) {
        await this.#greet();
        const key = `${this.#prefix}:{${queue}}:shards`;
        const plan = new Plan(await this.#do(key, ["GET", key]));
        this.#plans.set(queue, plan);
        return plan;
    }

    // ---- many jobs

    async #pushAll(items, queue) {
        const results = new Map();
        await this.#byPlan(queue, () =>
            this.#pushByPlan(items.filter((item) => !results.has(item)), queue, results));
        const told = items.map((item) => results.get(item));
        if (told.includes(null)) throw new QueueFull(queue, told);
        return told;
    }

    /** Follows the plan that is known. If it is stale, Redis says so, and the new plan is
     * followed. */
    async #byPlan(queue, once) {
        for (let tries = 0; ; tries++) {
            if (tries === TRIES) {
                throw new Moving(`queue ${queue}: its shards are being changed, or Redis has lost their number; ` +
                    "a laterd that serves the queue will mend that");
            }
            try {
                await once();
                return;
            } catch (error) {
                if (!error.message?.startsWith("RESHARD ")) throw error;
            }
            await this.#learn(queue);
            if (tries > 2) await nap(NAP);
        }
    }

    /** Former places are only searched. The last place is where a job is pushed. */
    async #pushByPlan(items, queue, results) {
        const plan = this.#plan(queue);
        let waiting = items.map((item) => ({ item, route: plan.route(queue, item.id) }));
        while (waiting.length) {
            const groups = groupBy(waiting, ({ item, route }) => `${route[0]} ${route.length === 1} ${item.mode}`);
            waiting = [];
            for (const group of groups.values()) {
                const [place, ...rest] = group[0].route;
                const routes = new Map(group.map(({ item, route }) => [item, route]));
                if (!rest.length) await this.#announce(place);
                for (const part of bounded(group.map(({ item }) => item), JOBS_MAX)) {
                    const answers = await this.#pushPart(place, rest.length > 0, plan, part);
                    part.forEach((item, i) => {
                        if (answers[i] === "ABSENT") waiting.push({ item, route: routes.get(item).slice(1) });
                        else results.set(item, pushedOf(item.id, answers[i]));
                    });
                }
            }
        }
    }

    #pushPart(place, seeks, plan, part) {
        const own = part[0].mode;
        const mode = !seeks ? own : own === "new" ? "seek" : `seek-${own}`;
        const args = [CALL_KEPT, `${mode}/${plan.epoch}`,
            ...part.flatMap((item) => [item.id, item.when, item.rank, item.document])];
        return this.#call(PUSH.call(this.#prefix, place, args, newId()));
    }

    // ---- Redis

    async #do(key, words) {
        try {
            return await this.#redis.do(key, words);
        } catch (error) {
            if (isReply(error)) throw error;
            // Repeats the call under the same call id. If only the answer was lost, Redis gives it
            // again.
            this.#announced.clear();
            return this.#redis.do(key, words);
        }
    }

    /** If a Cluster's node was just being reconnected, a load may have missed it or failed, so it is repeated.
     * READONLY: a replica that knows the script was asked, and nothing was written. */
    async #call({ script, key, words }) {
        for (let tries = 0; ; tries++) {
            try {
                return await this.#do(key, words);
            } catch (error) {
                if (!/^(NOSCRIPT|READONLY) /.test(error.message) || tries === 5) throw error;
                await nap(50 * tries);
                await this.#redis.load(script.text).catch((lost) => {
                    if (isReply(lost)) throw lost;
                });
            }
        }
    }
}

module.exports = { Laterd };
