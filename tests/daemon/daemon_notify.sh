#!/bin/sh
# What systemd is told (sd_notify(3)): that laterd waits, is ready, reloads and is ready again, is alive, stops.
. "${top_srcdir:=.}/tests/system/daemon.sh"
if ! grep -q 'libsystemd\.so' "$laterd_bin"; then
    echo '1..0 # SKIP laterd was built without libsystemd'
    exit 0
fi
needs python3 redis-server

cat >"$work/hear.py" <<'PY'
import socket
import sys

heard = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
heard.bind(sys.argv[1] + '/notify')
with open(sys.argv[1] + '/told', 'w', buffering=1) as told:
    while True:
        print(heard.recv(4096).decode().replace('\n', ' '), file=told)
PY
spawn python3 "$work/hear.py" "$work"
wait_until 10 test -e "$work/told"
NOTIFY_SOCKET=$work/notify
export NOTIFY_SOCKET

# told COUNT WORDS: a line that begins so has come this often, at least.
told() { [ "$(grep -c "^$2" "$work/told")" -ge "$1" ]; }

start_redis
stop_redis KILL
configure 'workers = 2;'
: >"$log"
launch
within 10 "without Redis it waits, and more time is asked for" told 2 'STATUS=waiting for Redis EXTEND_TIMEOUT_USEC=30000000$'
is "$(grep -c READY "$work/told")" 0 "and it is not ready"
within 10 "it is alive all the same" told 1 'WATCHDOG=1$'
start_redis
within 20 "with Redis it is ready, and waits no more" told 1 'READY=1 STATUS=$'

kill -HUP "$laterd_pid"
within 10 "a reload is told, and when it began" told 1 'RELOADING=1 MONOTONIC_USEC=[0-9][0-9]*$'
within 20 "and its end" told 2 'READY=1 '
configure 'nonsense = 1;'
kill -HUP "$laterd_pid"
within 10 "so is one" told 2 'RELOADING=1 '
within 20 "that is refused" told 3 'READY=1 '
is "$(grep -o '^R[A-Z]*' "$work/told" | tr '\n' ' ')" "READY RELOADING READY RELOADING READY " "in this order"

stop_laterd
is "$exited" 0 "laterd ends with 0"
within 10 "and has told that it stops" told 1 'STOPPING=1$'
finish
