#!/bin/sh
# limit.sh COMMAND...: runs one test of make check with a time limit, so that nothing hangs. Its log
# ends with what it took: `# took WALL s, CPU s of CPU`, without servers that outlive it. A script that
# calls what is not there fails: a shell only says so, and goes on.
#
# $LATER_TEST_LIMIT is the limit in seconds of an idle machine, by default a quarter of an hour. While the
# machine is busy, a second counts as the share of a processor that a process has then, so a test is
# ended because it hangs, not because others run. LATER_SOAK, which makes tests longer, turns the limit
# off.
limit=${LATER_TEST_LIMIT:-900}

# timeout puts the test into a process group of its own and ends all of it. Ctrl-C does not reach that
# group.
foreground=
[ ! -t 0 ] || foreground=--foreground

# watch PROCESS: ends the test when it has had its time.
watch()
{
    processors=$(nproc) had=0 # thousandths of a second
    while [ "$had" -lt $((limit * 1000)) ]; do
        sleep 10
        read -r load _ </proc/loadavg
        busy=$((${load%.*} + 1))
        [ "$busy" -ge "$processors" ] || busy=$processors
        had=$((had + 10000 * processors / busy))
    done
    kill "$1"
}

# To wait for a download is none of a test's time.
case $* in
*/systemd/boot.sh) [ "$(id -u)" -ne 0 ] || sh "$top_srcdir/tests/system/systemd/tree.sh" wait ;;
esac

begun=$(date +%s.%N)
# shellcheck disable=SC2086 # none, or one word
timeout $foreground -k 10 0 "$@" <&0 &
test=$!
watcher=
if [ -z "${LATER_SOAK:-}" ]; then
    watch "$test" >/dev/null 2>&1 &
    watcher=$!
fi
trap 'kill "$test"' INT TERM
wait "$test"
status=$?
if [ -n "$watcher" ]; then
    kill "$watcher" 2>/dev/null
    ! wait "$watcher" 2>/dev/null || echo "Bail out! not over after $limit s of an idle machine"
fi
# Under make standard error is the test's log.
if [ -f "/proc/$$/fd/2" ]; then
    missing=$(grep -aE -m 1 '^[^ ]+\.sh: (line )?[0-9]+: [^ ]+: (command )?not found$' "/proc/$$/fd/2")
    [ -z "$missing" ] || echo "Bail out! $missing"
fi
# proc(5): after the name, fields 14 and 15 are the ticks of user and system time of children that
# were waited for.
read -r stat <"/proc/$$/stat"
echo "$begun $(date +%s.%N) $(getconf CLK_TCK) ${stat##*) }" |
    ${AWK:-awk} '{ printf "# took %.1f s, %.1f s of CPU\n", $2 - $1, ($17 + $18) / $3 }'
exit $status
