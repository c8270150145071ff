#!/bin/sh
# later top: what it shows, and what it does in a terminal.
. "${top_srcdir:=.}/tests/system/lib.sh"
needs python3
start_redis 'appendonly no'

i=10
while [ $i -lt 50 ]; do
    echo "[\"push\",\"t\",\"-q\",\"q$i\"]"
    i=$((i + 1))
done | later serve >/dev/null
later push t -q q33 >/dev/null 2>&1
later pause q20 >/dev/null
later push t -q a-name-that-is-longer-than-its-column --in 1h >/dev/null 2>&1
run later top
is "$(echo "$out" | sed -n '5p')" \
    'QUEUE              vREADY  RUNNING  DELAYED   DEAD  OLDEST  HOSTS   IN/S  DONE/S' "top shows its headings"
like "$(echo "$out" | sed -n '6p')" '^q33 +2 +0 +0 +0 +[0-9.]+ s nobody +- +-$' "the most ready jobs first"
like "$out" 'q20 .* paused ' "what is paused"
like "$out" 'a-name-that-is~ +0 +0 +1 ' "a long name is cut"
is "$(echo "$out" | wc -l)" 46 "in a pipe: all queues, once"
past=$(($(date +%s) - 3600))
redis HSET later:hosts past:1 "{\"host\":\"past\",\"pid\":1,\"version\":\"1\",\"seen\":$past,\"started\":$past,
    \"workers\":2,\"running\":6,\"performed\":9,\"failed\":1,\"rate\":47.3,\"queues\":[\"q33\"],\"fault\":null}" >/dev/null
run later top
like "$(echo "$out" | grep '^past')" '^past +gone +- +- +- +1 +- *$' "of a host that is gone, only what it has done"
redis DEL later:hosts >/dev/null
run later top q33 q20
is "$(echo "$out" | sed -n '6,$p' | cut -c1-3 | tr '\n' ' ')" 'q33 q20 ' "queues that are named"
run later top --json
like "$status $err" '^64 .*later status --json' "programs are sent elsewhere"
python_tests cli/cli_top.py "$redis_pids"
finish
