#!/bin/sh
# Whatever a handler prints, in any way, itself or through others: its job is done once, and its
# result is right. More than forty ways, in Python, Node, PHP and sh.
. "${top_srcdir:=.}/tests/system/daemon.sh"
needs python3 node php
start_redis
here=$(cd "$top_srcdir" && pwd)
mkdir -p "$work/conf.d"

cat >"$work/app.py" <<'PYTHON'
import atexit, ctypes, faulthandler, logging, os, subprocess, sys, threading, time, traceback, warnings
import laterd

app = laterd.Handlers()
libc = ctypes.CDLL(None)
kinds = {}

def kind(function):
    kinds[function.__name__] = function
    return function

def fork(child):
    pid = os.fork()
    if pid == 0:
        child()
        os._exit(0)
    os.waitpid(pid, 0)

def quietly(function):
    try:
        function()
    except (OSError, ValueError):
        pass

@kind
def half_line(job): print("10%", end="")
@kind
def half_line_flushed(job): print("10%", end="", flush=True)
@kind
def answer(job): print('{"id":"%s","result":"bury","error":"printed"}' % job.id, flush=True)
@kind
def answer_of_another(job): print('{"id":"py.half_line","result":"bury"}', flush=True)
@kind
def stderr_answer(job): print('{"id":"%s","result":"retry","last":true}' % job.id, file=sys.stderr)
@kind
def nul(job): os.write(1, b"a\0b\0\n\0")
@kind
def half_character(job): os.write(1, "\u20ac".encode()[:2])
@kind
def all_bytes(job): sys.stdout.buffer.write(bytes(range(256)) * 40); sys.stdout.flush()
@kind
def huge_line(job): print("x" * (1 << 20))
@kind
def many_lines(job): print("\n" * 5000, flush=True)
@kind
def progress_bar(job):
    for i in range(100): print("\r\x1b[31m%d%%" % i, end="", flush=True)
@kind
def raw(job): os.write(1, b"raw"); os.write(2, b"raw")
@kind
def c_stdio(job): libc.printf(b"from C, not flushed"); libc.puts(b"a line of C")
@kind
def thread(job):
    t = threading.Thread(target=lambda: print("from a thread", end="", flush=True)); t.start(); t.join()
@kind
def thread_later(job): threading.Timer(0.2, lambda: print("a thread, later")).start()
@kind
def at_exit(job): atexit.register(print, '{"id":"%s","result":"bury"}' % job.id)
@kind
def child(job): subprocess.run(["echo", "-n", "from a child"])
@kind
def child_later(job): subprocess.Popen(["sh", "-c", "sleep 0.2; echo '{'; printf later >&2"])
@kind
def shell(job): os.system("echo one; (printf two; echo three >&2)")
@kind
def forked(job): print("inherited, not flushed", end=""); fork(lambda: (print("forked"), sys.stdout.flush()))
@kind
def tracebacks(job):
    try: raise ValueError("caught")
    except ValueError: traceback.print_exc()
    faulthandler.dump_traceback()
@kind
def warning(job): warnings.warn("a warning"); logging.getLogger("x").error("logged\nin two lines")
@kind
def closed(job):
    os.close(1); os.close(2); quietly(lambda: print("nowhere", flush=True))
@kind
def closed_objects(job):
    sys.stdout.close(); sys.stderr.close(); quietly(lambda: print("nowhere"))

@app.on("py.*")
def perform(job):
    name = job.type.split(".")[1]
    with open(os.environ["NOTES"], "a") as notes: notes.write(job.id + "\n")
    kinds[name](job)
    return name

if __name__ == "__main__":
    print("\n".join(kinds))
PYTHON
cat >"$work/app.mjs" <<JS
import { execSync, spawn, spawnSync } from "node:child_process";
import { appendFileSync, closeSync, writeSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { Handlers } from "$here/clients/node/index.js";

const worker = (text) => new Promise((done) => new Worker(text, { eval: true }).on("exit", done));
const kinds = {
    half_line: () => process.stdout.write("10%"),
    answer: (job) => process.stdout.write(JSON.stringify({ id: job.id, result: "bury" }) + "\n"),
    console_answer: (job) => console.log(JSON.stringify({ id: job.id, result: "bury" })),
    console_all: () => { console.error("e"); console.table([{ a: 1 }]); console.trace("t"); console.dir({ b: 2 }); },
    stderr: () => process.stderr.write('{"log":'),
    nul: () => writeSync(1, Buffer.from([0, 10, 0, 0x41])),
    half_character: () => writeSync(1, Buffer.from([0xf0, 0x9f])),
    huge_line: () => process.stdout.write("x".repeat(1 << 20)),
    later: () => { setTimeout(() => process.stdout.write("later"), 100); },
    at_exit: (job) => { process.on("exit", () => writeSync(1, JSON.stringify({ id: job.id, result: "bury" }) + "\n")); },
    child: () => spawnSync("printf", ["from a child"], { stdio: "inherit" }),
    child_later: () => { spawn("sh", ["-c", "sleep 0.2; echo {"], { stdio: "inherit" }).unref(); },
    shell: () => execSync("echo one; (printf two >&2)", { stdio: "inherit" }),
    worker: () => worker('console.log("from a worker"); process.stdout.write("{")'),
    warning: () => process.emitWarning("a warning"),
    closed: () => { process.stdout.on("error", () => {}); closeSync(1); try { writeSync(1, "nowhere"); } catch { /* it is */ } },
};
if (!process.env.NOTES) {
    console.log(Object.keys(kinds).join("\n"));
    process.exit();
}
await new Handlers().on("js.*", async (job) => {
    const name = job.type.split(".")[1];
    appendFileSync(process.env.NOTES, job.id + "\n");
    await kinds[name](job);
    return name;
}).run();
JS
cat >"$work/app.php" <<PHP
<?php
require '$here/clients/php/autoload.php';
\$kinds = [
    'half_line' => function () { echo '10%'; },
    'answer' => function (\$job) { echo '{"id":"', \$job->id, '","result":"bury"}', "\n"; flush(); },
    'buffered' => function () { ob_start(); echo '{"id":'; },
    'stderr' => function () { fwrite(STDERR, '{"result":'); error_log('logged'); },
    'nul' => function () { echo "a\0b\0\n"; },
    'half_character' => function () { fwrite(STDOUT, "\xe2\x82"); },
    'huge_line' => function () { echo str_repeat('x', 1 << 20); },
    'warning' => function () { trigger_error('a warning', E_USER_WARNING); \$nothing[1] ?? print(@\$nothing[2]); },
    'child' => function () { system('printf "from a child"'); passthru('echo one; (printf two >&2)'); },
    'at_exit' => function (\$job) { register_shutdown_function(function () use (\$job) { echo '{"id":"', \$job->id, '"}'; }); },
    'closed' => function () { fclose(STDOUT); fclose(STDERR); @print('nowhere'); },
];
if (!getenv('NOTES')) {
    exit(implode("\n", array_keys(\$kinds)) . "\n");
}
\$handlers = new Laterd\Handlers();
foreach (\$kinds as \$name => \$function) {
    \$handlers->on("php.\$name", function (\$job) use (\$name, \$function) {
        file_put_contents(getenv('NOTES'), "\$job->id\n", FILE_APPEND);
        \$function(\$job);
        return \$name;
    });
}
\$handlers->run();
PHP
cat >"$work/app.sh" <<'SH'
while read -r line; do
    id=${line#*\"id\":\"} id=${id%%\"*} kind=${id#sh.}
    echo "$id" >>"$NOTES"
    case $kind in
    half_line) printf '10%%' ;;
    answer) printf '{"id":"%s","result":"bury"}\n' "$id" ;;
    stderr) printf '{"id":"%s","result":"bury"}' "$id" >&2 ;;
    nul) printf 'a\000b\000\n\000' ;;
    half_character) printf '\342\202' ;;
    huge_line) head -c 1048576 /dev/zero | tr '\0' x ;;
    subshell) (printf one; (echo two >&2)) ;;
    pipeline) echo one | sed 's/one/{/' ;;
    background) (sleep 0.2; echo '{') & ;;
    tty) printf '\033[2J\r\b\a' ;;
    closed) exec 1>&- 2>&-; echo nowhere ;;
    esac
    printf '{"id":"%s","result":"done","value":"%s"}\n' "$id" "$kind" >&3
done
SH
sh_kinds=$(sed -n 's/^    \([a-z_]*\)) .*/\1/p' "$work/app.sh")

# program NAME TYPES OPTIONS ARGV...: handlers that close their output have a program of their own. So
# has one that forks, since a child of a Python with threads may hang by itself.
program()
{
    name=$1 types=$2 options=$3
    shift 3
    words=$(printf ', "%s"' "$@")
    echo "$name = { argv = ( ${words#, } ); dir = \"$work\"; types = ( $types ); lines = true; $options"
    echo "    env = { NOTES = \"$work/ran\"; PYTHONPATH = \"$here/clients/python\";"
    echo "            PYTHONDONTWRITEBYTECODE = \"1\"; }; };"
}
python=$(command -v python3) node=$(command -v node) php=$(command -v php)
{
    echo "plugins = { config = { exec = {"
    program py '"py.*"' 'parallel = 4;' "$python" -m laterd app:app
    program py0 '"py.forked"' '' "$python" -m laterd app:app
    program py1 '"py.closed"' '' "$python" -m laterd app:app
    program py2 '"py.closed_objects"' 'parallel = 2;' "$python" -m laterd app:app
    program js '"js.*"' 'parallel = 4;' "$node" app.mjs
    program js1 '"js.closed"' '' "$node" app.mjs
    program php '"php.*"' '' "$php" app.php
    program php1 '"php.closed"' '' "$php" app.php
    program sh '"sh.*"' '' /bin/sh app.sh
    program sh1 '"sh.closed"' '' /bin/sh app.sh
    echo "}; }; };"
} >"$work/conf.d/exec.conf"

for lang in py js php sh; do
    case $lang in
    py) (cd "$work" && PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$here/clients/python "$python" app.py) ;;
    js) "$node" "$work/app.mjs" ;;
    php) "$php" "$work/app.php" ;;
    sh) echo "$sh_kinds" ;;
    esac | sed "s/^/$lang./"
done >"$work/kinds"
count=$(wc -l <"$work/kinds")
at_least "$count" 40 "kinds"

configure 'workers = 2;' 'retry = { max_attempts = 1; };'
start_laterd
sed 's/.*/{"type":"&","id":"&","result":600}/' "$work/kinds" | later push --file - >/dev/null
# Once more after them: what was printed late, or was in a buffer, is no answer either.
within 120 "all are done" counts 'done' "$count"
sed 's/.*/{"type":"&","id":"&.again","result":600}/; s/"id":"sh\.\([a-z_]*\)\.again"/"id":"sh.\1"/' "$work/kinds" |
    grep -v closed >"$work/again"
before=$(wc -l <"$work/again")
later push --file - <"$work/again" >/dev/null
within 120 "and once more" counts 'done' $((count + before))
is "$(dead) $(known)" "0 0" "none is buried or left"
is "$(sort "$work/ran" | uniq -c | awk '$1 > ($2 ~ /^sh/ ? 2 : 1)')" "" "each job ran once, those by sh at most twice"
wrong=
while read -r kind; do
    case $(later wait "$kind" --timeout 0) in
    "\"${kind#*.}\"") ;;
    *) wrong="$wrong $kind" ;;
    esac
done <"$work/kinds"
is "$wrong" "" "each has its result"
stop_laterd
is "$exited" 0 "laterd ends with 0"
is "$(grep -c 'panic\|killed by signal' "$log")" 0 "no program was killed"
finish
