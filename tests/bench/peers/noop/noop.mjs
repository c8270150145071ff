// noop.mjs: a program of handlers that do nothing, and one that tells when it began ($MARKS). $CLIENT: clients/node.
import { openSync, writeSync } from "node:fs";

const { Handlers } = await import(`${process.env.CLIENT}/index.js`);
const marks = openSync(process.env.MARKS, "a", 0o600);

await new Handlers()
  .on("null", async () => {})
  .on("mark", async (job) => {
    const now = process.hrtime.bigint();
    writeSync(marks, new Uint8Array(new Float64Array([job.payload.at, Number(now) / 1e9]).buffer));
  })
  .run();
