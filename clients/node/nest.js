/**
 * nest.js: laterd in a NestJS application: https://docs.nestjs.com.
 *
 *     @Module({ imports: [LaterdModule.forRoot({ queues: new Laterd(redis) })], providers: [Mailer] })
 *     class AppModule {}
 *
 *     @Injectable()
 *     class Mailer {
 *         constructor(@InjectQueues() private queues: Laterd, private smtp: Smtp) {}
 *         @OnJob("mail.send", { retries: 3 })
 *         send(job: Job) { return this.smtp.send(job.payload); }
 *     }
 *
 *     const app = await NestFactory.createApplicationContext(AppModule);   // the program that laterd runs
 *     await runHandlers(app);
 */
"use strict";

const { Inject, Module } = require("@nestjs/common");
const { DiscoveryModule, DiscoveryService, MetadataScanner } = require("@nestjs/core");

const { Handlers } = require("./src/handlers.js");

const ON = "laterd:on"; // metadata of a method
const HOOKS = "laterd:hooks";

/** What is injected for a Laterd, or for a Fake in a test. */
const QUEUES = Symbol("laterd:queues");

function InjectQueues() {
    return Inject(QUEUES);
}

/** Marks the method that is the handler of a type, or of several; policy as of Handlers.on(). */
function OnJob(type, policy = {}) {
    return (prototype, name, descriptor) => {
        Reflect.defineMetadata(ON, { type, policy }, descriptor.value);
    };
}

/** Marks the method that hears of jobs of the type that are dead. */
function OnGivenUp(type) {
    return (prototype, name, descriptor) => {
        Reflect.defineMetadata(HOOKS, { type }, descriptor.value);
    };
}

function register(handlers, instance, method) {
    const on = Reflect.getMetadata(ON, method), hook = Reflect.getMetadata(HOOKS, method);
    const call = (job) => method.call(instance, job);
    Object.defineProperty(call, "name", { value: `${instance.constructor.name}.${method.name}` });
    if (on) handlers.on(on.type, on.policy, call);
    if (hook) handlers.givenUp(hook.type, call);
}

/** Registers the marked methods of all providers when the application begins. One per request has no handlers:
 * there is no request. */
function explorer(discovery, scanner, handlers) {
    return {
        onModuleInit() {
            for (const { instance } of discovery.getProviders().filter((one) => one.isDependencyTreeStatic())) {
                if (!instance || typeof instance !== "object") continue;
                const prototype = Object.getPrototypeOf(instance);
                for (const name of prototype ? scanner.getAllMethodNames(prototype) : []) {
                    register(handlers, instance, prototype[name]);
                }
            }
        },
    };
}

class LaterdModule {
    static forRoot({ queues }) {
        return LaterdModule.forRootAsync({ useFactory: () => queues });
    }

    /** useFactory: returns a Laterd, or a promise of one. */
    static forRootAsync({ imports = [], inject = [], useFactory }) {
        return {
            module: LaterdModule,
            global: true,
            imports: [DiscoveryModule, ...imports],
            providers: [
                { provide: QUEUES, useFactory, inject },
                { provide: Handlers, useFactory: (queues) => new Handlers({ queues }), inject: [QUEUES] },
                { provide: Symbol("laterd:explorer"), useFactory: explorer, inject: [DiscoveryService, MetadataScanner, Handlers] },
            ],
            exports: [QUEUES, Handlers],
        };
    }
}
Module({})(LaterdModule);

/** Performs the jobs that laterd hands to this program, until it says that there are no more; then the
 * application is closed. */
function runHandlers(app, options = {}) {
    return app.get(Handlers).run({ ...options, end: () => app.close() });
}

module.exports = { QUEUES, InjectQueues, OnJob, OnGivenUp, LaterdModule, runHandlers };
