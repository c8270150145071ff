/** testing_flows.js: flows in a Fake: what becomes of jobs that wait (doc/protocol.md, "Flows"). */
"use strict";

const { stateOf } = require("./flow.js");

const LETTERS = { waiting: "w", ready: "o", delayed: "o", reserved: "o", dead: "x", done: "d", cancelled: "g", skipped: "s" };
const COUNTS = { open: "o", waiting: "w", dead: "x", done: "d", gone: "g", skipped: "s" };
const FATES = { g: "was cancelled, purged, expired or trimmed", s: "was not needed", u: "does not exist" };
const WAITS = ["wait", ""];

function countsOf(letters) {
    const counts = Object.entries(COUNTS).map(([name, letter]) => [name, letters.filter((one) => one === letter).length]);
    return { total: letters.length, ...Object.fromEntries(counts) };
}

/** A flow that was pushed to a Fake. */
class KeptFlow {
    closed = false;
    made = Date.now() / 1000;
    jobs = new Map(); // by id; a known job may be of several flows
    steps = new Map();
    #stars = new Set(); // ids of those that wait for all without `*`

    constructor(name) {
        this.name = name;
    }

    /** tie: how it was pushed to this flow, which for a known job is not how it was made. */
    add(kept, { step, after }) {
        this.jobs.set(kept.id, kept);
        if (step) this.steps.set(step, kept);
        if (after === "*") this.#stars.add(kept.id);
    }

    /** The later one takes the other's place. */
    replace(old, kept) {
        this.jobs.set(kept.id, kept);
        for (const [step, one] of this.steps) if (one === old) this.steps.set(step, kept);
    }

    #letters(which = () => true) {
        return [...this.jobs.values()].filter(which).map((kept) => LETTERS[kept.state]);
    }

    #plain() {
        return this.#letters((kept) => !this.#stars.has(kept.id));
    }

    stands() {
        const counts = countsOf(this.#letters());
        return { name: this.name, state: stateOf(counts, this.closed), closed: this.closed, made: this.made, ...counts };
    }

    /** Returns what one that has waited gets: the members of its line. */
    heard(kept) {
        const { after } = kept.made.tie;
        if (after === "*") {
            const failed = [...this.jobs.values()].filter((one) =>
                "xg".includes(LETTERS[one.state]) && !this.#stars.has(one.id)).map((one) => one.id);
            return { flow: { name: this.name, ...countsOf(this.#plain()), failed } };
        }
        const steps = after ? after.split(",").filter((step) => this.steps.has(step)) : [];
        return { values: Object.fromEntries(steps.map((step) => [step, this.steps.get(step).value ?? null])) };
    }

    /** Decides about those that wait, whose time has come. Returns whether any job has changed. */
    settle(run) {
        let changed = false;
        for (const kept of this.jobs.values()) {
            if (kept.state !== "waiting" || kept.home !== this) continue;
            const [fate, why] = kept.made.tie.after === "*" ? this.#all(kept) : this.#some(kept);
            changed ||= fate !== "wait";
            if (fate === "run") run(kept);
            else if (fate === "skip") kept.state = "skipped";
            else if (fate === "bury") {
                kept.state = "dead";
                kept.error = { at: Date.now() / 1000, attempt: 0, kind: "flow", text: why, host: "" };
            }
        }
        return changed;
    }

    #all({ made: { tie: { when } } }) {
        const letters = this.#plain(), gone = letters.filter((one) => one === "g").length;
        const over = this.closed && !letters.some((one) => "ow".includes(one));
        if (when === "failed") return gone || letters.includes("x") ? ["run"] : over ? ["skip"] : WAITS;
        if (when === "done" && gone) return ["bury", `needs all jobs of flow ${this.name}, and ${gone} of them are gone`];
        return over && (when === "ended" || !letters.includes("x")) ? ["run"] : WAITS;
    }

    #some({ made: { tie: { after, when } } }) {
        const steps = after.split(",");
        const letters = steps.map((step) =>
            this.steps.has(step) ? LETTERS[this.steps.get(step).state] : this.closed ? "u" : "w");
        const over = !letters.some((one) => "ow".includes(one));
        if (when === "failed") return letters.some((one) => "xgu".includes(one)) ? ["run"] : over ? ["skip"] : WAITS;
        if (when === "ended") return over ? ["run"] : WAITS;
        const at = letters.findIndex((one) => one in FATES);
        if (at >= 0) return ["bury", `needs step ${steps[at]} of flow ${this.name}, which ${FATES[letters[at]]}`];
        return letters.every((one) => one === "d") ? ["run"] : WAITS;
    }
}

module.exports = { KeptFlow };
