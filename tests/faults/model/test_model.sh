#!/bin/sh
# The protocol of jobs, model-checked (later.pml): what holds. Broken versions are found out.
. "${top_srcdir:=.}/tests/faults/model/model.sh"

# build SWITCH...
build()
{
    translate later "$@" && compile "$optimize" -DNFAIR=3 -DVECTORSZ=2048 -DMEMLIM=2000
}

runs "the model with crashes, lost replies and lapses" build
holds "a job is in one place, nobody settles what another holds, attempts and runs are bounded" -a -N safe
holds "what is done stays done" -a -N done_is_done

runs "the model, smaller" build -DCRASHES=1
holds "every job ends done or dead" -a -f -N ends

runs "the model with a Redis that goes back in time" build -DROLLBACK -DCRASHES=1 -DLOSSES=0
holds "after it a job is in one place, nobody settles what another holds, attempts are bounded" -a -N safe

optimize=$small
runs "the model with tokens that a Redis counts, which goes back" \
    build -DROLLBACK -DCOUNTER -DCRASHES=1 -DLOSSES=0
fails "one of the three" -a -N safe
fails "a foreign settlement, by a token given twice" -a -N no_foreign

runs "the model with a release that does not look at the token" build -DUNOWNED
fails "one of the three" -a -N safe
fails "a job in two places, by a late release" -a -N conserved
fails "a foreign settlement, by a late release" -a -N no_foreign

runs "the model with retries that are no attempts" build -DFOREVER
fails "one of the three" -a -N safe
fails "a job that runs for ever" -a -N bounded
finish
