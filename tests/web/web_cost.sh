#!/bin/sh
# later-web: what those who look cost Redis.
. "${top_srcdir:=.}/tests/system/lib.sh"
. "$top_srcdir/tests/web/web_lib.sh"
needs python3
start_redis 'appendonly no'
start_web --listen "unix:$work/web.sock"
python_tests web/web_cost.py "$web_where"
stop_web
finish
