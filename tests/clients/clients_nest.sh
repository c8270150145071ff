#!/bin/sh
# laterd/nest in a NestJS application: its handlers are found and injected, in a test without Redis and under laterd.
. "${top_srcdir:=.}/tests/system/lib.sh"
node_modules || {
    echo "1..0 # SKIP node or npm is not installed, or npm cannot install NestJS"
    exit 0
}
source=$(cd "$top_srcdir" && pwd)
mkdir -p "$work/nest"
ln -s "$node_modules/node_modules" "$work/node_modules"
# A copy: what is linked would look for NestJS beside itself.
cp -R "$source/clients/node" "$work/nest/laterd"
mkdir -p "$work/nest/node_modules"
ln -s ../laterd "$work/nest/node_modules/laterd"
cp "$source/tests/clients/nest.mjs" "$work/nest/app.mjs"
run timeout 600 node "$work/nest/app.mjs" test
is "$out" 'all passed' "a test with a Fake"
[ "$status" -eq 0 ] || printf '%s\n' "$err" | sed 's/^/# /'

start_redis 'appendonly no'
SOCKET=$redis_socket
export SOCKET
run timeout 600 node "$work/nest/app.mjs" push "$redis_socket"
is "$status" 0 "an application pushes"
[ "$status" -eq 0 ] || printf '%s\n' "$err" | sed 's/^/# /'
run timeout 600 "$later_bin" work mail --lines --until-empty -- node "$work/nest/app.mjs"
is "$status" 0 "laterd runs it as a program, until the queue is empty"
run later wait nest -q mail --timeout 0
contains "$out" 'sent to a@b.c' "its handler has performed the job"
is "$(redis HGET 'later:{default}:stats' pushed)" 1 "and has pushed by what is injected"
finish
