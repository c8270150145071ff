// testing.d.ts: the types of laterd/testing, for TypeScript: Fake, perform, Attempt.

import { Conditions, Events, Flow, Found, Handlers, NewJob, Options, Outcome, Pushed, Pushing, Size } from "./index.js";

/** Any payload, for assertPushed(). */
export const ANY: unique symbol;

/** What became of one attempt. */
export interface Attempt {
    result:
        // @answers answer: | "{name}"
        | "done"
        | "retry"
        | "bury"
        | "return"
        // @end
        ;
    value?: unknown;
    error: string;
    /** In seconds. */
    delay?: number;
    progress: { done: number; total: number; text: string }[];
    /** The last one that it has left, or null. */
    checkpoint: any;
}

/** Performs one job with its handler. */
export function perform(app: Handlers, type: string, payload?: unknown,
    options?: Options & { queue?: string; attempt?: number; values?: Record<string, unknown>; resumes?: unknown;
                          stopping?: boolean }): Promise<Attempt>;

/** A job that was pushed. */
export interface Kept {
    readonly job: NewJob;
    readonly id: string;
    readonly type: string;
    readonly queue: string;
    readonly payload: any;
    readonly state: "ready" | "delayed" | "reserved" | "dead" | "waiting" | "done" | "cancelled" | "skipped";
    readonly attempts: number;
    readonly error: Found["error"];
    readonly value: unknown;
    /** Pushed since the job of this id is dead, or done. */
    readonly hookOf: string | null;
}

/** Keeps what is pushed, in the place of a Laterd. With `app`, each job is performed as it is pushed. */
export class Fake extends Pushing {
    constructor(app?: Handlers | null);
    /** All, in the order of their pushes. */
    readonly jobs: Kept[];
    pushed(type?: string, queue?: string): Kept[];
    assertPushed(type: string, payload?: unknown, options?: Options & { queue?: string; count?: number }): void;
    assertNothingPushed(type?: string, queue?: string): void;
    /** Performs each job that is ready or delayed once, then those that were pushed meanwhile. */
    drain(app: Handlers, queue?: string): Promise<Attempt[]>;
}
