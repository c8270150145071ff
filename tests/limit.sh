#!/bin/sh
# limit.sh COMMAND...: runs one test of make check with a time limit, so that nothing hangs. Its log
# ends with what it took: `# took WALL s, CPU s of CPU`, without servers that outlive it.
#
# $LATER_TEST_LIMIT is the limit in seconds, by default a quarter of an hour: enough for a test that
# shares its processors with seven others. LATER_SOAK, which makes tests longer, turns the limit
# off.
limit=${LATER_TEST_LIMIT:-900}
[ -z "${LATER_SOAK:-}" ] || limit=0

# timeout puts the test into a process group of its own and ends all of it. Ctrl-C does not reach that
# group.
foreground=
[ ! -t 0 ] || foreground=--foreground

begun=$(date +%s.%N)
# shellcheck disable=SC2086 # none, or one word
timeout $foreground -k 10 "$limit" "$@"
status=$?
case $status in
124 | 137) echo "Bail out! not over after $limit s" ;;
esac
# proc(5): after the name, fields 14 and 15 are the ticks of user and system time of children that
# were waited for.
read -r stat <"/proc/$$/stat"
echo "$begun $(date +%s.%N) $(getconf CLK_TCK) ${stat##*) }" |
    ${AWK:-awk} '{ printf "# took %.1f s, %.1f s of CPU\n", $2 - $1, ($17 + $18) / $3 }'
exit $status
