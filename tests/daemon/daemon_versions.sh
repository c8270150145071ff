#!/bin/sh
# Versions side by side on one Redis: the number in later:protocol, and hosts of other versions.
. "${top_srcdir:=.}/tests/system/daemon.sh"
needs redis-server redis-cli

# number N [KEY], hosts N: is it N?
number() { [ "$(redis get "${2:-later:protocol}")" = "$1" ]; }
hosts() { [ "$(redis hlen later:hosts)" = "$1" ]; }

start_redis
redis hset later:hosts new:1 "{\"host\":\"new\",\"pid\":1,\"version\":\"99.1.0\",\"started\":1,
\"seen\":$(($(date +%s) + 600)),\"workers\":1,\"running\":0,\"performed\":5,\"failed\":0,\"queues\":[],
\"invented\":[1]}" >/dev/null

# ---- absent, and the same number

configure 'workers = 1;'
start_laterd
within 5 "laterd writes the number that it knows" number 2
push_do one '"do":"done"'
within 5 "and works" unknown one
own=$("$laterd_bin" --version | sed 's/laterd //')
within 8 "later:hosts has us, beside a newer one" hosts 2
run later status
like "$out" '^new.1.99\.1\.0.alive' "later status shows the newer one's version"
like "$out" "[^0-9]$own.alive" "status shows our daemon as well"

# ---- a greater one while it runs: it waits

redis set later:protocol 3 >/dev/null
redis_all client kill type normal >/dev/null
within 10 "a greater number: laterd waits" logged 'a newer later keeps its jobs there'
push_script two '{"type":"note"}' >/dev/null
sleep 1.5 # as long as the longest wait between two tries
is "$(ready)" 1 "laterd takes no jobs of another protocol"
run later size
is "$status" 69 "later refuses: exit 69"
contains "$err" 'later:protocol is 3, we know 2' "later names the two protocol numbers"
redis set later:protocol 2 >/dev/null
within 8 "the number is ours again: it goes on" settled
is "$(how_often 'redis is away')" 1 "one line for all the time"
redis hdel later:hosts new:1 >/dev/null
end_well

# ---- a greater one at the start: it ends

redis set later:protocol 10 >/dev/null
: >"$log"
launch
await_laterd
is "$exited" 78 "a greater number at the start: exit 78"
is "$(how_often 'another version of laterd')" 1 "one line says why"
is "$(redis get later:protocol)" 10 "the number stays"

# ---- an older one: it ends as well, and says what to do

redis set later:protocol 1 >/dev/null
: >"$log"
launch
await_laterd
is "$exited" 78 "a smaller number at the start: exit 78"
run later size
is "$status" 69 "later refuses it, too"
contains "$err" 'later:protocol is 1, we know 2); let it finish and delete its keys' \
    "and says what to do"

# ---- a number that is not ours, and another prefix

redis set later:protocol 0 >/dev/null
start_laterd
push_do three '"do":"done"'
within 5 "what is nobody's is no hindrance" unknown three
stop_laterd
is "$exited" 0 "laterd ends with 0"
redis set later:protocol 3 >/dev/null
sed -i 's|^redis = { |&prefix = "shop"; |' "$work/laterd.conf"
start_laterd
within 5 "another prefix has a number of its own" number 2 shop:protocol
stop_laterd
finish
