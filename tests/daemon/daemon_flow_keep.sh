#!/bin/sh
# flows.keep: laterd writes it for each queue that it serves, and a flow that has ended goes when its time
# is over.
. "${top_srcdir:=.}/tests/system/daemon.sh"
start_redis
configure 'workers = 1;' 'flows = { keep = 300; };' \
    'queues = ( { name = "default"; }, { name = "wide"; shards = 2; }, { name = "t-*"; } );'
start_laterd

# plain: numbers without the zeros behind their points.
plain() { sed 's/\.0*$//; s/\(\.[0-9]*[1-9]\)0*$/\1/'; }
# kept SECONDS QUEUE...: do these queues keep flows for so long? '': as long as a queue that says nothing.
kept()
{
    kept_for=$1
    shift
    for kept_queue in "$@"; do
        [ "$(redis HGET "$(key stats "$kept_queue")" flows_kept | plain)" = "$kept_for" ] || return
    done
}
# ended_flow NAME [QUEUE]: pushes a flow and waits for its end.
ended_flow()
{
    echo '{"type":"note"}' | later push --flow "$1" --file - -q "${2:-default}" >/dev/null
    later flow wait "$1" --timeout 300s >/dev/null
    is "$?" 0 "flow $1 is done"
}
# time_of NAME: for how many seconds this flow is kept.
time_of()
{
    redis HGET "$(key "flow:$1")" keep | plain
}
# later_by SECONDS: that much time goes by for flows. The clock of a set turns in small steps only.
later_by()
{
    if [ "$redis_kind" = single ]; then
        advance_redis "$1"
    else
        for name in first second; do redis ZINCRBY "$(key flows)" "-$1" "$name" >/dev/null; done
    fi
}

within 10 "it is written for each queue and shard" kept 300 default wide wide/0 wide/1
redis SADD later:queues t-new >/dev/null
within 10 "and for one that a pattern matches" kept 300 t-new

# ---- a flow goes when its time is over

before=$(redis TIME | head -n 1)
ended_flow first
ended_flow second
after=$(redis TIME | head -n 1)
till=$(redis ZSCORE "$(key flows)" first)
at_least "${till%.*}" $((before + 300)) "it is kept until its time is over"
at_least $((after + 300)) "${till%.*}" "and no longer"
is "$(later flow | cut -f2 | sort | tr '\n' ' ')" "first second " "a flow that has ended is there for its time"
later_by 301
ended_flow third
is "$(later flow | cut -f2 | tr '\n' ' ')" "third " "when another one ends, those go whose time is over"
is "$(redis EXISTS "$(key flow:first)" "$(key flow:second)" "$(key flow:third)")" 1 "with their keys"
run later flow show first
is "$status" 66 "there is no such flow any more"
ended_flow first

# ---- somebody empties Redis; a reload

redis HDEL "$(key stats)" flows_kept >/dev/null
within 20 "it is written again" kept 300 default
configure 'workers = 1;' 'flows = { keep = 7.5; };' \
    'queues = ( { name = "default"; }, { name = "wide"; shards = 2; }, { name = "t-*"; } );'
kill -HUP "$laterd_pid"
within 10 "a reload changes it" kept 7.5 default wide/1 t-new
is "$(time_of first)" 300 "not for a flow that is there"
ended_flow fourth
is "$(time_of fourth)" 7.5 "but for the next"
configure 'workers = 1;' \
    'queues = ( { name = "default"; }, { name = "wide"; shards = 2; }, { name = "t-*"; } );'
kill -HUP "$laterd_pid"
within 10 "without it the field goes" kept '' default wide/1 t-new
ended_flow fifth
is "$(time_of fifth)" 86400 "and a flow is kept for a day"
later check >/dev/null
is "$?" 0 "the sums hold"
end_well
finish
