#!/bin/sh
# later cron next: when an expression is due, without Redis; cron pause, resume, run and delete of many names.
. "${top_srcdir:=.}/tests/system/lib.sh"
LATER_REDIS_URL=unix:/nowhere/at/all
export LATER_REDIS_URL

next()
{
    run later cron next "$@"
}

next '30 2 * * *' --zone Europe/Berlin --from 2026-03-28T12:00:00Z -n 2
is "$status" 0 "the next ticks"
is "$out" "$(printf '%s\t%s\t%s\n%s\t%s\t%s' \
    'Sun 2026-03-29T03:00:00+02:00' 2026-03-29T01:00:00Z 1774746000 \
    'Mon 2026-03-30T02:30:00+02:00' 2026-03-30T00:30:00Z 1774830600)" \
    "what clocks leap over is due when they have"
next 'TZ=America/New_York 59 1 * * *' --from 2018-11-04T05:00:00Z -n 1 --json
is "$out" '{"tick":1541311140,"utc":"2018-11-04T05:59:00Z","local":"2018-11-04T01:59:00-04:00","zone":"America/New_York"}' \
    "--json; a zone in the expression"
is "$(later cron next '@every 90s' --from 1767225600 -n 3 | cut -f 3 | tr '\n' ' ')" \
    "1767225690 1767225780 1767225870 " "next of @every: multiples since 1970"
is "$(later cron next '* * * * *' | wc -l | tr -d ' ')" 5 "five of them, from now on"

next '0 25 * * *'
is "$status $err" "65 later cron: hour: 25 is not in 0-23 (character 3 of \`0 25 * * *\`)" \
    "what is wrong, and where"
next '0 0 30 2 *'
is "$status" 65 "a date that there never is"
next '0 3 * * *' --zone Europe/Berlinn
is "$status" 65 "an unknown zone is not UTC"
like "$err" 'no time zone Europe/Berlinn' "an unknown zone is named"
run later cron nxt '0 3 * * *'
is "$status" 64 "a verb that there is not"
like "$err" 'did you mean next' "the nearest is named"
next '* * * * *' -n 0
is "$status" 64 "-n 0: status 64"
next
is "$status" 64 "next without an expression: status 64"
run later cron delete
like "$status $err" '^64 later cron: delete needs a NAME' "a name is missing"

# ---- many names

unset LATER_REDIS_URL
start_redis 'appendonly no'
later cron set first '0 3 * * *' t -q one >/dev/null
later cron set second '0 3 * * *' t -q two >/dev/null
later cron set third '0 3 * * *' t -q two >/dev/null
states() { later cron --json | sed 's/.*"name":"\([a-z]*\)".*"state":"\([a-z]*\)".*/\1 \2/' | sort | paste -s -d ' ' -; }
run later cron pause first second --json
is "$status $(printf '%s\n' "$out" | grep -c '"result":"paused","changed":true')" "0 2" "two are paused at once, a line each"
is "$(states)" "first paused second paused third active" "and no other"
run later cron resume first none second
is "$status $err" "66 later cron: there is no schedule none" "one that there is not"
is "$(states)" "first active second active third active" "does not keep it from the others"
is "$(later cron run first third | wc -l | tr -d ' ')" 2 "the jobs of two are pushed"
run later cron delete second third
is "$status $out$err $(states)" "0  first active" "two are deleted"
finish
