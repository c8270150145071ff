#!/bin/sh
# limit.sh COMMAND...: one test of make check, with a limit of time, so that nothing hangs. What it
# took ends its log: `# took WALL s, CPU s of CPU`, without servers that outlive it.
#
# $LATER_TEST_LIMIT is the limit in seconds, a quarter of an hour if nothing is said: it ends what
# hangs, and not what shares its processors with seven others. LATER_SOAK, which makes tests longer,
# lifts it.
limit=${LATER_TEST_LIMIT:-900}
[ -z "${LATER_SOAK:-}" ] || limit=0

# timeout ends all that a test has started by a process group of its own, which Ctrl-C does not reach.
foreground=
[ ! -t 0 ] || foreground=--foreground

begun=$(date +%s.%N)
# shellcheck disable=SC2086 # none, or one word
timeout $foreground -k 10 "$limit" "$@"
status=$?
case $status in
124 | 137) echo "Bail out! not over after $limit s" ;;
esac
# proc(5), after the name: the 14th and 15th are ticks of user and system time of waited-for children.
read -r stat <"/proc/$$/stat"
echo "$begun $(date +%s.%N) $(getconf CLK_TCK) ${stat##*) }" |
    ${AWK:-awk} '{ printf "# took %.1f s, %.1f s of CPU\n", $2 - $1, ($17 + $18) / $3 }'
exit $status
