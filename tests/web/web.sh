#!/bin/sh
# later-web: who gets in, even when it is crowded, what is answered, and what happens when Redis is
# away.
. "${top_srcdir:=.}/tests/system/lib.sh"
. "$top_srcdir/tests/web/web_lib.sh"
needs python3
start_redis 'appendonly no'

start_web --listen "unix:$work/web.sock" --host ours.example
web=$web_where first_pid=$web_pid
token=0123456789abcdef-test
echo "$token" >"$work/token"
chmod 600 "$work/token"
start_web --listen 127.0.0.1:0 --token-file "$work/token" --read-only
like "$(cat "$web_log")" 'listening on http://127\.0\.0\.1:[0-9]+/$' "a token from a file is not logged"
python_tests web/web_door.py "$web" "$first_pid" "$web_where" "$token" "$redis_pids"

run "$web_bin" --listen "$web"
like "$status $err" '^71 .*web\.sock: Address already in use' "a socket that is served is not taken"
port=$(grep -o '127\.0\.0\.1:[0-9]*' "$web_log")
run "$web_bin" --listen "$port"
like "$status $err" "^71 .*cannot listen on $port: Address already in use; --listen names" "nor is a port"
is "$(stat -c %a "$work/web.sock")" 660 "its file is for user and group"
kill "$first_pid"
wait "$first_pid"
is "$? $(test -e "$work/web.sock" && echo there)" "0 " "TERM ends it, and takes the socket away"
stop_web
echo keep >"$work/file"
run "$web_bin" --listen "unix:$work/file"
like "$status $err $(cat "$work/file")" '^71 .*Address already in use.* keep$' "a file that is no socket is left alone"
run "$web_bin" --listen "unix:$work/none/web.sock"
like "$status $err" "^71 .*cannot listen on $work/none/web.sock: No such file or directory; --listen names another place" \
    "no folder for the socket: what to do"
run "$web_bin" extra
like "$status $err" '^64 later-web: extra: a word too many' "an argument too many"
run "$web_bin" --listen nowhere
is "$status" 64 "--listen nowhere"
echo short >"$work/token"
run "$web_bin" --listen 127.0.0.1:0 --token-file "$work/token"
like "$status $err" '^78 .*a token has 16 to 128 characters' "a short token"
finish
