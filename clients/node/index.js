/** index.js: what the package laterd exports: pushes jobs, and performs them. See README.md. */
"use strict";

// It is CommonJS, so that any program loads it: by import and by require(), in Jest, bundled. For those who import,
// Node finds the names here only if each is named.
const { Laterd } = require("./src/client.js");
const { RawJSON } = require("./src/document.js");
const { batch, chain } = require("./src/flow.js");
const { uniqueId } = require("./src/unique.js");
const {
    FlowClosed, FlowUnknown, JobFailed, JobUnknown, LaterdError, Moving, PrefixRefused, QueueFull, Refused,
    TimeoutError, Unreachable, WrongProtocol,
} = require("./src/errors.js");
const {
    // @answers raised: {Pascal},
    Retry,
    Bury,
    Return,
    // @end
    Handlers, currentJob,
} = require("./src/handlers.js");

module.exports = {
    // @answers raised: {Pascal},
    Retry,
    Bury,
    Return,
    // @end
    FlowClosed, FlowUnknown, Handlers, JobFailed, JobUnknown, Laterd, LaterdError, Moving, PrefixRefused, QueueFull,
    RawJSON, Refused, TimeoutError, Unreachable, WrongProtocol, batch, chain, currentJob, uniqueId,
};
