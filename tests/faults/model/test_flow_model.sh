#!/bin/sh
# A flow whose jobs lie in another queue, model-checked (flow.pml). Small bounds; larger ones by hand.
. "${top_srcdir:=.}/tests/faults/model/model.sh"

# build SWITCH...: assertions, no claims; nobody looks after jobs out of turn
build()
{
    translate flow -DLOOKS=0 "$@" && compile "$small" -DSAFETY -DCOLLAPSE -DMEMLIM=2000
}

one='-DUPS=1 -DPUSHERS=1' calm='-DKICKS=0 -DCANCELS=0'
# shellcheck disable=SC2086 # switches
{
    runs "two jobs, one after the other, that may die, be kicked and be cancelled" build $one
    holds "each runs once, none too early, none hangs" -E
    runs "the same with movers of news that are late" build $calm -DPUSHERS=1
    holds "each runs once, none too early, none hangs" -E
    runs "the same with pushers that are late" build $calm -DUPS=1 -DBURIES=0
    holds "each runs once, none too early, none hangs" -E
    runs "one that waits for a failure" build $one -DFAILED
    holds "it runs only then" -E
    runs "a job that was there before the flow" build $one -DKNOWN
    holds "it counts as it is" -E
    runs "a handler that adds a job" build $one -DADDER
    holds "it may as long as its job is open" -E
    runs "a Redis that loses jobs" build $one -DLOSSES=1 -DCANCELS=0 -DBURIES=0
    holds "they are looked for, and nothing hangs" -E
    for rule in TELL_APART REMOVE_FIRST PARK_FIRST DEAD_IS_FINAL; do
        runs "without one rule, $rule" build $one "-D$rule"
        fails "that" -E
    done
    for rule in PARK_READY KEEP_STRAY ANY_TIE; do
        runs "without one rule, $rule" build $calm -DUPS=1 -DDOWNS=2 -DBURIES=0 "-D$rule"
        fails "that" -E
    done
    runs "without one rule, ANY_ORDER" build -DPUSHERS=1 -DCANCELS=0 -DBURIES=2 -DANY_ORDER
    fails "that" -E
    runs "without one rule, LOOK_NOT" build $one -DADDER -DLOOK_NOT
    fails "that" -E
    runs "without one rule, LET_ALL_IN" build $one -DADDER -DLET_ALL_IN
    fails "that" -E
}
finish
