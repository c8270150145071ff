#!/bin/sh
# one.sh TEST: builds one test and what it needs, and runs it: `make test T=test_backoff`. TEST is its
# path or its name alone. Its results go to standard output; the status is 0 if all passed, 1 if one
# failed, 64 if there is no such test, 69 if it cannot be built or run here.
set -u
cd "${top_builddir:-.}" || exit 69

say()
{
    echo "make test: $1" >&2
    exit "$2"
}

# Names that begin or end with what was asked for, for a message.
near()
{
    find "$top_srcdir/tests" -name "*$1*" \( -name 'test_*.c' -o -name '*.sh' \) | sed "s|^$top_srcdir/||; s/\.c\$//" | sort | head -5 | tr '\n' ' '
}

[ -n "${1:-}" ] || say 'which one? T=test_backoff, or T=tests/cli/cli_push.sh' 64
name=$(basename "$1" .sh)
name=$(basename "$name" .c)
found=$(cd "$top_srcdir" && find tests \( -name "$name.sh" -o -name "$name.c" \) ! -path 'tests/on/*' | sort)
case $found in
'')
    like=$(near "$name")
    say "there is no test $1${like:+; like it are: $like}" 64
    ;;
*[[:space:]]*)
    echo "$found" | grep -qxF "$1" || say "several tests are called $name: $(echo "$found" | tr '\n' ' ')" 64
    found=$1
    ;;
esac
command -v redis-server >/dev/null ||
    say 'redis-server is missing: apt-get install redis-server, or ./quickstart check, which does it' 69

# A unit test runs in one process and may load plugins; the others start what is built.
test=${found%.c}
case $found in
tests/scripts/*.c) needs=$test ;;
tests/unit/*.c) needs="$test $PLUGINS" ;;
*.c) needs="all $test $PLUGINS $TOOLS" ;;
*) needs="all $PLUGINS $TOOLS" test=$top_srcdir/$found ;;
esac
# shellcheck disable=SC2086 # many words
${MAKE:-make} -s $needs >&2 || say "$found cannot be built: the lines above say why" 69
shell=
[ "$test" = "${test%.sh}" ] || shell=${SHELL:-sh}
# shellcheck disable=SC2086 # none, or one word
sh "$top_srcdir/tests/limit.sh" $shell "$test" 2>&1 | ${AWK:-awk} '
    { print }
    /^not ok/ { failed++ }
    /^Bail out!/ { failed++ }
    /^1\.\./ { planned = 1 }
    END { if (!planned) print "# it ended early"; exit failed || !planned }'
