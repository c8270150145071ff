#!/bin/sh
# What a job logs is kept with it where its queue says so: the last lines over all attempts, each failed one with its
# whole error, bounded, also of one that kills its worker, while it runs, and when it is done and kept. Elsewhere
# nothing is kept.
. "${top_srcdir:=.}/tests/system/daemon.sh"
needs python3
start_redis
conf()
{
    configure 'workers = 2; lease = 60.0; drain = 60.0; grace = 1.0;' 'retry = { max_attempts = 3; base = 0.0; };' \
        'queues = ( { name = "default"; logs_kept = 10; }, { name = "silent"; } );' \
        'types = ( { name = "do"; keep = 3600.0; }, { name = "exec.*"; keep = 3600.0; } );'
}
conf
sed -i 's|config = {|& exec = { talks = { argv = ( "/bin/sh", "-c", "echo out; echo err >\&2" ); }; trace = { argv = ( "/bin/sh", "-c", "echo Traceback:; echo \\"  line $LATER_ATTEMPT\\"; echo Error: of attempt $LATER_ATTEMPT; exit 3" ); }; };|' \
    "$work/laterd.conf"
start_laterd

# log_of ID [QUEUE]: what `later show` says: dropped, and the lines, each as attempt/level/text.
log_of()
{
    later show "$1" -q "${2:-default}" --json | python3 -c 'import json, sys
log = json.load(sys.stdin).get("log")
print(log and "%d: %s" % (log["dropped"], ", ".join("%d/%s/%s" % (l["attempt"], l["level"], l["text"]) for l in log["lines"])))'
}
logs() { [ "$(log_of "$1")" = "$2" ]; }
finished() { later show "$1" --json | grep -q '"state":"done"'; }
no_files() { [ -z "$(find "$work/state/slots" -name '*value*')" ]; }

push_do few '"do":"talk","lines":2'
wait_until 20 finished few
is "$(log_of few)" '0: 1/info/line 1, 1/debug/line 2' "a job that is done and kept has its lines, whatever the level of the log"
push_do many '"do":"talk","lines":25,"in":0' '"max_attempts":2'
wait_until 20 is_dead many
is "$(log_of many)" "42: $(for i in 17 18 19 20 21 22 23 24 25; do
    printf '2/%s/line %d, ' "$([ $((i % 2)) = 1 ] && echo info || echo debug)" $i
done)2/error/told to fail" "of a dead one the last ten of fifty, and of two errors"
push_do both '"do":"talk","lines":3,"in":0' '"max_attempts":2'
wait_until 20 is_dead both
is "$(log_of both)" \
    "0: 1/info/line 1, 1/debug/line 2, 1/info/line 3, 1/error/told to fail, \
2/info/line 1, 2/debug/line 2, 2/info/line 3, 2/error/told to fail" "those of both attempts"
push_do killed '"do":"talk","lines":3,"kill":9' '"max_attempts":1'
wait_until 20 is_dead killed
is "$(log_of killed)" '0: 1/info/line 1, 1/debug/line 2, 1/info/line 3' "one that kills its worker has its last words"

push_do runs '"do":"talk","lines":3,"slow":2,"until":"go-on"'
within 20 "lines are seen while it runs" logs runs '0: 1/info/line 1, 1/debug/line 2'
touch "$work/go-on"
within 20 "and the rest when it is done" logs runs '0: 1/info/line 1, 1/debug/line 2, 1/info/line 3'

long=$(printf '%02000d' 7)
push_do long '"do":"talk","lines":10,"text":"'"$long"'","in":0' '"max_attempts":1'
wait_until 20 is_dead long
is "$(noted o long | grep -o '"text":"[^"]*"' | awk '{ print length($0) - 9 }' | sort -u)" 1000 "a line has 1,000 bytes at most"
push_do odd '"do":"talk","lines":10,"text":"\u0001'"$(printf '%0999d' 0 | sed 's/0/\\u0001/g')"'","in":0' '"max_attempts":1'
wait_until 20 is_dead odd
at_most "$(noted o odd | wc -c)" 16512 "what is kept is bounded in bytes, too"
is "$(noted o odd | python3 -c 'import json, sys; log = json.load(sys.stdin); print(log["dropped"] + len(log["lines"]))')" 11 \
    "and says how much was dropped"

push_job trace '"type":"exec.trace","max_attempts":2'
wait_until 20 is_dead trace
like "$(log_of trace | tr '\n' '/')" ' 1/error/exit status 3: Error: of attempt 1/Traceback:/  line 1, ' \
    "each attempt has its whole error, of several lines, too"
like "$(log_of trace | tr '\n' '/')" ' 2/error/exit status 3: Error: of attempt 2/Traceback:/  line 2/$' "so has the last one"

push_job talks '"type":"exec.talks"'
wait_until 20 finished talks
like "$(log_of talks)" '1/debug/output: out' "what a program prints is kept"
like "$(log_of talks)" '1/debug/output: err' "on its standard error, too"

later push 'do' '{"do":"talk","lines":3}' -q silent --id silent >/dev/null
wait_until 20 ended silent
wait_until 20 eval '[ "$(redis ZCARD "$(key done silent)")" = 1 ]'
is "$(log_of silent silent)" None "a queue that keeps none keeps none"

# Many that end together: their lines go to Redis in few calls (test_sending), each to its own job.
later pause default >/dev/null
for i in $(seq 400); do
    echo "{\"type\":\"do\",\"id\":\"n$i\",\"payload\":{\"do\":\"talk\",\"lines\":$((i % 3 + 1))}}"
done | later push --file - >/dev/null
before=$(redis ZCARD "$(key "done")")
later resume default >/dev/null
all_done() { [ "$(redis ZCARD "$(key "done")")" = $((before + 400)) ]; }
awaited 60 "four hundred jobs" all_done
is "$(for i in 1 2 399 400; do log_of "n$i"; done)" "$(printf '%s\n' '0: 1/info/line 1, 1/debug/line 2' \
    '0: 1/info/line 1, 1/debug/line 2, 1/info/line 3' '0: 1/info/line 1' '0: 1/info/line 1, 1/debug/line 2')" "each has its own lines"

push_do dies '"do":"talk","lines":3,"slow":3,"until":"never"' '"max_attempts":1'
wait_until 20 logged 'line 3 job=dies'
stop_laterd KILL
conf
start_laterd
wait_until 20 is_dead dies
is "$(log_of dies)" '0: 1/info/line 1, 1/debug/line 2, 1/info/line 3' "laterd is killed: the next one finds the lines on the disk"
later cancel dies >/dev/null
is "$(noted o dies)" '' "a job that goes takes its lines along"
within 20 "no file is left" no_files
is "$(conserved && echo yes)" yes "nothing was lost"
stop_laterd
finish
