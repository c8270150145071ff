/** away.test.mjs: a wait and a Redis that is away, without a Redis. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { Away } from "../src/away.js";
import { JobUnknown, Unreachable } from "../src/errors.js";

const link = { failure() {} };
const hour = () => performance.now() + 3600000;
const lost = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
const never = () => new Promise(() => {});

function reply(text) {
    return Object.assign(new Error(text), { name: "ReplyError" });
}

/** Returns a look that fails with each of these errors, and then has the value. */
function failing(...errors) {
    return async () => {
        if (errors.length) throw errors.shift();
        return ["key"];
    };
}

test("it asks again until Redis answers", async () => {
    const away = new Away(link, hour());
    assert.deepEqual(await away.outlast(failing(lost, reply("LOADING Redis is loading the dataset in memory"))), ["key"]);
});

test("what does not pass ends it at once", async () => {
    for (const error of [reply("NOAUTH Authentication required."), reply("WRONGTYPE Operation"), new JobUnknown("a", "b")]) {
        await assert.rejects(new Away(link, hour()).outlast(failing(error)), error);
    }
    await assert.rejects(new Away({ ...link, closed: true }, hour()).outlast(failing(lost)), lost);
});

test("a password that is refused by an event, too, while a library keeps the command", async () => {
    const error = reply("WRONGPASS invalid username-password pair or user is disabled.");
    await assert.rejects(new Away({ failure: () => error }, hour()).outlast(never), error);
});

test("it gives up when its time is over, with the error of the library", async () => {
    const given = await new Away(link, performance.now()).outlast(failing(lost)).catch((error) => error);
    assert.ok(given instanceof Unreachable);
    assert.equal(given.cause, lost);
    assert.equal(given.message, "Redis is away: connect ECONNREFUSED");
});

test("it gives up when Redis has been away for too long, heard or not", async (t) => {
    const usual = Away.PATIENCE;
    t.after(() => { Away.PATIENCE = usual; });
    assert.equal(usual, 30000);
    Away.PATIENCE = 100;
    await assert.rejects(new Away(link, hour()).outlast(failing(lost, lost, lost)), Unreachable);
    await assert.rejects(new Away(link, hour()).outlast(never), Unreachable);
});

test("its signal ends it at once, whatever it waits for", async () => {
    for (const look of [never, failing(lost, lost, lost)]) {
        const stop = new AbortController();
        const waits = new Away(link, hour(), stop.signal).outlast(look);
        setTimeout(() => stop.abort(new Error("enough")), 10);
        await assert.rejects(waits, { message: "enough" });
    }
});

test("what breaks, or says nothing in its time, is left to a look", async () => {
    const away = new Away(link, hour());
    assert.equal(await away.attempt({ ...link, do: async () => "it" }, "key", [], 5), "it");
    assert.equal(await away.attempt({ ...link, do: async () => null }, "key", [], 5), null);
    assert.equal(await away.attempt({ ...link, do: failing(lost) }, "key", [], 0.01), undefined);
    assert.equal(await away.attempt({ ...link, do: never }, "key", [], 0.01), undefined);
    await assert.rejects(away.attempt({ ...link, do: failing(reply("NOPERM")) }, "key", [], 5), /NOPERM/);
});
