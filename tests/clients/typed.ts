/** typed.ts: a user's program, for tsc --strict: clients_types.sh. */
import {
    Bury, type Found, Handlers, JobFailed, Laterd, type NewSchedule, type Pushed, QueueFull, Retry, type Schedule, type Size,
    currentJob, uniqueId,
} from "laterd";

const queues = new Laterd({}, { prefix: "shop:later" });
const pushed: Pushed = await queues.push("mail.send", { to: "a@b.c" }, { queue: "mail", in: 60, id: "x" });
if (pushed.result === "exists" && pushed.state === "dead") console.log(pushed.id);
const many: Pushed[] = await queues.pushMany([{ type: "a", at: new Date(), backoff: { base: 1, max: 60 } }]);
const found: Found | null = await queues.show("x");
console.log(many.length, found?.error?.text);
const came: "dead" | "delayed" | null = await queues.kick("x");
const { ready, oldestReady }: Size = await queues.size({ queue: "mail" });
console.log(came, await queues.cancel("x", { queue: "mail" }), ready + (oldestReady ?? 0));
const changed: boolean = await queues.pause({ queue: "mail", seconds: 600, by: "ann" }) || await queues.resume();
const hits: Found[] = await queues.search({ queue: "mail", state: "dead", type: "mail.*", limit: 5 });
const [ended] = await queues.waitMany<{ width: number }>(["x", "y"], { timeout: 1.5 });
console.log(changed, hits.length, ended?.state === "done" && ended.value?.width);
const nightly: NewSchedule = { name: "report", at: "0 3 * * *", job: { type: "a" }, zone: "Europe/Berlin", until: new Date() };
const set: boolean = await queues.cronSet(nightly, { queue: "mail" }) || await queues.cronDelete("report");
const [first]: Schedule[] = await queues.cronList({ queue: "mail" });
console.log(set, first?.next?.toFixed());
// @ts-expect-error a job of a schedule has no id
await queues.cronSet({ ...nightly, job: { type: "a", id: "x" } });
// @ts-expect-error no such policy
await queues.cronSet({ ...nightly, overlap: "kill" });
// @ts-expect-error no such state
await queues.search({ state: "lost" });
// @ts-expect-error a delay is a number
await queues.push("mail.send", null, { in: "60" });
// @ts-expect-error no such option
await queues.push("mail.send", null, { delay: 60 });

try {
    const { width } = await queues.wait<{ width: number }>("x", { timeout: 30, signal: new AbortController().signal });
    console.log(width.toFixed());
} catch (error) {
    if (error instanceof JobFailed) console.log(error.id, error.error?.attempt);
    if (error instanceof QueueFull) console.log(error.results.map((one) => one?.id));
}

const app = new Handlers();
app.on<{ url: string }>(["feed.poll", "feed.import.*"], async (job) => {
    const url: string = job.payload.url;
    if (job.attempt > 3) throw new Bury("no such feed");
    if (job.timeLeft() < 1) throw new Retry("late", 60);
    job.progress(1, 2, currentJob()?.id ?? "");
    job.checkpoint({ page: job.resumes ?? 0 });
    if (job.stopping) return undefined;
    return { url, fence: job.lockFence };
});
app.on("any", (job) => job.payload.whatever);
const welcome = app.task<{ to: string }>("welcome", { retries: 3 }, (job) => job.payload.to + job.context.tenant);
app.queues = queues;
app.before((job) => job.id).failed((job, error) => [job.id, error]).around(async (job, next) => [job, await next()]);
app.givenUp("welcome", ({ payload }) => payload.error.text);
queues.beforePush((job) => ({ ...job, context: { tenant: "t", ...job.context } }));
console.log((await welcome.later({ to: "a@b.c" }, { in: 60, context: { locale: "de" } })).id);
await welcome.later({ to: uniqueId("welcome", { to: 1 }, "to") }, { unique: ["to"] });
const { known }: { pushed: number; known: number } = await queues.map("row", [1, 2], { chunk: 2, flow: "f", then: { type: "sum" } });
console.log(known);
const { ends, missed } = await queues.events({ queue: "mail", after: "now", limit: 9 });
console.log(missed ?? "anew", ends.map(({ id, ms }) => [id, ms?.toFixed()]));
// @ts-expect-error its payload has another member
await welcome.later({ too: "a@b.c" });
const total: number = await queues.call<number>("sum", [1, 2], { timeout: 5 });
console.log(total);
await app.run({ maxJobs: 1000 });
