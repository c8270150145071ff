#!/bin/sh
# In each language: given_up sees a job whose program has crashed, context goes from who pushes to who
# performs, and call() gives back what a real laterd's program has made of it.
. "${top_srcdir:=.}/tests/system/daemon.sh"
needs node php ruby go
redis_python
start_redis
clients=$(cd "$top_srcdir" && pwd)/clients
built=$(cd "$top_builddir" && pwd)
mkdir -p "$work/conf.d" "$work/path/src" "$work/js/node_modules"
ln -s "$clients/go" "$work/path/src/laterd"
ln -s "$clients/node" "$work/js/node_modules/laterd"
GONE=$work/gone
export GONE

# Each program has LANG.dies, which takes it down, and what is told of that; and LANG.echo, which is called.
cat >"$work/app.py" <<'PYTHON'
import os, signal, sys
import laterd
app = laterd.Handlers()

@app.on("py.dies", retries=0)
def dies(job):
    os.kill(os.getpid(), signal.SIGKILL)

@app.given_up("py.dies")
def tell(job):
    with open(os.environ["GONE"], "a") as file:
        print("py", job.payload["id"], job.payload["error"]["kind"], file=file)

@app.on("py.echo")
def echo(job):
    return [job.context["tenant"], job.payload]
PYTHON
cat >"$work/call.py" <<'PYTHON'
import json, sys
from dataclasses import replace
import laterd, redis
queues = laterd.Client(redis.Redis(unix_socket_path=sys.argv[1]))
queues.before_push(lambda job: replace(job, context={"tenant": "shop", **job.context}))
print(json.dumps(queues.call("py.echo", 7, timeout=500), separators=(",", ":")))
PYTHON
cat >"$work/js/app.mjs" <<'NODE'
import { appendFileSync } from "node:fs";
import { Handlers } from "laterd";
const app = new Handlers();
app.on("js.dies", { retries: 0 }, () => process.kill(process.pid, "SIGKILL"));
app.givenUp("js.dies", ({ payload }) => appendFileSync(process.env.GONE, `js ${payload.id} ${payload.error.kind}\n`));
app.on("js.echo", (job) => [job.context.tenant, job.payload]);
await app.run();
NODE
cat >"$work/js/call.mjs" <<'NODE'
import { Redis } from "ioredis";
import { Laterd } from "laterd";
const queues = new Laterd(new Redis(process.argv[2]));
queues.beforePush((job) => ({ ...job, context: { tenant: "shop", ...job.context } }));
console.log(JSON.stringify(await queues.call("js.echo", 7, { timeout: 500 })));
process.exit(0);
NODE
cat >"$work/app.php" <<PHP
<?php
require '$clients/php/autoload.php';
\$app = new Laterd\Handlers();
\$app->on('php.dies', fn () => posix_kill(getmypid(), SIGKILL), retries: 0);
\$app->givenUp('php.dies', function (\$job) {
    file_put_contents(getenv('GONE'), "php {\$job->payload['id']} {\$job->payload['error']['kind']}\n", FILE_APPEND);
});
\$app->on('php.echo', fn (\$job) => [\$job->context['tenant'], \$job->payload]);
\$app->run();
PHP
cat >"$work/call.php" <<PHP
<?php
require '$clients/php/autoload.php';
\$queues = Laterd\Client::connect("unix:\$argv[1]");
\$queues->beforePush(fn (\$job) => \$job->with(['context' => ['tenant' => 'shop'] + \$job->context]));
echo json_encode(\$queues->call('php.echo', 7, seconds: 500)->value), "\n";
PHP
cat >"$work/app.rb" <<'RUBY'
require "laterd"
app = Laterd::Handlers.new
app.on("rb.dies", retries: 0) { Process.kill(:KILL, Process.pid) }
app.given_up("rb.dies") do |job|
  File.write(ENV["GONE"], "rb #{job.payload["id"]} #{job.payload["error"]["kind"]}\n", mode: "a")
  nil
end
app.on("rb.echo") { |job| [job.context["tenant"], job.payload] }
app.run
RUBY
cat >"$work/call.rb" <<'RUBY'
require "laterd"
later = Laterd::Client.new(Redis.new(path: ARGV[0]))
later.before_push { |job| job.with(context: { tenant: "shop", **job.context }) }
puts JSON.generate(later.call("rb.echo", 7, timeout: 500))
RUBY
cat >"$work/app.go" <<'GO'
package main

import (
	"context"
	"fmt"
	"os"
	"syscall"

	"laterd"
)

func tell(_ context.Context, job *laterd.Job) (interface{}, error) {
	var gone struct {
		ID    string
		Error struct{ Kind string }
	}
	if err := job.Into(&gone); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(os.Getenv("GONE"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = fmt.Fprintln(file, "go", gone.ID, gone.Error.Kind)
		file.Close()
	}
	return nil, err
}

func main() {
	app := laterd.Handlers{}
	app.On("go.dies", func(context.Context, *laterd.Job) (interface{}, error) {
		return nil, syscall.Kill(syscall.Getpid(), syscall.SIGKILL)
	}, laterd.Policy{Retries: laterd.NoRetries})
	app.GivenUp("go.dies", tell)
	app.On("go.echo", func(_ context.Context, job *laterd.Job) (interface{}, error) {
		return []interface{}{job.Context["tenant"], job.Payload}, nil
	})
	app.Run()
}
GO
cat >"$work/call.go" <<'GO'
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/gomodule/redigo/redis"
	"laterd"
)

func main() {
	pool := &redis.Pool{Dial: func() (redis.Conn, error) { return redis.Dial("unix", os.Args[1]) }}
	later := laterd.New(pool.Get)
	later.BeforePush(func(job laterd.NewJob) laterd.NewJob {
		job.Context = map[string]interface{}{"tenant": "shop"}
		return job
	})
	ctx, cancel := context.WithTimeout(context.Background(), 500*time.Second)
	defer cancel()
	var value json.RawMessage
	if err := later.Call(ctx, "default", laterd.NewJob{Type: "go.echo", Payload: 7}, &value); err != nil {
		fmt.Println(err)
	}
	fmt.Println(string(value))
}
GO
build()
{
    GOPATH="$work/path:/usr/share/gocode" GO111MODULE=off GOFLAGS=-p=2 GOCACHE="$built/build/go" \
        go build -o "$work/$1" "$work/$1.go"
}
runs "go: the program is built" build app
runs "go: the one that calls is built" build call

# program NAME DIR ARGV...
program()
{
    name=$1 dir=$2
    shift 2
    words=$(printf ', "%s"' "$@")
    echo "$name = { argv = ( ${words#, } ); dir = \"$dir\"; types = ( \"$name.*\" ); lines = true; hello = true;"
    echo "    env = { GONE = \"$GONE\"; PYTHONPATH = \"$clients/python\"; RUBYLIB = \"$clients/ruby/lib\"; PYTHONDONTWRITEBYTECODE = \"1\"; }; };"
}
{
    echo "plugins = { config = { exec = {"
    program py "$work" "$python" -m laterd app:app
    program js "$work/js" "$(command -v node)" app.mjs
    program php "$work" "$(command -v php)" app.php
    program rb "$work" "$(command -v ruby)" app.rb
    program go "$work" "$work/app"
    echo "}; }; };"
} >"$work/conf.d/exec.conf"
configure 'workers = 2;' 'crash_max = 9;'
start_laterd

# calls LANGUAGE COMMAND...
calls()
{
    lang=$1
    shift
    run timeout 600 "$@" "$redis_socket"
    is "$out" '["shop",7]' "$lang: call() gives back the value, and the context came along"
    [ "$status" -eq 0 ] || printf '%s\n' "$err" | sed 's/^/# /'
}
PYTHONPATH=$clients/python RUBYLIB=$clients/ruby/lib PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH RUBYLIB PYTHONDONTWRITEBYTECODE
calls py "$python" "$work/call.py"
calls php php "$work/call.php"
calls rb ruby "$work/call.rb"
calls go "$work/call"
if node_modules; then
    ln -s "$node_modules/node_modules/ioredis" "$work/js/node_modules/ioredis"
    calls js node "$work/js/call.mjs"
else
    missing "js: call()" "node or npm is not installed, or npm cannot install ioredis"
fi

for lang in py js php rb go; do
    later push "$lang.dies" --id "$lang-1" >/dev/null
done
for lang in py js php rb go; do
    told() { grep -q "^$lang $lang-1 crash$" "$GONE"; }
    within 60 "$lang: given_up hears of the crash" told
done
is "$(wc -l <"$GONE")" 5 "each once"
stop_laterd
is "$(grep -c 'is not taken' "$log")" 0 "all that was said is taken"
finish
