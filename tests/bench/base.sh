#!/bin/sh
# base.sh PREFIX [quick]: compares this build with an older one, installed under PREFIX, in turns
# (base.c). Run it from the build tree: make bench BENCH_BASE=PREFIX.
set -eu

prefix=$1
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
here=$(dirname "$0")

# side NAME LATERD LATER INCLUDE LIBRARY NULL: what base.c runs of a build; NULL is null.so.
side()
{
    mkdir -p "$folder/$1/jobs"
    cp "$2" "$folder/$1/laterd"
    cp "$3" "$folder/$1/later"
    cp "$6" "$folder/$1/jobs/null.so"
    ${CC:-cc} -O2 -I"$4" -o "$folder/$1/pusher" "$here/pusher.c" "$5" -lhiredis -lssl -lcrypto -ljansson -lmd -lm
    ${CC:-cc} -O2 -shared -fPIC -I"$4" -o "$folder/$1/jobs/probe.so" "$here/probe.c"
}
side base "$prefix/sbin/laterd" "$prefix/bin/later" "$prefix/include" "$prefix/lib/liblater.a" \
    "$prefix/lib/laterd/jobs/null.so"
side now daemon/laterd cli/later "$here/../../lib" lib/liblater.a jobs/null.so
BENCH_SIDES=$folder tests/bench/bench "$@" base
