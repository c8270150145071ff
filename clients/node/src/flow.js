/** Flows: jobs that wait for each other (doc/protocol.md, "Flows"). */
import { setTimeout as pause } from "node:timers/promises";

import { checkLabel, checkQueue, prepare } from "./document.js";
import { FlowClosed, FlowUnknown, LaterdError, QueueFull, Refused, TimeoutError } from "./errors.js";
import { FLOW_PUSH } from "./script.js";

const KEPT = "86400"; // seconds that a flow is kept after its end
const JOBS_MAX = 200; // per call
const BYTES_MAX = 1 << 20;
const FLOW_MAX = 1000000;
const LOOK = 200; // milliseconds between two looks of wait()
const COUNTS = ["total", "open", "waiting", "dead", "done", "gone", "skipped"];

// ---- jobs of a flow

/** Returns the jobs, each of which waits for the one before. */
export function chain(...jobs) {
    const named = jobs.map((job, i) => ({ ...job, step: job.step ?? String(i + 1) }));
    return named.map((job, i) => (i ? { ...job, after: [named[i - 1].step] } : job));
}

/** Returns the jobs and those that wait for all of them. */
export function batch(jobs, ends = {}) {
    const fates = [["then", "done"], ["finally", "ended"], ["failed", "failed"]];
    return [...jobs, ...fates.flatMap(([name, when]) => (ends[name] ? [{ ...ends[name], after: "*", when }] : []))];
}

/** Refuses a flow that cannot end: steps of one name, or that nobody has, and circles. */
export function check(items, open) {
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
export function prepared(name, jobs) {
    if (jobs.length > FLOW_MAX) throw new Refused(`a flow has at most ${FLOW_MAX} jobs`);
    return jobs.map((job, i) => {
        try {
            if ((job.flow ?? name) !== name) throw new Refused(`flow: is not ${name}`);
            const id = job.id ?? (job.step === undefined ? `${name}:${i + 1}` : undefined);
            return prepare({ ...job, flow: name, id });
        } catch (error) {
            if (error instanceof LaterdError) error.message = `job ${i + 1}: ${error.message}`;
            throw error;
        }
    });
}

/** First those that wait, so that nothing has begun whose successor is not there. */
function partsOf(items) {
    const parts = [[]];
    let size = 0;
    for (const item of [...items.filter((one) => one.tie.after), ...items.filter((one) => !one.tie.after)]) {
        if (parts.at(-1).length === JOBS_MAX || (parts.at(-1).length && size + item.bytes > BYTES_MAX)) {
            parts.push([]);
            size = 0;
        }
        parts.at(-1).push(item);
        size += item.bytes;
    }
    return parts;
}

export function stateOf({ open, waiting, dead, gone }, closed) {
    if (open === 0 && dead > 0) return "blocked";
    if (!closed) return "open";
    if (open + waiting > 0) return "running";
    return gone > 0 ? "ended" : "done";
}

/** What a client does with flows. `link` is the part of it that this needs: prefix, greet, announce,
 * call, do, kick, cancel. */
export class Flows {
    #link;

    constructor(link) {
        this.#link = link;
    }

    #key(name, queue) {
        checkQueue(queue);
        return `${this.#link.prefix}:{${queue}}:flow:${checkLabel("flow", name)}`;
    }

    async push(name, jobs, queue, open) {
        this.#key(name, queue);
        const items = prepared(name, jobs);
        check(items, open);
        await this.#link.greet();
        await this.#link.announce(queue);
        const results = new Map();
        const parts = partsOf(items);
        for (const part of parts) await this.#pushPart(name, part, queue, part === parts.at(-1) && !open, results);
        return items.map((item) => results.get(item));
    }

    /** Adds a job to its flow, which stays open. */
    async add(item, queue) {
        await this.#link.announce(queue);
        const results = new Map();
        await this.#pushPart(item.tie.flow, [item], queue, false, results);
        return results.get(item);
    }

    /** To repeat it is safe: what is there is known. */
    async #pushPart(name, part, queue, close, results) {
        const args = [name, part[0]?.tie.adder ?? "", close ? "1" : "0", KEPT,
            ...part.flatMap(({ id, when, rank, document, tie }) =>
                [id, tie.step, tie.after, tie.when, when, rank, document])];
        const answers = await this.#link.call(FLOW_PUSH.call(this.#link.prefix, queue, args, name));
        if (!Array.isArray(answers)) throw new FlowClosed(name);
        part.forEach((item, i) => {
            const [word, state = ""] = answers[i].split(" ");
            const result = word === "EXISTS" ? "exists" : "pushed";
            results.set(item, word === "FULL" ? null
                : { id: item.id, result, state: word === "WAITING" ? "waiting" : state });
        });
        if (part.some((item) => results.get(item) === null)) throw new QueueFull(queue, [...results.values()]);
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
        for (;;) {
            signal?.throwIfAborted();
            const flow = await this.#known(name, queue);
            if (flow.state !== "open" && flow.state !== "running") return flow;
            if (performance.now() >= end) throw new TimeoutError(`flow ${name} is ${flow.state}; it goes on`);
            await pause(LOOK, undefined, { signal });
        }
    }

    async close(name, queue) {
        await this.#known(name, queue);
        await this.#pushPart(name, [], queue, true, new Map());
    }

    kick(name, queue) {
        return this.#act(name, queue, "x", this.#link.kick);
    }

    /** Those that wait go first: otherwise one that waits for a failure would run now. */
    async cancel(name, queue) {
        const waited = await this.#act(name, queue, "w", this.#link.cancel);
        const others = await this.#act(name, queue, "wox", this.#link.cancel);
        await this.close(name, queue);
        return waited + others;
    }

    async #act(name, queue, states, act) {
        await this.#known(name, queue);
        const key = this.#key(name, queue);
        const ids = new Set();
        let cursor = "0";
        do {
            const [next, fields] = await this.#link.do(key, ["HSCAN", key, cursor, "MATCH", "j:*", "COUNT", "500"]);
            for (let i = 0; i < fields.length; i += 2) {
                if (states.includes(fields[i + 1][0])) ids.add(fields[i].slice(2));
            }
            cursor = String(next);
        } while (cursor !== "0");
        let acted = 0;
        for (const id of ids) acted += (await act(id, { queue })) !== null;
        return acted;
    }
}
