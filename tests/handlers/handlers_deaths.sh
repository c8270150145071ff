#!/bin/sh
# Long-lived programs that end in all ways, with jobs that have only one attempt: what a program had
# read and not answered is buried, and nothing else. LATER_SOAK=1: 1,000 jobs each.
. "${top_srcdir:=.}/tests/system/daemon.sh"
start_redis
: "${LATER_SOAK:=}"
mkdir -p "$work/conf.d"

# A shell reads its lines byte by byte, so what it has not noted it has not read. The word after the
# dot of a job's id says what to do: `ok` is answered, `hold` only with the next `ok`, `hog` grows
# until the program's memory limit ends it.
cat >"$work/program.sh" <<'SH'
case $1 in
start) echo start >>"$NOTES/starts"; [ "$(wc -l <"$NOTES/starts")" -ge 7 ] || exit 1 ;;
memory) ulimit -v 30000 ;;
esac
held='' n=0
while read -r line; do
    id=${line#*\"id\":\"} id=${id%%\"*}
    echo "$id" >>"$NOTES/read"
    case $id in
    *.hold*) held="$held $id"; continue ;;
    *.hog*) x=xxxxxxxx; while :; do x=$x$x; done ;;
    esac
    [ "$1" != loud ] || echo "said of $id"
    n=$((n + 1)) last=''
    [ "$1$n" != recycle10 ] || last=',"last":true'
    for one in $held "$id"; do
        echo "$one" >>"$NOTES/answered"
        echo "{\"id\":\"$one\",\"result\":\"done\"$last}" >&3
    done
    held=
    [ "$1" != once ] && [ -z "$last" ] || exit 0
done
SH
{
    echo "plugins = { config = { exec = {"
    for case in once start memory recycle loud; do
        echo "$case = { argv = ( \"/bin/sh\", \"$work/program.sh\", \"$case\" ); lines = true;"
        echo "    parallel = 10; types = ( \"$case\" ); env = { NOTES = \"$work\"; }; };"
        echo "serial_$case = { argv = ( \"/bin/sh\", \"$work/program.sh\", \"$case\" ); lines = true;"
        echo "    types = ( \"serial.$case\" ); env = { NOTES = \"$work\"; }; };"
    done
    echo "}; }; };"
} >"$work/conf.d/exec.conf"
configure 'workers = 1;' 'retry = { max_attempts = 1; };'
start_laterd

# at_rest: does nothing happen any more? Everything reserved has been read and is held.
at_rest()
{
    settled || { [ "$(ready)" = 0 ] && [ "$(delayed)" = 0 ] &&
        [ "$(reserved)" = $(($(lines read) - $(lines answered) - $(dead))) ]; }
}

is_answered()
{
    grep -qx "$1" "$work/answered"
}

# try TYPE COUNT WORD...: pushes this many jobs, with the words in turn.
try()
{
    type=$1 wanted=$2
    shift 2
    redis_all FLUSHALL >/dev/null
    rm -f "$work/read" "$work/answered" "$work/starts"
    awk -v type="$type" -v count="$wanted" -v words="$*" 'BEGIN {
        n = split(words, word, " ")
        for (i = 1; i <= count; i++)
            printf "{\"type\":\"%s\",\"id\":\"%d.%s\"}\n", type, i, word[(i - 1) % n + 1]
    }' | later push --file - >/dev/null
    # A job that is still held at the end is answered with one more.
    flushed=0
    while wait_until 60 at_rest && ! settled && [ "$flushed" -lt 60 ]; do
        flushed=$((flushed + 1))
        push_job "flush-$flushed.ok" "\"type\":\"$type\""
        wait_until 20 is_answered "flush-$flushed.ok"
    done
    wait_until 60 settled
    touch "$work/answered"
    sort "$work/read" >"$work/read.sorted"
    sort "$work/answered" >"$work/answered.sorted"
    is "$(($(counted 'done') + $(dead)))" "$((wanted + flushed))" "$type: all $wanted are done or buried"
    is "$(uniq -d <"$work/read.sorted")" "" "$type: none was read twice"
    is "$(redis ZRANGE "$(key dead)" 0 -1 | sort)" "$(comm -23 "$work/read.sorted" "$work/answered.sorted")" \
        "$type: buried is what was read and not answered: $(dead)"
    is "$(counted 'done')" "$(lines answered)" "$type: done is what was answered"
    runs "$type: the sums hold" conserved
}

count=200
[ -z "$LATER_SOAK" ] || count=1000
try once "$count" ok
is "$(dead)" 0 "ends with 0 after each: none is buried"
try start "$count" ok
is "$(dead)" 0 "dies at its start, six times: none is buried"
at_least "$(lines starts)" 7 "starts"
try recycle "$count" ok
is "$(dead)" 0 "recycles itself: none is buried"
try memory "$count" ok ok ok ok hold ok ok hold hold hog
at_least "$(dead)" $((count / 10)) "killed by its memory limit: buried are those, and what was with them"
contains "$(redis --raw HVALS "$(key records)" | grep '"kind":"crash"')" 'the program died: exit status 2: ' \
    "as crashes, with their exit status"
try serial.once 50 ok
is "$(dead)" 0 "one at a time, ends after each: none is buried"
try serial.memory 50 ok ok ok ok hog
is "$(dead)" 10 "one at a time, killed by its memory limit: those jobs are"

# What a program that has many jobs printed last is not of the job whose time is over.
push_job 1.ok '"type":"loud"'
wait_until 20 is_answered 1.ok
push_job 2.hold '"type":"loud","timeout":1'
runs "one is over its time" wait_until 20 is_dead 2.hold
is "$(error_of 2.hold | field text)" "timed out" "its error has no words of another job"
stop_laterd
is "$exited" 0 "laterd ends with 0"
finish
