#!/bin/sh
# A job's result, or why it died, reaches those who wait for it, even if its worker is killed
# between the end of its handler and the settlement, and even if many wait at once.
. "${top_srcdir:=.}/tests/system/daemon.sh"
start_redis
configure 'workers = 2; lease = 5.0;' 'retry = { max_attempts = 2; base = 0.0; };' 'types = ( { name = "event"; result = 600; } );'
start_laterd

# waits ID: does somebody wait for its result?
waits() { [ "$(redis_all CLIENT LIST | grep -c 'cmd=blmove')" -ge "${1:-1}" ]; }
result_key() { echo "later:{default}:result:$1"; }

# ---- push --wait

run later push "do" '{"do":"value","value":{"n":[1,"\u00e9"]}}' --wait
is "$status:$out" '0:{"n":[1,"é"]}' "push --wait prints the value"
is "$err" "" "push --wait says nothing on standard error"
run later push "do" '{"do":"sleep","for":0.2}' --wait 60
is "$status:$out" 0:null "a job that gives back nothing has the value null"
run later push "do" '{"do":"bury","text":"no such film"}' --wait 60s
is "$status:$out" 65: "a job that is buried: 65"
like "$err" 'is dead: buried: no such film' "push --wait of a dead job tells its error"
run later push "do" '{"do":"retry","text":"not yet"}' --wait --json
is "$status" 65 "retries do not end a wait, the last one does"
like "$(echo "$out" | tail -n 1)" '"state":"dead","attempt":2,.*"error":\{.*"text":"not yet"' \
    "--json has the whole error"
run later push "do" '{"do":"value","bytes":65536}' --wait
is "$status:${#out}" 0:65536 "64 KiB fit"
# The worker drops it when it has the answer, a moment after who waits.
no_value() { [ -z "$(find "$work/state/slots" -name '*value*')" ]; }
within 10 "and their file goes" no_value
run later push "do" '{"do":"value","bytes":65537}' --wait --id big
is "$status:$out:$(cat "$work/value-big")" 0:null:-1 "more do not, which the handler is told"
run later push "do" '{"do":"sleep","until":"go-slow"}' --wait 0.1 --id slow
is "$status" 75 "the time is up: 75"
is "$err" "later push: slow has not ended yet: a worker has it" "push --wait says that the job goes on"
later push "do" '{"do":"retry","text":"not yet","in":600}' --id later >/dev/null
says_retry() { later wait later --timeout 0 2>&1 | grep -q '^later wait: later has not ended yet: attempt 2 in .*, after retry: not yet$'; }
within 10 "or that it has failed, and when it is tried again" says_retry
later cancel later >/dev/null
touch "$work/go-slow"
run later wait slow
is "$status:$out" 0:null "it went on, and can be waited for again"
run later push "do" '{"do":"value","value":1}' --id quiet
wait_until 10 test -s "$work/value-quiet"
is "$(cat "$work/value-quiet")" 2 "where nobody asked the handler is told NO"
run later push event '{"do":"done"}' --wait --id event-1
is "$status:$out" 0:null "event jobs, too"

# ---- what is kept, and how long

push_do kept '"do":"value","value":7' '"result":300'
run later wait kept
is "$status:$out" 0:7 "asked for by the document"
at_most "$(redis PTTL "$(result_key kept)")" 300000 "it has its expiry, in ms"
at_least "$(redis PTTL "$(result_key kept)")" 1 "still after one who waited"
is "$(redis LLEN "$(result_key kept)")" 1 "who waits takes nothing away"
push_event typed '"do":"done"'
wait_until 10 unknown typed
run later wait typed --timeout 0
is "$status:$out" 0:null "asked for by type"
at_least "$(redis PTTL "$(result_key typed)")" 300001 "for as long as the type says"

# ---- ids

run later wait nobody-knows
is "$status" 66 "an unknown id is answered at once"
run later push "do" '{"do":"sleep","for":0.3}' --wait --id kept
is "$status:$out" 0:null "an id that is pushed again does not answer with its former result"
run later push "do" --in 1h --id far
run later wait far --timeout 0
is "$status" 75 "result does not wait"
spawn "$later_bin" wait far
wait_until 10 waits
later cancel far >/dev/null
wait_until 10 gone "$spawned"
wait "$spawned"
is "$?" 66 "one that is cancelled is gone"
run later push "do" '{"do":"bury"}' --wait --json --id again
first=$(echo "$out" | tail -n 1 | field at)
later kick again >/dev/null
run later wait again --json
at_least "$(echo "$out" | field at)" "$(sum "$first + 0.0005")" \
    "of one that was kicked its former result is none"

# ---- an id that is pushed again: the result of the job before it is not its own

later push "do" '{"do":"value","value":"old"}' --wait --id twice >/dev/null
later push "do" '{"do":"bury","text":"new"}' --id twice >/dev/null
run later wait twice --timeout 60
is "$status:$out" 65: "pushed again and buried: not the former value"
later push "do" '{"do":"value","value":"old"}' --wait --id thrice >/dev/null
later push "do" '{"do":"value"}' --id thrice --in 1h >/dev/null
later cancel thrice >/dev/null
run later wait thrice --timeout 0
is "$status:$out" 66: "pushed again and cancelled: not the former value"
later push "do" '{"do":"value","value":"first","for":1.5}' --id behind --result 1m >/dev/null
wait_until 10 begun behind
run later push "do" '{"do":"value","value":"second"}' --id behind --again --wait 60
is "$status:$out" '0:"second"' "push --again --wait prints the value of its own job"

# ---- a worker that is killed after the handler's end

push_do killed '"do":"value","bytes":5000,"for":0.5' '"result":60'
wait_until 10 begun killed
pause_redis
wait_until 10 handed_in killed
kill -KILL "$(pid_of killed)"
resume_redis
run later wait killed --timeout 60
is "$status:${#out}" 0:5000 "its result is there"
is "$(attempts_in begun killed | wc -l)" 1 "from the one attempt that there was"

# ---- a worker that is killed during a job is a crash, and the waiter hears that the job died

run later push "do" '{"do":"signal","signal":9}' --wait 60 --id crashes --max-attempts 2
is "$status" 65 "crashes: dead"
like "$err" 'crashes is dead: crash: ' "with the keeper's words"

# ---- progress

begun=$(date +%s)
push_do far-1 '"do":"progress","for":6.5,"text":"page","in":60,"until":"go-far"'
shows() { later show "$1" --json | grep -q "$2"; }
within 10 "progress is shown" shows far-1 '"progress":{"at":[0-9.]*,"done":[0-9.]*,"total":65,"text":'
before=$(called hset)
tells() { later status default | grep "^default	far-1	do	[0-9.]* of 65, page"; }
within 10 "later status tells how far those have come that run" tells
like "$(later status --json --progress)" '"job":"far-1","in":"default","type":"do","progress":\{.*"total":65' \
    "and --json --progress"
is "$(later status --json | grep -c '"job"')" 0 "--json alone asks no more than before"
touch "$work/go-far"
wait_until 20 is_delayed far-1
like "$(later show far-1 --json)" '"state":"delayed".*"progress":' "and kept over a retry"
# The job tells of 65 steps. A second, begun or whole, brings one write of them, and one of `later:hosts`.
at_most "$(($(called hset) - before))" $((2 * ($(date +%s) - begun + 1) + 2)) "a write a second at most"
like "$(on_terminal "$later_bin show far-1")" 'progress.* [0-9.]+ of 65, ' "and shown to people"
later cancel far-1 >/dev/null

# ---- Redis goes away and comes back

if [ "$redis_kind" = single ]; then
    spawn "$later_bin" push "do" '{"do":"sleep","until":"go-restart"}' --wait --id restart
    wait_until 10 begun restart
    wait_until 10 waits
    redis CONFIG SET appendonly yes >/dev/null
    wait_until 20 sh -c "$redis_cli INFO persistence | grep -q 'aof_rewrite_in_progress:0'"
    stop_redis
    start_redis 'appendonly yes'
    touch "$work/go-restart"
    wait_until 30 gone "$spawned"
    wait "$spawned"
    is "$?" 0 "a waiter outlives Redis"
fi

wait_until 20 settled
end_well
is "$(find "$work/state/slots" -name '*value*' 2>/dev/null | wc -l)" 0 "no file is left"
finish
