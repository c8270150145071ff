#!/bin/sh
# Jobs that cannot run now, because their type is unknown or a limit is reached, are returned with a
# delay. That is no attempt, nothing spins, and others go on.
. "${top_srcdir:=.}/tests/system/daemon.sh"
start_redis

# ---- a type without a plugin

configure 'workers = 2;' 'queues = ( { name = "default"; } );'
sed -i 's/ config = / load = ( "null" ); config = /; s/check = .*}; }; };/}; };/' "$work/laterd.conf"
start_laterd
for i in 1 2 3 4 5; do
    push_do "unknown-$i" '"do":"done"'
done
before=$(called evalsha) start=$(date +%s)
within 5 "jobs of an unknown type are returned" counts returned 5
# The first may be due again before the last is returned.
all_wait()
{
    [ "$(delayed)" = 5 ]
}
within 10 "jobs of unknown types wait with a delay" all_wait
push_job known '"type":"null"'
within 5 "a job of a known type runs" unknown known
advance_redis 5 # so long they wait
within 10 "and are looked at again" counts returned 10
is "$(attempts_of unknown-1) $(counted released) $(dead)" "0 0 0" "no attempt was counted"
# For each return a look, and the migrations when something is due; and those every 0.8 s.
calls=$(($(called evalsha) - before))
at_most "$calls" $((30 + 3 * ($(date +%s) - start) + 6 * $(counted returned))) "calls of scripts, few a look"
within 5 "the log says why" grep -q 'no plugin has this type.* job=unknown-' "$log"
how_many=$(how_often 'no plugin has this type')
at_most "$how_many" $((2 + 2 * (($(date +%s) - start) / 60))) "lines of it, one a worker and minute"
contains "$(later show unknown-1)" "no plugin has its type" "later show says that no plugin has the type"

# Its error says since when: 400 seconds ago, two days ago.
waits_long()
{
    redis ZSCORE "$(key delayed)" old-1 | awk -v now="$(date +%s)" '{ exit !($1 > now + 50) }'
}
push_do old-1 '"do":"done"'
push_do old-2 '"do":"done"'
within 5 "two more are returned" is_delayed old-2
within 5 "both of them" is_delayed old-1
# No worker may have one of them in hand while their records are changed.
later pause default >/dev/null
rest() { [ "$(reserved)" = 0 ]; }
wait_until 10 rest
for job in old-1:400 old-2:172800; do
    redis HSET "$(key records)" "${job%:*}" "e={\"at\":$(($(date +%s) - ${job#*:})).000000,\"attempt\":0,\"kind\":\"unknown\",\"text\":\"x\",\"host\":\"\"}" >/dev/null
done
later resume default >/dev/null
advance_redis 5
within 10 "after 400 seconds it waits for 100, a half more or less" waits_long
within 10 "after more than unknown_max, a day, it is buried" is_dead old-2
is "$(later show --json old-2 | grep -c '"kind":"unknown"')" 1 \
    "a job of a type that stays unknown is buried with the reason"
later cancel old-1 old-2 >/dev/null
configure 'workers = 2;'
kill -HUP "$laterd_pid"
wait_until 10 logged 'reloaded: '
advance_redis 5
within 15 "once a reload has brought the plugin they run" counts 'done' 6
is "$(lines begun) $(cut -d' ' -f2 "$work/begun" | sort -u)" "5 1" "once each, as first attempts"
stop_laterd
rm -f "$work/begun" "$work/ended"

# ---- limits of a type and of a queue; others go on meanwhile

configure 'workers = 2;' 'limits = (
    { type = "note"; max = 5; per = 1.0; window = "sliding"; },
    { queue = "slow"; max = 4; per = 1.0; window = "fixed"; }
);' 'queues = ( { name = "default"; }, { name = "slow"; } );'
start_laterd
before=$(called evalsha)
begin=$(present)
push_many 20 note null limited-
push_many 200 'do' null free-
"$tools/push" "$LATER_REDIS_URL" slow many 9 'do' null slow-
free_done()
{
    [ "$(grep -c '^free-' "$work/ended")" = 200 ]
}
within 2 "200 others go on" free_done
within 20 "20 jobs, 5 a second" counts 'done' 226
within 10 "9 jobs of a queue, 4 a second" counts 'done' 9 slow
# The limit's time is read a moment before a job starts, which may take a while. So only the last
# one is checked: it can only be later.
at_least "$(sum "$(grep '^limited-' "$work/begun" | cut -d' ' -f4 | sort -n | tail -n 1) - $begin")" 2.9 \
    "s until the twentieth of 5 a second (sliding)"
at_least "$(sum "$(grep '^slow-' "$work/begun" | cut -d' ' -f4 | sort -n | tail -n 1) - $begin")" 1 \
    "s until the ninth of 4 a second (fixed)"
is "$(cut -d' ' -f2 "$work/begun" | sort -u)" 1 "all ran at their first attempt"
is "$(counted released) $(counted released slow)" "0 0" "returned jobs are not counted as released"
elapsed=$(sum "$(present) - $begin")
echo "# $(($(called evalsha) - before)) calls, $(counted returned) and $(counted returned slow) returns in $elapsed s"
at_most "$(sum "($(called evalsha) - $before) / $elapsed")" 100 "calls of scripts a second"

end_well

# ---- a type that only one of two hosts has

configure 'workers = 2;'
start_laterd
sed "s/ config = / load = ( \"null\" ); config = /; s/check = .*}; }; };/}; };/; s|$work/state|&-2|" \
    "$work/laterd.conf" >"$work/other.conf"
"$laterd_bin" -c "$work/other.conf" </dev/null 2>"$work/other.log" &
other=$!
own "$other"
within 20 "a host without the type is ready" grep -q ' ready: ' "$work/other.log"
begin=$(present)
push_many 100 'do' '{"do":"sleep","for":0.1}' shared-
shared() { [ "$(grep -c '^shared-' "$work/ended")" = 100 ]; }
within 60 "it leaves the jobs to the host that has it" shared
in_time "$(sum "$(present) - $begin")" 7.5 "s (no more where nothing else runs) for 100 jobs of 0.1 s and two workers, half as long again as alone"
kill "$other"
wait "$other"
end_well
finish
