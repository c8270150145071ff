#!/bin/sh
# Schedules, model-checked (cron.pml): each tick comes once, whoever dies. Broken versions are found
# out.
. "${top_srcdir:=.}/tests/faults/model/model.sh"

build()
{
    translate cron "$@" && compile "$small" -DSAFETY -DMEMLIM=1000
}

runs "a schedule, two hosts, a death, an edit, a question, a held tick" build
holds "each tick is pushed once" -E
for rule in BYID NODIGEST TWOSTEPS NOTAG OVERWRITES FORGETS STAYS; do
    runs "the same by another rule, $rule" build "-D$rule"
    fails "a tick that is lost, pushed twice, or by an old definition" -E
done
finish
