#!/bin/sh
# Connections that are made again under a running laterd. After reloads everything is as at the
# start ($LATER_ROUNDS of them, by default 5). If Redis is no longer fit, laterd waits for it.
. "${top_srcdir:=.}/tests/system/daemon.sh"
start_redis 'appendonly yes'

# The test uses another account. laterd and the pushers have the rights that the manual names.
redis ACL SETUSER admin on '>secret' '~*' '&*' +@all >/dev/null
redis_cli="$redis_cli --user admin --pass secret --no-auth-warning"
rights=$(awk '$0 == "<!-- acl: laterd -->" { found = 1 }
    found && /^```/ { if (++fences == 2) exit; next }
    found && !/^<!--/' "$top_srcdir/doc/protocol.md")
# shellcheck disable=SC2086 # words
set -- ${rights#*PASSWORD}
is "$(redis ACL SETUSER default reset on nopass "$@")" OK "the rights that the manual says"

# ---- a reload, then new connections

is_reloaded()
{
    [ "$(how_often 'reloaded: ')" -ge "$1" ] && [ "$(workers | wc -l)" -eq 1 ]
}

configure 'workers = 1;'
start_laterd
round=0
while [ $round -lt "${LATER_ROUNDS:-5}" ]; do
    round=$((round + 1))
    kill -HUP "$laterd_pid"
    awaited 20 "reload $round" is_reloaded $round
    redis CLIENT KILL TYPE normal >/dev/null
    push_job "round-$round" '"type":"note"'
    awaited 10 "a job after reload $round" ended "round-$round"
done
# A job is counted after it has noted its end.
awaited 10 "all are counted" counts 'done' "$round"
is "$(counted 'done') $(how_often ' error ')" "$round 0" "jobs after $round reloads and reconnects"
runs "laterd is there" alive "$laterd_pid"

# ---- a Redis that denies or evicts when laterd reconnects: it waits, and logs a line

# unfit NAME WORDS: laterd reconnects and finds Redis unfit.
unfit()
{
    redis CLIENT KILL TYPE normal >/dev/null
    within 10 "$1: the log says what to do" logged "$2"
    push_job "$3" '"type":"note"'
    within 5 "and status --local, that it is not well, and why" \
        sh -c "'$later_bin' -c '$work/laterd.conf' status --local 2>&1 | grep -E '^later status: .*($2)'"
    is "$(counted 'done')" "$4" "no job is begun while Redis is not fit"
    runs "laterd is there" alive "$laterd_pid"
}

fit_again() { [ "$(how_often 'is fit to keep jobs again')" -ge "$1" ]; }

redis ACL SETUSER default -hset >/dev/null
unfit "a command is denied" 'denies our scripts' denied "$round"
redis ACL SETUSER default +hset >/dev/null
within 10 "what waited is done when it is allowed again" ended denied
awaited 10 "it is counted" counts 'done' $((round + 1))
redis CONFIG SET maxmemory 100mb maxmemory-policy allkeys-lru >/dev/null
unfit "jobs would be thrown away" 'set it to noeviction' evicted $((round + 1))
redis CONFIG SET maxmemory-policy noeviction >/dev/null
within 10 "what waited is done when they are kept again" ended evicted
awaited 10 "the log says so" fit_again 2
is "$(how_often '; until then nothing is begun') $(how_often 'is fit to keep jobs again')" "2 2" \
    "a line when it begins, one when it is over"

# ---- the same without a new connection: laterd looks from time to time

redis CONFIG SET maxmemory-policy volatile-ttl >/dev/null
within 60 "its policy is changed under laterd's connections: that is seen, too" logged 'maxmemory-policy volatile-ttl'
redis CONFIG SET maxmemory-policy noeviction >/dev/null
within 10 "and that it is mended" fit_again 3

redis ACL SETUSER default -evalsha >/dev/null
within 20 "rights that are gone under its connections: it is said" logged 'refuses to migrate queue default: NOPERM'
redis ACL SETUSER default +evalsha >/dev/null
migrates() { grep -q ' over after .*: redis refuses to migrate' "$log"; }
within 20 "and that they are back" migrates

end_well
finish
