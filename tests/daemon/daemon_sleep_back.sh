#!/bin/sh
# daemon_sleep_back.sh: jobs come while laterd does not reach Redis and all but one of a pool's workers sleep. These are
# roused as soon as laterd reaches it again, not at its next look, which may be a second later.
. "${top_srcdir:=.}/tests/system/daemon.sh"
. "$top_srcdir/tests/daemon/fleet_lib.sh"
start_redis
configure 'workers = 4;' 'lease = 1.0;' 'log = { level = "debug"; };' # a short wait is a third of a second
is_away() { [ "$(how_often 'redis is away')" -gt "$aways" ]; }
is_back() { [ "$(how_often 'redis is back')" -gt "$backs" ]; }

start_laterd
before=0
for round in 1 2 3 4 5; do
    fleet 31
    within 30 "round $round: among many, all but one sleep" asleep $((before + 1))
    aways=$(how_often 'redis is away') backs=$(how_often 'redis is back')
    mv "$redis_socket" "$work/hidden"
    use_socket "$work/hidden"
    redis_all CLIENT KILL TYPE normal SKIPME yes >/dev/null
    awaited 20 "laterd does not reach Redis" is_away
    before=$(how_often ' asleep: ')
    for i in 1 2 3; do
        push_do "job-$round-$i" '"do":"sleep","until":"end"'
    done
    mv "$work/hidden" "$work/redis.sock"
    use_socket "$work/redis.sock"
    awaited 20 "three jobs begin" reached begun $((3 * round))
    awaited 20 "laterd says that it is back" is_back # perhaps after they have begun
    sum "$(tail -n 1 "$work/begun" | cut -d' ' -f4) - $(logged_at 'redis is back')" >>"$work/took"
    touch "$work/end"
    within 20 "round $round: they end" settled
    rm "$work/end"
done
echo "# seconds: $(tr '\n' ' ' <"$work/took")"
# In one of them the machine may stand still.
closely "$(sum "$(awk '{ print ($1 > 0) * $1 }' "$work/took" | sort -n | head -n 4 | paste -sd + -)")" 0.6 \
    "from when Redis is back until three jobs have begun, in the best four of five rounds"
end_well
finish
