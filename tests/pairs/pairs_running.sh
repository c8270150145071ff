#!/bin/sh
# All pairs of operations and running work: pairs_running.py. LATER_SEED=N: other pairs of operations;
# LATER_SOAK=N: so many seeds, from LATER_SEED on; LATER_ROW=N: that row alone.
. "${top_srcdir:=.}/tests/system/daemon.sh"
needs python3
export PYTHONDONTWRITEBYTECODE=1
start_redis 'appendonly no'
configure

seed=${LATER_SEED:-1}
last=$((seed + ${LATER_SOAK:-1} - 1))
while [ "$seed" -le "$last" ]; do
    python_tests pairs/pairs_running.py "$later_bin" "$laterd_bin" "$redis_socket" "$work" "$top_srcdir/doc" \
        "$seed" "${LATER_ROW:-}"
    seed=$((seed + 1))
done
finish
