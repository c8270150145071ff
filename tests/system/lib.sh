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
# Each script has a folder of its own, $work, which goes with it; what it started goes, too: start
# it with `spawn`, or note its process by `own PID`. Nothing is ever killed by name.

. "${top_srcdir:=.}/tests/tap.sh"

LC_ALL=C
export LC_ALL
unset LATER_REDIS_PASSWORD_FILE NO_COLOR
later_bin=$(cd "$top_builddir" && pwd)/cli/later
laterd_bin=$(cd "$top_builddir" && pwd)/daemon/laterd
export later_bin laterd_bin
work=$(mktemp -d "${TMPDIR:-/tmp}/later-test-XXXXXX") || exit 99
owned=
redis_pid=
redis_socket=$work/redis.sock

clean_up()
{
    for pid in $owned $redis_pid; do
        kill -KILL "$pid" 2>/dev/null
    done
    rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 1' INT TERM HUP

# own PID: to be killed at the end.
own()
{
    owned="$owned $1"
}

# spawn COMMAND...: starts it in the background; its process is $spawned. Standard input is empty,
# standard output and error go to $work/spawned.out and .err, unless redirected.
spawn()
{
    "$@" </dev/null >"$work/spawned.out" 2>"$work/spawned.err" &
    spawned=$!
    own "$spawned"
}

# wait_until SECONDS COMMAND...: until the command succeeds. Status 1 when the time is over.
wait_until()
{
    rounds=$(($1 * 50))
    shift
    until "$@" >/dev/null 2>&1; do
        rounds=$((rounds - 1))
        [ "$rounds" -gt 0 ] || return 1
        sleep 0.02
    done
}

# gone PID: has the process ended? (One that is ours and not waited for counts as ended.)
gone()
{
    case $(ps -o stat= -p "$1" 2>/dev/null) in
    '' | Z*) return 0 ;;
    *) return 1 ;;
    esac
}

# start_redis [LINE...]: a redis-server of our own on $redis_socket, with these lines of
# configuration more; later and laterd find it by $LATER_REDIS_URL. Again after stop_redis, it has
# what it had written.
start_redis()
{
    needs redis-server redis-cli
    {
        printf '%s\n' 'port 0' "unixsocket $redis_socket" 'unixsocketperm 600' 'save ""' \
            "dir $work" "logfile $work/redis.log" 'maxmemory-policy noeviction'
        [ $# -eq 0 ] || printf '%s\n' "$@"
    } >"$work/redis.conf"
    redis-server "$work/redis.conf" >/dev/null 2>&1 </dev/null &
    redis_pid=$!
    LATER_REDIS_URL=unix:$redis_socket
    export LATER_REDIS_URL
    if ! wait_until 20 redis_answers; then
        echo "Bail out! redis-server does not start: $(tail -n 3 "$work/redis.log")"
        exit 99
    fi
}

# Any answer will do, also that a password is wanted; but not that it is still loading.
redis_answers()
{
    case $(redis-cli -s "$redis_socket" PING 2>&1) in
    PONG | *NOAUTH*) return 0 ;;
    *) return 1 ;;
    esac
}

# stop_redis [SIGNAL]: TERM if none is said. Its files stay.
stop_redis()
{
    kill -"${1:-TERM}" "$redis_pid"
    wait "$redis_pid" 2>/dev/null
    redis_pid=
    rm -f "$redis_socket"
}

# redis COMMAND...: redis-cli on our server, plain output.
redis()
{
    redis-cli -s "$redis_socket" "$@"
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
    status=$?
    out=$(cat "$work/out")
    err=$(cat "$work/err")
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

# on_terminal COMMAND-LINE [INPUT]: runs it on a terminal of its own, 100 columns wide, with INPUT
# typed; prints what the terminal got, without CR. Its status is the command's.
on_terminal()
{
    printf '%b' "${2-}" >"$work/typed"
    TERM=xterm script -qec "stty cols 100 rows 30; $1" /dev/null <"$work/typed" >"$work/terminal"
    terminal_status=$?
    tr -d '\r' <"$work/terminal"
    return "$terminal_status"
}

# field NAME: the value of a member of the JSON line on standard input: a string without its quotes
# and escapes, or what stands there.
field()
{
    sed -n 's/.*"'"$1"'":\("\(\(\\.\|[^"\\]\)*\)"\|[^,}]*\).*/\1/p' | sed 's/^"\(.*\)"$/\1/' |
        sed 's/\\\(["\\/]\)/\1/g'
}
