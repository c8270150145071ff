#!/bin/sh
# Jobs of flows and others in one queue, pushed, kicked, cancelled, buried and paused in random order while
# laterd performs them, is reloaded and loses workers: in the end flows and queue agree. LATER_SEED=N tries the
# same choices again; LATER_SOAK=S goes on for so many seconds.
. "${top_srcdir:=.}/tests/system/daemon.sh"
redis_python
start_redis

configure 'workers = 3;' 'crash_max = 1000;' 'queues = ( { name = "mixed"; } );' \
    'retry = { base = 0.05; max = 0.1; max_attempts = 2; };'
start_laterd
seed=${LATER_SEED:-$(date +%s)}
REDIS_SOCKET=$redis_socket REDIS_PORT=${redis_masters%%[!0-9]*} "$python" "$top_srcdir/tests/daemon/flow_mix.py" "$later_bin" "$laterd_pid" mixed \
    "$seed" "${LATER_SOAK:-8}" >"$work/mix" 2>&1
is "$?" 0 "the mix of seed $seed comes to an end"
grep '^#' "$work/mix"
is "$(grep -v '^#' "$work/mix" | head -n 20)" '' "flows and queue agree"
is "$(grep ' redis refuses ' "$log" | head -n 3)" '' "Redis has refused nothing"
end_well
finish
