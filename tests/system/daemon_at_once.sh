#!/bin/sh
# Jobs begin at once where workers are idle: a worker takes no more of them than it can begin, unless jobs of their
# queue were quick.
. "${top_srcdir:=.}/tests/system/daemon.sh"
start_redis
workers=12

# slow NAME: pushes as many jobs as there are workers, which last until $work/NAME exists, in one call.
slow()
{
    seq "$workers" | sed "s/.*/{\"type\":\"do\",\"payload\":{\"do\":\"sleep\",\"until\":\"$1\"},\"id\":\"$1-&\"}/" |
        later push --file - >/dev/null
}
begun_of() { awk -v name="$1-" 'index($1, name) == 1' "$work/begun"; }
all_begun() { [ "$(begun_of "$1" | wc -l)" = "$workers" ]; }
over() { [ "$(known)" = 0 ]; }

# all_run NAME: they end, and each has had one attempt, the first, in a worker of its own.
all_run()
{
    touch "$work/$1"
    within 20 "$1: all end" over
    is "$(begun_of "$1" | cut -d' ' -f1,2 | sort -u | wc -l) $(begun_of "$1" | awk '$2 != 1' | wc -l)" \
        "$workers 0" "$1: each has run once, at its first attempt"
    is "$(begun_of "$1" | cut -d' ' -f5 | sort -u | wc -l)" "$workers" "$1: each in a worker of its own"
}

# ---- nothing is known

configure "workers = $workers;"
start_laterd
slow cold
within 20 "cold: all begin, each in an idle worker" all_begun cold
is "$(counted returned)" 0 "cold: none of them was in the hand of a worker that could not begin it"
all_run cold
stop_laterd

slow early
start_laterd
within 20 "early: those that wait for laterd all begin" all_begun early
is "$(counted returned)" 0 "early: none of them was in the hand of a worker that could not begin it"
all_run early
stop_laterd

# ---- jobs that need no run tell nothing, but do not come one by one

later pause default --type null >/dev/null
seq 3000 | sed 's/.*/{"type":"null"}/' | later push --file - >/dev/null
before=$(called evalsha)
start_laterd
kept() { [ "$(ready)" = 0 ] && [ "$(reserved)" = 0 ] && [ "$(delayed)" = 3000 ]; }
within 20 "3,000 jobs of a paused type are kept aside" kept
at_most "$(($(called evalsha) - before))" 3000 "calls of scripts for that"
later resume default --type null >/dev/null
within 20 "they run when the pause ends" over
end_well
finish
