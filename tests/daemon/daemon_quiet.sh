#!/bin/sh
# later pause --host: the laterd of this host begins nothing more, and what runs goes on; status, show and the
# log say so; it outlasts a restart; resume and the end of its time end it.
. "${top_srcdir:=.}/tests/system/daemon.sh"
. "$top_srcdir/tests/daemon/fleet_lib.sh"
start_redis
options='drain = 20.0; lease = 10.0;'
configure 'workers = 2;' "$options"
start_laterd

# quiet NAME: does its field of later:hosts say so?
said_quiet()
{
    later status --json | field host >"$work/host"
    later status --json | grep -q '"quiet":{'
}
said_loud()
{
    later status --json | grep -q '"host"' && ! said_quiet
}
is_why()
{
    later show "$1" --json | grep -q "$2"
}

push_do runs '"do":"sleep","until":"go"'
wait_until 10 begun runs
within 10 "its host is known" said_loud
host=$(cat "$work/host")
run later pause --host "$host" --by ann
is "$status$out" 0 "a host is paused"
within 10 "later status says that it is quiet" said_quiet
run later status
like "$out" ' *quiet( |	)' "its state is quiet"
like "$err" "^later status: $host: quiet since ..:.. UTC by ann$" "since when, and by whom"
run later pause --host "$host" --by ann
like "$err" "host $host was quiet already" "once more changes nothing"
push_do waits '"do":"done"'
within 10 "later show says why a job does not run" is_why waits "$host is quiet by ann since ..:.. UTC"
touch "$work/go"
within 10 "what runs goes on" counts 'done' 1
is "$(later size default --json | field ready)" 1 "and nothing more begins"
is "$(how_often 'quiet by ann: nothing more is reserved until later resume')" 1 "the log says it once"

stop_laterd
start_laterd
wait_until 10 logged 'quiet by ann' || not_ok "it is quiet after a restart" "$log"
within 10 "after a restart later status says it, too" said_quiet
redis_all SUBSCRIBE "later:{host:$host}:overrides" >"$work/told" 2>&1 &
own $!
subscribes() { [ "$(redis PUBSUB NUMSUB "later:{host:$host}:overrides" | tail -n 1)" = 2 ]; }
[ "$redis_kind" = cluster ] || awaited 10 "its laterd listens to who tells it, and so does the test" subscribes
run later resume --host "$host"
is "$status$out" 0 "the pause of a host is ended"
[ "$redis_kind" = cluster ] || within 10 "and it is told" grep -qx host "$work/told"
within 10 "then it goes on" said_loud
within 20 "what waited runs" counts 'done' 2

if [ "$redis_kind" != cluster ]; then
    later pause --host "$host" --for 100 >/dev/null
    within 10 "a pause with an end" said_quiet
    advance_redis 101 # a Cluster does not bear that
    within 10 "ends by itself" said_loud
fi

# among_hundreds: each of them tells of itself every 20 seconds.
ended_quiet() { [ "$(how_often ' not quiet any more: ')" = "$1" ]; }
among_hundreds()
{
    fleet 600
    within 30 "it tells rarely" says_every 20
    ends=$(how_often ' not quiet any more: ')
    later pause --host "$host" --for 100 >/dev/null
    within 10 "a pause with an end" said_quiet # it has just told
    over=$(present)
    advance_redis 101
    within 30 "ends by itself" ended_quiet $((ends + 1))
    in_time "$(sum "$(logged_at ' not quiet any more: ') - $over")" 2 "soon after its time"
}
[ "$redis_kind" = cluster ] || among_hundreds

run later pause --host nobody
like "$status $err" '^0 .*no laterd that is alive is on host nobody' "a name that no laterd has is told"
run later resume --host nobody
is "$status" 0 "and resumed"
run later pause
is "$status" 64 "neither queues nor a host is a mistake"
run later pause default --host "$host"
is "$status" 64 "and so are both"

end_well
finish
