/** answers_app.mjs: handlers for handlers_answers.sh: each does what its job's payload says. */
import { appendFileSync } from "node:fs";

const { Bury, Handlers, Retry } = await import(`${process.env.CLIENT}/index.js`);
const odd = { nan: NaN, infinite: [-Infinity], "no JSON": new Map([["a", 1]]), half: "a\ud800b", nul: "a\0b",
    "half and nul": "a\0b\ud800c" };

function made(what) {
    if (typeof what !== "object") return what;
    if (what.text) return "x".repeat(what.text);
    let value = what.odd ? odd[what.odd] : what.json;
    for (let n = 0; n < (what.levels ?? 0); n++) value = n ? [value] : [];
    return value;
}

await new Handlers().on("node.*", async (job) => {
    appendFileSync(process.env.NOTES, `${job.id} ${job.type} ${process.pid} ${Date.now() / 1000}\n`);
    const [does, given] = job.payload;
    const what = given && made(given);
    if (does === "return" || job.resumes !== null) return job.resumes ?? what;
    if (does === "checkpoint" || does === "stop") job.checkpoint(what);
    if (does === "checkpoint") throw new Error("again");
    while (does === "stop" && !job.stopping) await new Promise((done) => setTimeout(done, 10));
    if (does === "throw") throw new Error(what);
    if (does === "bury") throw new Bury(what);
    if (does === "retry") throw new Retry(what, Infinity);
    if (does === "print") process.stdout.write(`printed by ${job.id}.\n`);
    if (does === "log") console.info(`far\0too long${"\x01".repeat(300000)}`);
    if (does === "progress") job.progress(NaN, Infinity, "a\0\ud800b");
    return undefined;
}).run();
