# lib.sh: what system tests share, on top of tests/tap.sh.
# shellcheck shell=sh
#
#     . "${top_srcdir:=.}/tests/system/lib.sh"
#     start_redis 'appendonly yes'
#     later push hello
#     is "$(redis LLEN 'later:{default}:wake')" 1 "a wake is left"
#     wait_until 5 test -e "$work/done"
#     finish
#
# $LATER_TEST_REDIS says what start_redis starts: `single` (if nothing is said), `cluster`, six
# servers, or `sentinel`, three servers and three Sentinels. tests/system/left_out.txt has the tests
# for which only one server will do, with the reason.
#
# Each script has a folder of its own, $work, which goes with it; what it started goes, too: start
# it with `spawn`, or note its process by `own PID`. Nothing is ever killed by name.

. "${top_srcdir:=.}/tests/tap.sh"

LC_ALL=C
export LC_ALL
unset LATER_REDIS_PASSWORD_FILE LATER_REDIS_URL NO_COLOR
built=$(cd "$top_builddir" && pwd)
later_bin=$built/cli/later
laterd_bin=$built/daemon/laterd
export later_bin laterd_bin
# As under make, for a test that is run by hand.
: "${PLUGIN_TEST_DIR:=$built/tests/unit/plugins}"
: "${JOBS_DIR:=$built/jobs}"
export PLUGIN_TEST_DIR JOBS_DIR
PYTHONPATH=$(cd "$top_srcdir" && pwd)/tests/support # of patience.py and checks.py
export PYTHONPATH
work=$(mktemp -d "${TMPDIR:-/tmp}/later-test-XXXXXX") || exit 99
owned=
redis_kind=${LATER_TEST_REDIS:-single}
redis_pids='' set_pid=''

# ask.c is redis-cli at a third of its cost. A tree that is not built has none.
redis_asker=$built/tests/system/ask
[ -x "$redis_asker" ] || redis_asker=redis-cli

# use_socket PATH: redis, redis_all and redis_answers use the server there.
use_socket()
{
    redis_socket=$1
    redis_cli="$redis_asker -s $1"
    redis_masters=
}
use_socket "$work/redis.sock"

# process_stat PID: sets $process_stat to what proc(5) says of a process from its state on, without a process for
# it; status 1 if there is none. (From /proc, since a bare machine has neither ps nor pgrep.)
process_stat()
{
    { read -r process_stat <"/proc/$1/stat"; } 2>/dev/null || return 1
    process_stat=${process_stat##*) }
}

# set_born PID: sets $born to when it began, in ticks since the machine did (field 22). state_of PID: prints a
# letter. Nothing if there is no such process.
set_born()
{
    born=
    process_stat "$1" || return 0
    # shellcheck disable=SC2086 # fields
    set -- $process_stat
    born=${20}
}

state_of()
{
    ! process_stat "$1" || echo "${process_stat%% *}"
}

# kill_owned: a number may be another process's by now: on a busy machine they come round in minutes.
kill_owned()
{
    for one in $owned; do
        set_born "${one%:*}"
        [ "$born" != "${one#*:}" ] || kill -KILL "${one%:*}" 2>/dev/null
    done
}

# The processes of a set die with the one that started them, which also removes their files.
clean_up()
{
    kill_owned
    # shellcheck disable=SC2086 # words
    [ -z "$redis_pids" ] || kill -KILL $redis_pids 2>/dev/null
    if [ -n "$set_pid" ]; then
        kill "$set_pid" && wait "$set_pid"
    fi
    rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 1' INT TERM HUP

# shellcheck disable=SC2120 # tests call it with an argument
# applies [PART]: is this test, or this part of it, meant for the Redis that start_redis starts? If
# not, prints the line `KIND TEST[:PART] REASON` of left_out.txt.
applies()
{
    reason=$(awk -v kind="$redis_kind" -v test="${0##*/}${1:+:$1}" '
        ($1 == kind || $1 == "set" && kind != "single") && $2 == test {
            sub(/^[^ ]+ +[^ ]+ +/, "")
            print
        }' "$top_srcdir/tests/system/left_out.txt")
    [ -n "$reason" ] || return 0
    echo "# left out on a $redis_kind${1:+: $1}: $reason"
    return 1
}
# shellcheck disable=SC2119
if ! applies; then
    echo "1..0 # SKIP $reason"
    exit 0
fi

# own PID: kills this process at the end.
own()
{
    set_born "$1"
    owned="$owned $1:$born"
}

# spawn COMMAND...: starts it in the background as $spawned. Standard input is empty. Standard
# output and error go to $work/spawned.out and .err, unless redirected.
spawn()
{
    "$@" </dev/null >"$work/spawned.out" 2>"$work/spawned.err" &
    spawned=$!
    own "$spawned"
}

# set_busy: sets $busy: how many times as long things may take as on an idle machine. It is the
# number of processes per processor in the last minute.
processors=$(nproc)
set_busy()
{
    read -r load _ </proc/loadavg
    busy=$((1 + ${load%.*} / processors))
}

# soon MS LIMIT: prints 1 if it was that soon, or as soon as a busy machine allows, else how late it
# was. Ten seconds are added, since any process may stand still for some seconds while others run.
# So it is only for things that would take longer still if they had come about in another way (the
# end of a lease, of a ttl).
stall=10
soon()
{
    set_busy
    if [ "$1" -le $(($2 * busy + stall * 1000)) ]; then echo 1; else echo "$1 ms"; fi
}

# wait_until SECONDS COMMAND...: waits until the command succeeds. Status 1 when the time is over:
# at least half a minute, and more on a busy machine, so that only a hang reaches it. It asks 50 times a
# second at first, then less often, in the end 6 times, since on a machine where tests run side by side asking
# takes what the others need: two processes for each look.
wait_until()
{
    command -v "$2" >/dev/null || { echo "Bail out! wait_until: $2: not found"; exit 99; }
    set_busy
    wait_left=$(($1 * 1000 * busy)) # milliseconds
    [ "$wait_left" -ge 30000 ] || wait_left=30000
    wait_pause=20 wait_again=10
    shift
    until "$@" >/dev/null 2>&1; do
        [ "$wait_left" -gt 0 ] || { echo "# in vain: $*" >&2; return 1; }
        case $wait_pause in
        ??) sleep "0.0$wait_pause" ;;
        *) sleep "0.$wait_pause" ;;
        esac
        wait_left=$((wait_left - wait_pause)) wait_again=$((wait_again - 1))
        [ "$wait_again" -gt 0 ] || [ "$wait_pause" -ge 160 ] || wait_pause=$((wait_pause * 2)) wait_again=10
    done
}

# gone PID: has the process ended? (A process of ours that was not waited for counts as ended.)
gone()
{
    process_stat "$1" || return 0
    case $process_stat in
    [ZX]*) return 0 ;;
    *) return 1 ;;
    esac
}

# start_redis [LINE...]: Redis of our own, with these lines of configuration more and a clock that
# advance_redis turns; later and laterd find it by $LATER_REDIS_URL. Again after stop_redis, it has
# what it had written. One redis-server is on $redis_socket.
start_redis()
{
    needs redis-server redis-cli
    case $redis_kind in
    single) start_one "$@" ;;
    cluster | sentinel) start_set "$@" ;;
    *)
        echo "Bail out! LATER_TEST_REDIS=$redis_kind: single, cluster or sentinel"
        exit 99
        ;;
    esac
    export LATER_REDIS_URL
    if ! wait_until 20 redis_answers; then
        echo "Bail out! redis-server does not start: $(tail -n 3 "$work/redis.log")"
        exit 99
    fi
}

# with_clock COMMAND...: a server, or a set, whose clock is $redis_ahead microseconds before ours, in
# the place of this shell: call it with `&`.
redis_ahead=0
with_clock()
{
    [ -e "$work/clock" ] || set_clock
    exec env LD_PRELOAD="$built/tests/support/clock_shim.so" \
        CLOCK_SHIFT="$work/clock" "$@"
}

# The 8 bytes of a number, into the file that the servers have mapped.
set_clock()
{
    bytes='' rest=$redis_ahead
    for _ in 1 2 3 4 5 6 7 8; do
        bytes=$bytes\\$(printf %03o $((rest & 255)))
        rest=$((rest >> 8))
    done
    # shellcheck disable=SC2059 # escapes
    printf "$bytes" 1<>"$work/clock"
}

# advance_redis SECONDS: turns the clock of Redis forward, of all servers of a set at once (by at most
# 5 s: those of a Cluster think each other dead after 15 without an answer). For leases, delays, ttls
# and limits, whose end is Redis's to say. What laterd and later wait for by timers of their own takes
# its time all the same: the renewal of a lease, timeouts, a migrator's look every 0.8 s.
advance_redis()
{
    redis_ahead=$((redis_ahead + $1 * 1000000))
    set_clock
}

start_one()
{
    {
        printf '%s\n' 'port 0' "unixsocket $redis_socket" 'unixsocketperm 600' 'save ""' \
            "dir $work" "logfile $work/redis.log" 'maxmemory-policy noeviction'
        [ $# -eq 0 ] || printf '%s\n' "$@"
    } >"$work/redis.conf"
    with_clock redis-server "$work/redis.conf" >/dev/null 2>&1 </dev/null &
    redis_pids=$!
    LATER_REDIS_URL=unix:$redis_socket
}

# redis_set.c starts the servers, writes to $work/redis.set where they are, and starts them again on
# HUP. Sentinel's masters need a replica for each write, as doc/operations.md recommends. No replica
# takes over, however long a busy machine delays a master, since what a replica has not got yet would
# be lost. tests/faults tests failovers. A replica is not behind because the clock is turned.
start_set()
{
    if ! [ -x "$top_builddir/tests/support/redis_set" ]; then
        echo "1..0 # SKIP redis_set is not built, for want of check"
        exit 0
    fi
    {
        [ $# -eq 0 ] || printf '%s\n' "$@"
        [ "$redis_kind" = cluster ] ||
            printf '%s\n' 'replica-priority 0' 'min-replicas-to-write 1' 'min-replicas-max-lag 3600'
    } >"$work/redis.options"
    rm -f "$work/redis.set"
    if [ -n "$set_pid" ]; then
        kill -HUP "$set_pid"
    else
        with_clock TMPDIR="$work" "$top_builddir/tests/support/redis_set" "$redis_kind" "$work" \
            >"$work/redis.log" 2>&1 </dev/null &
        set_pid=$!
    fi
    wait_until 60 test -e "$work/redis.set" || return 0
    LATER_REDIS_URL=$(sed -n 's/^url //p' "$work/redis.set")
    redis_pids=$(sed -n 's/^[a-z]* [0-9]* //p' "$work/redis.set")
    redis_masters=$(sed -n 's/^master \([0-9]*\) .*/\1/p' "$work/redis.set")
    redis_cli="$redis_asker -p ${redis_masters%%[!0-9]*}"
    [ "$redis_kind" = sentinel ] || redis_cli="$redis_cli -c"
}

# Any answer counts, even that a password is needed, but not that it is still loading.
redis_answers()
{
    case $(redis PING 2>&1) in
    PONG | *NOAUTH*) return 0 ;;
    *) return 1 ;;
    esac
}

# stop_redis [SIGNAL]: stops it (by default with TERM). Its files stay.
stop_redis()
{
    # shellcheck disable=SC2086 # words
    kill -"${1:-TERM}" $redis_pids
    for pid in $redis_pids; do
        if [ -n "$set_pid" ]; then
            wait_until 20 gone "$pid"
        else
            wait "$pid" 2>/dev/null
        fi
    done
    redis_pids=
    rm -f "$redis_socket"
}

# Stops Redis's processes; lets them go on.
pause_redis()
{
    # shellcheck disable=SC2086 # words
    kill -STOP $redis_pids
}

resume_redis()
{
    # shellcheck disable=SC2086 # words
    kill -CONT $redis_pids
}

# redis COMMAND...: runs redis-cli, or ask.c, on our Redis, with plain output. In `sh -c` it is $redis_cli. A
# command with a key goes where the key is.
redis()
{
    # shellcheck disable=SC2086 # words
    $redis_cli "$@"
}

# noted TAG ID [QUEUE]: prints what a job's record has under a tag.
noted()
{
    redis --raw HGET "later:{${3:-default}}:records" "$2" | sed -n "s/^$1=//p"
}

# noting TAG [QUEUE]: prints how many records have that tag.
noting()
{
    redis --raw HVALS "later:{${2:-default}}:records" | grep -c "^$1="
}

# held_by_tokens QUEUE: prints how many jobs are reserved.
held_by_tokens()
{
    sum=0
    for token in $(redis ZRANGE "later:{$1}:reserved" 0 -1); do
        sum=$((sum + $(redis ZCARD "later:{$1}:reserved:$token")))
    done
    echo "$sum"
}

# redis_all COMMAND...: runs a command without a key (INFO, CONFIG, FLUSHALL …) on every master.
redis_all()
{
    if [ -z "$redis_masters" ]; then
        redis "$@"
        return
    fi
    for port in $redis_masters; do
        "$redis_asker" -p "$port" "$@"
    done
}

# blocked: prints how many clients wait for a list. blocks N: are there N?
blocked()
{
    redis_all CLIENT LIST | grep -c 'flags=[a-zA-Z]*b.* cmd=blpop'
}

blocks()
{
    [ "$(blocked)" -eq "$1" ]
}

# called NAME: prints how often a command was called, over all masters; NAME: an expression, `.*` for all.
called()
{
    redis_all INFO commandstats | tr -d '\r' | tr ':,=' '   ' |
        awk -v name="^cmdstat_$1\$" '$1 ~ name { sum += $3 } END { print sum + 0 }'
}

# redis_rests: does Redis get at most 60 commands a second, for two seconds?
redis_rests()
{
    called_before=$(called '.*')
    sleep 2
    [ $(($(called '.*') - called_before)) -le 120 ]
}

# node_modules: installs what tests/clients/package.json names, once, into build/, and sets
# $node_modules. Status 1 without npm, or if that fails.
node_modules()
{
    command -v node >/dev/null && command -v npm >/dev/null || return 1
    mkdir -p "$top_builddir/build/npm"
    node_modules=$(cd "$top_builddir/build/npm" && pwd)
    (
        flock 9
        cmp -s "$top_srcdir/tests/clients/package.json" "$node_modules/package.json" && exit 0
        cp "$top_srcdir/tests/clients/package.json" "$node_modules/new.json"
        mkdir -p "$node_modules/new"
        cp "$node_modules/new.json" "$node_modules/new/package.json"
        cd "$node_modules/new" && npm install --no-audit --no-fund --silent </dev/null >&2 &&
            rm -rf ../node_modules && mv node_modules .. && mv ../new.json ../package.json
    ) 9>"$node_modules/lock" 2>"$work/npm.log" || {
        sed 's/^/# /' "$work/npm.log"
        return 1
    }
}

# with_php COMMAND...: calls it with each library by which PHP reaches a Redis as its last word; one that is not
# installed is reported.
with_php()
{
    for library in phpredis predis; do
        if php "$top_srcdir/tests/clients/driver.php" "$library" </dev/null >/dev/null 2>&1; then
            "$@" "$library"
        else
            missing "php-$library" "php-cli or php-redis, or php-predis, is not installed"
        fi
    done
}

# with_node COMMAND...: the same with each library of Node, with $node_modules.
with_node()
{
    if node_modules; then
        "$@" ioredis
        "$@" redis
    else
        missing node "node or npm is not installed, or npm cannot install ioredis and redis"
    fi
}

# with_ruby COMMAND...: calls it, if Ruby has a library for Redis. with_go: if there is Go.
with_ruby()
{
    if ruby -e 'require "redis"' 2>/dev/null; then
        "$@"
    else
        missing ruby "ruby-redis is not installed"
    fi
}

with_go()
{
    if command -v go >/dev/null; then
        "$@"
    else
        missing go "golang-go is not installed"
    fi
}

# go_driver FOLDER PROGRAM: builds the driver of the client for Go that is in this folder, with Debian's packages in
# /usr/share/gocode. Status 1 if that fails ($work/go.log says why), or if there are none ($work/go.log is empty).
go_driver()
{
    : >"$work/go.log"
    [ -d /usr/share/gocode/src/github.com/mna/redisc ] || return 1
    mkdir -p "$2.path/src"
    ln -s "$1/../../clients/go" "$2.path/src/laterd"
    GOPATH=$2.path:/usr/share/gocode GO111MODULE=off GOFLAGS=-p=2 GOCACHE="$(cd "$top_builddir" && pwd)/build/go" \
        go build -o "$2" "$1/driver.go" >"$work/go.log" 2>&1
}

# redis_python: sets $python to a python3 that has redis-py, which may be Debian's own behind
# another. If there is none, skips the whole script.
redis_python()
{
    for python in $(command -v python3) /usr/bin/python3; do
        # To import it would take six times as long.
        ! "$python" -c 'import importlib.util as u, sys; sys.exit(not u.find_spec("redis"))' 2>/dev/null || return 0
    done
    echo "1..0 # SKIP python3-redis is not installed"
    exit 0
}

later()
{
    "$later_bin" "$@"
}

# run COMMAND...: keeps its $status, $out and $err.
# shellcheck disable=SC2034
run()
{
    "$@" >"$work/out" 2>"$work/err" </dev/null
    status=$? out='' err=''
    [ ! -s "$work/out" ] || out=$(cat "$work/out")
    [ ! -s "$work/err" ] || err=$(cat "$work/err")
}

# like TEXT PATTERN NAME: does a line of the text match the extended regular expression?
like()
{
    if printf '%s\n' "$1" | grep -Eq -e "$2"; then
        ok "$3"
    else
        not_ok "$3"
        printf 'got:    %s\nwanted: %s\n' "$1" "$2" | sed 's/^/# /'
    fi
}

# on_terminal COMMAND-LINE [INPUT]: runs it on a terminal of 100 columns, with INPUT typed. Prints
# what the terminal got, without CR. Returns the command's status.
on_terminal()
{
    printf '%b' "${2-}" >"$work/typed"
    TERM=xterm script -qec "stty cols 100 rows 30; $1" /dev/null <"$work/typed" >"$work/terminal"
    terminal_status=$?
    tr -d '\r' <"$work/terminal"
    return "$terminal_status"
}

# field NAME: prints a member of the JSON line on standard input: a string without quotes and
# escapes, other values as they are.
field()
{
    sed 's/.*"'"$1"'":\("\(\(\\.\|[^"\]\)*\)"\|[^,}]*\).*/\1/; t there
        d; : there
        s/^"\(.*\)"$/\1/; s/\\\(["\\/]\)/\1/g'
}

# A function in $( ) or in a pipe takes a process of its own to start its program; a word that stands for the
# program does not. (A shell without aliases in scripts has the functions.)
alias later='"$later_bin"' redis='$redis_cli'

# python_tests ROOM/SCRIPT ARGUMENT...: each line `ok NAME` or `not ok NAME` is a test, and so is its
# exit status.
python_tests()
{
    script=${1##*/} path=$top_srcdir/tests/$1
    shift
    export redis_socket LATER_REDIS_URL
    python3 "$path" "$@" >"$work/$script.out" 2>"$work/$script.err"
    ended=$?
    while IFS= read -r line; do
        case $line in
        'ok '*) ok "${line#ok }" ;;
        'not ok '*) not_ok "${line#not ok }" ;;
        *) echo "# $line" ;;
        esac
    done <"$work/$script.out"
    if [ "$ended" -eq 0 ]; then
        ok "$script comes to its end"
    else
        not_ok "$script comes to its end" "$work/$script.err"
    fi
}
