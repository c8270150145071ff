#!/bin/sh
# later show: why a job does not run, every reason in turn, each provoked; what it waits for, and until
# when. The reasons are those of doc/later.1.
. "${top_srcdir:=.}/tests/system/daemon.sh"
start_redis

configure 'workers = 2;' 'limits = (
    { queue = "fixed"; max = 1; per = 600.0; window = "fixed"; },
    { queue = "sliding"; member = "to"; max = 1; per = 600.0; }
);' 'types = ( { name = "note"; exclusive = "type"; }, { name = "ev*"; max_running = 1; } );' \
    'queues = ( { name = "default"; }, { name = "thin"; max_running = 1; }, { name = "fixed"; },
    { name = "sliding"; }, { name = "tenants"; } );' 'groups = ( { queue = "tenants"; max_running = 1; } );'
mkdir -p "$work/conf.d"
cat >"$work/conf.d/exec.conf" <<'END'
plugins = { config = { exec = { busy = { argv = ("/bin/sh", "-c", "exit 75"); types = ("gives.back"); }; }; }; };
END

# why ID: prints `REASON: TEXT` of each reason, with ; between.
why()
{
    later show "$1" --json | sed -n 's/.*"why"://p' | grep -o '"reason":"[a-z_]*","text":"[^"]*"' |
        sed 's/"reason":"\([a-z_]*\)","text":"\([^"]*\)"/\1: \2/' | paste -s -d ';' -
}

# told MEMBER ID: prints a member of the first reason.
told()
{
    later show "$2" --json | sed -n 's/.*"why"://p' | sed 's/,"also".*//' | field "$1"
}

# is_why ID PATTERN: does the first reason look so, now?
is_why()
{
    why "$1" | grep -Eq "^$2"
}

# why_is ID PATTERN NAME: is it so within a while?
why_is()
{
    if wait_until 10 is_why "$1" "$2"; then
        ok "$3"
    else
        not_ok "$3"
        printf 'got:    %s\nwanted: %s\n' "$(why "$1")" "$2" | sed 's/^/# /'
    fi
}


# ---- nobody is there

later push 'do' --id ready-1 >/dev/null
later push 'do' --id late --in 200s >/dev/null
why_is ready-1 'no_laterd: no laterd is alive$' "no laterd at all"
why_is late 'due: due in [0-9.]+ (min|s), at ..:.. UTC;no_laterd: no laterd is alive$' \
    "not due, and no laterd"
is "$(told until late | cut -d . -f 1)" "$(redis ZSCORE 'later:{default}:delayed' late | cut -d . -f 1)" "until when"
now=$(redis TIME | head -n 1)
host()
{
    redis HSET later:hosts "$1:1" '{"host":"'"$1"'","pid":1,"version":"0","started":1,"seen":'$(($(redis TIME | head -n 1) - $2))',"workers":2,"running":'"$3"',"performed":0,"failed":0,"rate":0,"queues":["'"$4"'"],"patterns":{},"runs":{},"nodes":{}'"${5-}"'}' >/dev/null
}
host old 100 0 default
why_is ready-1 'no_laterd: no laterd is alive; old was the last, (1[0-9][0-9] s|[2-9]\.[0-9] min) ago' "the last one is named"
host other -3600 0 elsewhere
why_is ready-1 'host_lost: no laterd serves default any more: old was not seen for (1[0-9][0-9] s|[2-9]\.[0-9] min)' \
    "its host is gone, another serves something else"
is "$(told 'for' ready-1)" old "which host"
redis HDEL later:hosts old:1 >/dev/null
why_is ready-1 'queue_unserved: no laterd serves default$' "nobody serves its queue"
is "$(told 'for' ready-1)" default "which queue"

# ---- one is there that does nothing

host idle -3600 0 default
why_is ready-1 'next: it is next' "nothing is ahead of it"
redis ZADD 'later:{default}:delayed' "$now" late >/dev/null
why_is late 'moves: due [0-9.]* (s|min) ago: a laterd makes it ready within a second' "it is due"
later push 'do' --id ready-2 >/dev/null
why_is ready-2 'ahead: 1 ahead of it, and none has run in the last minutes$' "another is ahead of it"
is "$(told count ready-2)" 1 "how many"
host idle -3600 2 default
why_is ready-1 'busy: all workers are busy: 2 of 2 that serve default run a job' "all workers are busy"
host idle -3600 0 default ',"fault":"2 of 2 workers crash"'
why_is ready-1 'fault: each laterd that serves default has a fault: 2 of 2 workers crash' "each has a fault"
host idle -3600 0 default
host idle -3600 0 default ',"quiet":{"since":'"$now"',"by":"ann"}'
why_is ready-1 'quiet: idle is quiet by ann since ..:.. UTC' "each host is quiet: which, by whom, since when"
is "$(told 'for' ready-1) $(told by ready-1)" "idle ann" "both by themselves"
host idle -3600 0 default
redis HSET 'later:{default}:records' ready-1 'c=0' >/dev/null
why_is ready-1 'suspect: it ran beside others when their worker crashed' "it must run alone"
later push 'do' --id old-1 --expires-in 20m >/dev/null
later push 'do' --id old-2 --expires-in 50s >/dev/null
why_is old-2 'ahead: .*;expires: expires in [0-9.]* s' "it will expire soon"
later push 'do' --id old-2 --replace --expires-at $(($(redis TIME | head -n 1) - 10)) >/dev/null
why_is old-2 'expired: expired [0-9.]* (s|min) ago: it is dropped when its turn comes' "it has expired"
is "$(why old-1 | grep -c expire)" 0 "another will expire, but not soon"

# ---- paused

later pause default --by ann >/dev/null
why_is ready-1 'paused: default is paused by ann since ..:.. UTC$' "paused: by whom, since when"
is "$(told by ready-1) $(told until ready-1)" "ann null" "both by themselves"
like "$(told since ready-1)" '^[0-9]{10}' "since when"
later pause default --for 10m --by bob >/dev/null
why_is ready-1 'paused: default is paused by bob since ..:.. UTC, for (10|[6-9]\.[0-9]) min more$' "paused for a time"
later resume default >/dev/null 2>&1
redis SET 'later:{default}:paused' 1 >/dev/null
why_is ready-1 'paused: default is paused$' "paused by an older version, or by hand"
later pause default >/dev/null 2>&1
is "$(told by ready-1)" "$(id -un)" "who pauses is who runs later"
later resume default >/dev/null

# ---- Redis

redis CONFIG SET maxmemory 1mb >/dev/null
why_is ready-2 'redis_full: Redis has no memory left, [0-9.]+ [KM]iB of 1.0 MiB are used' "Redis is full"
redis CONFIG SET maxmemory 0 >/dev/null

# ---- flows

cat >"$work/flow" <<'END'
{"type":"null","step":"a"}
{"type":"null","step":"b"}
{"type":"null","step":"c","after":["a","b"]}
{"type":"null","step":"d","after":["c"]}
{"type":"null","step":"e","after":["*"],"when":"ended"}
END
later push --flow f --file "$work/flow" -q flows >/dev/null
host flows -3600 0 flows
why_is f.c 'flow: waits for 2 of 2: a \((open|ready)\), b \((open|ready)\) in flow f$' "two steps"
is "$(told 'for' f.c) $(told count f.c)" "f 2" "which flow, how many"
why_is f.d 'flow: waits for c \(waiting\) in flow f$' "one step, which waits itself"
why_is f.e 'flow: waits for 4 of 4: all others' "all others"
printf '%s\n' '{"type":"null","step":"x","queue":"nowhere"}' '{"type":"null","step":"y","after":["x"]}' |
    later push --flow g -q flows --file - >/dev/null
why_is g.y 'flow: waits for x \(waiting\) in flow g;queue_unserved: no laterd serves nowhere, and flow g needs it$' \
    "a step in a queue that nobody serves"
printf '%s\n' '{"type":"null","step":"x","queue":"flows"}' | later push --flow h -q nowhere --file - >/dev/null
why_is h.x 'flow: waits for flow h of nowhere to let it run;queue_unserved: no laterd serves nowhere, and flow h needs it$' \
    "a flow in a queue that nobody serves"
later bury f.a -q flows >/dev/null
why_is f.c 'flow_blocked: waits for 2 of 2: a \(dead\), b' "a step is dead"
why_is f.a 'dead: dead since ..:.. UTC: `later kick` makes it ready' "a dead job"
later push null -q kept --id k >/dev/null

# ---- a laterd

redis DEL later:hosts >/dev/null
redis DEL 'later:{default}:ready' 'later:{default}:jobs' 'later:{default}:records' 'later:{default}:delayed' \
    'later:{default}:stats' >/dev/null
start_laterd
hosts() { [ "$(redis HLEN later:hosts)" -ge 1 ]; }
wait_until 10 hosts
push_do fails '"do":"retry"' '"backoff":600'
later push gives.back --id back >/dev/null
later push nobodys --id nobodys >/dev/null
why_is fails 'retry: attempt 2 in (10|[6-9]\.[0-9]) min, after retry: ' "it failed"
is "$(told count fails)" 1 "how often"
why_is back 'returned: its handler gave it back: ' "its handler gave it back"
why_is nobodys 'type_unknown: no host that serves default has the type nobodys, since ..:.. UTC; asked again in [0-9.]* s' \
    "nobody has its type"
# What waits looks for itself now and then, and is not there for a moment.
is_told() { [ "$(told "$1" "$2")" = "$3" ]; }
within 10 "which type" is_told 'for' nobodys nobodys

later push 'do' '{"do":"sleep","until":"lock-end"}' --id holds --lock invoices >/dev/null
runs() { grep -q "^$1 " "$work/begun"; }
wait_until 20 runs holds
why_is holds 'running: a worker has it$' "it runs"
for i in 1 2 3; do later push 'do' '{"do":"done"}' --id "wants-$i" --lock invoices >/dev/null; done
why_is wants-3 'lock: waits for the lock invoices, held by job holds on [^ ]+ for [0-9.]* (s|min), third in line' \
    "a lock: who has it, for how long, its place"
within 10 "which lock" is_told 'for' wants-3 invoices
within 10 "its place" is_told count wants-3 3
touch "$work/lock-end"
within 20 "it runs when the lock is free" runs wants-3

later push note '{}' --id note-x --lock invoices-2 >/dev/null
within 20 "one of an exclusive type" runs note-x
later lock type:note --ttl 60 --wait 300 -- sleep 900 2>/dev/null & # note-x may have it for a moment
holder=$!
own "$holder"
lock_is_ours() { later lock type:note --show --json | grep '"held":true' | grep -vq note-x; }
wait_until 10 lock_is_ours
later push note --id note-1 >/dev/null
why_is note-1 'lock: waits for the lock type:note, held by .* for [0-9.]* (s|min), first in line' \
    "an exclusive type: held by a program"

push_event() { later push event '{"do":"sleep","until":"event-end"}' --id "$1" >/dev/null; }
push_event event-1
wait_until 20 runs event-1
push_event event-2
push_event event-3
why_is event-3 'max_running: waits for max_running of type:ev\*: 1 of 1 run, second in line' "max_running of a type"
within 10 "which type it is" is_told 'for' event-3 'type:ev*'
touch "$work/event-end"
rm -f "$work/thin-end"
later push 'do' '{"do":"sleep","until":"thin-end"}' -q thin --id thin-1 >/dev/null
wait_until 20 runs thin-1
later push 'do' '{"do":"done"}' -q thin --id thin-2 >/dev/null
why_is thin-2 'max_running: waits for max_running of queue:thin: 1 of 1 run, first in line' "max_running of a queue"
touch "$work/thin-end"
later push 'do' '{"do":"sleep","until":"group-end"}' -q tenants --group acme --id acme-1 >/dev/null
wait_until 20 runs acme-1
later push 'do' '{"do":"done"}' -q tenants --group acme --id acme-2 >/dev/null
why_is acme-2 'max_running: its group acme has 1 of 1 running, first in line' "max_running of a group"
within 10 "which group it is" is_told 'for' acme-2 'group:tenants:acme'
touch "$work/group-end"

for queue in fixed sliding; do
    later push 'do' '{"do":"done","to":"ann"}' -q "$queue" --id "$queue-1" >/dev/null
    wait_until 20 runs "$queue-1"
    later push 'do' '{"do":"done","to":"ann"}' -q "$queue" --id "$queue-2" >/dev/null
done
why_is fixed-2 'limit: waits for the limit queue:fixed, which opens in (10|[6-9]\.[0-9]) min, first in line' "a limit"
why_is sliding-2 'limit: waits for the limit queue:sliding:to=ann, which opens in (10|[6-9]\.[0-9]) min, first in line' \
    "a limit by a member"
opens() { told until sliding-2 | grep -Eq '^[0-9]{10}'; }
within 10 "when it opens" opens

# ---- ahead: by the rate

rm -f "$work/lock-end"
push() { "$tools/push" "$LATER_REDIS_URL" default many "$1" 'do' "$2" "$3"; }
push 3000 '{"do":"sleep","for":0.05}' flood-
later push 'do' '{"do":"done"}' --id after-flood >/dev/null
why_is after-flood 'ahead: [0-9,]+ ahead of it, about [0-9.]+ (s|min)' "so many ahead, and how long that takes"

# ---- again, and how it is printed

later push 'do' '{"do":"sleep","until":"again-end"}' --id again --priority 50 >/dev/null
wait_until 30 runs again
later push 'do' '{"do":"done"}' --id again --again >/dev/null
why_is again 'running: a worker has it; it was pushed again, and runs once more after that' "pushed again"
touch "$work/again-end"
like "$(NO_COLOR=1 on_terminal "$later_bin show fails")" '^why  *attempt 2 in ' "people see a line"
is "$(later show fails | cut -f 1-3)" "$(printf 'fails\tdelayed\tdo')" "programs get the columns as ever"

# ---- its cost: the questions of one look at a ready job, beyond those of the job itself

# Nobody else asks Redis meanwhile, as who renews a lock. On a busy machine it is asked more often whether it is there.
stop_laterd
kill "$holder"
wait "$holder"
count_all()
{
    redis INFO commandstats | tr -d '\r' | tr ':,=' '   ' | awk '/^cmdstat_/ && !/^cmdstat_ping / { sum += $3 } END { print sum }'
}
later push 'do' --id cost >/dev/null
before=$(count_all)
later show cost -q default >/dev/null
middle=$(count_all)
later show cost -q default --json >/dev/null
at_most "$(($(count_all) - middle - (middle - before)))" 9 "to say why costs at most nine commands"

finish
