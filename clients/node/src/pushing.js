/** pushing.js: what clients and fakes have in common: hooks before and after a push. */
import { map } from "./map.js";
import { named } from "./unique.js";

/** What clients and fakes have in common: what is called before and after a push. */
export class Pushing {
    #before = [];
    #after = [];

    /** Each job that is pushed is given to the function, which returns the job to push. */
    beforePush(change) {
        this.#before.push(change);
        return this;
    }

    /** The function is told of each job that was pushed, and what became of it. After an error it is not
     * called. */
    afterPush(tell) {
        this.#after.push(tell);
        return this;
    }

    async map(type, items, options = {}) {
        return map(this, type, items, options);
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
        return named(this.#before.reduce((one, change) => change(one), named(job)));
    }
}
