#!/bin/sh
# Schedules, by the service ticker: each tick comes once, whichever laterd dies. Those of the configuration
# come and go with it. Missed ticks follow the policy. Many idle ones cost nothing. LATER_SOAK=N: another
# laterd of this host comes, reloads and goes N times.
. "${top_srcdir:=.}/tests/system/daemon.sh"
start_redis
crontab=$(key crontab) cron=$(key cron)

# state_of_schedule NAME TAG
state_of_schedule()
{
    redis --raw HGET "$crontab" "$1:state" | sed -n "s/^$2=//p"
}

has()
{
    [ -n "$(redis ZSCORE "$cron" "$1")" ]
}

has_not()
{
    ! has "$1"
}

# ticks NAME: prints those that were performed, in order.
ticks()
{
    cut -d' ' -f1 "$work/begun" | sed -n "s/^cron:$1:\([0-9]*\)$/\1/p" | sort -nu
}

# none_missing NAME: has each tick been performed, of a schedule of every second?
none_missing()
{
    ticks "$1" | awk 'NR > 1 && $1 != last + 1 { bad++ } { last = $1 } END { exit bad > 0 }'
}

# twice NAME: prints those that were pushed twice. What a killed laterd ran is run again, as a second attempt.
twice()
{
    cut -d' ' -f1,2 "$work/begun" | grep "^cron:$1:" | sort | uniq -d
}

performed()
{
    [ "$(ticks "$1" | wc -l)" -ge "$2" ]
}

# ---- two laterds, one of them killed: each tick once, none early, none missing

schedules='{ name = "second"; at = "* * * * * *"; type = "note"; }'
configure 'workers = 1;' 'lease = 10.0;' "cron = ( $schedules );"
start_laterd
sed "s|state_dir = \"\(.*\)\"|state_dir = \"\1.2\"|" "$work/laterd.conf" >"$work/second.conf"
"$laterd_bin" -c "$work/second.conf" </dev/null 2>>"$work/second.log" &
second=$!
own "$second"
within 20 "four ticks of a schedule of every second" performed second 4
kill -KILL "$second"
is "$(redis ZCARD "$cron")" 1 "one schedule, though two have it"
within 20 "and four more after one laterd was killed" performed second 8
# What the killed one held comes when its lease is over.
within 60 "no tick is missing" none_missing second
is "$(twice second)" '' "each was pushed once"
sed -n 's/^cron:second:\([0-9]*\) /\1 /p' "$work/begun" |
    awk '$4 < $1 { early++ } END { print early + 0, (NR >= 8) }' >"$work/early"
is "$(cat "$work/early")" "0 1" "no tick was pushed early"
is "$(state_of_schedule second missed)" '' "no tick was missed"

# ---- another laterd of the same host, which had it and has it no more, or never had it

# other_laterd STATE: starts it, with a log of its own, and reloads it.
other_laterd()
{
    sed "/^cron = /d; s|^state_dir = .*|state_dir = \"$work/$1\";|" "$work/laterd.conf" >"$work/other.conf"
    # Emptied here: the shell that becomes this laterd may do so late. It would show the lines of the one before,
    # and be told to reload while it is still the shell, which takes HUP for itself.
    : >"$work/other.log"
    "$laterd_bin" -c "$work/other.conf" </dev/null 2>>"$work/other.log" &
    other=$!
    own "$other"
    awaited 20 "the other laterd starts" grep -q ' ready: ' "$work/other.log"
    kill -HUP "$other"
    awaited 20 "it reloads" grep -q ' reloaded: ' "$work/other.log"
    awaited 20 "it has seen what Redis has" other_is_told
    kill "$other"
    wait "$other"
}
# Its field is written after that.
other_is_told()
{
    redis HKEYS later:hosts | grep -q ":$other$"
}
for i in $(seq "${LATER_SOAK:-4}"); do
    other_laterd "state.$((2 + i % 2))"
done
before=$(ticks second | wc -l)
within 20 "the first one's schedule goes on" performed second $((before + 1))
within 60 "no tick was lost while the other started and reloaded" none_missing second
is "$(twice second)" '' "nor pushed twice"
at_least "$(state_of_schedule second fired)" "$before" "nor was the schedule ever dropped: its counts go on"

# ---- an end to it: three jobs and no more, none after a time, none before one, though two laterds have it

bounds='{ name = "second"; every = 1; type = "note"; }, { name = "three"; every = 1; type = "note"; limit = 3; }'
until=$(($(redis TIME | head -n 1) + 4))
bounds="$bounds, { name = \"until\"; every = 1; type = \"note\"; until = \"$until\"; catch_up = \"all\"; }"
bounds="$bounds, { name = \"from\"; every = 1; type = \"note\"; from = \"4000000000.5\"; }"
configure 'workers = 1;' 'lease = 10.0;' "cron = ( $bounds );"
kill -HUP "$laterd_pid"
sed "s|state_dir = \"\(.*\)\"|state_dir = \"\1.2\"|" "$work/laterd.conf" >"$work/second.conf"
"$laterd_bin" -c "$work/second.conf" </dev/null 2>>"$work/second.log" &
second=$!
own "$second"
is_over()
{
    [ "$(redis ZSCORE "$cron" "$1")" = inf ]
}
within 30 "one that may push three jobs is over" is_over three
within 30 "and one whose time is up" is_over until
kill -HUP "$laterd_pid"
before=$(ticks second | wc -l)
within 30 "after a reload others go on" performed second $((before + 3))
is "$(redis ZSCORE "$cron" three) $(state_of_schedule three fired)" "inf 3" "but not these"
within 30 "its three jobs are done" performed three 3
is "$(ticks three | wc -l) $(twice three)" "3 " "each once"
is "$(ticks until | awk -v until="$until" '$1 > until')" '' "no tick after its time"
is "$(redis ZSCORE "$cron" from)" 4000000001 "nor before it"
kill "$second"
wait "$second"
other_laterd state.2 # which has them no more
is "$(later cron --json | grep '"three"' | grep -o '"state":.*')" \
    '"state":"over","origin":"'"$(state_of_schedule three origin)"'","from":null,"until":null,"limit":3,"fired":3,"skipped":0,"missed":0,"words":"every second","coming":[],"job":"cron:three:'"$(state_of_schedule three tick)"'"}' \
    "the list says so"
is "$(later cron next three)$(later cron next until)" '' "they have no next tick"
is "$(later cron next from -n 2 | cut -f 3 | tr '\n' ' ')" "4000000001 4000000002 " "and this one has, then"
is "$(later cron set few '@every 1s' note --from 2040-01-01T00:00:00Z --until 2040-01-01T00:00:09Z -n 2)" \
    2040-01-01T00:00:00Z "set: its first tick"
is "$(later cron next few -n 9 | cut -f 3 | tr '\n' ' ')" "2208988800 2208988801 " "of as many as it may"
is "$(later cron set few '@every 1s' note --until 2002-01-01T00:00:00Z)" over "one that is over from the start"
run later cron set few '@every 1s' note --from 2040-01-01T00:00:01Z --until 2040-01-01T00:00:00Z
is "$status" 64 "one that ends first is refused"
like "$err" 'until: 2040-01-01T00:00:00Z is before its beginning' "and why"
later cron delete few

# ---- an edit takes effect at once; what leaves the configuration goes; what was set by hand stays

# Only another time.
later cron set moved '0 3 * * *' note '{"a": 12345678901234567890}' --zone Europe/Berlin --priority 3 --timeout 1m >/dev/null
later cron set moved '30 4 * * mon' >/dev/null
is "$(redis --raw HGET "$crontab" moved | tr '\n' ' ')" \
    'at=30 4 * * mon zone=Europe/Berlin priority=3  {"type":"note","timeout":60,"payload":{"a": 12345678901234567890}} ' "another time, all else as it was"
later cron set moved 'TZ=UTC @daily' >/dev/null
like "$(later cron --json | grep '"moved"')" '"at":"TZ=UTC @daily","zone":"UTC",.*"words":"at 00:00","coming":\[([0-9]+,){4}[0-9]+\],"job":null\}$' \
    "its own zone; words, and the next five"
run later cron set moved '@daily' --priority 4
is "$status" 64 "an option needs the type, too"
run later cron set nobody '@daily'
is "$status" 66 "one that is not there"
run later cron set moved 'never'
is "$status" 65 "no expression"
later cron delete moved
later cron set byhand '@every 86400' note --max-attempts 3 --retry-for 2h --timeout 1m --backoff 5 --result 1h --lock l \
    --trace t --on-dead d --on-done e@f --group g --priority 7 --expires-in 1h >/dev/null
is "$(redis --raw HGET "$crontab" byhand | grep -o '{.*')" \
    '{"type":"note","max_attempts":3,"retry_for":7200,"timeout":60,"backoff":5,"result":3600,"lock":"l","group":"g","trace":"t","on_dead":"d","on_done":"e@f"}' \
    "the options of a schedule's jobs; priority and expires_in are the schedule's own"
configure 'workers = 1;' \
    'cron = ( { name = "second"; every = 2; type = "note"; }, { name = "daily"; at = "@daily"; type = "note"; } );'
kill -HUP "$laterd_pid"
within 20 "a reload brings a new schedule" has daily
changed()
{
    redis --raw HGET "$crontab" second | grep -q '^at=@every 2$'
}
within 20 "and changes another" changed
since=$(redis TIME | head -n 1)
newer()
{
    ticks second | awk -v since="$since" '$1 > since'
}
two_newer()
{
    [ "$(newer | wc -l)" -ge 2 ]
}
within 20 "which goes on" two_newer
is "$(newer | awk '$1 % 2')" '' "by its new expression"
configure 'workers = 1;' 'cron = ( { name = "daily"; at = "@daily"; type = "note"; } );'
kill -HUP "$laterd_pid"
within 20 "what the configuration has no more goes" has_not second
runs "all else stays" has daily
runs "and what was set by hand" has byhand
stop_laterd

# ---- 90 minutes without a host: an hourly schedule that was due twice fires once

configure 'workers = 1;' 'log = { level = "debug"; };'
# The last tick was half an hour ago, the next one comes in half an hour.
hour=$(($(redis TIME | head -n 1) / 60 * 60 - 1800))
for policy in last none all; do
    later cron set "$policy" "$((hour / 60 % 60)) * * * *" note --catch-up "$policy" --late 0 >/dev/null
    redis ZADD "$cron" $((hour - 3600)) "$policy" >/dev/null
done
start_laterd
caught_up()
{
    for policy in last none all; do
        [ "$(redis ZSCORE "$cron" "$policy")" -gt "$hour" ] || return 1
    done
}
within 20 "missed ticks are dealt with" caught_up
within 20 "their jobs are done" performed all 2
awaited 20 "of all policies" performed last 1
is "$(ticks last)" "$hour" "last: the last tick"
is "$(ticks none)" '' "catch_up none pushes no missed tick"
is "$(ticks all | tr '\n' ' ')" "$((hour - 3600)) $hour " "catch_up all pushes both missed ticks"
is "$(for policy in last none all; do echo "$(state_of_schedule $policy missed)."; done | tr '\n' ' ')" \
    "1. 2. . " "what was left out is counted"

# ---- pause, resume, run, list

later cron pause byhand
is "$(later cron -q default | awk -F '\t' '$2 == "byhand" { print $8 }')" paused \
    "a paused schedule is shown as paused"
later cron resume byhand
is "$(later cron --json | grep '"byhand"' | grep -o '"state":"[a-z]*"')" '"state":"active"' \
    "a resumed schedule is active"
is "$(later cron pause byhand --json)$(later cron resume byhand --json)" \
    '{"queue":"default","name":"byhand","result":"paused","changed":true}{"queue":"default","name":"byhand","result":"resumed","changed":true}' \
    "with --json each says so"
like "$(later cron run byhand --json)" \
    '^\{"queue":"default","name":"byhand","id":"cron:byhand:run:[0-9A-Za-z]{14}","result":"pushed"\}$' "run, too"
id=$(later cron run byhand)
within 20 "run: now" begun "$id"
later cron delete byhand
runs "deleted" has_not byhand
run later cron run byhand
is "$status" 66 "there is no such schedule"

# ---- put by a program that knows no calendars: laterd works out when it is due

# put_asking NAME EXPRESSION
put_asking()
{
    redis --eval "$scripts/cron_put.lua" "$cron" "$crontab" , "$1" "at=$2

{\"type\":\"note\"}" '?' set >/dev/null
}

# due_at NAME TIME: is this its next tick?
due_at()
{
    [ "$(redis ZSCORE "$cron" "$1")" = "$2" ]
}

put_asking yearly '0 0 1 1 *'
within 20 "the next tick is put in the place of the question" \
    due_at yearly "$(later cron next '0 0 1 1 *' -n 1 | cut -f 3)"
put_asking often '* * * * * *'
within 20 "so that its ticks are fired" performed often 2
is "$(state_of_schedule yearly fired)$(state_of_schedule yearly missed)$(state_of_schedule yearly asked)" '' \
    "the question itself is no tick"
put_asking wrong '61 * * * *'
within 20 "what is wrong with one is logged" logged 'schedule wrong is not fired here: minute: 61 is not in 0-59'
for i in $(seq 120); do # more than a laterd looks at in one call
    put_asking "wrong$i" '61 * * * *'
done
# none_is_due: are all of them held?
none_is_due()
{
    [ "$(redis ZCOUNT "$cron" -inf $(($(redis TIME | head -n 1) - 5)))" = 0 ]
}
within 30 "they do not stay due" none_is_due
before=$(ticks often | wc -l)
within 20 "so others are fired" performed often $((before + 3))
like "$(later cron --json | grep '"wrong"')" '"next":1[0-9]{9}\.?[0-9]*,.*"state":"unreadable"' \
    "which of them has not been pushed is shown"
for i in $(seq 120); do
    later cron delete "wrong$i"
done
# Another fault meanwhile is one of its own: it is logged, and its end is not the end of this one.
redis_all CONFIG SET min-replicas-to-write 9 >/dev/null
within 20 "a Redis that refuses is logged beside a schedule that cannot be read" \
    logged 'redis refuses to fire schedules of queue'
redis_all CONFIG SET min-replicas-to-write 0 >/dev/null
within 20 "and that it is over" logged ' times: redis refuses to fire schedules of queue'
# mended: does the log say that this is over?
mended()
{
    grep -q 'over after .* schedule wrong[0-9]* is not fired here' "$log"
}
is "$(mended && echo over)" '' "and it is not said to be over meanwhile"
is "$(later cron | awk -F '\t' '$2 == "wrong" { print $8, $10 }')" \
    'unreadable minute: 61 is not in 0-59 (character 1 of `61 * * * *`)' "later cron says what is wrong, too"
runs "what cannot be read can be paused" later cron pause wrong
run later cron resume wrong
like "$err" '^later cron: minute: 61 is not in 0-59' "and not resumed"
runs "but mended" later cron set wrong '1 * * * *'
runs "and then be resumed" later cron resume wrong
within 40 "and what was logged is over, after the time in which it would have come again" mended
put_asking wrong '61 * * * *'
runs "or deleted" later cron delete wrong
later cron set held '0 0 1 1 *' note >/dev/null
redis HSET "$crontab" held:state 'held=1700000000' >/dev/null
is "$(later cron | awk -F '\t' '$2 == "held" { print $8, $10 }')" \
    'unreadable a laterd cannot read it; its log says why' "what only a laterd cannot read is shown as such"
later cron delete held
later cron delete yearly && later cron delete often

# ---- Redis's clock jumps, or everything stood still: the last tick that came meanwhile is pushed

if applies standstill; then
    stop_laterd
    configure 'workers = 1;' 'cron = ( { name = "still"; every = 600; type = "note"; } );'
    # Its last tick was a minute ago, so that none comes by itself in this test.
    advance_redis $((660 - $(redis TIME | head -n 1) % 600))
    start_laterd
    awaited 20 "it is written" has still
    # still_is FIRED MISSED
    still_is()
    {
        [ "$(state_of_schedule still fired) $(state_of_schedule still missed)" = "$1 $2" ]
    }
    advance_redis 1200
    within 20 "of two ticks in a jump of the clock, one is fired and one missed" still_is 1 1
    kill -STOP "$laterd_pid"
    advance_redis 1200
    kill -CONT "$laterd_pid"
    within 20 "the same after a standstill of laterd" still_is 2 2
    stop_laterd
    configure 'workers = 1;'
    start_laterd
    within 20 "the schedule goes with its configuration" has_not still
fi

# ---- 5,000 idle schedules

awaited 20 "what left the configuration has gone" has_not daily
i=0
while [ "$i" -lt 5000 ]; do
    i=$((i + 1))
    printf 'HSET %s idle%d "at=@yearly\\n\\n{}"\r\nZADD %s 4000000000 idle%d\r\n' "$crontab" "$i" "$cron" "$i"
done | redis >/dev/null
is "$(redis ZCARD "$cron")" 5003 "5,000 schedules beside three"
scripts_called()
{
    called evalsha
}
# The best of up to three: on a busy machine a call may be repeated.
rate=9
for _ in 1 2 3; do
    # The hooks of `byhand` are jobs of a type that nobody has, which are looked at again and again.
    later cancel -q default --type e --yes >/dev/null
    since=$(date +%s.%N)
    from=$(scripts_called)
    sleep 4
    rate=$(echo "$(scripts_called) $from $(date +%s.%N) $since $rate" |
        awk '{ rate = ($1 - $2) / ($3 - $4); printf "%.2f", rate < $5 ? rate : $5 }')
    [ "$(sum "($rate <= 2)")" = 0.000 ] || break
done
echo "# $rate calls of scripts a second, of which 1.25 look for due jobs"
at_least 2 "$rate" "calls a second, with 5,000 schedules that rest, no more"
stop_laterd
is "$exited" 0 "the end"
finish
