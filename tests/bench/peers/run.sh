#!/bin/sh
# run.sh: the same work, jobs that do nothing, on laterd, beanstalkd, Sidekiq, BullMQ and Laravel, in
# turns, each with one worker process, everything on 127.0.0.1; and on laterd by handlers in Node, Python, PHP, Ruby
# and Go. One JSON object a line, and then the medians ("bench":"peer").
#
#   tests/bench/peers/run.sh [ROUNDS [PEER...]]      from the build tree; `make bench-peers`
#
# What is missing is installed: beanstalkd, ruby-sidekiq, php-redis and php-laravel-framework by apt-get (as root),
# bullmq by npm into a temporary folder. What cannot be installed is left out. $CLIENTS, $EXEC: the clients and the
# plugin exec, if not those of the tree. BENCH_BYTES=65536: jobs of so many bytes, for laterd and beanstalkd only.
# BENCH_WHAT=pickup: not a full queue but one push every 20 ms, for laterd, beanstalkd and handlers in Node, Python,
# PHP and Ruby; laterd_python_plain is one that is no coroutine, one job at a time.

LC_ALL=C
export LC_ALL
rounds=${1:-3}
[ $# -eq 0 ] || shift
bytes=${BENCH_BYTES:-100}
BENCH_BYTES_MAX=1000000000 # of all documents of a round
export BENCH_BYTES_MAX
what=${BENCH_WHAT:-peer}
asked=$*
here=$(cd "$(dirname "$0")" && pwd)
bench=${BENCH:-tests/bench}
clients=${CLIENTS:-$(cd "$here/../../../clients" && pwd)}
work=$(mktemp -d "${TMPDIR:-/tmp}/later-peers-XXXXXX") || exit 1
port=${PEERS_PORT:-17391}
redis_pid='' beanstalkd_pid=''

clean_up()
{
    [ -z "$redis_pid" ] || kill "$redis_pid" 2>/dev/null
    [ -z "$beanstalkd_pid" ] || kill "$beanstalkd_pid" 2>/dev/null
    rm -rf "$work"
}
BENCH_MARKS=$work/marks
export BENCH_MARKS
trap clean_up EXIT
trap 'exit 1' INT TERM HUP

say()
{
    echo "bench-peers: $*" >&2
}

# package PACKAGE TEST...: it is there if the command says so; or it is installed now.
package()
{
    name=$1
    shift
    "$@" >/dev/null 2>&1 && return
    [ "$(id -u)" -eq 0 ] || { say "$name is not installed, and we are not root"; return 1; }
    say "installing $name"
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$name" >"$work/apt.log" 2>&1 ||
        { say "apt-get cannot install $name"; return 1; }
    "$@" >/dev/null 2>&1
}

bullmq_is_there()
{
    [ -d "${BULLMQ:=$work/npm}/node_modules/bullmq" ] && return
    command -v npm >/dev/null || { say "npm is not installed"; return 1; }
    say "installing bullmq into a temporary folder"
    mkdir -p "$BULLMQ"
    (cd "$BULLMQ" && npm install --no-audit --no-fund --silent bullmq ioredis) >"$work/npm.log" 2>&1 &&
        return
    say "npm cannot install bullmq"
    return 1
}

# A fresh redis-server on $port.
start_redis()
{
    redis-server --port "$port" --bind 127.0.0.1 --save '' --appendonly no --dir "$work" \
        --logfile "$work/redis.log" --maxmemory-policy noeviction &
    redis_pid=$!
    until redis-cli -p "$port" PING >/dev/null 2>&1; do sleep 0.05; done
}

stop_redis()
{
    kill "$redis_pid"
    wait "$redis_pid" 2>/dev/null
    redis_pid=''
}

run_laterd()
{
    "$bench/bench" "$what" 2>/dev/null
}

# by_program LANGUAGE OPTIONS ARGV...: laterd with a program of handlers that do nothing (noop/).
by_program()
{
    language=$1 options=$2
    shift 2
    [ -d "$work/jobs" ] || { mkdir "$work/jobs" && cp "${EXEC:-jobs/exec.so}" "$bench/probe.so" "$work/jobs"; }
    words=$(printf ', "%s"' "$@")
    BENCH_PROGRAM=$(cat <<CONF
exec = { noop = {
    argv = ( ${words#, } ); dir = "$here/noop"; types = ( "null", "mark" ); lines = true; hello = true; $options
    env = { CLIENT = "$clients/$language"; PYTHONPATH = "$clients/python"; PYTHONDONTWRITEBYTECODE = "1";
            MARKS = "$BENCH_MARKS"; };
}; };
CONF
    ) BENCH_PEER=$peer BENCH_JOBS=$work/jobs "$bench/bench" "$what" 2>/dev/null
}

run_laterd_node()
{
    by_program node 'parallel = 100;' "$(command -v node)" noop.mjs
}

run_laterd_python()
{
    by_program python 'parallel = 100;' "$(command -v python3)" -m laterd noop:app
}

run_laterd_python_plain()
{
    by_program python '' "$(command -v python3)" -m laterd noop:app
}

run_laterd_php()
{
    by_program php '' "$(command -v php)" noop.php
}

run_laterd_ruby()
{
    by_program ruby 'parallel = 100;' "$(command -v ruby)" noop.rb
}

run_laterd_go()
{
    if [ ! -e "$work/noop" ]; then
        mkdir -p "$work/go/src"
        ln -s "$clients/go" "$work/go/src/laterd"
        (cd "$here/noop" && GOPATH=$work/go:/usr/share/gocode GO111MODULE=off GOCACHE=$work/cache GOFLAGS=-p=2 \
            go build -o "$work/noop" noop.go) >&2 || return
    fi
    by_program go 'parallel = 100;' "$work/noop"
}

run_beanstalkd()
{
    jobs=100000
    [ "$((bytes * jobs))" -le "$BENCH_BYTES_MAX" ] || jobs=$((BENCH_BYTES_MAX / bytes))
    beanstalkd -l 127.0.0.1 -p "$((port + 1))" -z "$((bytes + 1000))" &
    beanstalkd_pid=$!
    sleep 0.5
    [ "$what" = peer ] || jobs=$what
    "$bench/peers/beanstalk" "$((port + 1))" "$jobs" "$beanstalkd_pid" "$bytes"
    kill "$beanstalkd_pid"
    wait "$beanstalkd_pid" 2>/dev/null
    beanstalkd_pid=''
}

run_sidekiq()
{
    start_redis
    (
        JOBS=60000 REDIS_URL=redis://127.0.0.1:$port
        export JOBS REDIS_URL
        cd "$work" || exit
        ruby "$here/sidekiq.rb" push 2>/dev/null
        sidekiq -c 10 -r "$here/sidekiq.rb" 2>/dev/null | grep '^{"bench"'
    )
    stop_redis
}

run_bullmq()
{
    start_redis
    JOBS=100000 REDIS_PORT=$port NODE_PATH=$BULLMQ/node_modules node "$here/bullmq.js" 2>/dev/null
    stop_redis
}

run_laravel()
{
    start_redis
    app=$work/laravel
    if [ ! -d "$app" ]; then
        cp -R "$here/../../clients/laravel" "$app"
        mkdir -p "$app/bootstrap/cache" "$app/storage/framework/cache"
    fi
    APP=$app CLIENT=$clients/php NOTES=$work SOCKET='' JOBS=20000 REDIS_PORT=$port php "$here/laravel.php" 2>/dev/null
    stop_redis
}

# The middle round of each, by rate, or by how soon.
medians()
{
    for peer in $peers; do
        grep "\"peer\":\"$peer\"" "$work/rows" |
            sed 's/.*"\(rate\|p50_ms\)":\([0-9.]*\).*/\2 &/' | sort -n | cut -d' ' -f2- |
            awk '{ row[NR] = $0 } END { if (NR) print row[int((NR + 1) / 2)] }'
    done
}

# is_there PEER
is_there()
{
    case $1 in
        laterd) ;;
        beanstalkd) package beanstalkd command -v beanstalkd ;;
        sidekiq) package ruby-sidekiq command -v sidekiq ;;
        bullmq) bullmq_is_there ;;
        laravel)
            package php-redis php -r 'exit(extension_loaded("redis") ? 0 : 1);' &&
                package php-laravel-framework php -r 'exit(@include "Illuminate/autoload.php" ? 0 : 1);'
            ;;
        laterd_python*) command -v python3 >/dev/null ;;
        *) command -v "${1#laterd_}" >/dev/null ;;
    esac
}

peers=''
for peer in ${asked:-laterd beanstalkd sidekiq bullmq laravel laterd_node laterd_python laterd_php
    laterd_ruby laterd_go}; do
    is_there "$peer" && peers="$peers $peer"
done
round=0
while [ "$round" -lt "$rounds" ]; do
    round=$((round + 1))
    for peer in $peers; do
        say "round $round of $rounds: $peer"
        "run_$peer" | sed 's/"bench":"\(peer\|pickup\)"/"bench":"\1_round"/' >>"$work/round"
        tail -n 1 "$work/round"
        sed 's/_round"/"/' "$work/round" >"$work/rows"
    done
done
medians
