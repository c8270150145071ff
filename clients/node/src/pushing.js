/** What clients and fakes have in common: what is called before a push. */
export class Pushing {
    #before = [];

    /** Each job that is pushed is given to the function, which returns the job to push. */
    beforePush(change) {
        this.#before.push(change);
        return this;
    }

    passed(job) {
        return this.#before.reduce((one, change) => change(one), job);
    }
}
