#!/bin/sh
# later:marks: starts, deploys, reloads, outages and pauses are noted; later history --marks.
. "${top_srcdir:=.}/tests/system/daemon.sh"
needs redis-server redis-cli

# marks: "NAME OF" of each mark, in order, with a comma between two.
marks() { later history --marks | awk -F '\t' '{ printf "%s%s %s", sep, $3, $4; sep = ", " }'; }
has_marks() { [ "$(marks)" = "$1" ]; }
# mark NAME MEMBER: of the last mark of this kind.
mark()
{
    later history --marks --json | "$tools/json_lines" mark "$2" |
        awk -F '\t' -v name="\"$1\"" '$1 == name { value = $2 } END { print value }'
}
has_member() { [ "$(mark "$1" "$2")" = "$3" ]; }
version=$("$laterd_bin" --version | sed 's/laterd //')

start_redis
configure 'workers = 1; grace = 0.2;' 'queues = ( { name = "default"; } );'
is "$(marks)" '' "nothing has happened yet"

# ---- the only host was killed 100 seconds ago, and had another version

now=$(redis time | head -n 1)
redis zadd later:marks $((now - 1000)) "start $((now / 60 - 16)) 0.0.1" >/dev/null
redis hset later:hosts gone:1 \
    "{\"host\":\"gone\",\"pid\":1,\"started\":$((now - 1000)).5,\"seen\":$((now - 100)).4}" >/dev/null
# One that came after this one, and is heard first.
redis hset later:hosts young:1 \
    "{\"host\":\"young\",\"pid\":1,\"started\":$((now + 900)).5,\"seen\":$((now + 900)).6}" >/dev/null
start_laterd
within 20 "that nobody was alive, and a deploy" has_marks "start 0.0.1, down , deploy $version"
is "$(mark down from)" "$((now - 100))" "since the last one was seen"
is "$(redis zcard later:marks)" 3 "three notes"
is "$(redis pttl later:marks | awk '{ print ($1 > 89 * 86400000) }')" 1 "they are kept for 90 days"

# ---- people and reloads

later pause default
is "$(mark pause queue) $(mark pause open)" '"default" true' "a pause"
later resume default
is "$(mark pause open)" false "and its end"
later pause other --for 1h 2>/dev/null
is "$(later history --marks other | awk -F '\t' '$3 == "pause" { print $2, $4 }')" ' other' \
    "a pause of another queue goes on"
is "$(later history --marks default | awk -F '\t' '$3 == "pause" { print $4 }')" default \
    "of one queue"
is "$(later history --marks --since 1m default | cut -f 3 | grep -c start)" 0 "not those of before"
kill -HUP "$laterd_pid"
within 20 "a reload" has_member reload open false

# ---- the next one

stop_laterd
start_laterd
announced() { redis hkeys later:hosts | grep -q ":$laterd_pid\$"; }
within 20 "the next one announces itself" announced
is "$(redis zrange later:marks 0 -1 | grep -c '^stop ')" 1 "the stop is noted"
is "$(marks | grep -c "start $version")" 0 "a start soon after is of the same deploy"
# ---- without Redis

if applies away; then
    redis client pause 20000 all >/dev/null # it is counted from when laterd has read the answer before it
    within 60 "a time without an answer" has_member away open false
    is "$(later history --marks --json | "$tools/json_lines" mark from to |
        awk -F '\t' '$1 == "\"away\"" { print ($3 - $2 >= 15) }')" 1 "lasts as long as that"
fi

# ---- one that keeps no history

stop_laterd
redis unlink later:marks >/dev/null
configure 'workers = 1; history = "off";' 'queues = ( { name = "default"; } );'
start_laterd
within 20 "a laterd without history announces itself" announced
stop_laterd
is "$(redis exists later:marks)" 0 "and notes nothing"
finish
