// Performs jobs of the type @NAME@. By hand: node handler.mjs @NAME@ '{"name":"world"}'
import { Bury, Handlers } from "@DATA@/clients/node/index.js"; // from "laterd", once npm has installed it

const app = new Handlers();

app.on("@NAME@", async (job) => {
    if (!job.payload?.name) throw new Bury("payload.name is missing"); // dead at once; any other error is a retry
    console.info("attempt %d of %d", job.attempt, job.maxAttempts);
    return { greeting: `hello, ${job.payload.name}` }; // for callers that wait for the result
});

await app.run();
