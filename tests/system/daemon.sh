# daemon.sh: laterd and a Redis of a test's own. Use: . "${top_srcdir:=.}/tests/system/daemon.sh"
# shellcheck shell=sh
# Everything lives in the folder $dir and ends with the script, however that ends; what was started
# is stopped by its pid. A test that fails shows the log of laterd.

. "$top_srcdir/tests/tap.sh"

laterd=$top_builddir/daemon/laterd
later=$top_builddir/cli/later
scripts=$top_builddir/scripts/expanded
tools=$top_builddir/tests/system
dir=$(mktemp -d) || exit 1
socket=$dir/redis.sock log=$dir/log
redis_pid='' laterd_pid=''
LATER_REDIS_URL=unix:$socket
export LATER_REDIS_URL

clean_up()
{
    status=$?
    trap - EXIT
    for pid in $laterd_pid $redis_pid; do
        kill -KILL "$pid" 2>/dev/null && wait "$pid" 2>/dev/null
    done
    [ -z "${KEEP:-}" ] || echo "# kept: $dir"
    [ -n "${KEEP:-}" ] || rm -rf "$dir"
    exit "$status"
}
trap clean_up EXIT
trap 'exit 1' HUP INT TERM

# ---- waiting

# The time in milliseconds.
now()
{
    date +%s%3N
}

# wait_until SECONDS COMMAND...: until it succeeds. Returns 1 when the time is over.
wait_until()
{
    until=$(($(now) + $1 * 1000))
    shift
    until "$@"; do
        [ "$(now)" -lt "$until" ] || return 1
        sleep 0.02
    done
}

# ---- Redis

# start_redis OPTION...: options as redis-server takes them on its command line.
start_redis()
{
    redis-server --port 0 --unixsocket "$socket" --dir "$dir" --save '' --appendonly no \
        --logfile "$dir/redis.log" "$@" >/dev/null &
    redis_pid=$!
    wait_until 20 ping_redis || {
        echo "Bail out! redis-server does not start"
        exit 1
    }
}

ping_redis()
{
    [ "$(redis PING 2>/dev/null)" = PONG ]
}

stop_redis()
{
    kill -KILL "$redis_pid"
    wait "$redis_pid" 2>/dev/null
    redis_pid=''
}

redis()
{
    redis-cli -s "$socket" "$@"
}

# key NAME [QUEUE]: a key of a queue.
key()
{
    echo "later:{${2:-default}}:$1"
}

# Of a queue (default: default): how many are ready, delayed, reserved, dead, known.
ready() { redis ZCARD "$(key ready "$@")"; }
delayed() { redis ZCARD "$(key delayed "$@")"; }
reserved() { redis ZCARD "$(key reserved "$@")"; }
dead() { redis ZCARD "$(key dead "$@")"; }
known() { redis HLEN "$(key jobs "$@")"; }

# counted NAME [QUEUE]: a counter of a queue.
counted()
{
    value=$(redis HGET "$(key stats "${2:-default}")" "$1")
    echo "${value:-0}"
}

attempts() { redis HGET "$(key attempts)" "$1"; }
error_of() { redis HGET "$(key errors)" "$1"; }

# No job is left but the dead ones.
settled()
{
    [ "$(known "$@")" = "$(dead "$@")" ] && [ "$(ready "$@")" = 0 ]
}

# push ID DOCUMENT [WHEN [PRIORITY]]: by push.lua, into the queue default.
push()
{
    redis --eval "$scripts/push.lua" \
        "$(key ready)" "$(key delayed)" "$(key dead)" "$(key jobs)" "$(key attempts)" \
        "$(key crashes)" "$(key interrupts)" "$(key priorities)" "$(key errors)" "$(key wake)" \
        "$(key paused)" "$(key stats)" "$(key due)" "$(key call:x)" , \
        0 new "$1" "${3:-}" "${4:-0}" "$2"
}

# push_do ID WHAT: a job for the plugin check; WHAT are members of its payload.
push_do()
{
    push "$1" "{\"type\":\"do\",\"payload\":{$2}${3:+,$3}}" >"$dir/answer"
}

# ---- laterd

# configure LINE...: writes $dir/laterd.conf with these options beside redis, state_dir, plugins.
configure()
{
    mkdir -p "$dir/jobs"
    for plugin in "$tools/check.so" "$top_builddir"/jobs/*.so; do
        [ -e "$dir/jobs/${plugin##*/}" ] || cp "$plugin" "$dir/jobs"
    done
    {
        echo "redis = { url = \"unix:$socket\"; };"
        echo "state_dir = \"$dir/state\";"
        echo "plugins = { dir = \"$dir/jobs\"; config = { check = { dir = \"$dir\"; }; }; };"
        printf '%s\n' "$@"
    } >"$dir/laterd.conf"
}

# launch ARGUMENT...: starts laterd and does not wait for it. Its lines are added to $log.
launch()
{
    : >>"$log"
    "$laterd" -c "$dir/laterd.conf" "$@" 2>>"$log" &
    laterd_pid=$!
}

# start_laterd ARGUMENT...: the same, and waits until its workers are there.
start_laterd()
{
    : >"$log"
    launch "$@"
    wait_until 20 logged ' ready: ' || {
        sed 's/^/# /' "$log"
        echo "Bail out! laterd does not start"
        exit 1
    }
}

# stop_laterd [SIGNAL]: sends it, waits for the end, and leaves the exit status in $exited. KILL
# when a minute is over.
stop_laterd()
{
    kill -"${1:-TERM}" "$laterd_pid"
    await_laterd
}

await_laterd()
{
    wait_until 60 gone "$laterd_pid" || kill -KILL "$laterd_pid"
    wait "$laterd_pid" 2>/dev/null
    exited=$?
    laterd_pid=''
}

# Has this process ended? One that nobody has waited for yet has.
gone()
{
    case $(ps -o stat= -p "$1") in
    '' | Z*) return 0 ;;
    *) return 1 ;;
    esac
}

alive()
{
    ! gone "$1"
}

# Pids of the workers, in order of their start.
workers()
{
    pgrep -P "$laterd_pid" | sort -n
}

# logged TEXT: is it in the log? How often: times.
logged()
{
    grep -qF -- "$1" "$log"
}

times()
{
    grep -cF -- "$1" "$log"
}

# ---- what the plugin check has noted

# lines FILE: how many attempts have begun, ended.
lines()
{
    if [ -e "$dir/$1" ]; then
        wc -l <"$dir/$1"
    else
        echo 0
    fi
}

# reached FILE N: are there N lines?
reached()
{
    [ "$(lines "$1")" -ge "$2" ]
}

# runs_of FILE ID: its lines of one job.
runs_of()
{
    awk -v id="$2" '$1 == id' "$dir/$1" 2>/dev/null
}

# column FILE ID N: a column of the last attempt of a job. 4 is the start, 5 the end or the pid.
column()
{
    runs_of "$1" "$2" | tail -n 1 | awk -v n="$3" '{ print $n }'
}

begun() { [ -n "$(runs_of begun "$1")" ]; }
ended() { [ -n "$(runs_of ended "$1")" ]; }

# less A B NAME: is A at most B? Both are shown. Numbers may have a fraction.
at_most()
{
    if awk -v a="$1" -v b="$2" 'BEGIN { exit !(a != "" && a + 0 <= b + 0) }'; then
        ok "$3: $1 (at most $2)"
    else
        not_ok "$3: $1 (at most $2)"
    fi
}

# done_with NAME: shows the log if a test has failed, ends the script.
done_with()
{
    finish
}
