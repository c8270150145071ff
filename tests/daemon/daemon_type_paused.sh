#!/bin/sh
# later pause --type: jobs of the type are kept aside, others go on; what says so; how it ends.
. "${top_srcdir:=.}/tests/system/daemon.sh"
start_redis

configure 'workers = 1;' 'queues = ( { name = "default"; }, { name = "other"; },
    { name = "wide"; shards = 3; } );'

# kept N [T]: are so many jobs kept aside?
kept()
{
    [ "$(redis ZCARD "later:{default}:aside:${2:-note}")" = "$1" ]
}

delayed()
{
    redis ZCARD 'later:{default}:delayed'
}

# is_aside ID [T]: is this job kept aside?
is_aside()
{
    [ -n "$(redis ZSCORE "later:{default}:aside:${2:-note}" "$1")" ]
}

# keeps_aside NAME [T]: pushes a note, and another one if it has run, since laterd had not heard of the pause yet, until
# one is kept aside: $one.
keeps_aside()
{
    one='' notes=0
    awaited 20 "a note is kept aside" next_is_aside "$@"
}
next_is_aside()
{
    if [ -z "$one" ] || ended "$one"; then
        one=$1-$((notes += 1))
        later push note --id "$one"
    fi
    is_aside "$one" "${2:-note}"
}

# why ID: the first reason.
why()
{
    later show "$1" --json | sed -n 's/.*"why":{"reason":"\([a-z_]*\)","text":"\([^"]*\)".*/\1: \2/p'
}

# ---- what is pushed while it lasts, and what was there before; the supervisor reads it at its start

run later pause default --type note --by ann --reason 'the relay is slow'
is "$status$out$err" 0 "a type is paused: no words"
later push note --id before >/dev/null
later push note --id first -q other >/dev/null
start_laterd
awaited 20 "the same type in another queue goes on" ended first
push_do go
awaited 20 "other types of the queue go on" ended go
awaited 20 "a job of the type is kept aside" kept 1
for i in 1 2 3 4 5 6 7 8 9; do
    later push note --id "n$i" >/dev/null
done
later push note --id high --priority 5 >/dev/null
awaited 20 "so are those that are pushed while it lasts" kept 11
push_do more
awaited 20 "and those behind them go on" ended more
is "$(ended before && echo ran)" '' "none of them has begun"
is "$(delayed) $(later size default --json | field delayed)" "11 11" "they count as delayed"

# ---- who sees it

like "$(why n3)" '^type_paused: its type is paused by ann since ..:.. UTC: the relay is slow$' "later show says why"
is "$(later show n3 --json | sed -n 's/.*"why"://p' | sed 's/,"also".*//' | field for)" note "and names the type"
is "$(later size default | cut -f 6)" types "later size: only types are paused"
like "$(later size default --json)" \
    '"paused_types":\[{"type":"note","by":"ann","since":[0-9.]+,"until":null,"reason":"the relay is slow"}\]' \
    "later size --json names them"
like "$(later status --json | grep '"queue":"default"')" '"paused_types":\[{"type":"note"' "so does later status --json"
like "$(on_terminal "$later_bin status default")" \
    'default: the type note is paused by ann since ..:.. UTC: the relay is slow' "later status, for people"
run later check default
is "$status" 0 "later check finds nothing wrong"
run later pause default --type note
is "$status $err" "0 later pause: type note of queue default was paused already" "pausing twice: a message says so"
run later pause default --type note --by bob --for 10m --json
is "$status $out" '0 {"queue":"default","type":"note","paused":true,"changed":true}' "it gets an end: that is a change"
like "$(why n3)" '^type_paused: its type is paused by bob since ..:.. UTC, for (10\.0|9\.[0-9]) min more$' "for how long yet"

# ---- a job that was kept and is gone, or another one by now, does not come back

later cancel n9 >/dev/null
later cancel n8 >/dev/null
later push 'do' --id n8 --in 1h >/dev/null

# ---- it ends

returned=$(counted returned)
run later resume default --type note --json
is "$status $out" '0 {"queue":"default","type":"note","paused":false,"changed":true}' "it is ended"
awaited 20 "all of them run" ended n7
awaited 20 "the last one too" ended high
is "$(ended n9 && echo ran)$(redis ZSCORE 'later:{default}:ready' n8)" '' "but for those that were taken away"
is "$(delayed)" 1 "one of these is another job by now, and not due"
cut -d' ' -f1 "$work/begun" | sed -n 's/^high$/0/p; s/^before$/1/p; s/^n\([0-9]\)$/1\1/p' >"$work/order"
is "$(sort -n "$work/order" | tr '\n' ' ')" "0 1 11 12 13 14 15 16 17 " "each once"
# One that waits behind another for 50 ms, as on a busy machine, is returned, and others may be before it.
at_most "$(awk '$1 < last { n++ } { last = $1 } END { print n + 0 }' "$work/order")" "$(($(counted returned) - returned))" \
    "in the order in which they would have run: steps back"
awaited 20 "nothing is left of it" eval "[ \"\$(redis EXISTS 'later:{default}:overrides' 'later:{default}:aside:note')\" = 0 ]"
is "$(redis HGET 'later:{default}:stats' overrides)" '' "nor in the counters"
run later resume default --type note
is "$status $err" "0 later resume: type note of queue default was not paused" "resuming twice: a message says so"
is "$(later size default | cut -f 6)" no "later size says so too"

is "$(later history --marks default | awk -F '\t' '$3 == "pause" { print ($2 != ""), $4 }')" '1 default note' \
    "later history --marks: it has been there"

# ---- it ends by itself, also while no laterd is there; how types begin

later pause default --type 'no*' --for 10s >/dev/null
keeps_aside timed 'no*' # the beginning of types is paused
stop_laterd
is "$exited" 0 "laterd ends"
advance_redis 5
advance_redis 5
start_laterd
awaited 20 "a pause for a time ends by itself" ended "$one"

# ---- who is kept aside does not keep his place in a line

in_line() { [ "$(redis ZCARD 'later:lock:{door}:waiting')" = "$1" ]; }

"$later_bin" lock door -- sh -c "until [ -e '$work/open' ]; do sleep 0.05; done" &
own $!
awaited 20 "somebody holds the lock" eval "[ \"\$(redis EXISTS 'later:lock:{door}')\" = 1 ]"
later push note --id first_in_line --lock door >/dev/null
awaited 20 "a job waits for it" in_line 1
later push 'do' --id second_in_line --lock door >/dev/null
awaited 20 "and another one" in_line 2
later pause default --type note >/dev/null
keeps_aside heard
: >"$work/open"
awaited 20 "the second one gets it" ended second_in_line
awaited 20 "the first one is kept aside" is_aside first_in_line
is "$(ended first_in_line && echo ran)" '' "and has not begun"
later resume default --type note
awaited 20 "until the pause ends" ended first_in_line

# ---- a queue of several shards

# kept_wide: prints the jobs that the shards keep aside.
kept_wide()
{
    for shard in wide wide/0 wide/1 wide/2; do
        redis --raw ZRANGE "later:{$shard}:aside:note" 0 -1
    done
}

all_wide() { [ "$(kept_wide | grep -c '^w')" = 6 ]; }
none_wide() { [ -z "$(kept_wide)" ]; }

# each_keeps: pushes another job; does each shard keep one aside, since laterd has heard of the pause?
each_keeps()
{
    later push note -q wide --id "heard-$((notes += 1))"
    for shard in 0 1 2; do
        [ "$(redis ZCARD "later:{wide/$shard}:aside:note")" -gt 0 ] || return 1
    done
}

later pause wide --type note >/dev/null
notes=0
awaited 20 "each shard has heard of it" each_keeps
for i in 1 2 3 4 5 6; do
    later push note -q wide --id "w$i" >/dev/null
done
awaited 20 "each shard keeps its jobs aside" all_wide
like "$(why w4)" '^type_paused: its type is paused' "later show of a job in a shard"
later resume wide --type note
for i in 1 2 3 4 5 6; do
    awaited 20 "w$i comes back" ended "w$i"
done
awaited 20 "nothing is left of it in any shard" none_wide

# ---- wrong words

run later pause default --type 'a b'
is "$status" 64 "a type that no job can have"
run later pause --host web1 --type note
is "$status" 64 "not of a host"
run later pause default --reason x
is "$status" 64 "a reason without a type"
run later pause default --type note --reason "$(printf 'a\nb')"
is "$status" 64 "a reason of two lines"

# ---- a queue with a pause is forgotten as a whole

later pause default --type note >/dev/null
later cancel n8 >/dev/null
stop_laterd
later pause gone --type note >/dev/null
later forget gone >/dev/null 2>&1
is "$(redis EXISTS 'later:{gone}:overrides' 'later:{gone}:stats')" 0 "later forget takes it along"
finish
