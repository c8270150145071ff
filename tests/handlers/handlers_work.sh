#!/bin/sh
# later work --lines: a laterd of its own for one program of handlers, and `--work` of each client's
# programs, which does the same without any file.
. "${top_srcdir:=.}/tests/system/lib.sh"
needs python3 node php ruby go
start_redis 'appendonly no'
clients=$(cd "$top_srcdir" && pwd)/clients built=$(cd "$top_builddir" && pwd)
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$clients/python RUBYLIB=$clients/ruby/lib
PATH=$(cd "$(dirname "$later_bin")" && pwd):$PATH TMPDIR=$work/tmp
export PYTHONDONTWRITEBYTECODE PYTHONPATH RUBYLIB PATH TMPDIR
mkdir -p "$TMPDIR" "$work/path/src" "$work/app"
ln -s "$clients/go" "$work/path/src/laterd"
cd "$work/app" || exit 1

cat >tasks.py <<'PYTHON'
import os
import laterd
app = laterd.Handlers()

@app.on("py.*", "py")
def perform(job):
    print("performs", job.id)
    return [job.payload, os.environ["SECRET"], os.getcwd()]
PYTHON
cat >tasks.mjs <<NODE
import { Handlers } from "$clients/node/index.js";
const app = new Handlers();
app.on("js", async (job) => [job.payload, process.env.SECRET, process.cwd()]);
await app.run();
NODE
cat >tasks.php <<PHP
<?php
require '$clients/php/autoload.php';
\$app = new Laterd\Handlers();
\$app->on('php', fn (\$job) => [\$job->payload, getenv('SECRET'), getcwd()]);
\$app->run();
PHP
cat >tasks.rb <<'RUBY'
require "laterd"
app = Laterd::Handlers.new
app.on("rb") { |job| [job.payload, ENV["SECRET"], Dir.pwd] }
app.run
RUBY
cat >tasks.go <<'GO'
package main

import (
	"context"
	"os"

	"laterd"
)

func main() {
	app := laterd.Handlers{}
	app.On("go", func(_ context.Context, job *laterd.Job) (interface{}, error) {
		dir, _ := os.Getwd()
		return []interface{}{string(job.Payload), os.Getenv("SECRET"), dir}, nil
	})
	app.Run()
}
GO
GOPATH=$work/path:/usr/share/gocode GO111MODULE=off GOFLAGS=-p=2 GOCACHE=$built/build/go \
    go build -o tasks tasks.go || exit 1
SECRET=$(printf 'a "b" %s' '\c $d')
export SECRET

# ---- each language's own words, without any file

# works TYPE PROGRAM...: with --work it performs the job of that type.
works()
{
    type=$1 payload=7
    shift
    later push "$type" 7 --id "$type" --result 1h >/dev/null
    run timeout 600 "$@" --work --until-empty
    is "$status" 0 "$type: --work --until-empty ends well"
    [ "$type" != go ] || payload='"7"'
    is "$(later wait "$type" --timeout 0)" "[$payload,\"a \\\"b\\\" \\\\c \$d\",\"$work/app\"]" \
        "$type: it has performed the job, with our environment and folder"
}
works py python3 -m laterd tasks:app
like "$err" 'performs py' "what it prints is seen"

# A venv is its python's path, which is a link to the system's own.
python3 -m venv --without-pip venv || exit 1
site=$(venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
cp -r "$clients/python/laterd" "$site"
unset PYTHONPATH
for python in venv/bin/python "$work/app/venv/bin/python"; do
    run "$python" -m laterd tasks:app --work --entry
    contains "$out" "$work/app/venv/bin/python" "py: a venv stays one ($python)"
done
works py.venv venv/bin/python -m laterd tasks:app
PYTHONPATH=$clients/python
export PYTHONPATH

works js node tasks.mjs
works php php tasks.php
works rb ruby tasks.rb
works go ./tasks

# refuses OPTION PROGRAM...: an option that it does not know is named, and what is no JSON.
refuses()
{
    option=$1
    shift
    run "$@" --wrok mail
    is "$status $err" "64 $option" "$1: --wrok is refused"
    run "$@" any '{'
    is "$status" 64 "$1: a payload that is no JSON: status 64"
    like "$err" '^PAYLOAD is no JSON' "$1: and it says so"
}
refuses 'python -m laterd: unrecognized arguments: --wrok mail' python3 -m laterd tasks:app
ours='--wrok: no such option; it is --work [Q...], or TYPE [PAYLOAD]'
refuses "$ours" node tasks.mjs
refuses "$ours" php tasks.php
refuses "$ours" ruby tasks.rb
refuses "$ours" ./tasks
run ruby tasks.rb --work --entry
is "$(printf '%s\n' "$out" | grep -c "\"$(ruby -e 'print RbConfig::CONFIG["rubylibdir"]')\"")" 0 "ruby: its entry leaves out Ruby's own folders"
contains "$out" "\"-I\", \"$clients/ruby/lib\"" "ruby: but not those that it was given"
if ruby -e 'require "bundler"; require "redis"' 2>/dev/null; then
    mkdir bundled
    cp tasks.rb bundled
    printf 'gem "laterd", path: "%s"\n' "$clients/ruby" >bundled/Gemfile
    run env -u RUBYLIB BUNDLE_GEMFILE="$PWD/bundled/Gemfile" sh -c 'cd bundled && ruby -rbundler/setup tasks.rb --work --entry'
    is "$(printf '%s\n' "$out" | sed -n 's/^argv = ( "[^"]*", //p')" '"-rbundler/setup", "tasks.rb" );' \
        "ruby: with Bundler it leaves out the folders of gems"
else
    missing bundler "ruby-bundler or ruby-redis is not installed"
fi
contains "$(echo 7 | php tasks.php php -)" '[7,' "php: a payload from standard input"
is "$(ls "$TMPDIR")" '' "no folder is left behind"
is "$(later check default | cut -f 3 | sort -u)" ok "later check holds"
PATH=/usr/bin:/bin run python3 -m laterd tasks:app --work
is "$((status > 0))" 1 "without later, --work fails"
like "$err" 'later: .*it comes with laterd' "and says what is missing"

# ---- later work --lines

later push py.a 1 -q mail --id two >/dev/null
later push py 1 -q other --id one >/dev/null
run timeout 600 later work other mail --lines --until-empty -p 5 --programs 2 -- python3 -m laterd tasks:app
is "$status $(redis HGET 'later:{mail}:stats' 'done') $(redis HGET 'later:{other}:stats' 'done')" "0 1 1" \
    "several queues; types with a star"
cat >all.py <<'PYTHON'
import laterd
app = laterd.Handlers()

@app.on("*")
def perform(job):
    return job.type
PYTHON
for type in exec.else any; do
    later push "$type" -q all --id "$type" --result 1h >/dev/null
done
run timeout 600 later work all --lines --until-empty -p 4 -- python3 -m laterd all:app
is "$status $(later wait exec.else -q all --timeout 0) $(later wait any -q all --timeout 0)" \
    '0 "exec.else" "any"' "a program for all types, many at once: also those of the plugin exec"
run later work q --lines --entry -p 4 -- python3 -m laterd tasks:app
is "$status" 0 "--entry"
printf 'redis = { url = "%s"; };\nstate_dir = "%s";\n%s\n' "$LATER_REDIS_URL" "$work/state" "$out" |
    sed "s|^plugins = { |&dir = \"$built/jobs\"; |" >"$work/entry.conf"
is "$(printf '%s' "$out" | grep -c later-work)" 0 "prints no file of ours"
contains "$out" 'types = ( "py", "py.*" );' "has the types that the program said"
contains "$out" "dir = \"$work/app\";" "and its folder"
run "$laterd_bin" -t -c "$work/entry.conf"
is "$status" 0 "laterd -t takes it"
if [ "$(id -u)" -eq 0 ] && home=$(mktemp -d /root/.later-work.XXXXXX); then
    ln -s "$(command -v sh)" "$home/sh"
    run sh -c "cd $home && $later_bin work q --lines --entry --type t -- $home/sh"
    is "$status $err" "0 later work: the service cannot see $home/sh; move it, to /srv for example (laterd(8), SANDBOX)
later work: the service cannot see $home; move it, to /srv for example (laterd(8), SANDBOX)" \
        "an entry for what is in a home says that the service does not see it"
    rm -r "$home"
fi
# Those of two programs stand side by side.
entry() { "$later_bin" work q --lines --entry --type "$1" -- "$2" "$3" | sed -n 's/^plugins = { config = { exec = { \([^ ]*\) = {$/\1/p'; }
is "$(entry t ./tasks --flag) $(entry t /usr/bin/env tasks.py) $(cd / && entry t /usr/bin/env 7:up/a_b)" \
    "app-tasks app-tasks-py xa-b" "the entry is named after its folder and its program"

# A service would be stopped like this: the job that runs may end.
cat >slow.py <<'PYTHON'
import os, time
import laterd
app = laterd.Handlers()

@app.on("slow")
def slow(job):
    open(os.environ["BEGUN"], "w").close()
    while not os.path.exists(os.environ["MAY_END"]):
        time.sleep(0.02)
    return "ended"
PYTHON
BEGUN=$work/begun MAY_END=$work/may-end
export BEGUN MAY_END
later push slow --id slow --result 1h >/dev/null
"$later_bin" work default --lines -- python3 -m laterd slow:app >"$work/worked" 2>"$work/words" </dev/null &
worker=$!
own "$worker"
wait_until 30 test -e "$BEGUN"
is "$(stat -c %a "$TMPDIR"/later-work-*)" 700 "its folder is for nobody else"
kill -TERM "$worker"
wait_until 30 grep -q stopping "$work/words"
touch "$MAY_END"
wait "$worker"
is "$? $(later wait slow --timeout 0)" '0 "ended"' "TERM: what runs may end"
is "$(ls "$TMPDIR")" '' "and the folder goes"

# ---- what is wrong is said in one line

# fails STATUS WORDS NAME COMMAND...
fails()
{
    expected=$1 words=$2 name=$3
    shift 3
    run "$@"
    is "$status" "$expected" "$name: status $expected"
    like "$err" "$words" "$name: says so"
}
fails 66 'nosuch: no such program' "no such program" later work q --lines -- nosuch
fails 66 'did not say hello \(exit status 4\); name them with --type' "a program that says nothing" \
    later work q --lines -- sh -c 'exit 4'
fails 66 'did not say hello' "hello without types" later work q --lines -- sh -c 'echo "{\"hello\":1}" >&3'
fails 64 'need --lines' "--type alone" later work q --type a -- true
fails 64 'only one of them' "--until-empty and -n" later work q --lines --until-empty -n 3 -- true
fails 69 "$work/none" "no Redis" later --redis "unix:$work/none" work q --lines --type a -- true
fails 64 'queue' "a bad name" later work 'a b' --lines --type a -- true
finish
