/** testing.js: laterd/testing, for tests of programs that use laterd. See README.md. */
export { ANY, Fake, perform } from "./src/testing.js";
