#!/bin/sh
# make test T=…, which runs one test by hand: the right one, its status, and what it says if it cannot.
. "${top_srcdir:=.}/tests/tap.sh"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tests=$(cd "$top_srcdir" && pwd)/tests

# A tree of its own, with tests that pass, fail, and end too early. Nothing is to be built there.
mkdir -p "$work/tests/unit"
cp "$tests/limit.sh" "$work/tests"
printf 'echo "ok 1 - fine"\necho 1..1\n' >"$work/tests/fine.sh"
printf 'echo "not ok 1 - bad"\necho 1..1\n' >"$work/tests/bad.sh"
printf 'echo "ok 1 - half"\n' >"$work/tests/half.sh"
printf 'echo "ok 1 - twice"\necho 1..1\n' | tee "$work/tests/twice.sh" >"$work/tests/unit/twice.sh"

# one TEST [NAME=VALUE...]: what it said goes to $out, its status to $status.
one()
{
    test=$1
    shift
    out=$(cd "$work" && env top_srcdir="$work" top_builddir="$work" MAKE=true PLUGINS='' TOOLS='' "$@" \
        sh "$tests/one.sh" "$test" 2>&1 </dev/null)
    status=$?
}

one fine
is "$status" 0 "a test that passes: status 0"
contains "$out" "ok 1 - fine" "with its results"
one tests/fine.sh
is "$status" 0 "a test may be given by its path"
one bad
is "$status" 1 "a test that fails: status 1"
one half
is "$status" 1 "a test without a plan ended early: status 1"
contains "$out" "ended early" "which is said"
one fin
is "$status $out" "64 make test: there is no test fin; like it are: tests/fine.sh " "a name that is none: what is like it"
one twice
is "$status $out" "64 make test: several tests are called twice: tests/twice.sh tests/unit/twice.sh " \
    "a name that two have: both"
one tests/unit/twice.sh
is "$status" 0 "and the path of one of them will do"
one ''
is "$status $out" "64 make test: which one? T=test_backoff, or T=tests/cli/cli_push.sh" "none: how it is used"
one fine MAKE=false
is "$status $out" "69 make test: tests/fine.sh cannot be built: the lines above say why" "what cannot be built: status 69"

mkdir "$work/bin"
for tool in basename env find grep sed sh sort tr; do
    ln -s "$(command -v $tool)" "$work/bin"
done
one fine PATH="$work/bin"
is "$status $out" "69 make test: redis-server is missing: apt-get install redis-server, or ./quickstart check, which does it" \
    "without redis-server: what to install, at once"
finish
