#!/bin/sh
# later-web's pages in another language: all that they say is said in it, and no data is.
. "${top_srcdir:=.}/tests/system/daemon.sh"
. "$top_srcdir/tests/web/web_lib.sh"
needs python3 chromium chromedriver
start_redis 'appendonly no'
export work

configure 'workers = 3; grace = 0.2; retry = { base = 3600; max = 3600; }; types = ( { name = "bulk"; max_running = 4; } );' \
    'queues = ( { name = "mail"; }, { name = "steps"; }, { name = "night"; } );'
start_laterd
start_web --listen 127.0.0.1:0
python_tests web/web_languages.py "$(sed -n "s/.*listening: //p" "$web_log")" "$top_srcdir/web/pages/words"
stop_laterd
finish
