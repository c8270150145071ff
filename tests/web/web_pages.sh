#!/bin/sh
# later-web's pages in Chromium. LATER_SOAK=1 checks accessibility in all four forms.
. "${top_srcdir:=.}/tests/system/lib.sh"
. "$top_srcdir/tests/web/web_lib.sh"
needs python3 chromium chromedriver npm
start_redis 'appendonly no'
export work

find_axe

start_web --listen 127.0.0.1:0 --read-only
read_only=$(sed -n 's/.*listening: //p' "$web_log")
export read_only
start_web --listen 127.0.0.1:0
link=$(sed -n 's/.*listening: //p' "$web_log")
python_tests web/web_pages.py "$link" "$axe"
finish
