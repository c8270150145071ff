#!/bin/sh
# later-web's overview of 5,000 queues in Chromium.
. "${top_srcdir:=.}/tests/system/lib.sh"
. "$top_srcdir/tests/web/web_lib.sh"
needs python3 chromium chromedriver
start_redis 'appendonly no'
export work

start_web_roles
python_tests web/web_many.py "$web_where"
finish
