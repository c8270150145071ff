// testing.test.mjs: laterd/testing, as a user's tests use it: npm test. Needs no Redis client.
import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { test } from "node:test";
import { deflateSync, inflateSync } from "node:zlib";

import {
    Bury, FlowClosed, FlowUnknown, Handlers, JobFailed, JobUnknown, Laterd, LaterdError, Refused, Retry, Return, TimeoutError, batch,
    chain, uniqueId,
} from "laterd";
import { ANY, Fake, perform } from "laterd/testing";

let queues = new Fake();
const app = new Handlers();
app.on("welcome", (job) => {
    if (job.payload.to === "busy") throw new Error("the mailer is busy");
    if (job.payload.to === "bad") throw new Bury("no such address");
    if (job.payload.to === "later") throw new Return("not yet", 60);
    job.progress(1, 2, "half");
    return { sent: job.payload.to, attempt: job.attempt };
});
app.on("pages", (job) => {
    for (let page = job.resumes ?? 0; page < 3; page++) {
        job.checkpoint(page + 1);
        if (job.stopping) return undefined;
        if (job.payload === page && job.attempt === 1) throw new Error(`page ${page}`);
    }
    return `from ${job.resumes}`;
});
app.on("odd", () => 7n);
app.on("feed.*", async (job) => {
    if (job.payload) await queues.push("feed.next", job.payload - 1);
    return job.payload;
});
app.on("again", async (job) => (await queues.push("again", undefined, { id: "a", again: Boolean(job.payload) })).result);

// Runs the test with a fresh Fake.
const it = (name, run) => test(name, async () => {
    queues = new Fake();
    await run();
});

it("keeps what was pushed", async () => {
    assert.equal((await queues.push("welcome", { to: ["a"] }, { queue: "mail", in: 60 })).result, "pushed");
    await queues.pushMany([0, 1, 2].map((n) => ({ type: "thumb", payload: n, priority: n })));
    queues.assertPushed("welcome", { to: ["a"] }, { queue: "mail", in: 60, count: 1 });
    queues.assertPushed("thumb", ANY, { count: 3 });
    queues.assertPushed("thumb", 2, { priority: 2 });
    queues.assertNothingPushed("sum");
    assert.deepEqual(queues.pushed("thumb").map((one) => one.payload), [0, 1, 2]);
    for (const wrong of [() => queues.assertPushed("sum"), () => queues.assertPushed("thumb", 7),
        () => queues.assertPushed("thumb", ANY, { count: 2 }), () => queues.assertNothingPushed(),
        () => queues.assertPushed("welcome", ANY, { queue: "default" }),
        () => queues.assertPushed("welcome", ANY, { in: 61 })]) assert.throws(wrong, { name: "AssertionError" });
    const few = new Fake();
    await few.push("none");
    assert.throws(() => few.assertPushed("nun"), { message: "nun was pushed so 0 times; there are: default none null" });
    assert.deepEqual(await queues.size({ queue: "mail" }),
                     { ready: 0, delayed: 1, reserved: 0, dead: 0, paused: false, oldestReady: null });
});

it("keeps each option", async () => {
    const push = (options) => queues.push("all", 1, options);
    await push({ id: "all", priority: 2, maxAttempts: 3, retryFor: 60, timeout: 5, backoff: [1, 2], expiresAt: 4e9, result: 60,
                 lock: "l", group: "g", trace: "t", description: "d", onDead: "a", onDone: "b@c" });
    assert.deepEqual(JSON.parse((await queues.show("all")).document), {
        type: "all", id: "all", priority: 2, max_attempts: 3, retry_for: 60, timeout: 5, backoff: [1, 2], expires_at: 4e9, result: 60,
        lock: "l", group: "g", trace: "t", description: "d", on_dead: "a", on_done: "b@c", payload: 1 });
    const stateOf = async (options) => (await queues.show((await push(options)).id)).state;
    assert.equal(await stateOf({ expiresIn: 60 }), "ready");
    assert.equal(await stateOf({ at: 4e9 }), "delayed");
    assert.equal(await stateOf({ id: "d", debounce: 5, maxWait: 60 }), "delayed");
    await queues.flow("wide", [{ type: "flow" }], { queue: "one", open: true });
    await queues.push("flow", null, { queue: "two", flow: "wide", step: "c", home: "one" });
    assert.equal((await queues.showFlow("wide", { queue: "one" })).total, 2);
});

it("keeps schedules", async () => {
    const noon = { name: "noon", at: "0 12 * * *", zone: "Europe/Berlin", late: 5, job: { type: "sum", group: "acme", expiresIn: 5 } };
    assert.deepEqual([await queues.cronSet(noon), await queues.cronSet(noon), await queues.cronSet(noon, { queue: "mail" })],
                     [true, false, true]);
    const turned = { expiresIn: 5, group: "acme", type: "sum", unique: false };
    assert.equal(await queues.cronSet({ ...noon, job: turned, from: undefined }), false);
    assert.equal(await queues.cronSet({ ...noon, job: { ...noon.job, priority: 1 } }), true);
    assert.deepEqual(await queues.cronList(),
                     [{ name: "noon", at: "0 12 * * *", zone: "Europe/Berlin", next: null, paused: false, origin: "set" }]);
    assert.deepEqual([await queues.cronDelete("noon"), await queues.cronDelete("noon"), await queues.cronList()], [true, false, []]);
    for (const wrong of [{ at: "noon" }, { job: "sum" }, { zone: "Mars?" }, { late: 0.5 }, { limit: 0 }, { name: "a b" },
        { overlap: "kill" }, { from: null }, { from: 90 }]) {
        await assert.rejects(queues.cronSet({ ...noon, ...wrong }),
                             { name: "Refused", message: new RegExp(`^${Object.keys(wrong)[0]}: `) });
    }
    await assert.rejects(queues.cronSet({ ...noon, tz: "UTC" }), { message: "tz: no such option; it is `zone`" });
    await assert.rejects(queues.cronSet({ ...noon, job: { type: "sum", unique: true } }),
                         { message: "unique: not for a job of a schedule" });
    await assert.rejects(queues.cronSet({ ...noon, job: { type: "sum", tries: 3 } }), { message: "tries: no such option" });
    await assert.rejects(queues.cronSet(), { message: "schedule: must be an object: { name, at, job, … }" });
});

it("performs nothing of a paused queue", async () => {
    const inline = new Fake(app);
    await inline.pause({ seconds: 60 });
    await inline.push("feed.one", 0, { id: "a", result: 60 });
    assert.deepEqual(await inline.drain(app), []);
    assert.deepEqual((await inline.waitMany(["a", "b"])).map(({ state }) => state), ["waiting", "gone"]);
    assert.deepEqual((await inline.search({ type: "feed.*" })).map(({ id }) => id), ["a"]);
    await inline.resume();
    assert.equal((await inline.drain(app)).length, 1);
    assert.deepEqual(await inline.waitMany(["a"]), [{ id: "a", state: "done", value: 0, error: null }]);
});

it("refuses bad ones, and keeps nothing of them", async () => {
    for (const push of [() => queues.push("no good"), () => queues.push("a", 1, { queue: "a b" }),
        () => queues.push("a", 1, { debounce: 5 }), () => queues.push("a", 1, { dealy: 5 }),
        () => queues.pushMany([{ type: "a" }, { type: "a", priority: 101 }])]) await assert.rejects(push, Refused);
    queues.assertNothingPushed();
});

it("takes what JSON has another form of", async () => {
    class Money {
        #cents = 7;
        toJSON() {
            return { cents: this.#cents };
        }
    }
    const given = { at: new Date(0), sum: new Money(), no: undefined, none: null, own: Object.create({ inherited: () => 1 }), list: [null, {}] };
    await queues.push("a", given);
    assert.deepEqual(queues.jobs[0].payload,
                     { at: "1970-01-01T00:00:00.000Z", sum: { cents: 7 }, none: null, own: {}, list: [null, {}] });
});

it("names the job that is too large", async () => {
    const big = "x".repeat(1 << 20), says = (asked, form) => assert.rejects(asked, { name: "Refused", message: form });
    await says(queues.push("big", big), /^too large: big: a document of \d+ bytes, 1048576 allowed$/);
    await says(queues.pushMany([{ type: "a" }, { type: "big", id: "b", payload: big }]),
               /^job 2: too large: big, id b: a document of \d+ bytes, 1048576 allowed$/);
    await says(queues.flow("f", [{ type: "big", step: "s", payload: big }]), /^job 1: too large: big: a document/);
    await says(queues.push("big", "x".repeat(20 << 20)), /^too large: big: a document of 20971\d+ bytes, 1048576 allowed$/);
    queues.assertNothingPushed();
});

it("an id is one job", async () => {
    await queues.push("a", 1, { id: "x" });
    assert.deepEqual(await queues.push("a", 2, { id: "x" }), { id: "x", result: "exists", state: "ready" });
    assert.equal((await queues.push("a", 3, { id: "x", replace: true })).result, "replaced");
    const { type, payload } = await queues.show("x");
    assert.deepEqual([type, payload], ["a", 3]);
    assert.equal((await queues.push("a", 1, { id: "x", queue: "other" })).result, "pushed");
    assert.equal(await queues.cancel("x"), "ready");
    assert.deepEqual([await queues.cancel("x"), await queues.kick("x"), await queues.show("x")], [null, null, null]);
    assert.equal((await queues.push("a", 1, { id: "x" })).result, "pushed");
});

it("performs one", async () => {
    const one = await perform(app, "welcome", { to: "a" }, { attempt: 2 });
    assert.deepEqual([one.result, one.value, one.progress],
                     ["done", { sent: "a", attempt: 2 }, [{ done: 1, total: 2, text: "half" }]]);
    const busy = await perform(app, "welcome", { to: "busy" });
    assert.equal(busy.result, "retry");
    assert.match(busy.error, /the mailer is busy/);
    assert.equal((await perform(app, "welcome", { to: "later" })).delay, 60);
    assert.equal((await perform(app, "odd")).result, "bury");
    assert.equal((await perform(app, "nobody")).result, "bury");
});

it("goes on at a checkpoint", async () => {
    const failed = await perform(app, "pages", 1);
    assert.deepEqual([failed.result, failed.checkpoint], ["retry", 2]);
    assert.equal((await perform(app, "pages", 1, { resumes: 2 })).value, "from 2");
    const stopped = await perform(app, "pages", 1, { stopping: true });
    assert.deepEqual([stopped.result, stopped.delay, stopped.error, stopped.checkpoint], ["return", 0, "", 1]);
    assert.equal((await perform(app, "pages", 1, { resumes: 3, stopping: true })).value, "from 3");
    await queues.push("pages", 1, { id: "paged", result: 60 });
    await queues.drain(app);
    assert.equal((await queues.show("paged")).checkpoint, 2);
    await queues.drain(app);
    assert.equal(await queues.wait("paged"), "from 2");
});

it("drain performs what its jobs push", async () => {
    await queues.push("feed.first", 2, { in: 60 });
    await queues.push("welcome", { to: "a" }, { priority: 5, result: 60, id: "w" });
    assert.deepEqual((await queues.drain(app)).map((one) => one.value), [{ sent: "a", attempt: 1 }, 2, 1, 0]);
    assert.ok(queues.jobs.every((one) => one.state === "done"));
    assert.deepEqual(await queues.wait("w"), { sent: "a", attempt: 1 });
    const { id } = queues.pushed("feed.first")[0];
    await assert.rejects(queues.wait(id), (error) => error instanceof JobUnknown &&
        error.message === `no job ${id} in queue default, and no result of it; push it with result: SECONDS to keep one`);
    assert.deepEqual(await queues.drain(app), []);
});

it("retries and burials", async () => {
    await queues.push("welcome", { to: "busy" }, { id: "b", maxAttempts: 2 });
    await queues.push("welcome", { to: "bad" }, { id: "c" });
    await queues.push("welcome", { to: "later" }, { id: "d", maxAttempts: 1 });
    const states = async () => {
        const found = await Promise.all(["b", "c", "d"].map((id) => queues.show(id)));
        return found.map((one) => `${one.state} ${one.attempts}`);
    };
    assert.deepEqual((await queues.drain(app)).map((one) => one.result), ["retry", "bury", "return"]);
    assert.deepEqual(await states(), ["delayed 1", "dead 1", "delayed 0"]);
    await assert.rejects(queues.wait("b"), TimeoutError);
    assert.deepEqual((await queues.drain(app)).map((one) => one.result), ["retry", "return"]);
    assert.deepEqual(await states(), ["dead 2", "dead 1", "delayed 0"]);
    await assert.rejects(queues.wait("b"), JobFailed);
    assert.equal(await queues.kick("b"), "dead");
    assert.equal((await queues.show("b")).attempts, 0);
    assert.equal((await queues.push("welcome", {}, { id: "c", replace: true })).state, "dead");
});

it("one that pushes its own id", async () => {
    await queues.push("again", true, { id: "a" });
    assert.deepEqual((await queues.drain(app)).map((one) => one.value), ["again", "exists"]);
});

it("an id that stays taken", async () => {
    for (const [id, options] of [["t", { throttle: 60 }], ["u", { uniqueFor: 60 }]]) {
        await queues.push("feed.a", 0, { id, ...options });
        await queues.drain(app);
        assert.deepEqual(await queues.push("feed.a", 0, { id }), { id, result: "exists", state: "ended" });
        assert.deepEqual([await queues.cancel(id), await queues.cancel(id)], ["ended", null]);
        assert.equal((await queues.push("feed.a", 0, { id })).result, "pushed");
    }
});

it("inline", async () => {
    const inline = new Fake(app);
    const { id } = await inline.push("welcome", { to: "a" }, { in: 60, result: 60 });
    assert.deepEqual(await inline.wait(id), { sent: "a", attempt: 1 });
});

it("without end", async () => {
    const endless = new Handlers().on("a", () => queues.push("a"));
    await queues.push("a");
    await assert.rejects(queues.drain(endless), (error) => error instanceof LaterdError && /more and more/.test(error.message));
});

// Orders: pay, then mail with what pay gave back; undo if pay fails; all: when all others have ended.
app.on("sums", (job) => job.values);
app.on("flow", (job) => job.flow);
const order = (to, options) => queues.flow("order", [
    { type: "welcome", payload: { to }, step: "pay", maxAttempts: 1 }, { type: "sums", step: "mail", after: "pay" },
    { type: "flow", step: "undo", after: ["pay"], when: "failed" },
    { type: "flow", step: "all", after: "*", when: "ended", in: 60 }], options);
const stateOf = async (step) => (await queues.show(`order.${step}`))?.state;

it("a flow that goes well", async () => {
    assert.deepEqual(await order("a"), ["pay", "mail", "undo", "all"].map((step, i) =>
        ({ id: `order.${step}`, result: "pushed", state: i ? "waiting" : "" })));
    assert.equal((await queues.showFlow("order")).state, "running");
    assert.deepEqual((await queues.drain(app)).map((one) => one.value), [
        { sent: "a", attempt: 1 }, { pay: { sent: "a", attempt: 1 } },
        { name: "order", total: 3, open: 0, waiting: 0, dead: 0, done: 2, gone: 0, skipped: 1, failed: [] }]);
    const { state, total, done, skipped, waiting } = await queues.waitFlow("order");
    assert.deepEqual([state, total, done, skipped, waiting], ["done", 4, 3, 1, 0]);
    assert.deepEqual((await order("a")).map((one) => one.state), ["done", "done", "skipped", "done"]);
});

it("a flow that is blocked, kicked and cancelled", async () => {
    await order("bad");
    assert.deepEqual((await queues.drain(app)).map((one) => one.result), ["bury", "done"]);
    assert.deepEqual([await stateOf("pay"), await stateOf("mail"), await stateOf("undo"), await stateOf("all")],
                     ["dead", "waiting", undefined, "waiting"]);
    assert.equal((await queues.waitFlow("order")).state, "blocked");
    assert.deepEqual([await queues.kickFlow("order"), (await queues.showFlow("order")).state], [1, "running"]);
    await assert.rejects(queues.waitFlow("order"), TimeoutError);
    assert.equal(await queues.cancel("order.pay"), "ready");
    assert.match((await queues.show("order.mail")).error.text, /^needs step pay of flow order, which was cancelled/);
    assert.deepEqual((await queues.drain(app)).map((one) => one.value.failed), [["order.pay", "order.mail"]]);
    assert.deepEqual([await queues.cancelFlow("order"), (await queues.showFlow("order")).gone], [1, 2]);
});

it("who may add to a flow", async () => {
    await order("a", { open: true });
    assert.equal((await queues.push("flow", null, { flow: "order", step: "more", after: "mail" })).state, "waiting");
    await queues.drain(app);
    assert.deepEqual([(await queues.showFlow("order")).state, await stateOf("all")], ["open", "waiting"]);
    await queues.closeFlow("order");
    assert.equal((await queues.drain(app))[0].value.done, 3);
    await assert.rejects(queues.push("flow", null, { flow: "order", step: "late" }), FlowClosed);
    await assert.rejects(queues.kickFlow("none"), FlowUnknown);
    await assert.rejects(queues.flow("circle", [{ type: "a", step: "a", after: "b" }, { type: "a", step: "b", after: "a" }]), Refused);
    assert.equal(await queues.showFlow("circle"), null);
});

it("a running job adds to its flow", async () => {
    const adds = new Handlers().on("adds", async (job) =>
        (await queues.push("flow", null, { flow: "f", step: "more", adder: job.id })).result).on("flow", (job) => job.flow);
    await queues.flow("f", batch([{ type: "adds" }], { then: { type: "flow", step: "end" } }));
    assert.deepEqual((await queues.drain(adds)).map((one) => one.value?.total ?? one.value), ["pushed", null, 2]);
});

it("a flow, inline", async () => {
    const inline = new Fake(app);
    await inline.flow("f", chain({ type: "feed.a", payload: 0 }, { type: "sums", result: 60 }));
    assert.deepEqual([(await inline.showFlow("f")).state, await inline.wait("f.2")], ["done", { 1: 0 }]);
});

// ---- hooks, and what middleware carries along

function hooked() {
    const tenant = new AsyncLocalStorage(), heard = [];
    const fake = new Fake().beforePush((job) => ({ ...job, context: { tenant: tenant.getStore(), ...job.context } }));
    const one = new Handlers({ queues: fake });
    one.around((job, next) => tenant.run(job.context.tenant, next));
    one.before((job) => {
        heard.push(`before ${job.type}`);
        if (job.payload === "no") throw new Bury("not today");
    });
    one.after((job, value) => heard.push(`after ${job.type} ${JSON.stringify(value)} ${tenant.getStore()}`));
    one.failed((job, error) => heard.push(`failed ${job.type} ${error.message}`));
    return { one, fake, heard, tenant };
}

test("middleware that returns no job is named", async () => {
    const silent = new Fake().beforePush((job) => { job.trace = "t"; });
    await assert.rejects(silent.push("a"), { name: "LaterdError", message: "beforePush: the hook must return the job" });
});

test("context goes from job to job", async () => {
    const { one, fake, heard, tenant } = hooked();
    const last = one.task("last", (job) => job.context);
    const first = one.task("first", async () => {
        await last.later(null, { context: { locale: "de" }, priority: 5 });
        return tenant.getStore();
    });
    await tenant.run("shop", () => first.later({ n: 1 }, { id: "f", trace: "t" }));
    fake.assertPushed("first", { n: 1 }, { id: "f", trace: "t", context: { tenant: "shop" } });
    assert.deepEqual((await fake.drain(one)).map(({ value }) => value), ["shop", { tenant: "shop", locale: "de" }]);
    assert.deepEqual(heard, ["before first", 'after first "shop" shop', "before last",
                             'after last {"tenant":"shop","locale":"de"} shop']);
});

test("hooks of failures", async () => {
    const { one, heard } = hooked();
    const fails = (job) => { throw job.payload === "later" ? new Return("later") : new RangeError("bad"); };
    one.on("a", { bury: [RangeError] }, fails).on("b", { bury: [SyntaxError] }, fails).on("fine", () => 7);
    one.after(() => { throw new Error("in a hook"); });
    const logged = [], log = console.error;
    console.error = (text) => logged.push(text);
    const results = [];
    for (const [type, payload] of [["a", 1], ["b", 1], ["a", "later"], ["a", "no"], ["fine", 1]]) {
        results.push((await perform(one, type, payload)).result);
    }
    console.error = log;
    assert.deepEqual(results, ["bury", "retry", "return", "bury", "done"]); // each type keeps its own
    assert.deepEqual(heard, ["before a", "failed a bad", "before b", "failed b bad", "before a", "before a",
                             "failed a not today", "before fine", "after fine 7 undefined"]);
    assert.match(logged[0], /the hook after: .*in a hook/);
});

test("a type has one handler", () => {
    const one = new Handlers();
    one.on(["a", "b"], () => 1);
    one.givenUp("mail.*", () => 1);
    const twice = (type, register) => assert.throws(register, (error) => error instanceof Refused &&
        new RegExp(`^type ${type} has two handlers, at /.*/testing\\.test\\.mjs:\\d+( \\(.*\\))? and at /.*/testing\\.test\\.mjs:\\d+: remove one$`)
            .test(error.message));
    twice("b", () => one.on("b", () => 1));
    twice("a", () => one.task("a", () => 1));
    twice("mail.given_up", () => one.givenUp("mail", () => 1));
    twice("mail.given_up", () => one.on("mail.given_up", () => 1));
    for (const odd of ["mail send", "mail.*.x", ""]) {
        assert.throws(() => one.on(odd, () => 1), { name: "Refused", message: `on: ${odd} is neither a type nor a prefix of types that ends in *` });
    }
    assert.throws(() => one.on("c", { retries: 1 }), { name: "TypeError", message: "on: c: the handler must be a function" });
    assert.throws(() => one.before(5), { name: "TypeError", message: "before: the hook must be a function" });
    assert.equal(one.find("b")(), 1);
});

test("given up", async () => {
    const { one } = hooked();
    one.givenUp(["mail.*", "exact"], (job) => job.payload.id).on("mail.*", { retries: 0 }, () => 1);
    assert.deepEqual(JSON.parse(JSON.stringify(one.hello.types.filter((type) => type.on_dead))),
                     [{ name: "mail.*", max_attempts: 1, on_dead: "mail.given_up" }]);
    assert.equal((await perform(one, "mail.given_up", { id: "x" })).value, "x");
    assert.equal((await perform(one, "exact.given_up", { id: "y" })).value, "y");
    assert.throws(() => one.on("exact", { onDead: "alert" }, () => 1), Refused);
    one.on("other.given_up", () => 1);
    assert.throws(() => one.givenUp("other", () => 1), Refused);
});

test("later needs a client and a type; call", async () => {
    const lonely = new Handlers();
    assert.throws(() => lonely.task("a", () => 1).later(), /app\.queues is not set/);
    assert.throws(() => lonely.task("a.*", () => 1), /is not one type/);
    await assert.rejects(new Fake().push("a", 1, { context: [1] }), Refused);
    await assert.rejects(new Fake().push("a", 1, { context: { a: 1n } }), Refused);
    assert.equal(await new Fake(app).call("feed.x", 0), 0);
});

it("tells of what is dead or done", async () => {
    const hooked = new Handlers(), heard = [];
    const hear = ({ type, payload }) => {
        const { id, type: other, queue, ending, attempts, value, error } = payload;
        heard.push([type, id, other, queue, ending, attempts, value, error && error.kind].join(" "));
    };
    const fails = ({ payload }) => {
        if (!payload) throw new Error("zero");
        return 7;
    };
    hooked.on("tries", { retries: 1, onDead: "policy", onDone: "policy" }, fails);
    hooked.on("gone", { retries: 0 }, fails).givenUp("gone", hear);
    hooked.on("policy", { onDone: "own" }, hear).on("own", hear);
    await queues.push("tries", 0, { id: "a" });
    await queues.push("tries", 1, { id: "b", onDone: "own@tell" });
    await queues.push("gone", 0, { id: "c" });
    await queues.drain(hooked);
    await queues.drain(hooked);
    assert.deepEqual(heard, ["own b tries default done 1 7 ", "gone.given_up c gone default dead 1  retry",
                             "policy a tries default dead 2  retry"]);
    assert.deepEqual(queues.jobs.filter((one) => one.hookOf).map((one) => `${one.hookOf}@${one.queue}`),
                     ["b@tell", "c@default", "a@default"]);
});

it("waits of one's own", async () => {
    const asked = new Handlers(), thrown = { odd: NaN, ours: undefined };
    asked.on("a", { bury: [RangeError], backoff: (job, error) => error.message in thrown ? thrown[error.message] : 10 * job.attempt },
             (job) => { throw job.payload; });
    const tried = async (error) => {
        asked.before((job) => { job.payload = error; });
        const { result, delay } = await perform(asked, "a", undefined, { attempt: 3 });
        return [result, delay];
    };
    assert.deepEqual(await tried(new Error("x")), ["retry", 30]);
    assert.deepEqual(await tried(new Retry("x", 5)), ["retry", 5]);
    assert.deepEqual(await tried(new Return("x", 1)), ["return", 1]);
    assert.deepEqual(await tried(new RangeError("x")), ["bury", undefined]);
    assert.deepEqual(await tried(new Error("ours")), ["retry", undefined]);
    assert.deepEqual(await tried(new Error("odd")), ["retry", undefined]);
    assert.equal(asked.policy("a").backoff, undefined);
});

it("a payload is sealed on its way", async () => {
    const opens = new Handlers(), seen = [], card = "4111".repeat(100);
    queues.beforePush((job) => ({ ...job, payload: { z: deflateSync(JSON.stringify(job.payload)).toString("base64") } }));
    opens.before((job) => { job.payload = JSON.parse(inflateSync(Buffer.from(job.payload.z, "base64"))); });
    opens.on("a", (job) => { seen.push(job.payload); });
    await queues.push("a", { card });
    assert.deepEqual(Object.keys(queues.jobs[0].payload), ["z"]);
    await queues.drain(opens);
    assert.deepEqual(seen, [{ card }]);
    const pushed = await queues.push("a", { card, n: 1 }, { unique: ["card"] });
    assert.equal(pushed.id, uniqueId("a", { card })); // of the payload as it was given
    assert.equal((await queues.push("a", { card }, { unique: true })).result, "exists");
});

it("map takes items as they come", async () => {
    let most = 0;
    async function* rows() {
        for (let row = 0; row < 1001; row++) {
            most = Math.max(most, row - 2 * queues.jobs.length);
            yield row;
        }
    }
    assert.deepEqual(await queues.map("row", rows(), { chunk: 2, flow: "f", then: { type: "sum" } }), { pushed: 502, known: 0 });
    assert.ok(most < 400, `${most} in memory`);
    assert.deepEqual(queues.pushed("row").at(-1).payload, [1000]);
    assert.equal(queues.jobs.at(-1).state, "waiting");
    assert.deepEqual(await queues.map("one", [1, 2, 3], { priority: 5 }), { pushed: 3, known: 0 });
    queues.assertPushed("one", 2, { priority: 5 });
});

it("events tell what has ended", async () => {
    const fake = new Fake(app), ids = ({ ends }) => ends.map(({ id }) => id);
    for (const [id, to] of [["a", "a"], ["b", "bad"]]) await fake.push("welcome", { to }, { id });
    const page = await fake.events();
    assert.deepEqual(page.ends.map(({ id, type, ending, state, kind, attempt }) => [id, type, ending, state, kind, attempt]),
        [["a", "welcome", "done", "done", null, 1], ["b", "welcome", "bury", "dead", "buried", 1]]);
    assert.deepEqual((await fake.events({ after: page.bookmark })).ends, []);
    for (const [id, to] of [["c", "later"], ["d", "busy"]]) await fake.push("welcome", { to }, { id }); // c goes back
    assert.deepEqual(ids(await fake.events({ after: page.bookmark })), ["d"]);
    assert.deepEqual(ids(await fake.events({ after: "default:1", limit: 1 })), ["b"]);
    assert.equal((await fake.events({ after: "now" })).bookmark, "default:3");
});

// A client refuses them before it asks its Redis, which is none here.
for (const [name, made] of [["Fake", new Fake()], ["Laterd", new Laterd({ call: () => assert.fail("it asks Redis") })]]) {
    it(`${name}: what nobody knows is refused, and not passed over`, async () => {
        const refused = (asked, message) => assert.rejects(asked, (error) => error instanceof Refused && message.test(error.message));
        for (const method of ["size", "pause", "resume", "search"]) {
            await refused(made[method]("mail"), /^options: must be an object, such as { queue: "mail" }$/);
            await refused(made[method]({ queues: "mail" }), /^queues: no such option$/);
        }
        for (const wrong of ["a", null, undefined]) {
            await refused(made.pushMany([{ type: "a" }, wrong]), /^job 2: must be an object, such as { type: "mail.send" }$/);
        }
        await refused(made.push({ type: "a" }), /^type: is the first word: push\(type, payload, options\)$/);
        assert.throws(() => made.beforePush(5), { name: "TypeError", message: "beforePush: the hook must be a function" });
        for (const [method, ...words] of [["pause", 60], ["size", null], ["kick", "a", 60], ["pushMany", [], "mail"], ["call", "a", 1, 60],
            ["flow", "f", [], true]]) await refused(made[method](...words), /^options: must be an object/);
        for (const method of ["show", "kick", "cancel", "forget", "wait", "showFlow", "waitFlow", "kickFlow", "cancelFlow", "closeFlow"]) {
            await refused(made[method]("a", "mail"), /^options: must be an object/);
        }
        await refused(made.push("welcome", {}, { delay: 5000 }), /^delay: no such option; it is `in`, in seconds$/);
        await refused(made.pushMany([{ name: "welcome" }]), /^job 1: name: no such option; it is `type`$/);
        await refused(made.call("welcome", {}, { time: 1 }), /^time: no such option$/);
        for (const jobs of [{ type: "welcome" }, "welcome", 7]) {
            await refused(made.pushMany(jobs), /^jobs: must be a list of them$/);
            await refused(made.flow("f", jobs), /^jobs: must be a list of them$/);
        }
        const within = [[{ a: [1, { b: NaN }] }, "payload.a[1].b: NaN is no number of JSON"], [{ who: new Map() }, "payload.who: a Map is no JSON"],
            [[1, () => 1], "payload[1]: a function is no JSON"], [{ to: { get: () => 1 } }, "payload.to.get: a function is no JSON"],
            [{ n: -Infinity }, "payload.n: -Infinity is no number of JSON"], [[Symbol("x")], "payload[0]: a symbol is no JSON"],
            [{ pad: "x".repeat(5000), s: [new Set([1])] }, "payload.s[0]: a Set is no JSON"],
            [{ pad: "x".repeat(5000), f: () => 1 }, "payload.f: a function is no JSON"],
            [{ pad: "x".repeat(5000), n: NaN }, "payload.n: NaN is no number of JSON"]];
        for (const [payload, message] of within) {
            await assert.rejects(made.push("welcome", payload), { name: "Refused", message });
        }
        await assert.rejects(made.push("welcome", 1, { context: { who: new Map() } }), { name: "Refused", message: "context.who: a Map is no JSON" });
        for (const payload of [Promise.resolve(1), new Map([[1, 2]]), new Set([1]), new TypeError("e"), NaN]) {
            await refused(made.push("welcome", payload), /^payload: .* is no (number of )?JSON$/);
        }
        await refused(made.map("welcome", 5), /^items: must be iterable \(5\)$/);
        assert.ok(await made.map("welcome", [], { queue: undefined, colour: undefined }));
    });
}
it("a client needs a client", () => assert.throws(() => new Laterd(), /a client of ioredis or node-redis is needed/));
