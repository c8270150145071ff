/** nest.mjs: a NestJS application, for clients_nest.sh.
 * `nest.mjs test`: as a user's test has it; `nest.mjs push SOCKET`; else the program that laterd runs.
 * It is JavaScript, so what TypeScript writes with @ is called here. */
import assert from "node:assert/strict";
import "reflect-metadata";
import { Inject, Injectable, Module } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { Redis } from "ioredis";
import { Bury, Handlers, Laterd } from "laterd";
import { InjectQueues, LaterdModule, OnGivenUp, OnJob, QUEUES, runHandlers } from "laterd/nest";
import { Fake, perform } from "laterd/testing";

class Smtp {
    send(to) {
        if (to === "bad") throw new Bury("no such address");
        return `sent to ${to}`;
    }
}
Injectable()(Smtp);

class Mailer {
    constructor(queues, smtp) {
        Object.assign(this, { queues, smtp, heard: [] });
    }

    async send(job) {
        await this.queues.push("log", job.payload);
        return this.smtp.send(job.payload.to);
    }

    gone(job) {
        this.heard.push(job.payload.id);
    }

    noHandler() {
        throw new Error("called");
    }
}
Injectable()(Mailer);
InjectQueues()(Mailer, undefined, 0);
Inject(Smtp)(Mailer, undefined, 1);
const mark = (decorator, name) => decorator(Mailer.prototype, name, Object.getOwnPropertyDescriptor(Mailer.prototype, name));
mark(OnJob("mail.send", { retries: 3 }), "send");
mark(OnGivenUp("mail.send"), "gone");

const [what, socket] = process.argv.slice(2), redis = what === "test" ? null : new Redis(socket ?? process.env.SOCKET);
// Returns a class with a handler for the type.
function handling(type) {
    class Handling {
        handle() {
            return type;
        }
    }
    OnJob(type)(Handling.prototype, "handle", Object.getOwnPropertyDescriptor(Handling.prototype, "handle"));
    return Handling;
}
const [One, Two, Three] = ["of.class", "of.value", "of.factory"].map(handling);

class AppModule {}
Module({
    imports: [LaterdModule.forRootAsync({ useFactory: async () => redis ? new Laterd(redis) : new Fake() })],
    providers: [Smtp, Mailer, { provide: "one", useClass: One }, { provide: "two", useValue: new Two() },
        { provide: "three", useFactory: () => new Three() }, { provide: "no instance", useValue: null }],
})(AppModule);
const app = await NestFactory.createApplicationContext(AppModule, { logger: false });

async function test() {
    const handlers = app.get(Handlers), queues = app.get(QUEUES);
    assert.deepEqual(handlers.hello.types.map(({ name }) => name),
                     ["mail.send", "mail.send.given_up", "of.class", "of.factory", "of.value"]);
    assert.equal(handlers.hello.types[0].max_attempts, 4);
    for (const type of ["of.class", "of.factory", "of.value"]) assert.equal((await perform(handlers, type)).value, type);
    assert.equal((await perform(handlers, "mail.send", { to: "a@b.c" })).value, "sent to a@b.c");
    queues.assertPushed("log", { to: "a@b.c" });
    await queues.push("mail.send", { to: "bad" }, { id: "m" });
    await queues.drain(handlers);
    assert.deepEqual(app.get(Mailer).heard, ["m"]);
    await app.close();
    console.log("all passed");
}

if (what === "test") await test();
else if (what === "push") {
    await app.get(QUEUES).push("mail.send", { to: "a@b.c" }, { id: "nest", result: 600, queue: "mail" });
    await app.close();
    redis.disconnect();
} else await runHandlers(app);
