#!/bin/sh
# Attempts that fail: backoff, the last one, kick; jobs that expire.
. "${top_srcdir:=.}/tests/system/daemon.sh"
start_redis
configure 'workers = 2;' 'retry = { max_attempts = 4; base = 0.2; max = 0.5; jitter = 0.25; };' \
    'types = ( { name = "note"; max_attempts = 2; } );'
start_laterd

# gap ID N: prints the seconds between the end of attempt N and the start of the next.
gap()
{
    sum "$(began "$1" $(($2 + 1))) - $(ended_at "$1" "$2")"
}

# between ID N FROM TO NAME: limits for that gap. The upper one gets half a second for a busy
# machine.
between()
{
    at_least "$(gap "$1" "$2")" "$(sum "$3 - 0.002")" "$5: s before attempt $(($2 + 1))"
    in_time "$(gap "$1" "$2")" "$(sum "$4 + 0.5")" "$5: s before attempt $(($2 + 1))"
}

# ---- the configuration's backoff: 0.2, 0.4, then 0.5 s; up to a quarter is taken off

for i in 1 2 3 4 5 6 7 8; do
    push_do "jitter-$i" '"do":"retry"'
done
push_do exponential '"do":"retry","text":"smtp: no answer"'
within 10 "a job that fails and fails is buried" is_dead exponential
is "$(attempts_in begun exponential | cut -d' ' -f2 | tr '\n' ' ')" "1 2 3 4 " \
    "after the attempts of the configuration"
between exponential 1 0.15 0.2 "exponential"
between exponential 2 0.3 0.4 "exponential"
between exponential 3 0.375 0.5 "exponential, capped"
contains "$(error_of exponential)" '"attempt":4,"kind":"retry","text":"smtp: no answer","host":"' \
    "with its last error"
is "$(attempts_of exponential)" 4 "its attempts are counted"
told=$(later show exponential --json)
before=$(printf "%s" "$told" | sed "s|.*\"earlier\":||")
is "$(printf "%s" "$before" | grep -o '"attempt":[0-9]*' | tr '\n' ' ')" \
    '"attempt":3 "attempt":2 "attempt":1 ' "how it failed before is kept, too"
is "$(printf "%s" "$before" | grep -o '"kind":"retry","text":"smtp: no answer","host":"[^"]' | wc -l)" 3 \
    "each with why and where"
is "$(printf '%s' "$told" | grep -o '"ms":[0-9]*\.[0-9]' | wc -l)" 4 "and how long it took, as the last one"
is "$(redis HGET 'later:{default}:records' exponential | grep '^h=' | grep -o smtp | wc -l)" 0 \
    "kept once, where it is the same"
contains "$(later show exponential)" 'smtp: no answer' "later show tells the error"
# The delays that laterd chose. Measured gaps would all be alike on a busy machine.
third_waits()
{
    sed -n 's/.* failed, again in \([0-9.]*\) s: .* job=jitter-.* attempt=3 .*/\1/p' "$log"
}
eight_waits() { [ "$(third_waits | wc -l)" = 8 ]; }
within 10 "8 jobs wait for the third time" eight_waits
different=$(third_waits | sort -u | wc -l)
at_least "$different" 4 "different third waits of 8 jobs"

# ---- the document's own

push_do own '"do":"retry"' '"backoff":{"base":0.4,"max":0.4},"max_attempts":2'
push_do list '"do":"retry"' '"backoff":[0.1,0.6],"max_attempts":4'
push_do number '"do":"retry","upto":2' '"backoff":0.3'
push_do told '"do":"retry","in":0.25,"upto":1' '"backoff":30'
within 10 "backoff of the document: base and max" is_dead own
between own 1 0.3 0.4 "base and max"
within 10 "backoff of the document: a list" is_dead list
between list 1 0.1 0.1 "a list"
between list 2 0.6 0.6 "a list"
between list 3 0.6 0.6 "a list's last goes on"
within 10 "backoff of the document: a number" ended number 3
between number 1 0.3 0.3 "a number"
between number 2 0.3 0.3 "a number: the same again"
within 10 "a handler's own wait" ended told 2
between told 1 0.25 0.25 "later_job_retry_in()"
within 10 "and done with the second attempt" unknown told

# ---- dead at once; an invalid result

push_do buried '"do":"bury","text":"no such address"'
push_do odd '"do":"odd"' '"max_attempts":1'
within 10 "LATER_BURY buries at once" is_dead buried
contains "$(error_of buried)" '"attempt":1,"kind":"buried","text":"no such address"' "a buried job keeps its error"
within 10 "an answer that is no result is a failed attempt" is_dead odd
contains "$(error_of odd)" 'plugin check: type do answered 99' "which names the plugin"

# ---- kicked

push_do again '"do":"bury"'
within 10 "a job is dead" is_dead again
later kick again >/dev/null
within 10 "kick brings it back" ended again 2
is "$(attempts_in begun again | cut -d' ' -f2 | tr '\n' ' ')" "1 1 " "to its first attempt"
within 10 "and dead again it is" is_dead again
later kick exponential >/dev/null
within 10 "a job whose attempts were over is kicked" begun exponential 5

# ---- expires_at

present=$(redis TIME | head -n 1)
push_job past "\"type\":\"note\",\"expires_at\":$((present - 1))"
push_job late "\"type\":\"note\",\"expires_at\":$((present + 1))" $((present + 2))
push_job early "\"type\":\"note\",\"expires_at\":$((present + 600))"
within 10 "two jobs are over before they begin" counts expired 2
within 10 "one is not" begun early
is "$(begun past || echo no) $(begun late || echo no)" "no no" "those two never ran"
push_job tried "\"type\":\"note\",\"expires_at\":$((present - 1))" $((present + 3600))
redis HSET "$(key records)" tried 'i=1
' >/dev/null
later kick tried >/dev/null
within 10 "one that was interrupted has been begun, and runs again" begun tried

# ---- an end by time

# failed_for ID: the seconds from its first failure to its last.
failed_for() { sum "$(error_of "$1" | grep -o '[0-9]*\.[0-9]*' | head -n 1) - $(noted r "$1")"; }

push_do timed '"do":"retry","text":"no answer"' '"retry_for":1.5,"max_attempts":1000,"backoff":0.1'
within 20 "one whose retries end by time is buried" is_dead timed
at_least "$(failed_for timed)" 1.5 "it was tried so long: s"
at_least "$(attempts_of timed)" 2 "attempts"
contains "$(error_of timed)" '"kind":"retry","text":"no answer"' "with its error"
first=$(noted r timed)
later kick timed >/dev/null
within 20 "once more after a kick" is_dead timed
at_least "$(noted r timed)" "$(sum "$first + 1.5")" "which begins anew"
at_least "$(failed_for timed)" 1.5 "it was tried as long again: s"
push_do fewer '"do":"retry"' '"retry_for":3600,"max_attempts":2,"backoff":0'
within 20 "attempts end them, too" is_dead fewer
is "$(attempts_of fewer)" 2 "whichever comes first"
push_do crashing '"do":"signal","signal":9' '"retry_for":0.001,"max_attempts":1000,"backoff":0.01'
within 20 "one that crashes ends so, too" is_dead crashing
is "$(attempts_of crashing)" 2 "at its second failure"
is "$(noted r exponential)" '' "of others nothing is noted"

end_well
finish
