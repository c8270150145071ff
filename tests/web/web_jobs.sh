#!/bin/sh
# later-web: a job's page follows the job; a new job from nothing; a pause for a time, of a type; why
# a job does not run; what happened on the overview's curves.
. "${top_srcdir:=.}/tests/system/lib.sh"
. "$top_srcdir/tests/web/web_lib.sh"
needs python3 chromium chromedriver
start_redis 'appendonly no'
export work
start_web --listen 127.0.0.1:0
python_tests web/web_jobs.py "$(sed -n "s/.*listening: //p" "$web_log")"
finish
