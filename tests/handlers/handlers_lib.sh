# handlers_lib.sh: what the tests of handlers share that run many at once in one program, in whatever language. On top
# of daemon.sh. The program notes its process id in $work/pids when it starts.
# shellcheck shell=sh
#
# Its types: nap (payload for: seconds), long and deaf (an hour; deaf hears nothing, and notes its process id), fenced
# (notes its lock's fence), retry ("busy"), bury ("no such customer"), return, odd (a value that is no JSON). long notes
# its id in $work/long, and in $work/cancelled what it has heard.

# job ID TYPE [PAYLOAD [MEMBERS]]
job()
{
    push_job "$1" "\"type\":\"$2\",\"payload\":{${3:-}}${4:+,$4}"
}

has_come() { noted g "$1" | grep -q '"done":4,'; }

# many_at_once WHAT: as many naps of the program as fit.
many_at_once()
{
    naps=300 wait=0.5 most=2
    [ -z "${LATER_SOAK:-}" ] || naps=1000 wait=1 most=3
    job warm nap '"for":0'
    within 20 "a handler does a job" counts 'done' 1
    begin=$(present)
    push_many "$naps" nap "{\"for\":$wait}" nap- >/dev/null
    within 30 "$naps $1 of $wait s" counts 'done' $((naps + 1))
    in_time "$(sum "$(present) - $begin")" "$most" "s for them, one worker, one program"
    is "$(lines pids) $(counted returned)" "1 0" "one program, and none was given back"
}

# ends_as_it_says: how its handlers end their jobs; these stay in delayed or dead: retry, bury, return, odd.
ends_as_it_says()
{
    redis SET 'later:lock:{one}:fence' 41 >/dev/null
    job locked fenced '' '"lock":"one"'
    within 20 "a handler learns which taking of its lock it is" grep -qx 42 "$work/fence"
    job retry retry
    within 20 "Retry: later" is_delayed retry
    contains "$(error_of retry)" '"kind":"retry","text":"busy"' "a retried job keeps its handler's reason"
    is "$(attempts_of retry)" 1 "an attempt"
    job bury bury
    within 20 "Bury: dead at once" is_dead bury
    contains "$(error_of bury)" '"kind":"buried","text":"no such customer"' "a buried job keeps its handler's reason"
    job return return
    within 20 "Return: later" is_delayed return
    is "$(attempts_of return)" 0 "a returned job has no attempt counted"
    job odd odd '' '"result":60'
    within 20 "a value that is no JSON, if somebody wants it: buried" is_dead odd
}

# A program that stands still for a second, on a busy machine, does not hear of it in time: laterd says so,
# and starts another.
late() { logged "did not give up job $1 "; }
hears() { grep -q "$1" "$work/cancelled" || late "$1"; }

# hears_of_its_end: a cancelled job and one over its time, long-1 and long-2, which stays dead.
hears_of_its_end()
{
    job long-1 long
    job long-2 long '' '"timeout":4,"max_attempts":1'
    wait_until 10 eval '[ "$(lines long)" = 2 ]'
    pids=$(lines pids)
    runs "a running job is cancelled" later cancel long-1
    within 20 "its handler hears of it" hears long-1
    within 20 "one over its time: buried" is_dead long-2
    within 20 "its handler heard of it" hears long-2
    contains "$(error_of long-2)" '"kind":"timeout"' "and it counts as a time-out"
    job nap nap '"for":0'
    within 20 "the next is done" unknown nap
    late long-1 || late long-2 || is "$(lines pids)" "$pids" "by the same program"
}
