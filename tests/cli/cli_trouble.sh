#!/bin/sh
# later status --trouble: each rule provoked, one at a time and three at once; named with since, count
# and command, and gone when it is mended. The rules are those of doc/later.1.
. "${top_srcdir:=.}/tests/system/daemon.sh"
start_redis

rules()
{
    later status --trouble --json | field rule | sort -u | paste -s -d ' ' -
}
shows()
{
    began=$(date +%s)
    within 10 "$2" are "$1"
    echo "# after $(($(date +%s) - began)) s"
}
in_order()
{
    later status --trouble | cut -f 1 | paste -s -d ' ' -
}
looks()
{
    run later status --trouble
    like "$status $out" "$2" "$3: its line"
    is "$status" 1 "$3: the status"
    head -n 1 "$work/lines" >"$work/line"
    is "$(field text <"$work/line" | ageless)" "$(echo "$out" | head -n 1 | cut -f 2 | ageless)" "$3: the same words in JSON"
}
# Time may pass between two questions, jobs run, and memory be freed.
ageless()
{
    sed -E 's/[0-9.]+ (s|min|h|d)([ ,]|$)/N\2/g; s/[0-9]+ % of [0-9]+ attempts/N % of N attempts/; s/[0-9]+ %/N %/'
}
looks_well()
{
    run later status --trouble
    is "$status$out" 0 "$1: the status is 0, and nothing is printed"
}

. "$top_srcdir/tests/system/trouble_lib.sh"

stop_laterd
stop_redis
run later status --trouble
is "$status" 69 "without Redis the status is 69"

finish
