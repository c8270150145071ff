#!/bin/sh
# Jobs that wait in the line for a lock or a permit, model-checked (line.pml).
. "${top_srcdir:=.}/tests/faults/model/model.sh"

# build SWITCH...: a state in which nothing can happen any more is a fault
build()
{
    translate "$model" "$@" && compile "$optimize" -DSAFETY -DMEMLIM=2000
}

model=line
runs "jobs that wait in the line for a lock" build
holds "none is forgotten while it is free, and never do two have it"
runs "the same with the death of a worker" build -DDEATHS
holds "the same, by the time at which they are due in any case"
runs "the same without that time" build -DDEATHS -DUNDUE
holds "the same, since the keeper and the next question make up for the dead"
optimize=$small
runs "the same without the keeper's part" build -DDEATHS -DUNDUE -DNO_ENTRY
fails "a job whose worker died before it was in the line"
runs "the same without the next question's part" build -DDEATHS -DUNDUE -DNO_AGAIN
fails "a job whose call died with a worker"
for rule in ENTER_FIRST LOOK_APART FREE_SILENTLY FORGET_REFUSED ASK_ONCE LEAVE_OPEN KEEP_GONE; do
    runs "the line without one rule, $rule" build "-D$rule"
    fails "a job that waits for ever"
done
runs "the same if who comes while the lock is free takes it" build -DOVERTAKE
fails "a job that is overtaken"

model=looks optimize=$large
runs "a long line, where the last one looks, with the death of a laterd" build
holds "none is forgotten"
runs "the same if the option is taken out" build -DTAKEN_OUT
holds "none is forgotten"
optimize=$small
for rule in RARE_AT_ONCE NO_LAST NO_AGAIN OLD_DUE; do
    runs "a long line without one rule, $rule" build "-D$rule"
    fails "a job that waits for ever"
done
runs "the option is taken out without one rule, NO_NOTE" build -DTAKEN_OUT -DNO_NOTE
fails "a job that waits for ever"
finish
