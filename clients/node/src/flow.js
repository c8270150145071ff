/** flow.js: flows: jobs that wait for each other (doc/protocol.md, "Flows"). */
"use strict";

const { setTimeout: pause } = require("node:timers/promises");

const { FLOW_MAX, PART_MAX } = require("./bounds.js");
const { checkLabel, prepare } = require("./document.js");
const { FlowClosed, FlowUnknown, LaterdError, QueueFull, Refused, TimeoutError } = require("./errors.js");
const { bounded, groupBy, pushedOf, strange } = require("./pushed.js");
const { CANCEL, FLOW_JOIN, FLOW_PARK, FLOW_PUSH, KICK } = require("./script.js");

const KEPT = ""; // how long a flow is kept after its end is for its queue to say
const LOOK = 200; // milliseconds between two looks of wait()
const COUNTS = ["total", "open", "waiting", "dead", "done", "gone", "skipped"];

// ---- jobs of a flow

/** Returns the jobs, each of which waits for the one before. */
function chain(...jobs) {
    const named = jobs.map((job, i) => ({ ...job, step: job.step ?? String(i + 1) }));
    return named.map((job, i) => (i ? { ...job, after: [named[i - 1].step] } : job));
}

/** Returns the jobs and those that wait for all of them. */
function batch(jobs, ends = {}) {
    const fates = [["then", "done"], ["finally", "ended"], ["failed", "failed"]];
    return [...jobs, ...fates.flatMap(([name, when]) => (ends[name] ? [{ ...ends[name], after: "*", when }] : []))];
}

/** Refuses a flow that cannot end: steps of one name, or that nobody has, and circles. */
function check(items, open) {
    const steps = new Map();
    items.forEach(({ tie: { step, after } }, i) => {
        if (step && steps.has(step)) throw new Refused(`job ${i + 1}: step: another job is ${step}, too`);
        if (step) steps.set(step, { isStar: after === "*", waiters: [] });
    });
    const left = items.map(({ tie: { after } }, i) => {
        let known = 0;
        for (const step of after && after !== "*" ? after.split(",") : []) {
            if (!steps.has(step) && !open) throw new Refused(`job ${i + 1}: after: there is no step ${step}`);
            if (steps.get(step)?.isStar) {
                throw new Refused(`job ${i + 1}: after: step ${step} waits for all jobs, this one too`);
            }
            steps.get(step)?.waiters.push(i);
            known += steps.has(step);
        }
        return known;
    });
    const free = [...items.keys()].filter((i) => left[i] === 0);
    for (const i of free) { // which grows
        for (const waiter of steps.get(items[i].tie.step)?.waiters ?? []) if (--left[waiter] === 0) free.push(waiter);
    }
    if (free.length === items.length) return;
    const stuck = items.map(({ tie }, i) => tie.step || `job ${i + 1}`).filter((_, i) => left[i] > 0);
    throw new Refused(`after: a circle: ${stuck.slice(0, 10).join(", ")} wait for each other`);
}

/** A job without id and step is known by its place, so that the same jobs again are the same. */
function prepared(name, jobs, home) {
    if (jobs.length > FLOW_MAX) throw new Refused(`a flow has at most ${FLOW_MAX} jobs`);
    return jobs.map((job, i) => {
        try {
            if ((job.flow ?? name) !== name) throw new Refused(`flow: is not ${name}`);
            if ((job.home ?? home) !== home) throw new Refused(`home: is not ${home}`);
            const id = job.id ?? (job.step === undefined ? `${name}:${i + 1}` : undefined);
            return prepare({ ...job, flow: name, id });
        } catch (error) {
            if (error instanceof LaterdError) error.message = `job ${i + 1}: ${error.message}`;
            throw error;
        }
    });
}

/** Returns calls, { place, part }, each for one place; "" is the flow's own queue. First those that wait, so that
 * nothing has begun whose successor is not there; what goes to the flow's own queue goes last, so that it can close
 * the flow. */
function partsOf(items, placeOf) {
    const waiting = items.filter((one) => one.tie.after), others = items.filter((one) => !one.tie.after);
    const one = new Set(items.map(placeOf)).size === 1;
    const parts = [];
    for (const turn of one ? [[...waiting, ...others]] : [waiting, others]) {
        const groups = groupBy(turn, placeOf);
        for (const place of [...groups.keys()].sort().reverse()) {
            for (const part of bounded(groups.get(place), PART_MAX)) parts.push({ place, part });
        }
    }
    return parts;
}

/** Returns the answers to the jobs of a call. */
function toldOf(answers, name) {
    if (Array.isArray(answers)) return answers;
    throw answers === "CLOSED" ? new FlowClosed(name) : strange(answers);
}

/** `STATE STEP WHEN DELAY AFTER QUEUE:NUMBER`; the last is there if the job lies in another queue. */
function placeOf(text) {
    return text.split(" ")[5]?.split(":")[0];
}

function stateOf({ open, waiting, dead, gone }, closed) {
    if (open === 0 && dead > 0) return "blocked";
    if (!closed) return "open";
    if (open + waiting > 0) return "running";
    return gone > 0 ? "ended" : "done";
}

/** What a client does with flows. `link` is the part of it that this needs: prefix, greet, announce,
 * call, do, kick, cancel, plan, learn, byPlan. */
class Flows {
    #link;

    constructor(link) {
        this.#link = link;
    }

    #key(name, queue) {
        return `${this.#link.prefix}:{${queue}}:flow:${checkLabel("flow", name)}`;
    }

    async push(name, jobs, queue, open) {
        this.#key(name, queue);
        const items = prepared(name, jobs, queue);
        check(items, open);
        await this.#link.greet();
        return this.#send({ name, home: queue }, items, !open);
    }

    /** Adds a job to its flow, which stays open. */
    async add(item, queue) {
        item.tie.queue = queue;
        return (await this.#send({ name: item.tie.flow, home: item.tie.home ?? queue }, [item], false))[0];
    }

    /** Pushes jobs into a flow, and closes it if they are all. */
    async #send(flow, items, isWhole) {
        const queues = new Set(items.map((item) => item.tie.queue ?? flow.home));
        for (const queue of queues) await this.#link.learn(queue);
        await this.#link.announce(flow.home);
        const results = new Map();
        const parts = partsOf(items, (item) => this.#placeOf(item, flow.home));
        const closes = isWhole && parts.at(-1)?.place === "";
        for (const { place, part } of parts) {
            if (place) await this.#pushAway(flow, part, results);
            else await this.#pushPart(flow, part, closes && part === parts.at(-1).part, results);
        }
        if (isWhole && !closes) await this.#pushPart(flow, [], true, results);
        return items.map((item) => results.get(item));
    }

    /** Returns the place of a job, "" if the flow's own queue takes it at once. */
    #placeOf(item, home) {
        const queue = item.tie.queue ?? home;
        const plan = this.#link.plan(queue);
        return queue === home && plan.epoch === "0" ? "" : plan.route(queue, item.id).at(-1);
    }

    /** To repeat it is safe: what is there is known. */
    async #pushPart({ name, home }, part, close, results) {
        const args = [name, part[0]?.tie.adder ?? "", close ? "1" : "0", KEPT,
            ...part.flatMap(({ id, when, rank, document, tie }) =>
                [id, tie.step, tie.after, tie.when, when, rank, document])];
        const answers = toldOf(await this.#link.call(FLOW_PUSH.call(this.#link.prefix, home, args, name)), name);
        part.forEach((item, i) => results.set(item, pushedOf(item.id, answers[i])));
        if (part.some((item) => results.get(item) === null)) throw new QueueFull(home, [...results.values()]);
    }

    /** Jobs of another queue, or of shards, are announced to the flow and parked there, until it has them run. */
    async #pushAway(flow, part, results) {
        const queue = part[0].tie.queue ?? flow.home;
        await this.#link.byPlan(queue, async () => {
            const left = part.filter((item) => !results.has(item));
            await this.#park(flow, queue, await this.#join(flow, left, results), results);
        });
        if (part.some((item) => results.get(item) === null)) throw new QueueFull(queue, [...results.values()]);
    }

    /** Returns the numbers under which the flow awaits jobs. */
    async #join({ name, home }, part, results) {
        const args = [name, part[0].tie.adder, "0", KEPT, ...part.flatMap((item) =>
            [item.id, item.tie.step, item.tie.after, item.tie.when, item.when, this.#placeOf(item, home)])];
        const answers = toldOf(await this.#link.call(FLOW_JOIN.call(this.#link.prefix, home, args, name)), name);
        const numbers = new Map();
        part.forEach((item, i) => {
            if (answers[i].startsWith("PARK ")) numbers.set(item, answers[i].slice(5));
            else results.set(item, pushedOf(item.id, answers[i]));
        });
        return numbers;
    }

    /** Former places are only searched. */
    async #park({ name, home }, queue, numbers, results) {
        const plan = this.#link.plan(queue);
        let waiting = [...numbers.keys()].map((item) => ({ item, route: plan.route(queue, item.id) }));
        while (waiting.length) {
            const groups = groupBy(waiting, ({ route }) => `${route.length === 1 ? "new" : "seek"} ${route[0]}`);
            waiting = [];
            for (const [key, group] of groups) {
                const [mode, place] = key.split(" ");
                if (mode === "new") await this.#link.announce(place);
                const args = [`${mode}/${plan.epoch}`, name, home,
                    ...group.flatMap(({ item }) => [item.id, numbers.get(item), item.rank, item.document])];
                const answers = await this.#link.call(FLOW_PARK.call(this.#link.prefix, place, args));
                group.forEach(({ item, route }, i) => {
                    if (answers[i] === "ABSENT") waiting.push({ item, route: route.slice(1) });
                    else results.set(item, pushedOf(item.id, answers[i]));
                });
            }
        }
    }

    async look(name, queue) {
        const key = this.#key(name, queue);
        await this.#link.greet();
        const fields = COUNTS.flatMap((count) => [count, `*${count}`]);
        const [closed, made, ...told] = await this.#link.do(key, ["HMGET", key, "closed", "made", ...fields]);
        if (closed === null) return null;
        const counts = Object.fromEntries(COUNTS.map((count, i) =>
            [count, Number(told[2 * i] ?? 0) + Number(told[2 * i + 1] ?? 0)]));
        const isClosed = Number(closed) === 1;
        return { name, state: stateOf(counts, isClosed), closed: isClosed, made: Number(made), ...counts };
    }

    async #known(name, queue) {
        const flow = await this.look(name, queue);
        if (!flow) throw new FlowUnknown(name, queue);
        return flow;
    }

    async wait(name, queue, timeout, signal) {
        const end = performance.now() + timeout * 1000;
        const away = this.#link.away(end, signal);
        for (;;) {
            const flow = await away.outlast(() => this.#known(name, queue));
            if (flow.state !== "open" && flow.state !== "running") return flow;
            if (performance.now() >= end) throw new TimeoutError(`flow ${name} is ${flow.state}; it goes on`);
            await pause(LOOK, undefined, { signal });
        }
    }

    async close(name, queue) {
        await this.#known(name, queue);
        await this.#pushPart({ name, home: queue }, [], true, new Map());
    }

    kick(name, queue) {
        return this.#act(name, queue, "x", KICK, this.#link.kick);
    }

    /** Those that wait go first: otherwise one that waits for a failure would run now. */
    async cancel(name, queue) {
        const waited = await this.#act(name, queue, "w", CANCEL, this.#link.cancel);
        const others = await this.#act(name, queue, "wox", CANCEL, this.#link.cancel);
        await this.close(name, queue);
        return waited + others;
    }

    /** Acts on the jobs that are in one of these states, many in a call. One that is not found there,
     * since it runs or has moved, is looked for by itself. */
    async #act(name, queue, states, script, act) {
        await this.#known(name, queue);
        const key = this.#key(name, queue);
        const places = new Map(); // of each job
        let cursor = "0";
        do {
            const [next, fields] = await this.#link.do(key, ["HSCAN", key, cursor, "MATCH", "j:*", "COUNT", "500"]);
            for (let i = 0; i < fields.length; i += 2) {
                if (states.includes(fields[i + 1][0])) places.set(fields[i].slice(2), placeOf(fields[i + 1]) ?? queue);
            }
            cursor = String(next);
        } while (cursor !== "0");
        let acted = 0;
        for (const [place, ids] of groupBy(places.keys(), (id) => places.get(id))) {
            for (let i = 0; i < ids.length; i += PART_MAX) {
                const some = ids.slice(i, i + PART_MAX);
                const was = await this.#link.call(script.call(this.#link.prefix, place, some));
                for (let k = 0; k < some.length; k++) {
                    acted += was[k] !== "" || (await act(some[k], { queue: place.split("/")[0] })) !== null;
                }
            }
        }
        return acted;
    }
}

module.exports = { chain, batch, check, prepared, stateOf, Flows };
