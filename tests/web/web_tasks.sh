#!/bin/sh
# later-web's page of tasks in two browsers: who does what, how far it is, stop, undo; all of it is
# kept when later-web is killed.
. "${top_srcdir:=.}/tests/system/lib.sh"
. "$top_srcdir/tests/web/web_lib.sh"
needs python3 chromium chromedriver
start_redis 'appendonly no'
export work

make_tokens
# refused WORDS NAME: with this file it does not start.
refused()
{
    run "$web_bin" --listen "unix:$work/none.sock" --tasks-file "$work/file"
    like "$status $(echo "$err" | tail -n 1)" "^78 .*file: $1" "$2"
}
echo 'something else' >"$work/file"
refused 'this is not a file of tasks' "a file of something else"
is "$(cat "$work/file")" 'something else' "it is as it was"
rm "$work/file"
mkdir "$work/file"
refused 'Is a directory' "a folder"

python_tests web/web_tasks.py "$web_bin"
finish
