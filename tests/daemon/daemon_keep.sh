#!/bin/sh
# Done jobs are kept if their type says so: they are shown, limited by number and age, not part of the
# sums; in the shards of a queue that is spread; even if a worker dies before it has settled.
. "${top_srcdir:=.}/tests/system/daemon.sh"
start_redis
configure 'workers = 2; lease = 60.0;' 'keep = { max = 3; };' \
    'queues = ( { name = "default"; }, { name = "wide"; shards = 2; } );' \
    'types = ( { name = "event"; keep = 600; }, { name = "do"; keep = 600; result = 60; } );'
start_laterd

# has_kept N [QUEUE]: are N jobs kept?
has_kept() { [ "$(redis ZCARD "$(key "done" "${2:-default}")")" -eq "$1" ]; }
# done_ids [QUEUE]
done_ids() { later peek "${1:-default}" --state "done" -n 100 | cut -f1 | tr '\n' ' '; }

# ---- one job: where it is seen

run later push "do" '{"do":"value","value":7}' --id first --wait
is "$status:$out" 0:7 "it has its result as well"
like "$(on_terminal "$later_bin show first")" 'result.* 7' "for people, too"
run later show first --json
like "$out" '"id":"first","state":"done","type":"do",.*"finished":\{"at":[0-9.]+,"attempt":1,"ms":[0-9.]+,"host":"[^"]+"\},"result":"7","document":"\{' \
    "show: its end, its result, its document"
like "$(later peek default --state "done")" "^first	done	do	" "peek --state done"
like "$(on_terminal "$later_bin show first")" 'took.* [0-9.]+ ms on ' "show tells people how long a kept job took"
is "$(redis HLEN "$(key jobs)"):$(redis HLEN "$(key records)")" 0:0 "nothing is left in the queue"
push_do other '"do":"retry","max_attempts":1' '"max_attempts":1'
wait_until 10 is_dead other
runs "one that is dead is not done" has_kept 1

# ---- pushed again

later push event --id first >/dev/null
again() { later show first --json | grep -q '"state":"done","type":"event"'; }
within 10 "an id that is kept may be pushed again, and is replaced at its end" again
like "$(later show first --json | grep -c '"result"')" 0 "which has no result"
is "$(done_ids)" "first " "it is there once"

# ---- run again

ends_at() { later show first --json | sed -n 's/.*"finished":{"at":\([0-9.]*\),.*/\1/p'; }
before=$(ends_at)
is "$(later kick -q default --all --yes)" 1 "kick takes no done jobs where nobody asks for them: only the dead one"
wait_until 10 is_dead other
is "$(later kick -q default --state "done" --yes)" 1 "kick --state done"
anew() { [ -n "$(ends_at)" ] && [ "$(ends_at)" != "$before" ]; }
within 10 "runs it again" anew
is "$(done_ids)" "first " "and it is kept again, once"

# ---- limits of number and age

for id in a b c d; do
    later push event --id "$id" >/dev/null
    wait_until 10 unknown "$id"
done
is "$(done_ids)" "b c d " "at most keep.max, the newest"
redis ZADD "$(key "done")" 1 c >/dev/null
within 20 "whose time is over goes" has_kept 2
is "$(done_ids)" "b d " "the other kept jobs stay"

# ---- a worker that is killed between the end of its handler and the settlement

push_do killed '"do":"value","value":1,"for":0.3'
wait_until 10 begun killed
pause_redis
wait_until 10 handed_in killed
kill -KILL "$(pid_of killed)"
resume_redis
kept_killed() { later show killed --json | grep -q '"state":"done"'; }
within 20 "is kept" kept_killed

# ---- shards; purge, forget

for id in w1 w2 w3 w4; do
    later push event --id "$id" -q wide >/dev/null
done
wide_done() { [ "$(done_ids wide | wc -w)" -eq 4 ]; }
within 10 "of a queue that is spread all of them are seen" wide_done
like "$(later show w3 --json)" '"queue":"wide","id":"w3","state":"done"' "and each is found"

# ---- search, count and export find them if their state is asked for

sorted_ids() { field id | sort | tr '\n' ' '; }
is "$(later search -q wide --state "done" --json | sorted_ids)" "w1 w2 w3 w4 " "search --state done"
is "$(later search -q wide --json | sorted_ids)" "" "search finds none where nobody asks for them"
like "$(later search -q wide --state "done" -n 1 --json)" '"state":"done".*"finished":\{' "a hit is that of show"
is "$(later search -q wide --state "done" --json --progress --text nowhere | tail -n 1)" \
    '{"searched":4,"of":4,"found":0,"ended":true}' "their documents are looked at"
later search -q wide --state "done" -n 3 --json --progress >"$work/first"
later search -q wide --state "done" --json --after "$(tail -n 1 "$work/first" | field next)" >"$work/rest"
is "$(cat "$work/first" "$work/rest" | grep '"document"' | sorted_ids)" "w1 w2 w3 w4 " "search goes on among them"
is "$(later search --count -q wide --state "done") $(later search --count -q wide) $(later search --count -q wide --state "done" --type 'other*')" \
    "4 0 0" "count --state done"
is "$(later search --count -q wide --state "done" --newer 1h) $(later search --count -q wide --state "done" --older 1h)" "4 0" \
    "by the time at which they were done, not until which they are kept"
later export -q wide --state "done" >"$work/lines"
is "$(sorted_ids <"$work/lines")" "w1 w2 w3 w4 " "export --state done"
like "$(head -n 1 "$work/lines")" '^\{"queue":"wide","id":"w.","priority":0,"document":\{' "lines that push takes"
is "$(later cancel -q wide --state "done" --yes)" 4 "purge --state done"
is "$(done_ids wide)" "" "drops them"
is "$(counted purged)" 0 "purging done jobs changes no counter"
later push --file "$work/lines" >/dev/null
within 10 "what was exported runs again where it is pushed" wide_done
later cancel -q wide --state "done" --yes >/dev/null
wait_until 20 settled
end_well
run later check default
is "$status" 0 "check finds nothing wrong"
redis HDEL "$(key kept)" d >/dev/null
run later check default
is "$status" 1 "and a kept job without its document"
later cancel -q default --state dead --yes >/dev/null
run later forget default
is "$status:$err" "0:" "forget takes the queue"
is "$(redis EXISTS "$(key "done")" "$(key kept)")" 0 "forget: they go with their queue"
finish
