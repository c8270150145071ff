#!/bin/sh
# Handlers in Node, many at once in one program of the plugin exec. handlers.sh tests what all
# languages share. LATER_SOAK=1 measures at full length.
. "${top_srcdir:=.}/tests/system/daemon.sh"
needs node
start_redis
: "${LATER_SOAK:=}"

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

# job ID TYPE [PAYLOAD [MEMBERS]]
job()
{
    push_job "$1" "\"type\":\"$2\",\"payload\":{${3:-}}${4:+,$4}"
}

naps=300 wait=0.5 most=2
[ -z "$LATER_SOAK" ] || naps=1000 wait=1 most=3
job warm nap
within 20 "a handler does a job" counts 'done' 1
begin=$(present)
push_many "$naps" nap "{\"for\":$wait}" nap- >/dev/null
within 30 "$naps jobs of $wait s" counts 'done' $((naps + 1))
in_time "$(sum "$(present) - $begin")" "$most" "s for them, one worker, one program"
is "$(lines pids)" 1 "one program performs all jobs"

job say say '' '"max_attempts":1'
within 20 "whatever it prints is no answer" unknown say
within 5 "console's lines have the job's fields" log_has say 'the disk is nearly full say'
job shows shows
within 20 "what is logged is there while its function blocks the loop" log_has shows 'about to charge the card'
has_come() { noted g "$1" | grep -q '"done":4,'; }
within 20 "and how far it has come" has_come shows
touch "$work/go_on"
within 20 "then it is done" unknown shows
job bad bad
within 20 "an error is a retry, then burial" is_dead bad
contains "$(error_of bad)" 'at inner' "its stack is kept"
contains "$(error_of bad)" 'TypeError: bad' "a thrown error's words are kept"
redis SET 'later:lock:{one}:fence' 41 >/dev/null
job locked fenced '' '"lock":"one"'
within 20 "a handler learns which taking of its lock it is" grep -qx 42 "$work/fence"
job retry retry
within 20 "Retry: later" is_delayed retry
is "$(attempts_of retry)" 1 "an attempt"
job bury bury
within 20 "Bury: dead at once" is_dead bury
contains "$(error_of bury)" '"kind":"buried","text":"no such customer"' "a buried job keeps its handler's reason"
job return return
within 20 "Return: later" is_delayed return
is "$(attempts_of return)" 0 "a returned job has no attempt counted"
job odd odd '' '"result":60'
within 20 "a value that is no JSON, if somebody wants it: buried" is_dead odd
later cancel bad retry bury return odd >/dev/null

# A program that stands still for a second, on a busy machine, does not hear of it in time: laterd says so,
# and starts another.
late() { logged "did not give up job $1 "; }
hears() { grep -q "$1" "$work/cancelled" || late "$1"; }
job long-1 long
job long-2 long '' '"timeout":4,"max_attempts":1'
wait_until 10 eval '[ "$(lines long)" = 2 ]'
runs "a running job is cancelled" later cancel long-1
within 20 "its handler hears of it" hears long-1
within 20 "one over its time: buried" is_dead long-2
contains "$(error_of long-2)" '"kind":"timeout"' "a job that ignores its cancel is a time-out"
late long-1 || late long-2 || is "$(lines pids)" 1 "by the same program"
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
