/** index.js: what the package laterd exports: pushes jobs, and performs them. See README.md. */
export { Laterd } from "./src/client.js";
export { RawJSON } from "./src/document.js";
export { batch, chain } from "./src/flow.js";
export { uniqueId } from "./src/unique.js";
export {
    FlowClosed, FlowUnknown, JobFailed, JobUnknown, LaterdError, Moving, PrefixRefused, QueueFull, Refused,
    TimeoutError, Unreachable, WrongProtocol,
} from "./src/errors.js";
export {
    // @answers raised: {Pascal},
    Retry,
    Bury,
    Return,
    // @end
    Handlers, currentJob,
} from "./src/handlers.js";
