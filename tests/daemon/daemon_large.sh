#!/bin/sh
# Large documents are read apart from the script's answer. If they cannot be read, their jobs are
# returned.
. "${top_srcdir:=.}/tests/system/daemon.sh"
start_redis
configure 'workers = 1;'
start_laterd

pad=$(printf '%08000d' 7)

# One of them waits for us, so that most are not read before Redis refuses it.
later pause default
push_many 100 'do' "{\"do\":\"sleep\",\"for\":0.001,\"pad\":\"$pad\"}" first-
push_do gate "\"do\":\"sleep\",\"until\":\"go-gate\",\"pad\":\"$pad\""
push_many 899 'do' "{\"do\":\"sleep\",\"for\":0.001,\"pad\":\"$pad\"}"
later resume default
within 20 "large jobs are done" counts 'done' 100
is "$(($(called hstrlen) > 0))" 1 "their lengths were asked for"

# ---- documents that cannot be read

within 20 "one of them waits" begun gate
redis_all ACL SETUSER default -hmget >/dev/null
touch "$work/go-gate"
within 10 "it is said that they cannot be read" logged 'redis refuses to read documents of queue default'
nothing_held() { [ "$(reserved)" = 0 ]; }
within 10 "their jobs are given back" nothing_held
redis_all ACL SETUSER default +hmget >/dev/null
within 20 "they are done when they can be read again" counts 'done' 1000
is "$(cut -d' ' -f1 "$work/ended" | sort -u | wc -l) $(lines ended)" "1000 1000" "each large job has ended once"
is "$(redis HLEN "$(key records)") $(dead)" "0 0" "no attempt was counted"

# ---- a batch that is cut by its bytes does not end the intake: the rest does not wait for a wake,
# nor come through Lua

later pause default
pad=$(printf '%050000d' 7)
push_many 400 'do' "{\"do\":\"done\",\"pad\":\"$pad\"}" cut-
waited=$(called blpop) start=$(date +%s)
later resume default
within 60 "all are done" counts 'done' 1400
# Who waits, waits for a second at least.
waited=$(($(called blpop) - waited))
at_most "$waited" $((8 + $(date +%s) - start)) "times the worker waited for a wake: not for each batch"
stop_laterd
is "$(conserved)" "" "no large job is lost"
finish
