#!/bin/sh
# Attempts are counted by queue and type without a command per job, even if workers and laterds die;
# later history.
. "${top_srcdir:=.}/tests/system/daemon.sh"
needs redis-server redis-cli

# past TYPE MEMBER: from `later history --json`, over all queues.
past()
{
    later history --json --since 2h | "$tools/json_lines" type "$2" |
        awk -F '\t' -v type="\"$1\"" '$1 == type { sum += $2 } END { print sum + 0 }'
}
# has TYPE MEMBER N
has() { [ "$(past "$1" "$2")" = "$3" ]; }

start_redis
configure 'workers = 2; grace = 0.2; retry = { base = 0.01; max = 0.01; };' \
    'queues = ( { name = "default"; }, { name = "spread"; shards = 2; } );'
start_laterd

# ---- outcomes

push_script due '{"type":"bytes"}' +8 >/dev/null
push_do retry '"do":"retry","upto":2'
push_do bury '"do":"bury"'
push_do late '"do":"hang"' '"timeout":0.1,"max_attempts":1'
push_do crash '"do":"signal","signal":11,"upto":1'
push_event ok ''
push_many 200 note null note-
within 20 "all attempts that went well" has note 'done' 200
within 20 "retries" has 'do' retry 2
within 10 "the history counts burials" has 'do' bury 1
within 10 "time-outs" has 'do' timeout 1
within 10 "a crash" has 'do' crash 1
within 10 "and the end of each" has 'do' 'done' 2
is "$(past 'do' attempts)" 7 "attempts are all of them"
is "$(past 'do' failed)" 5 "and so many failed"
within 5 "event jobs" has event 'done' 1

# ---- times

push_do slow '"do":"sleep","for":0.5'
within 10 "a slow one" has 'do' 'done' 3
within 10 "a delayed one" has bytes 'done' 1
later history --json --since 1h >"$work/json"
is "$("$tools/json_lines" type run <"$work/json" | sed -n 's/^"do".*"p99": *\([0-9.]*\).*/\1/p' |
    awk '{ print ($1 > 0.4 && $1 < 60) }')" 1 "how long the slowest ran"
is "$("$tools/json_lines" type wait <"$work/json" | sed -n 's/^"bytes".*"sum": *\([0-9.]*\).*/\1/p' |
    awk '{ print ($1 < 7.5) }')" 1 "a delay is no wait"
is "$("$tools/json_lines" type wait <"$work/json" |
    sed -n 's/^"note".*"count": *\([0-9]*\),.*/\1/p')" 200 "each wait is counted"

is "$("$tools/json_lines" type run <"$work/json" | sed -n '/^"note"/{s/.*"octaves": *//; s/[^0-9,-]/ /g; p;}' | tr , ' ' |
    awk '{ for (i = 2; i <= NF; i += 2) all += $i; print all, ($1 >= -20 && $1 < 6) }')" "200 1" "how many ran for how long"

# ---- shards, and a laterd that comes later

later push note -q spread >/dev/null && later push note -q spread >/dev/null
within 10 "jobs of shards are the queue's" has note 'done' 202
is "$(later history spread | cut -f 2,3)" "note	2" "in a table"
is "$(redis_all keys '*{spread/*}:totals' | grep -c spread)" 0 "shards have no history of their own"
stop_laterd
is "$exited" 0 "laterd stops"
push_many 10 note null more-
start_laterd
within 10 "the next one goes on from there" has note 'done' 212
kill -KILL "$laterd_pid"
await_laterd
is "$(past note 'done')" 212 "what a killed one had written stays"

# ---- laterds that live for a moment

for round in 1 2 3 4; do
    push_many 10 note null "moment-$round-"
    launch
    within 20 "a laterd performs its jobs ($round)" settled
    stop_laterd
done
is "$(past note 'done')" 252 "what they have counted is in the history"

# ---- the command

is "$(later history spread --by minute --since 1h | awk -F '\t' '{ sum += $3 } END { print sum, (NR >= 60) }')" \
    '2 1' "a row for each minute"
# The same once more, two hours before: each time has its own only.
for period in $(redis_all keys '*{spread}:minute:*' | grep -o 'later:{spread}:minute:[0-9]*'); do
    redis copy "$period" "later:{spread}:minute:$((${period##*:} - 120))" >/dev/null
done
is "$(later history spread --since 3h --until 1h --json | "$tools/json_lines" attempts)" 2 \
    "a time that ends an hour ago"
is "$(later history spread --since 1h --until 0s --json | "$tools/json_lines" attempts)" 2 \
    "and one that ends now"
is "$(later history spread --since 3h --json | "$tools/json_lines" attempts)" 4 "and both"
is "$(later history | cut -f 1 | sort -u | tr '\n' ' ')" "default spread " "all queues that have a history"
is "$(later history default --type note | cut -f 2,3)" "note	250" "of one type"
is "$(later history default --type note --by minute --since 3h | awk -F '\t' '{ sum += $3 } END { print sum, (NR >= 180) }')" \
    '250 1' "by minute, too"
is "$(later history default --type bytes --by minute --since 3h --json | "$tools/json_lines" type "done" | sort | uniq -c | awk '$3 { print $2, $3 }')" \
    '"bytes" 1' "each row says of which"
is "$(later history --type no.such)" "" "of a type that nobody had"
run later history --type ''
is "$status $(echo "$err" | head -n 1)" "64 later history: --type: the name of one" "an empty type is a mistake"
run later history --marks --type note
is "$status $(echo "$err" | head -n 1)" "64 later history: --marks have no types: leave --type out" "and a type of what has none"
later push note -q unserved >/dev/null
is "$(later history --number 1 | cut -f 1 | sort -u)" default "the one with the most attempts"
is "$(later history --number 2 --json | "$tools/json_lines" queue | sort -u | tr '\n' ' ')" '"default" "spread" ' "the two, without one that had none"
run later history --number 0; is "$status" 64 "none at all"
run later history --since 2h --until 2h; is "$status" 64 "an end that is not after the beginning"
run later history --by year; is "$status" 64 "a scale that is none"
run later history spread/1; is "$status" 64 "a shard"
run later history nobody; is "$status" 0 "a queue without history"
finish
