#!/bin/sh
# Hooks: a job of another type is pushed when a job is dead or done, once for each end, by its document,
# its type or its queue; also if it crashed, was over its time, or its worker or laterd was killed.
. "${top_srcdir:=.}/tests/system/daemon.sh"
start_redis
configure 'workers = 2; lease = 60.0; grace = 0.2; crash_max = 2; timeout = 20.0;' \
    'retry = { max_attempts = 2; base = 0.0; };' \
    'queues = ( { name = "default"; }, { name = "mail"; on_dead = "bytes"; }, { name = "wide"; shards = 2; on_done = "bytes"; } );' \
    'types = ( { name = "do"; on_dead = "bytes"; }, { name = "bytes"; on_done = "bytes"; on_dead = "bytes"; } );'
start_laterd

# told ID ENDING: prints the payloads of the hooks for these ends. once ID ENDING: is there one?
told() { cat "$work/bytes-$1.$2."* 2>/dev/null; }
how_many() { find "$work" -name "bytes-$1.$2.*" | wc -l; }
once() { [ "$(how_many "$1" "$2")" = 1 ]; }
quiet() { settled && settled mail; }
fails() { within 20 "$1: a hook" once "$1" dead; }

# ---- dead: by whom it was ended, and why

push_do buried '"do":"bury","text":"no \"such\" film"'
fails buried
like "$(told buried dead)" \
    '^\{"id":"buried","type":"do","queue":"default","ending":"dead","attempts":1,"error":\{"at":[0-9.]+,"attempt":1,"kind":"buried","text":"no \\"such\\" film","host":"[^"]*","ms":[0-9.]+\},"value":null\}$' \
    "its payload says what has happened"
push_do retried '"do":"retry"'
fails retried
like "$(told retried dead)" '"attempts":2,"error":\{[^}]*"attempt":2,"kind":"retry"' "the last of its attempts counts"
push_do crashed '"do":"signal","signal":11'
fails crashed
like "$(told crashed dead)" '"kind":"crash"' "of a crash, told by the supervisor"
push_do slow '"do":"sleep","for":30' '"timeout":0.2,"max_attempts":1'
fails slow
like "$(told slow dead)" '"kind":"timeout"' "of one that was over its time"
later push "do" '{"do":"bury"}' --id by-option --on-dead bytes --on-done note >/dev/null
fails by-option

# ---- by document, queue; who has none

push_job own '"type":"note","on_dead":"note","on_done":"bytes"'
within 10 "own: on_done in its document" once own "done"
is "$(told own 'done')" '{"id":"own","type":"note","queue":"default","ending":"done","attempts":1,"error":null,"value":null}' \
    "of one that is done"
push_do valued '"do":"value","value":{"n":[1]}' '"on_done":"bytes"'
within 10 "valued: a hook" once valued "done"
like "$(told valued 'done')" '"error":null,"value":\{"n":\[1\]\}\}$' "with what its handler gave back"
push_do large '"do":"value","bytes":65536' '"on_done":"bytes"'
within 10 "large: a hook" once large "done"
head='{"id":"large","type":"do","queue":"default","ending":"done","attempts":1,"error":null,"value":'
is "$(told large 'done' | wc -c)" "$((${#head} + 65536 + 1))" "also 64 KiB"
later push note --id by-queue -q mail --max-attempts 1 >/dev/null
later push "do" '{"do":"retry"}' --id by-queue-2 -q mail >/dev/null
within 10 "by-queue-2: a hook of its type, or of its queue" once by-queue-2 dead
like "$(told by-queue-2 dead)" '"queue":"mail"' "it is pushed into the same queue"
redis ZADD "$(key ready mail)" 1 'no JSON' >/dev/null
no_json=$(printf 'no JSON' | sha1sum | cut -d' ' -f1)
within 10 "bad: a hook of its queue" once "$no_json" dead
like "$(told "$no_json" dead)" '"type":null,"queue":"mail","ending":"dead","attempts":0,"error":\{[^}]*"kind":"bad"' \
    "of a bad document nobody knows the type"
for id in w1 w2 w3 w4; do
    later push note --id "$id" -q wide >/dev/null
    within 10 "$id: a hook in its shard" once "$id" "done"
    like "$(told "$id" 'done')" '"queue":"wide"' "its queue has the name that people use"
done

# ---- what has none

push_job expired '"type":"do","expires_at":1000000001'
later push "do" --in 1h --id cancelled >/dev/null
later cancel cancelled >/dev/null
push_do fine '"do":"done"'
wait_until 10 unknown expired
awaited 20 "all is done" quiet
is "$(how_many expired '*'):$(how_many cancelled '*'):$(how_many fine '*'):$(how_many by-queue '*')" 0:0:0:0 \
    "expired, cancelled, done where only on_dead is set: none"
is "$(find "$work" -name 'bytes-*.*.*.*.*' | wc -l)" 0 "a hook has no hook, whatever its type says"
is "$(counted pushed mail):$(counted adopted mail)" 4:1 "they are counted as pushed"
later kick buried >/dev/null
twice() { [ "$(how_many buried dead)" = 2 ]; }
within 20 "one that is kicked and dead again has another hook" twice

# ---- workers and laterd are killed between the end of a job and its settlement: once each

stop_laterd
configure 'workers = 2; lease = 60.0; grace = 0.2; crash_max = 1000;' 'retry = { max_attempts = 1000; base = 0.0; };' \
    'types = ( { name = "do"; on_dead = "bytes"; on_done = "bytes"; } );'
start_laterd
for i in $(seq 8); do
    push_do "k-dead-$i" '"do":"bury","for":0.3'
    push_do "k-done-$i" '"do":"value","value":1,"for":0.3'
    awaited 20 "both have begun" begun "k-dead-$i" && awaited 20 "both have begun" begun "k-done-$i"
    pause_redis
    wait_until 20 handed_in "k-dead-$i" && wait_until 20 handed_in "k-done-$i"
    case $i in
    [36])
        kill -KILL "$laterd_pid"
        wait "$laterd_pid" 2>/dev/null
        resume_redis
        launch
        ;;
    *)
        kill -KILL "$(pid_of "k-dead-$i")" "$(pid_of "k-done-$i")"
        resume_redis
        ;;
    esac
done
all_told() { [ "$(find "$work" -name 'bytes-k-*' | wc -l)" -ge 16 ]; }
awaited 60 "all have told" all_told
awaited 60 "all is done" settled
is "$(find "$work" -name 'bytes-k-dead-*.dead.*' | wc -l):$(find "$work" -name 'bytes-k-done-*.done.*' | wc -l)" 8:8 \
    "whoever was killed: one hook for each end"
end_well
runs "the sums of the other queue hold" conserved mail
finish
