#!/bin/sh
# later-web's pages in Chromium for whoever has no mouse, or does not see them, or has a phone. LATER_SOAK=1 looks at
# all pages both dark and light at both widths.
. "${top_srcdir:=.}/tests/system/daemon.sh"
. "$top_srcdir/tests/web/web_lib.sh"
needs python3 chromium chromedriver npm
start_redis 'appendonly no'
export work

find_axe
configure 'workers = 3; grace = 0.2; retry = { base = 3600; max = 3600; }; types = ( { name = "bulk"; max_running = 4; } );' \
    'queues = ( { name = "mail"; }, { name = "steps"; }, { name = "night"; } );'
start_laterd
start_web --listen 127.0.0.1:0
python_tests web/web_access.py "$(sed -n "s/.*listening: //p" "$web_log")" "$axe"
stop_laterd
finish
