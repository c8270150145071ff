// nest.d.ts: the types of laterd/nest, for NestJS in TypeScript.

import { Handlers, Laterd, Policy } from "./index.js";

/** What is injected for a Laterd, or for a Fake in a test. */
export const QUEUES: unique symbol;

export function InjectQueues(): ParameterDecorator & PropertyDecorator;

/** Marks the method that is the handler of a type, or of several. */
export function OnJob(type: string | string[], policy?: Policy): MethodDecorator;

/** Marks the method that hears of jobs of the type that are dead. */
export function OnGivenUp(type: string | string[]): MethodDecorator;

type Queues = Pick<Laterd, "push">;

/** Registers the marked methods of all providers with a Handlers, which is a provider itself. */
export class LaterdModule {
    static forRoot(options: { queues: Queues }): { module: typeof LaterdModule };
    /** useFactory: returns a Laterd, or a promise of one. */
    static forRootAsync(options: {
        imports?: any[];
        inject?: any[];
        useFactory: (...injected: any[]) => Queues | Promise<Queues>;
    }): { module: typeof LaterdModule };
}

/** Performs the jobs that laterd hands to this program, until it says that there are no more; then the
 * application is closed. */
export function runHandlers(app: { get(token: typeof Handlers): any; close(): Promise<void> },
    options?: { maxJobs?: number; maxMemory?: number }): Promise<never>;
