/** pushing.js: what clients and fakes have in common: hooks before and after a push, and what is made of other methods. */
"use strict";

const { checkIds, outcomeOf } = require("./asked.js");
const { checkFunction } = require("./document.js");
const { LaterdError } = require("./errors.js");
const { map } = require("./map.js");
const { named } = require("./unique.js");

const RESULT_KEPT = 60; // seconds, after a caller has given up

/** What clients and fakes have in common. */
class Pushing {
    #before = [];
    #after = [];

    /** Each job that is pushed is given to the function, which returns the job to push. */
    beforePush(change) {
        this.#before.push(checkFunction("beforePush: the hook", change));
        return this;
    }

    /** The function is told of each job that was pushed, and what became of it. After an error it is not
     * called. */
    afterPush(tell) {
        this.#after.push(checkFunction("afterPush: the hook", tell));
        return this;
    }

    async map(type, items, options = {}) {
        return map(this, type, items, options);
    }

    async call(type, payload, { queue, timeout, signal }) {
        const { id } = await this.push(type, payload, { queue, result: timeout + RESULT_KEPT });
        return this.wait(id, { queue, timeout, signal });
    }

    /** One after the other: their results stay for as long as they were asked for. */
    async waitMany(ids, { queue, timeout, signal }) {
        const end = performance.now() + timeout * 1000, outcomes = [];
        for (const id of checkIds(ids)) {
            const left = Math.max(0, (end - performance.now()) / 1000);
            outcomes.push(await outcomeOf(id, () => this.wait(id, { queue, timeout: left, signal })));
        }
        return outcomes;
    }

    told(job, pushed) {
        for (const tell of this.#after) tell(job, pushed);
        return pushed;
    }

    toldMany(jobs, pushed) {
        if (this.#after.length) pushed.forEach((one, i) => this.told(jobs[i], one));
        return pushed;
    }

    passed(job) {
        return named(this.#before.reduce((one, change) => {
            const changed = change(one);
            if (changed?.type === undefined) throw new LaterdError("beforePush: the hook must return the job");
            return changed;
        }, named(job)));
    }
}

module.exports = { Pushing };
