#!/bin/sh
# The protocols, model-checked (later.pml, line.pml, shards.pml): what holds, and that broken ones are found out.
. "${top_srcdir:=.}/tests/tap.sh"
needs spin cc

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
models=$(cd "$top_srcdir/tests/faults/model" && pwd)
cd "$folder" || exit 1

# build SWITCH...: pan, for the model with these switches. -O2 would take longer than it saves.
build()
{
    cp "$models/later.pml" . && spin "$@" -a later.pml >spin.log 2>&1 &&
        cc -w -Og -DNFAIR=3 -DVECTORSZ=2048 -DMEMLIM=2000 -o pan pan.c
}

# build_shards SWITCH...: the same of the other model, which has assertions and no claims
build_shards()
{
    cp "$models/shards.pml" . && spin "$@" -a shards.pml >spin.log 2>&1 &&
        cc -w -Og -DSAFETY -DMEMLIM=2000 -o pan pan.c
}

# build_line SWITCH...: and of the third, where a state in which nothing can happen any more is a fault
build_line()
{
    cp "$models/line.pml" . && spin "$@" -a line.pml >spin.log 2>&1 &&
        cc -w -O2 -DSAFETY -DMEMLIM=2000 -o pan pan.c
}

# search CLAIM: what pan says. -a: also cycles; -f: each process gets its turn.
search()
{
    case $1 in
    ends) ./pan -a -f -m1000000 -N ends ;;
    once) ./pan -E -m1000000 ;;
    called) ./pan -m1000000 ;;
    *) ./pan -a -m1000000 -N "$1" ;;
    esac >pan.log 2>&1
    ! grep -q 'out of memory\|max search depth too small\|aborted' pan.log &&
        sed -n 's/.*errors: \([0-9]*\).*/\1/p' pan.log
}

# holds CLAIM NAME, fails CLAIM NAME: no counterexample, a counterexample
holds()
{
    is "$(search "$1")" 0 "$2 ($(sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' pan.log) states)"
}
fails()
{
    is "$(search "$1")" 1 "$2: found out"
}

runs "the model with crashes, lost replies and lapses" build
holds conserved "a job is in one place at any time"
holds no_foreign "nobody settles what another holds"
holds bounded "attempts and runs are bounded"
holds done_is_done "what is done stays done"

runs "the model, smaller" build -DCRASHES=1
holds ends "every job ends done or dead"

runs "the model with a Redis that goes back in time" build -DROLLBACK -DCRASHES=1 -DLOSSES=0
holds conserved "after it a job is in one place"
holds no_foreign "after it nobody settles what another holds"
holds bounded "after it attempts are bounded"

runs "the model with tokens that a Redis counts, which goes back" \
    build -DROLLBACK -DCOUNTER -DCRASHES=1 -DLOSSES=0
fails no_foreign "a foreign settlement, by a token given twice"

runs "the model with a release that does not look at the token" build -DUNOWNED
fails conserved "a job in two places, by a late release"
fails no_foreign "a foreign settlement, by a late release"

runs "the model with retries that are no attempts" build -DFOREVER
fails bounded "a job that runs for ever"

runs "an id while its queue gets another number of shards, and another" build_shards
holds once "it is never in two shards"
runs "the same, there and back" build_shards -DBACK -DPUSHERS=2
holds once "it is never in two shards"
runs "the same, round and back" build_shards -DROUND -DPUSHERS=2
holds once "it is never in two shards"
for rule in SEEK_FENCES_NOT DROP_FENCES_NOT PUSH_ASKS_NOT DROP_COMPARES_NOT; do
    runs "the same without one rule, $rule" build_shards "-D$rule"
    fails once "an id in two shards"
done

runs "jobs that wait in the line for a lock" build_line
holds called "none is forgotten while it is free, and never do two have it"
runs "the same with the death of a worker" build_line -DDEATHS
holds called "the same, by the time at which they are due in any case"
runs "the same without that time" build_line -DDEATHS -DUNDUE
fails called "a job whose worker died before it was in the line"
for rule in ENTER_FIRST LOOK_APART FREE_SILENTLY FORGET_REFUSED ASK_ONCE LEAVE_OPEN; do
    runs "the line without one rule, $rule" build_line "-D$rule"
    fails called "a job that waits for ever"
done
finish
