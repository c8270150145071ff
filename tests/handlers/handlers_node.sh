#!/bin/sh
# Handlers in Node, many at once in one program of the plugin exec. handlers.sh tests what all
# languages share. LATER_SOAK=1 measures at full length.
. "${top_srcdir:=.}/tests/system/daemon.sh"
. "$top_srcdir/tests/handlers/handlers_lib.sh"
needs node
start_redis

node=$(command -v node)
here=$(cd "$top_srcdir" && pwd)
cat >"$work/app.mjs" <<JS
import { appendFileSync, existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { Bury, Handlers, Retry, Return, currentJob } from "$here/clients/node/index.js";

const app = new Handlers();
const note = (name, word) => appendFileSync("$work/" + name, word + "\n");
note("pids", process.pid);
app.on(["nap", "fresh"], (job) => {
    if (job.id === "last")
        note("last", job.id);
    return sleep((job.payload?.for ?? 0) * 1000);
});
app.on("say", async (job) => {
    process.stdout.write("10%");
    process.stdout.write(JSON.stringify({ id: job.id, result: "bury" }));
    await sleep(1);
    console.warn("the disk is nearly %s", "full", currentJob().id);
    job.progress(3, 9, "page 3");
});
function inner() {
    throw new TypeError("bad\nthing");
}
app.on("bad", async () => inner());
app.on("shows", (job) => {
    console.warn("about to charge the card");
    job.progress(4, 8, "half");
    while (!existsSync("$work/go_on"));
});
app.on("fenced", (job) => note("fence", job.lockFence));
app.on("retry", () => { throw new Retry("busy", 600); });
app.on("bury", () => { throw new Bury("no such customer"); });
app.on("return", () => { throw new Return("maintenance", 600); });
app.on("odd", () => 1n);
app.on("long", async (job) => {
    note("long", job.id);
    await sleep(600000, null, { signal: job.signal }).catch((error) => {
        note("cancelled", job.id);
        throw error;
    });
});
app.on("deaf", async () => { note("deaf", process.pid); await sleep(600000); });
app.on("die", async () => { await sleep(100); console.log("about to die"); setImmediate(() => process.exit(7)); await sleep(600000); });
await app.run({ maxJobs: Number(process.env.MAX_JOBS ?? 0) });
JS
mkdir -p "$work/conf.d"
cat >"$work/conf.d/exec.conf" <<CONF
plugins = { config = { exec = {
    app = { argv = ( "$node", "$work/app.mjs" ); lines = true; parallel = 500;
            types = ( "nap", "say", "shows", "bad", "fenced", "retry", "bury", "return", "odd", "long", "deaf", "die" ); };
    fresh = { argv = ( "$node", "$work/app.mjs" ); lines = true; parallel = 5; types = ( "fresh" );
              env = { MAX_JOBS = "10"; }; };
}; }; };
CONF
configure 'workers = 1;' 'grace = 10.0;' 'drain = 20.0;' \
    'retry = { max_attempts = 3; base = 0.2; max = 0.2; jitter = 0.0; };'
start_laterd

many_at_once jobs

job say say '' '"max_attempts":1'
within 20 "whatever it prints is no answer" unknown say
within 5 "console's lines have the job's fields" log_has say 'the disk is nearly full say'
job shows shows
within 20 "what is logged is there while its function blocks the loop" log_has shows 'about to charge the card'
within 20 "and how far it has come" has_come shows
touch "$work/go_on"
within 20 "then it is done" unknown shows
job bad bad
within 20 "an error is a retry, then burial" is_dead bad
contains "$(error_of bad)" 'at inner' "its stack is kept"
contains "$(error_of bad)" 'TypeError: bad' "a thrown error's words are kept"
ends_as_it_says
later cancel bad retry bury return odd >/dev/null

hears_of_its_end
pids=$(lines pids)
job deaf deaf '' '"timeout":4,"max_attempts":1'
within 20 "a deaf one over its time: buried" is_dead deaf
job nap nap
within 20 "the next is done, by another program" unknown nap
is "$(lines pids)" $((pids + 1)) "another program was started"
within 20 "and the first was ended" gone "$(cat "$work/deaf")"

job die die '' '"max_attempts":1'
within 20 "one that ends its program" is_dead die
# A program closes its files before it ends. On a busy machine that may be all that is seen in time.
like "$(error_of die)" 'the program died: exit status 7|closed descriptor 3' "its error has the status"
later cancel die deaf long-2 >/dev/null
before=$(counted 'done')
pids=$(lines pids)
n=0
while [ "$n" -lt 45 ]; do
    n=$((n + 1))
    echo '{"type":"fresh","max_attempts":1}'
done | later push --file - >/dev/null
within 60 "45 jobs of one that ends after ten" counts 'done' $((before + 45))
is "$(dead)" 0 "none is buried, with max_attempts 1"
at_least $(($(lines pids) - pids)) 4 "programs for them"

run "$node" "$work/app.mjs" nap '{"for":0}'
is "$status $out" '0 null' "a handler is tried without laterd"
run "$node" "$work/app.mjs" bury
is "$status $err" '65 bury: no such customer' "run by hand, bury: status 65, and its reason"
run "$node" "$work/app.mjs" nap '{'
is "$status" 64 "a payload that is none"

job last nap '"for":1'
wait_until 10 test -s "$work/last"
end_well
is "$(known)" 0 "what ran was let finish"
finish
