#!/bin/sh
# run.sh: the same work, jobs that do nothing, on laterd, beanstalkd, Sidekiq and BullMQ, in turns,
# each with one worker process, everything on 127.0.0.1. One JSON object a line, and then the
# medians ("bench":"peer").
#
#   tests/bench/peers/run.sh [ROUNDS]      from the build tree; `make bench-peers`
#
# What is missing is installed: beanstalkd and ruby-sidekiq by apt-get (as root), bullmq by npm into
# a temporary folder. What cannot be installed is left out.

LC_ALL=C
export LC_ALL
rounds=${1:-3}
here=$(cd "$(dirname "$0")" && pwd)
bench=${BENCH:-tests/bench}
work=$(mktemp -d "${TMPDIR:-/tmp}/later-peers-XXXXXX") || exit 1
port=${PEERS_PORT:-17391}
redis_pid='' beanstalkd_pid=''

clean_up()
{
    [ -z "$redis_pid" ] || kill "$redis_pid" 2>/dev/null
    [ -z "$beanstalkd_pid" ] || kill "$beanstalkd_pid" 2>/dev/null
    rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 1' INT TERM HUP

say()
{
    echo "bench-peers: $*" >&2
}

# package PROGRAM NAME: installed, or to be installed now.
package()
{
    command -v "$1" >/dev/null && return
    [ "$(id -u)" -eq 0 ] || { say "$2 is not installed, and we are not root"; return 1; }
    say "installing $2"
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$2" >"$work/apt.log" 2>&1 ||
        { say "apt-get cannot install $2"; return 1; }
    command -v "$1" >/dev/null
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
    "$bench/bench" peer 2>/dev/null
}

run_beanstalkd()
{
    beanstalkd -l 127.0.0.1 -p "$((port + 1))" &
    beanstalkd_pid=$!
    sleep 0.5
    "$bench/peers/beanstalk" "$((port + 1))" 100000 "$beanstalkd_pid"
    kill "$beanstalkd_pid"
    wait "$beanstalkd_pid" 2>/dev/null
    beanstalkd_pid=''
}

run_sidekiq()
{
    start_redis
    (
        JOBS=20000 REDIS_URL=redis://127.0.0.1:$port
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
    JOBS=20000 REDIS_PORT=$port NODE_PATH=$BULLMQ/node_modules node "$here/bullmq.js" 2>/dev/null
    stop_redis
}

# The middle round of each, by rate.
medians()
{
    for peer in $peers; do
        grep "\"peer\":\"$peer\"" "$work/rows" |
            sed 's/.*"rate":\([0-9.]*\).*/\1 &/' | sort -n | cut -d' ' -f2- |
            awk '{ row[NR] = $0 } END { if (NR) print row[int((NR + 1) / 2)] }'
    done
}

peers=laterd
package beanstalkd beanstalkd && peers="$peers beanstalkd"
package sidekiq ruby-sidekiq && peers="$peers sidekiq"
bullmq_is_there && peers="$peers bullmq"
round=0
while [ "$round" -lt "$rounds" ]; do
    round=$((round + 1))
    for peer in $peers; do
        say "round $round of $rounds: $peer"
        "run_$peer" | sed 's/"bench":"peer"/"bench":"peer_round"/' >>"$work/round"
        tail -n 1 "$work/round"
        sed 's/peer_round/peer/' "$work/round" >"$work/rows"
    done
done
medians
