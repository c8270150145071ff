#!/bin/sh
# An id in a queue whose number of shards changes, model-checked (shards.pml).
. "${top_srcdir:=.}/tests/faults/model/model.sh"

# build SWITCH...: assertions, no claims
build()
{
    translate shards "$@" && compile "$optimize" -DSAFETY -DMEMLIM=2000
}

runs "an id while its queue gets another number of shards, and another" build
holds "it is never in two shards" -E
runs "the same, there and back" build -DBACK -DPUSHERS=2
holds "it is never in two shards" -E
runs "the same, round and back" build -DROUND -DPUSHERS=2
holds "it is never in two shards" -E
optimize=$small
for rule in SEEK_FENCES_NOT DROP_FENCES_NOT PUSH_ASKS_NOT DROP_COMPARES_NOT; do
    runs "the same without one rule, $rule" build "-D$rule"
    fails "an id in two shards" -E
done
finish
