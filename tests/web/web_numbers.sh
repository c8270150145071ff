#!/bin/sh
# An hour's mix of jobs in a minute, and then: each number on each page against `later size`, `status`,
# `history`, `cron` and `flow`, and those against Redis.
. "${top_srcdir:=.}/tests/system/daemon.sh"
. "$top_srcdir/tests/web/web_lib.sh"
needs python3 chromium chromedriver
start_redis
export work
configure 'workers = 3; grace = 0.2; retry = { base = 0.01; max = 0.01; };' \
    'queues = ( { name = "mail"; }, { name = "reports"; }, { name = "flaky"; }, { name = "steps"; },' \
    '    { name = "spread"; shards = 2; }, { name = "night"; } );'
start_laterd
start_web --listen 127.0.0.1:0
python_tests web/web_numbers.py "$(sed -n "s/.*listening: //p" "$web_log")"
stop_laterd
finish
