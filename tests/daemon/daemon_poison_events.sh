#!/bin/sh
# One event job that crashes, among 300 that run at once in one worker. Only it becomes dead, and no
# other is charged.
. "${top_srcdir:=.}/tests/system/daemon.sh"
start_redis

configure 'workers = 1;' 'events = 400;' 'crash_max = 3;' \
    'retry = { max_attempts = 25; base = 0.2; max = 0.2; jitter = 0.0; };'
start_laterd
push_many 150 event '{"for":0.06}' one-
push_event poison '"for":0.02,"do":"signal"'
push_many 149 event '{"for":0.06}' two-
within 80 "299 innocent event jobs are done" counts 'done' 299
within 30 "the poisonous one is dead" is_dead poison
is "$(noting a) $(attempts_of poison)" "1 3" "nobody else has an attempt"
is "$(noting c)" 1 "nobody else is a suspect"
is "$(cut -d' ' -f1 "$work/ended" | sort | uniq -d | wc -l)" 0 "no job that had ended ran again"
end_well
finish
