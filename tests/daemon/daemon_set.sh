#!/bin/sh
# later set: other numbers for a limit or max_running of laterd.conf, while two laterds run.
. "${top_srcdir:=.}/tests/system/daemon.sh"
start_redis

configure 'workers = 4;' 'types = ( { name = "do"; max_running = 4; } );' 'limits = (
    { type = "note"; max = 2; per = 600.0; },
    { type = "event"; member = "to"; max = 1; per = 600.0; } );' \
    'queues = ( { name = "default"; }, { name = "thin"; max_running = 1; } );'
sed "s|\"$work/state\"|\"$work/other\"|" "$work/laterd.conf" >"$work/other.conf"

both_ready() { [ "$(how_often ' ready: ')" = 2 ]; }
announced() { says_needs "$laterd_pid" && says_needs "$other"; }
says_needs() { redis HVALS later:hosts | grep -q "\"pid\":$1,.*\"needs\":"; } # that of one before may be there still

# start_both: two laterds that log into $log; the first is in $laterd_pid.
start_both()
{
    start_laterd
    "$laterd_bin" -c "$work/other.conf" </dev/null 2>>"$log" &
    other=$!
    own "$other"
    awaited 20 "both are ready" both_ready
    awaited 20 "both have announced themselves" announced
    heard=$(how_often ' that are set: ')
}

stop_both()
{
    stop_laterd
    kill "$other"
    wait_until 60 gone "$other" || kill -KILL "$other"
    wait "$other" 2>/dev/null
}

both_heard() { [ "$(how_often ' that are set: ')" -ge "$heard" ]; }

# change WORDS...: `later WORDS`, and both laterds have heard of it.
change()
{
    heard=$(($(how_often ' that are set: ') + 2))
    later "$@" || not_ok "later $*"
    awaited 20 "both hear of: $*" both_heard
}

# run_now N: do so many of the type do run? in_line KIND N: do so many wait?
run_now() { [ "$(redis ZCARD 'later:running:{type:do}')" = "$1" ]; }
in_line() { [ "$(redis ZCARD "later:$1:waiting")" = "$2" ]; }
notes() { [ "$(grep -c '^note-' "$work/ended")" = "$1" ]; }

# hold ID...: pushes jobs that run until let_go ID...
hold()
{
    for id in "$@"; do
        push_do "$id" "\"do\":\"sleep\",\"until\":\"go-$id\""
    done
}
let_go()
{
    for id in "$@"; do
        : >"$work/go-$id"
        awaited 20 "$id ends" ended "$id"
    done
}

start_both

# ---- a lower number of max_running

change set max_running type:do --max 1 --by ann
hold a b c
awaited 20 "one of them runs" run_now 1
awaited 20 "the others wait" in_line 'running:{type:do}' 2
run_now 1
is $? 0 "no second one has begun"
like "$(later set)" '^max_running	type:do	1		[0-9.]+		ann$' "later set lists it"
like "$(later set --json)" \
    '^\{"kind":"max_running","name":"type:do","max":1,"per":null,"by":"ann","since":[0-9.]+,"until":null\}$' "as JSON"
like "$(later lock --json | grep '"name":"type:do"')" '"max":1,.*"set":[0-9.]+\}' "later lock knows it"
run later check
is "$status" 0 "later check finds nothing wrong"
waits=$(redis ZRANGE 'later:running:{type:do}:waiting' 0 0)
like "$(later show "${waits#default }" --json)" '"why":\{"reason":"max_running",.*1 of 1 run, [a-z]+ in line; that was set by ann since ' "later show says why a job waits"
like "$(on_terminal "$later_bin status default")" 'max_running type:do: 1, set by ann since ..:.. UTC' "later status, for people"

# ---- a higher one; what is so already

since=$(present)
change set max_running type:do --max 3
awaited 20 "all three run" run_now 3
in_time "$(sum "$(present) - $since")" 4 "soon after it was set"
run later set max_running type:do --max 3
is "$status $err" "0 later set: max_running type:do was so already" "setting it twice: a message says so"
let_go a b c

# ---- it outlives a restart

stop_both
start_both
hold d e f g
awaited 20 "three run after a restart" run_now 3
awaited 20 "the fourth waits" in_line 'running:{type:do}' 1
change unset max_running type:do
awaited 20 "unset: four run, as configured" run_now 4
run later unset max_running type:do
is "$status $err" "0 later unset: max_running type:do was not set" "unsetting it twice: a message says so"
let_go d e f g

# ---- it ends by itself

hold h
awaited 20 "one runs" run_now 1
change set max_running type:do --max 1 --for 3s
hold i
awaited 30 "the second one begins when it ends by itself" run_now 2
let_go h i
nothing_set() { [ "$(redis EXISTS 'later:{limits:}:overrides' 'later:{limits:}:stats')" = 0 ]; }
within 20 "nothing is left of it" nothing_set
is "$(later set)" '' "nor does later set list it"

# ---- max_running of a queue

change set max_running queue:thin --max 2
for id in t1 t2; do
    later push 'do' "{\"do\":\"sleep\",\"until\":\"go-$id\"}" -q thin --id "$id" >/dev/null
done
awaited 20 "a queue with more than is configured" eval "[ \"\$(redis ZCARD 'later:running:{queue:thin}')\" = 2 ]"
let_go t1 t2

# ---- a limit

change set limit type:note --max 3
push_many 6 note null note-
awaited 20 "3 of 6 in ten minutes" notes 3
awaited 20 "the others wait" in_line 'limit:{type:note}' 3
change set limit type:note --max 1
change set limit type:note --max 5 --per 10m
awaited 20 "5 of them: those that have begun are known" notes 5
within 20 "the sixth waits" in_line 'limit:{type:note}' 1
notes 5
is $? 0 "and has not begun"
is "$(later history --marks --json | sed -n 's/.*"set":"\([^"]*\)".*"open":\(.*\)}/\1 \2/p' | paste -sd' ')" \
    'permit:type:do false permit:type:do false permit:type:do false permit:queue:thin true limit:type:note false limit:type:note false limit:type:note true' \
    "the curves of the history have each as a mark"
change set limit type:note --max 2
begun() { [ "$(sum "$(redis LINDEX 'later:limit:{type:note}' 0) < $(present)")" = 1.000 ]; }
awaited 20 "all five are counted from when they began" begun
second=$(redis LINDEX 'later:limit:{type:note}' 1) before=$(present)
opens=$(later lock --json | sed -n 's/.*"name":"type:note".*"opens":\([0-9.]*\).*/\1/p')
at_most "$opens" "$(sum "$second + 600 - $before + 0.01")" "a lower number: it opens when the last but one of five is ten minutes ago"
at_least "$opens" "$(sum "$second + 600 - $(present) - 0.01")" "and no sooner"
change set limit type:note --max 5 --per 1s
awaited 20 "another time opens it" notes 6

# ---- of all values of a member, and of one

change set limit type:event:to= --max 2
change set limit type:event:to=bob --max 3
for i in 1 2 3 4; do
    push_event "ann$i" '"to":"ann"'
    push_event "bob$i" '"to":"bob"'
done
events() { [ "$(grep -c "^$1" "$work/ended")" = "$2" ]; }
awaited 20 "two of ann" events ann 2
awaited 20 "three of bob" events bob 3
awaited 20 "two of ann wait" in_line 'limit:{type:event:to=ann}' 2
awaited 20 "one of bob waits" in_line 'limit:{type:event:to=bob}' 1

# ---- refused

run later set limit type:none --max 1
is "$status $err" "66 later set: no laterd that is alive has a limit type:none in its configuration" "what is not configured"
run later set max_running queue:default --max 1
is "$status" 66 "nor is that"
run later set max_running type:note --max 1
is "$status" 66 "a limit is no max_running"
run later set timeout type:do --max 1
like "$status $err" '^64 later set: timeout cannot be set: limit or max_running can' "what cannot be set"
run later set limit type:note
is "$status" 64 "without a number"
run later set limit --max 1
is "$status" 64 "without a name"
run later set --max 1
is "$status" 64 "without both"
run later set max_running type:do --max 1 --per 1
is "$status" 64 "--per goes with a limit"
run later set limit type:note --max 1 --per 2d
is "$status" 64 "for more than a day"
run later set limit type:note --max 0
is "$status" 64 "none at all: that is a pause"

stop_both
finish
