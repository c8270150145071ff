#!/bin/sh
# All pairs of options of a job, of its states and of kinds of queue, against an oracle: pairs.py.
# LATER_SEED=N: other rows; LATER_SOAK=N: so many seeds, from LATER_SEED on; LATER_ROW=N: that row alone.
. "${top_srcdir:=.}/tests/system/lib.sh"
needs python3
export PYTHONDONTWRITEBYTECODE=1
start_redis 'appendonly no'

seed=${LATER_SEED:-1}
last=$((seed + ${LATER_SOAK:-1} - 1))
while [ "$seed" -le "$last" ]; do
    python_tests pairs/pairs.py "$later_bin" "$redis_socket" "$work/clock" "$work" "$seed" "${LATER_ROW:-}"
    seed=$((seed + 1))
done
finish
