#!/bin/sh
# All pairs of commands, states of a job, kinds of queue and kinds of Redis, against an oracle:
# pairs_commands.py. LATER_SEED=N: other rows; LATER_SOAK=N: so many seeds, from LATER_SEED on;
# LATER_ROW=N: that row alone.
. "${top_srcdir:=.}/tests/system/lib.sh"
needs python3
export PYTHONDONTWRITEBYTECODE=1
start_redis 'appendonly no'

# start_other KIND: a Cluster, or a master with replicas and Sentinels, beside the one Redis; all go
# with $spawned.
start_other()
{
    mkdir "$work/$1"
    [ "$1" = cluster ] || echo 'replica-priority 0' >"$work/$1/redis.options"
    TMPDIR=$work/$1 spawn "$top_builddir/tests/support/redis_set" "$1" "$work/$1"
}

if ! [ -x "$top_builddir/tests/support/redis_set" ]; then
    echo "1..0 # SKIP redis_set is not built, for want of check"
    exit 0
fi
start_other cluster
start_other sentinel
for kind in cluster sentinel; do
    wait_until 60 test -e "$work/$kind/redis.set" || not_ok "a $kind starts" "$work/spawned.err"
done

echo "state_dir = \"$work/state\";" >"$work/laterd.conf"
seed=${LATER_SEED:-1}
last=$((seed + ${LATER_SOAK:-1} - 1))
while [ "$seed" -le "$last" ]; do
    python_tests pairs/pairs_commands.py "$later_bin" "$redis_socket" "$work" "$top_srcdir/doc/protocol.md" \
        "$top_builddir/scripts/expanded" "$seed" "${LATER_ROW:-}"
    seed=$((seed + 1))
done
finish
