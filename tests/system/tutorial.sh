#!/bin/sh
# The programs of doc/tutorial.md run as printed, in each language: its worker, its shop, its test. And they are
# not longer than the same program on the language's own queue.
. "${top_srcdir:=.}/tests/system/lib.sh"
needs python3 node php ruby go
redis_python
source=$(cd "$top_srcdir" && pwd)
clients=$source/clients built=$(cd "$top_builddir" && pwd)
start_redis 'appendonly no'
PATH=$(cd "$(dirname "$later_bin")" && pwd):$PATH
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$clients/python RUBYLIB=$clients/ruby/lib
GOPATH=$work/gopath:/usr/share/gocode GO111MODULE=off GOFLAGS=-p=2 GOCACHE=$built/build/go
export PATH PYTHONDONTWRITEBYTECODE PYTHONPATH RUBYLIB GOPATH GO111MODULE GOFLAGS GOCACHE

# ---- the blocks: those of one file belong together

mkdir -p "$work/gopath/src"
for language in python node php ruby go; do mkdir -p "$work/$language"; done
$AWK -v to="$work" '
    /^<!-- file: / { name = $3; next }
    /^```[a-z]/ { if (name == "") print FNR ": not run"; else out = to "/" name; if (begun[out]++) print "" >>out; next }
    /^```/ { out = name = ""; next }
    out != "" { print >>out }' "$source/doc/tutorial.md" >"$work/unmarked"
is "$(cat "$work/unmarked")" "" "every block is of a file"
# They wait long enough for a busy machine.
sed -i "s|/var/lib/laterd/redis.sock|$redis_socket|; s/\\(timeout[=:] *\\|seconds: \\)60/\\1500/; s/, time.Minute)/, 500*time.Second)/" "$work"/*/*.*
mkdir -p "$work/node/node_modules"
ln -s "$clients/node" "$work/node/node_modules/laterd"
ln -s "$clients/go" "$work/gopath/src/laterd"
ln -s "$work/go" "$work/gopath/src/shop"

# lasts LANGUAGE LINES: the program, without its tests, blank lines and comments, has at most so many. So many
# has the same program on Celery, BullMQ, Laravel and Sidekiq, with their tests; asynq is not in Debian.
lasts()
{
    lines=$(cat "$work/$1"/* 2>/dev/null | grep -cvE '^[[:space:]]*(//.*|#.*|\*.*)?$')
    within_lines=$((lines <= $2))
    is "$within_lines" 1 "$1: $lines lines, at most $2"
}
lasts python 71
lasts node 85
lasts php 169
lasts ruby 115
lasts go 120

# ---- they run

# tutors LANGUAGE SHOP -- WORKER...: in its folder. What the shop prints, and what the worker does.
tutors()
{
    language=$1 shop=$2
    shift 3
    redis FLUSHALL >/dev/null
    cd "$work/$language" || exit 99
    "$@" >"$work/worked" 2>&1 </dev/null &
    worker=$!
    own "$worker"
    # shellcheck disable=SC2086 # words
    run timeout 600 $shop
    is "$out" "$(printf 'sum 6\ncancelled delayed\nflow done')" "$language: the shop"
    [ "$status" -eq 0 ] || { printf '%s\n' "$err"; cat "$work/worked"; } | sed 's/^/# /'
    for words in 'mail to ann@example.org' 'gave up .*nobody' 'thumbs: 100'; do
        wait_until 60 grep -q "$words" "$work/worked"
        like "$(cat "$work/worked")" "$words" "$language: the worker: $words"
    done
    is "$(grep -c 'report of' "$work/worked")" 0 "$language: what was cancelled has not run"
    kill -TERM "$worker"
    wait "$worker"
    is "$?" 0 "$language: the worker ends when it is asked"
    cd "$work" || exit 99
}

# tests LANGUAGE COMMAND...
tests()
{
    language=$1
    shift
    cd "$work/$language" || exit 99
    run timeout 600 "$@"
    is "$status" 0 "$language: $*"
    [ "$status" -eq 0 ] || printf '%s\n%s\n' "$out" "$err" | sed 's/^/# /'
    cd "$work" || exit 99
}

tutors python "$python shop.py" -- "$python" -m laterd tasks:app --work -p 20
tests python "$python" -m unittest
mkdir "$work/php/vendor"
echo "<?php require '$clients/php/autoload.php';" >"$work/php/vendor/autoload.php"
tutors php 'php shop.php' -- php worker.php --work
tests php php test.php
tutors ruby 'ruby shop.rb' -- ruby worker.rb --work -p 20
tests ruby ruby test_tasks.rb
is "$(gofmt -l "$work/go")" '' "go: gofmt has nothing to say"
(cd "$work/gopath/src/shop" && go build -o shop .)
tutors go ./shop -- ./shop --work -p 20
cd "$work/gopath/src/shop" || exit 99
run timeout 600 go test shop
is "$status" 0 "go: go test"
[ "$status" -eq 0 ] || printf '%s\n%s\n' "$out" "$err" | sed 's/^/# /'
cd "$work" || exit 99
if node_modules; then
    ln -s "$node_modules/node_modules/ioredis" "$work/node/node_modules/ioredis"
    tutors node 'node shop.mjs' -- node worker.mjs --work -p 20
    tests node node --test
else
    missing node "node or npm is not installed, or npm cannot install ioredis"
fi
finish
