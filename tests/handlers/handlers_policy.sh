#!/bin/sh
# The policy beside the handler, in each language: how often a job is tried again, after which waits, and
# after which errors it is not. Programs say it to laterd by their hello line; the job's document goes
# first, then laterd.conf.
. "${top_srcdir:=.}/tests/system/daemon.sh"
needs node php ruby go
redis_python
start_redis
clients=$(cd "$top_srcdir" && pwd)/clients
built=$(cd "$top_builddir" && pwd)
mkdir -p "$work/conf.d" "$work/path/src"
ln -s "$clients/go" "$work/path/src/laterd"

# Each language has four types: LANG.fails, LANG.bad (an error that buries), LANG.conf, LANG.dies.
cat >"$work/app.py" <<'PYTHON'
import os, signal
import laterd
class BadAddress(Exception): pass
app = laterd.Handlers()

@app.on("py.fails", retries=1, backoff=0.05)
def fails(job): raise ValueError("attempt %d of %d" % (job.attempt, job.max_attempts))

@app.on("py.bad", retries=5, backoff=[0.05], bury=(BadAddress,))
async def bad(job): raise BadAddress("no such address")

@app.on("py.conf", retries=0, backoff=0.05)
def conf(job): raise ValueError("attempt %d of %d" % (job.attempt, job.max_attempts))

@app.on("py.di*", retries=1, backoff=0.05, on_dead="note")
def dies(job): os.kill(os.getpid(), signal.SIGKILL)
PYTHON
cat >"$work/app.mjs" <<NODE
import { Handlers } from "$clients/node/index.js";
class BadAddress extends Error {}
const app = new Handlers();
const fails = (job) => { throw new Error(\`attempt \${job.attempt} of \${job.maxAttempts}\`); };
app.on("js.fails", { retries: 1, backoff: 0.05 }, fails);
app.on("js.bad", { retries: 5, backoff: [0.05], bury: [BadAddress] }, () => { throw new BadAddress("no such address"); });
app.on("js.conf", { retries: 0, backoff: 0.05 }, fails);
app.on("js.di*", { retries: 1, backoff: 0.05, onDead: "note" }, () => process.kill(process.pid, "SIGKILL"));
await app.run();
NODE
cat >"$work/app.php" <<PHP
<?php
require '$clients/php/autoload.php';
class BadAddress extends Exception {}
\$app = new Laterd\Handlers();
\$fails = fn (\$job) => throw new Exception("attempt \$job->attempt of \$job->maxAttempts");
\$app->on('php.fails', \$fails, retries: 1, backoff: 0.05);
\$app->on('php.bad', fn () => throw new BadAddress('no such address'), retries: 5, backoff: [0.05], bury: [BadAddress::class]);
\$app->on('php.conf', \$fails, retries: 0, backoff: 0.05);
\$app->on('php.di*', fn () => posix_kill(getmypid(), SIGKILL), retries: 1, backoff: 0.05, onDead: 'note');
\$app->run();
PHP
cat >"$work/app.rb" <<'RUBY'
require "laterd"
class BadAddress < StandardError; end
app = Laterd::Handlers.new
fails = ->(job) { raise "attempt #{job.attempt} of #{job.max_attempts}" }
app.on("rb.fails", function: fails, retries: 1, backoff: 0.05)
app.on("rb.bad", retries: 5, backoff: [0.05], bury: [BadAddress]) { raise BadAddress, "no such address" }
app.on("rb.conf", function: fails, retries: 0, backoff: 0.05)
app.on("rb.di*", retries: 1, backoff: 0.05, on_dead: "note") { Process.kill(:KILL, Process.pid) }
app.run
RUBY
cat >"$work/app.go" <<'GO'
package main

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"laterd"
)

var errAddress = errors.New("no such address")

func fails(_ context.Context, job *laterd.Job) (interface{}, error) {
	return nil, fmt.Errorf("attempt %d of %d", job.Attempt, job.MaxAttempts)
}

func main() {
	app := laterd.Handlers{}
	app.On("go.fails", fails, laterd.Policy{Retries: 1, Backoff: 0.05})
	app.On("go.bad", func(context.Context, *laterd.Job) (interface{}, error) {
		return nil, fmt.Errorf("mail: %w", errAddress)
	}, laterd.Policy{Retries: 5, Backoff: []float64{0.05}, Bury: []error{errAddress}})
	app.On("go.conf", fails, laterd.Policy{Retries: laterd.NoRetries, Backoff: 0.05})
	app.On("go.di*", func(context.Context, *laterd.Job) (interface{}, error) {
		return nil, syscall.Kill(syscall.Getpid(), syscall.SIGKILL)
	}, laterd.Policy{Retries: 1, Backoff: 0.05, OnDead: "note"})
	app.Run()
}
GO
runs "go: the program is built" env GOPATH="$work/path:/usr/share/gocode" GO111MODULE=off GOFLAGS=-p=2 \
    GOCACHE="$built/build/go" go build -o "$work/app" "$work/app.go"

# program NAME ARGV...
program()
{
    name=$1
    shift
    words=$(printf ', "%s"' "$@")
    echo "$name = { argv = ( ${words#, } ); dir = \"$work\"; types = ( \"$name.*\" ); lines = true; hello = true;"
    echo "    env = { PYTHONPATH = \"$clients/python\"; RUBYLIB = \"$clients/ruby/lib\"; PYTHONDONTWRITEBYTECODE = \"1\"; }; };"
}
{
    echo "plugins = { config = { exec = {"
    program py "$python" -m laterd app:app
    program js "$(command -v node)" app.mjs
    program php "$(command -v php)" app.php
    program rb "$(command -v ruby)" app.rb
    program go "$work/app"
    echo "}; }; };"
    echo 'types = ('
    for lang in py js php rb; do echo "{ name = \"$lang.conf\"; max_attempts = 3; },"; done
    echo '{ name = "go.conf"; max_attempts = 3; } );'
} >"$work/conf.d/exec.conf"
configure 'workers = 1;' 'crash_max = 9;'
start_laterd

# ends TYPE ATTEMPTS ERROR NAME [OPTION...]: the job is dead after that many attempts.
ends()
{
    type=$1 attempts=$2 error=$3 name=$4
    shift 4
    later push "$type" --id "$type$*" --result 60 "$@" >/dev/null
    later wait "$type$*" --timeout 500 >/dev/null 2>&1
    is "$(later show "$type$*" -q default | cut -f 2,5)" "$(printf 'dead\t%d' "$attempts")" "$name: attempts"
    like "$(later show "$type$*" -q default | cut -f 7)" "$error" "$name: why"
}
for lang in py js php rb go; do
    ends $lang.fails 2 'retry: .*attempt 2 of 2' "$lang: retries = 1"
    ends $lang.fails 1 'retry: .*attempt 1 of 1' "$lang: the job's own word goes first" --max-attempts=1
    ends $lang.bad 1 'buried: .*no such address' "$lang: an error that buries"
    ends $lang.conf 3 'retry: .*attempt 3 of 3' "$lang: laterd.conf goes first"
    # It closes its files before it ends. On a busy machine that may be all that is seen in time.
    ends $lang.dies 2 'killed by signal 9|closed descriptor 3' "$lang: a program that dies; a beginning and a star"
    told() { grep -q "^$lang.dies.dead\." "$work/begun"; }
    within 20 "$lang: its hook" told
done
is "$(grep -c '\.dead\.' "$work/begun")" 5 "one hook for each that has died, and no others"
stop_laterd
is "$(grep -c 'is not taken' "$log")" 0 "all that was said is taken"

# ---- what is wrong is refused when the handler is registered

PYTHONPATH=$clients/python RUBYLIB=$clients/ruby/lib
export PYTHONPATH RUBYLIB
run "$python" -c 'import laterd; laterd.Handlers().on("a", backoff=-1)'
like "$err" 'backoff' "py: a wrong backoff"
run node --input-type=module -e "import { Handlers } from '$clients/node/index.js'; new Handlers().on('a', { backoff: -1 }, () => {})"
like "$err" 'backoff' "js: a wrong backoff"
run "$python" -c 'import laterd; laterd.Handlers().on("a", on_dead="a b")'
like "$err" 'on_dead' "py: a wrong type"
run node --input-type=module -e "import { Handlers } from '$clients/node/index.js'; new Handlers().on('a', { retrys: 1 }, () => {})"
like "$err" 'retrys: no such option' "js: an unknown option"
run php -r "require '$clients/php/autoload.php'; (new Laterd\\Handlers())->on('a', fn () => 1, backoff: -1);"
like "$out$err" 'backoff' "php: a wrong backoff"
run ruby -e 'require "laterd"; Laterd::Handlers.new.on("a", backoff: -1) { }'
like "$err" 'backoff' "rb: a wrong backoff"
finish
