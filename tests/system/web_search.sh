#!/bin/sh
# later-web's search in Chromium: counts, what is downloaded, what is saved, completion, and one walk
# for what acts on all.
. "${top_srcdir:=.}/tests/system/lib.sh"
. "$top_srcdir/tests/system/web_lib.sh"
needs python3 chromium chromedriver
start_redis 'appendonly no'
export work

for role in admin operator reader; do
    (umask 077; echo "0123456789abcdef-$role" >"$work/$role")
done
start_web --listen 127.0.0.1:0 --token-file "$work/admin" --operator-token-file "$work/operator" --reader-token-file "$work/reader" \
    --mask password
python_tests web_search.py "$web_where"
finish
