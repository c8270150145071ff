# daemon.sh: what the tests of laterd share, on top of lib.sh.
# shellcheck shell=sh
# shellcheck disable=SC2119,SC2120
#
#     . "${top_srcdir:=.}/tests/system/daemon.sh"
#     start_redis
#     configure 'workers = 2;'
#     start_laterd
#     push_do job '"do":"sleep","for":1'
#     wait_until 5 ended job
#     stop_laterd
#     finish
#
# Jobs of the types note, bytes, do and event are performed by the plugin check (check.c says what
# they can); it notes every attempt in $work/begun and $work/ended. laterd logs into $log; with
# $SHOW_LOG set, the log is printed at the end.

. "${top_srcdir:=.}/tests/system/lib.sh"

scripts=$top_builddir/scripts/expanded
tools=$top_builddir/tests/system
log=$work/log
laterd_pid='' exited=''

# ---- laterd

# configure LINE...: writes $work/laterd.conf with these options, beside redis, state_dir, plugins.
configure()
{
    mkdir -p "$work/jobs"
    for plugin in "$tools/check.so" "$top_builddir"/jobs/*.so; do
        [ -e "$work/jobs/${plugin##*/}" ] || cp "$plugin" "$work/jobs"
    done
    {
        echo "redis = { url = \"${LATER_REDIS_URL:-unix:$redis_socket}\"; };"
        echo "state_dir = \"$work/state\";"
        echo "plugins = { dir = \"$work/jobs\"; config = { check = { dir = \"$work\"; }; }; };"
        printf '%s\n' "$@"
    } >"$work/laterd.conf"
}

# launch ARGUMENT...: starts laterd without waiting for it. Its lines are added to $log.
launch()
{
    "$laterd_bin" -c "$work/laterd.conf" "$@" </dev/null 2>>"$log" &
    laterd_pid=$!
    own "$laterd_pid"
}

# ready_or_gone: are laterd's workers ready, or has it ended?
ready_or_gone()
{
    logged ' ready: ' || gone "$laterd_pid"
}

# start_laterd ARGUMENT...: empties $log, starts laterd and waits until its workers are ready.
start_laterd()
{
    : >"$log"
    launch "$@"
    wait_until 20 ready_or_gone
    if ! logged ' ready: '; then
        show_log
        echo "Bail out! laterd does not start"
        exit 99
    fi
}

# start_embedded: the same with laterd's own Redis, which `redis` and `later` use from then on. Call
# it after configure.
start_embedded()
{
    sed -i 's|url = "[^"]*"|url = "embedded"|' "$work/laterd.conf"
    use_socket "$work/state/redis.sock"
    LATER_REDIS_URL=unix:$redis_socket
    export LATER_REDIS_URL
    start_laterd
    awaited 20 "the embedded Redis starts" redis_answers
}

# stop_laterd [SIGNAL]: sends it (by default TERM) and waits for the end; the status is in $exited.
stop_laterd()
{
    kill -"${1:-TERM}" "$laterd_pid"
    await_laterd
}

# After a minute it is killed.
await_laterd()
{
    wait_until 60 gone "$laterd_pid" || kill -KILL "$laterd_pid"
    wait "$laterd_pid" 2>/dev/null
    exited=$?
    laterd_pid=
}

# Prints the worker processes, one per line: children that lead a group of their own. What handlers
# leave behind has the same name and is laterd's child too.
workers()
{
    for child in $(children "$laterd_pid"); do
        case $(sed 's/(\(.*\)) . [0-9]* /\1 /' "/proc/$child/stat" 2>/dev/null) in
        "$child worker "*" $child "*) echo "$child" ;;
        esac
    done
}
two_workers() { [ "$(workers | wc -l)" = 2 ]; }

# logged TEXT: is it in the log? how_often TEXT: in how many lines?
logged()
{
    grep -qF -e "$1" "$log"
}

how_often()
{
    grep -cF -e "$1" "$log"
}

# logged_at TEXT: prints when the newest line with it was written, in UNIX seconds: laterd's own time, however
# long it takes to look for it.
logged_at()
{
    date -d "$(grep -F -e "$1" "$log" | tail -n 1 | cut -d' ' -f1)" +%s.%N
}

# log_has ID TEXT: has a line of this job that text? (The line may appear after the job's end.)
log_has()
{
    grep -F -e "job=$1 " "$log" | grep -qF -e "$2"
}

show_log()
{
    sed 's/^/# /' "$log"
}

# ---- processes

alive()
{
    ! gone "$1"
}

# none_left: has each process ended whose number is a line of $work/pids?
none_left()
{
    while read -r pid; do
        gone "$pid" || return 1
    done <"$work/pids"
}

children()
{
    cat "/proc/$1/task/$1/children" 2>/dev/null
}

# The private memory of a process in KiB; the number of its descriptors.
private_memory()
{
    awk '/^Private_/ { sum += $2 } END { print sum }' "/proc/$1/smaps_rollup"
}

descriptors()
{
    find "/proc/$1/fd" -type l 2>/dev/null | wc -l
}

# ---- queues

# key NAME [QUEUE]
key()
{
    echo "later:{${2:-default}}:$1"
}

# How many jobs of a queue (by default `default`) are ready, delayed, reserved, dead, known.
ready() { redis ZCARD "$(key ready "$@")"; }
delayed() { redis ZCARD "$(key delayed "$@")"; }
reserved() { held_by_tokens "${1:-default}"; }
dead() { redis ZCARD "$(key dead "$@")"; }
known() { redis HLEN "$(key jobs "$@")"; }

# counted NAME [QUEUE]: a counter of a queue's stats.
counted()
{
    value=$(redis HGET "$(key stats "${2:-default}")" "$1")
    echo "${value:-0}"
}

# counts NAME N [QUEUE]: has the counter reached N?
counts()
{
    [ "$(counted "$1" "${3:-default}")" -ge "$2" ]
}

# For a job in `default`.
attempts_of()
{
    value=$(noted a "$1")
    echo "${value:-0}"
}

error_of() { noted e "$1"; }
is_known() { [ "$(redis HEXISTS "$(key jobs)" "$1")" = 1 ]; }
unknown() { [ "$(redis HEXISTS "$(key jobs)" "$1")" = 0 ]; }
is_dead() { [ -n "$(redis ZSCORE "$(key dead)" "$1")" ]; }
is_delayed() { [ -n "$(redis ZSCORE "$(key delayed)" "$1")" ]; }

# settled [QUEUE]: are only dead jobs left? (Those that are known come last: a job that becomes ready or
# dead in between, or pushes another one, is among them.)
settled()
{
    dead_jobs=$(dead "$@")
    [ "$(ready "$@")" = 0 ] && [ "$(delayed "$@")" = 0 ] && [ "$(known "$@")" = "$dead_jobs" ]
}

# push_script ID DOCUMENT [WHEN [PRIORITY]]: runs push.lua by hand and prints its answer.
push_script()
{
    redis --eval "$scripts/push.lua" \
        "$(key ready)" "$(key delayed)" "$(key dead)" "$(key jobs)" "$(key records)" \
        "$(key wake)" "$(key paused)" "$(key stats)" "$(key shards)" "$(key call:none)" , \
        0 new "$1" "${3:-}" "${4:-0}" "$2"
}

# push_job ID MEMBERS [WHEN [PRIORITY]]: pushes a document with these members.
push_job()
{
    answer=$(push_script "$1" "{$2}" "${3:-}" "${4:-0}")
    [ "$answer" = PUSHED ] || echo "# push $1: $answer"
}

# push_do ID WORDS [MEMBERS]: pushes a job of the type do; WORDS are members of its payload.
push_do()
{
    push_job "$1" "\"type\":\"do\",\"payload\":{$2}${3:+,$3}"
}

# push_event ID WORDS [MEMBERS]: the same with the type event.
push_event()
{
    push_job "$1" "\"type\":\"event\",\"payload\":{$2}${3:+,$3}"
}

# push_many COUNT TYPE [PAYLOAD [PREFIX]]: pushes jobs PREFIX1, PREFIX2 … (`job-`) into `default`,
# in bulk.
push_many()
{
    many=$1
    shift
    "$tools/push" "$LATER_REDIS_URL" default many "$many" "$@"
}

# conserved [QUEUE]: do the sums of `later check` hold, and is each job in one set and adopted? Prints them if
# not.
conserved()
{
    later check "${1:-default}" --json >"$work/checked" 2>&1
    if [ "$(grep -Ec '"check":"(counters|sets|members)","ok":true' "$work/checked")" -eq 3 ] &&
        grep -q '"unadopted":0[,}]' "$work/checked"; then
        return 0
    fi
    cat "$work/checked"
    return 1
}

# ---- what the plugin check has noted

# lines FILE: prints how many attempts have begun or ended. reached FILE N: are there N?
lines()
{
    if [ -e "$work/$1" ]; then
        wc -l <"$work/$1"
    else
        echo 0
    fi
}

reached()
{
    [ "$(lines "$1")" -ge "$2" ]
}

# attempts_in FILE ID: prints the job's lines. begun, ended ID [N]: are there N, or any?
attempts_in()
{
    awk -v id="$2" '$1 == id' "$work/$1" 2>/dev/null
}

begun() { awk -v id="$1" -v n="${2:-1}" '$1 == id { n-- } END { exit n > 0 }' "$work/begun" 2>/dev/null; }
ended() { awk -v id="$1" -v n="${2:-1}" '$1 == id { n-- } END { exit n > 0 }' "$work/ended" 2>/dev/null; }

# handed_in ID: has it ended, and does its worker sleep? Only then has the worker kept what came of it: between
# the handler's last line and that it may stand still.
handed_in()
{
    ended "$1" && [ "$(state_of "$(pid_of "$1")")" = S ]
}

# began ID [ATTEMPT], ended_at ID [ATTEMPT]: print when, in UNIX seconds. pid_of ID [ATTEMPT]:
# prints the worker.
began() { attempts_in begun "$1" | sed -n "${2:-1}p" | cut -d' ' -f4; }
ended_at() { attempts_in ended "$1" | sed -n "${2:-1}p" | cut -d' ' -f5; }
pid_of() { attempts_in begun "$1" | sed -n "${2:-1}p" | cut -d' ' -f5; }

# ---- numbers

# present: prints UNIX seconds with a fraction. sum EXPRESSION: calculates with such numbers.
present()
{
    date +%s.%N
}

sum()
{
    awk "BEGIN { printf \"%.3f\\n\", $1 }"
}

# at_most NUMBER LIMIT NAME, at_least NUMBER LIMIT NAME: numbers may have a fraction. The figure is
# printed after the name.
at_most()
{
    if awk -v a="$1" -v b="$2" 'BEGIN { exit !(a != "" && a + 0 <= b + 0) }'; then
        ok "$3: $1, at most $2"
    else
        not_ok "$3: $1, at most $2"
    fi
}

at_least()
{
    if awk -v a="$1" -v b="$2" 'BEGIN { exit !(a != "" && a + 0 >= b + 0) }'; then
        ok "$3: $1, at least $2"
    else
        not_ok "$3: $1, at least $2"
    fi
}

# in_time SECONDS LIMIT NAME: at_most, but with the limit that a busy machine needs, and a stall
# (lib.sh).
in_time()
{
    set_busy
    at_most "$1" "$(sum "$2 * $busy + $stall")" "$3"
}

# closely SECONDS LIMIT NAME: the same without a stall, for timed_tests.
closely()
{
    set_busy
    at_most "$1" "$(sum "$2 * $busy")" "$3"
}

# awaited SECONDS NAME COMMAND...: fails if the command does not succeed in this time, and then shows
# laterd's log. within SECONDS NAME COMMAND...: the same, and also reports success.
awaited()
{
    seconds=$1 name=$2
    shift 2
    wait_until "$seconds" "$@" && return 0
    {
        echo "after $seconds s and more still not: $*"
        tail -n 40 "$log"
    } >"$work/tail"
    not_ok "$name" "$work/tail"
    return 1
}

within()
{
    ! awaited "$@" || ok "$name"
}

# Most tests end with this.
end_well()
{
    stop_laterd
    is "$exited" 0 "laterd ends with 0"
    runs "the sums hold" conserved
    [ -z "${SHOW_LOG:-}" ] || show_log
}
