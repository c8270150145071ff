/** testing.js: laterd/testing, for tests of programs that use laterd. See README.md. */
"use strict";

const { ANY, Fake, perform } = require("./src/testing.js");

module.exports = { ANY, Fake, perform };
