#!/bin/sh
# What the scripts of one job cost Redis, in instructions. Its clock goes on by readings, so that a busy
# machine does not count more of what Redis does by its timers; and its seeds are the same each time, so
# that no run counts more because the names of jobs fell badly. The bounds are ratios to the same
# commands sent one by one. Each figure is the mean of 300 rounds; those of batches with groups that of 10,000
# jobs.
. "${top_srcdir:=.}/tests/tap.sh"
needs redis-server redis-cli valgrind
case $(redis-server --version) in
*v=7.0.*) ;;
*)
    echo "1..0 # SKIP the bounds are those of Redis 7.0"
    exit 0
    ;;
esac

scripts=$top_builddir/scripts/expanded
support=$(cd "$top_builddir" && pwd)/tests/support
box=$(mktemp -d)
server=
trap 'kill -KILL $server 2>/dev/null; wait; rm -rf "$box"' EXIT
rounds=300
crowd=10000
ahead= # or seven keys, each with a space before it

redis()
{
    redis-cli -s "$box/socket" "$@"
}

# It is not asked whether it answers, since each question would count. Its file is there a moment before
# it listens.
listens()
{
    grep -q " 00010000 .* $box/socket\$" /proc/net/unix
}

# The scripts that are called here. Which keys each has, in their order, is noted once.
called='reserve ack ack_all step finish push push_now flow_push'
for script in $called; do
    sed -n 's/^-- KEYS *//p' "$scripts/$script.lua" >"$box/keys.$script"
done

# set_keys SCRIPT HELD FRESH: sets $keys, and $count to how many they are. Without a process, as all that is
# done for each job.
set_keys()
{
    read -r names <"$box/keys.$1"
    keys='' count=0
    for name in $names; do
        case $name in
        held) name=reserved:$2 ;;
        fresh) name=reserved:$3 ;;
        result) name=result:$3 ;;
        flow) name=flow:f ;;
        unknown) name=flow:f:unknown ;;
        '(ahead)...')
            [ -z "$ahead" ] || count=$((count + 7))
            keys=$keys$ahead
            continue
            ;;
        esac
        keys="$keys later:{q}:$name" count=$((count + 1))
    done
}

# call SCRIPT HELD FRESH ARGUMENT...: a line for redis-cli.
call()
{
    set_keys "$1" "$2" "$3"
    read -r sha <"$box/sha.$1"
    shift 3
    echo "EVALSHA $sha $count$keys $*"
}

# set_now N: sets $now to the token of round N, and $before to that of the one before.
set_now()
{
    now=$((1000000000000000 + $1)) before=$((1000000000000000 + $1 - 1))
    now=t${now#1} before=t${before#1}
}

# crowd_of KIND: lines for redis-cli that push many jobs in calls of 500: all of one group, or each of its own.
crowd_of()
{
    group=$([ "$1" = one ] || echo '-&')
    for first in $(seq 1 500 "$crowd"); do
        call push '' '' 0 new "$(seq "$first" $((first + 499)) | sed "s/.*/job-& '' 0@group$group {}/" | tr '\n' ' ')"
    done
}

# jobs_of KIND: lines for redis-cli that push job-1, job-2 …; chain: each waits for the one before; one, own: many.
jobs_of()
{
    case $1 in
    one | own) crowd_of "$1"; return ;;
    pushed | bare_pushed | empty | bare_empty) return ;;
    esac
    if [ "$1" != chain ]; then
        seq $rounds | sed 's/.*/HSET later:{q}:jobs job-& {}\nZADD later:{q}:ready 17640000&.5 job-&/'
        return
    fi
    before=
    for first in $(seq 1 100 $rounds); do
        call flow_push '' '' f "''" 0 "''" "$(for n in $(seq "$first" $((first + 99))); do
            echo "job-$n s$n '$before' done '' 0 {}"
            before=s$n
        done | tr '\n' ' ')"
        before=s$((first + 99))
    done
}

# rounds_of KIND: lines for redis-cli that take and end these jobs; bare: by the
# same commands without a script, and without their checks; batches: 500 in a call.
rounds_of()
{
    case $1 in
    batches)
        for n in $(seq $((crowd / 500))); do
            set_now "$n"
            call reserve "$now" '' "$now" 30 500 262144 0
            call ack_all "$now" '' 500
        done
        return
        ;;
    none) return ;;
    esac
    n=0
    while [ "$n" -lt "$rounds" ]; do
        n=$((n + 1))
        set_now "$n"
        case $1 in
        pushed) call push_now '' '' 0 job-$n {} $((100000000000000000 + n)) ;;
        bare_pushed)
            printf '%s later:{q}:%s\n' SADD "call $((100000000000000000 + n))" HSETNX "jobs job-$n {}" \
                ZADD "ready 1764000000.123456 job-$n" HINCRBY 'stats pushed 1'
            ;;
        empty) call reserve "$now" '' "$now" 30 1 262144 0 ;;
        bare_empty)
            printf '%s later:{q}:%s\n' HLEN stats ZCARD reserved HLEN records \
                EXISTS 'wake later:{q}:paused later:{q}:delayed later:{q}:dead' ZCARD ready DEL wake
            ;;
        bare)
            printf '%s later:{q}:%s\n' ZRANGE 'ready 0 0 WITHSCORES' HGET "jobs job-$n" ZREM "ready job-$n" \
                ZADD "reserved:$now 5 job-$n" ZADD "reserved 1764000000.123456 $now" \
                HINCRBY 'stats reserved 1' ZRANGE "reserved:$now 0 1" DEL "reserved:$now" \
                ZREM "reserved $now" HDEL "jobs job-$n" HINCRBY 'stats done 1'
            ;;
        results) call reserve "$now" '' "$now" 30 1 262144 0 && call finish "$now" "job-$n" job-$n 'done' 1 60 ;;
        apart) call reserve "$now" '' "$now" 30 1 262144 0 && call ack "$now" '' job-$n ;;
        step | behind | left | chain)
            if [ $n -eq 1 ]; then
                call reserve "$now" '' "$now" 30 1 262144 0
            elif [ "$1" = left ]; then
                call step "$before" "$now" "$now" 30 1 262144 60 1 job-$((n - 1))
            else
                call step "$before" "$now" "$now" 30 1 262144 "''" "''" job-$((n - 1))
            fi
            ;;
        esac
    done
}

# run KIND [PUSHED]: prints how many instructions a Redis ran that did these, beside its start and its
# end, with jobs of the kind PUSHED.
run()
{
    LD_PRELOAD="$support/clock_shim.so $support/random_shim.so" CLOCK_COUNTS=1 \
        valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null --log-file="$box/count" \
        redis-server --port 0 --unixsocket "$box/socket" --save '' --dir "$box" --hz 1 >"$box/log" 2>&1 &
    server=$!
    tries=0
    until listens; do
        tries=$((tries + 1))
        [ $tries -lt 6000 ] || { cat "$box/log" >&2; exit 1; }
        sleep 0.1
    done
    for script in $called; do
        redis -x script load <"$scripts/$script.lua" >"$box/sha.$script"
    done
    jobs_of "${2:-$1}" | redis >"$box/pushed"
    rounds_of "$1" >"$box/rounds"
    redis <"$box/rounds" >"$box/answers"
    redis HGET 'later:{q}:stats' 'done' >"$box/done"
    redis shutdown nosave 2>/dev/null
    wait $server
    server=
    sed -n 's/.*I *refs: *//p' "$box/count" | tr -d ,
}

# at_most A OF B NAME: is A at most OF hundredths of B?
at_most()
{
    if [ "$1" -gt 0 ] && [ $(($1 * 100)) -le $(($2 * $3)) ]; then
        ok "$4: $1 instructions, $3"
    else
        not_ok "$4: $1 instructions, $3; at most $2 %"
    fi
}

none=$(run none)
bare=$((($(run bare) - none) / rounds))
apart=$((($(run apart) - none) / rounds))
is "$(cat "$box/done")" $rounds "as many are done, each by a reserve and an ack"
step=$((($(run step) - none) / rounds))
is "$(cat "$box/done")" $((rounds - 1)) "and by a step each"
ahead=$(printf ' later:{q}:%s' w1 w2 w3 w4 w5 w6 w7)
behind=$((($(run behind) - none) / rounds))
ahead=
is "$(cat "$box/done")" $((rounds - 1)) "also behind seven queues that have nothing"
left=$((($(run left) - none) / rounds))
is "$(cat "$box/done")" $((rounds - 1)) "also if each leaves a result"
none_of_chain=$(run none chain)
chain=$((($(run chain) - none_of_chain) / rounds))
is "$(cat "$box/done")" $((rounds - 1)) "and the steps of a chain by a step each"
results=$((($(run results) - none) / rounds))
is "$(cat "$box/done")" $rounds "and by a reserve and a finish each"
none_of_one=$(run none one)
one=$((($(run batches one) - none_of_one) / crowd))
is "$(cat "$box/done")" "$crowd" "and all jobs of one group in batches"
none_of_own=$(run none own)
own=$((($(run batches own) - none_of_own) / crowd))
is "$(cat "$box/done")" "$crowd" "and all jobs of groups of one"
none_of_empty=$(run none empty)
pushed=$((($(run pushed) - none_of_empty) / rounds))
is "$(grep -c '^PUSHED$' "$box/answers")" $rounds "and all are pushed by push_now"
bare_pushed=$((($(run bare_pushed) - none_of_empty) / rounds))
empty=$((($(run empty) - none_of_empty) / rounds))
is "$(grep -c '^[0-9.]*$' "$box/answers")" $rounds "and each answer of an empty queue is the time alone"
bare_empty=$((($(run bare_empty) - none_of_empty) / rounds))
at_most "$empty" 312 "$bare_empty" "a reserve from an empty queue against bare commands"
at_most "$pushed" 172 "$bare_pushed" "a push_now against the bare commands that write as much"
at_most "$results" 343 "$bare" "a reserve and a finish with a result against bare commands"
at_most "$apart" 254 "$bare" "a reserve and an ack against bare commands"
at_most "$step" 214 "$bare" "a step against bare commands"
at_most "$behind" 230 "$bare" "a step behind seven queues that have nothing against bare commands"
at_most "$left" 282 "$bare" "a step with a result against bare commands"
at_most "$chain" 340 "$bare" "a step of a chain, which makes the next one ready, against bare commands"
at_most "$own" 120 "$one" "a job in a batch, each of a group of its own, against all of one group"
finish
