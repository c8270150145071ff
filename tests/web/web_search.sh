#!/bin/sh
# later-web's search in Chromium: counts, what is downloaded, what is saved, completion, and one walk
# for what acts on all.
. "${top_srcdir:=.}/tests/system/lib.sh"
. "$top_srcdir/tests/web/web_lib.sh"
needs python3 chromium chromedriver npm
start_redis 'appendonly no'
export work
find_axe

start_web_roles --mask password
python_tests web/web_search.py "$web_where" "$axe"
finish
