#!/bin/sh
# kill -9 of a worker, whose job begins again at once; of laterd, whose workers end with it and
# whose successor takes over what they held, however long the lease; of all of them.
. "${top_srcdir:=.}/tests/system/daemon.sh"
start_redis

# ms ID: milliseconds from $killed to the second start of this job.
ms()
{
    awk "BEGIN { printf \"%.0f\n\", ($(began "$1" 2) - $killed) * 1000 }"
}

# ---- a worker, the only one or one of two, with jobs waiting

for count in 1 2; do
    rm -f "$work/begun" "$work/ended" "$work/ms"
    configure "workers = $count;" 'lease = 60.0;'
    start_laterd
    push_many 500 note null "before$count-" # quick jobs, so that many are reserved at a time
    for i in 1 2 3 4 5 6 7 8 9; do
        push_do "killed$count-$i" '"do":"sleep","until":"never","upto":1' '"backoff":30'
        push_many 20 note null "held$count-$i-"
        wait_until 5 begun "killed$count-$i"
        killed=$(present)
        kill -KILL "$(pid_of "killed$count-$i")"
        awaited 10 "killed$count-$i is begun again" ended "killed$count-$i"
        ms "killed$count-$i" >>"$work/ms"
        awaited 10 "all are done" settled
    done
    sort -n "$work/ms" >"$work/sorted"
    echo "# workers $count: ms from the kill to the next start: $(tr '\n' ' ' <"$work/sorted")"
    # With a set, these run beside other tests, which can delay a process by any time.
    [ "$redis_kind" != single ] ||
        at_most "$(sed -n 5p "$work/sorted")" 1000 "of $count workers: ms until a job is begun again, the median"
    is "$(cut -d' ' -f1,2 "$work/begun" | sort | uniq -d)" "" "no attempt began twice"
    is "$(grep -c "^held$count-" "$work/begun")" 180 "what was held ran once"
    is "$(awk '$2 != 1' "$work/begun" | grep -vc '^killed')" 0 "as a first attempt"
    stop_laterd
done

# ---- laterd alone: its workers end too; the lease is long, but the successor does not wait for it

rm -f "$work/begun" "$work/ended"
configure 'workers = 2;' 'lease = 600.0; crash_max = 1000;'
start_laterd
push_many 500 note null before-
wait_until 10 settled
for i in 1 2; do
    push_do "left-$i" '"do":"sleep","until":"never","upto":1'
done
push_many 50 note null behind-
wait_until 5 begun left-1 && wait_until 5 begun left-2
pids=$(workers)

run "$laterd_bin" -c "$work/laterd.conf"
is "$status" 75 "a second laterd with the same state_dir ends: exit 75"
contains "$err" 'is in use by another laterd' "the second laterd says that state_dir is in use"

# Nor does it take a folder in which others can put what is to be settled.
mkdir -m 1777 "$work/open"
mkdir "$work/linked"
ln -s "$work/state" "$work/linked/slots"
for folder in open linked; do
    sed "s|^state_dir = .*|state_dir = \"$work/$folder\";|" "$work/laterd.conf" >"$work/$folder.conf"
    run "$laterd_bin" -c "$work/$folder.conf"
    is "$status" 78 "a state_dir that is $folder: exit 78"
done
contains "$err" "$work/linked/slots: not a directory; remove it" "whose line names the link"
is "$(workers)" "$pids" "the first is not disturbed"

stop_laterd KILL
for pid in $pids; do
    within 1 "a worker ends within a second" gone "$pid"
done
at_least "$(reserved)" 2 "jobs are still reserved"
begin=$(present)
launch
within 5 "the next laterd begins the first again" begun left-1 2
within 5 "and the second" begun left-2 2
for i in 1 2; do
    in_time "$(sum "$(began left-$i 2) - $begin")" 1 "s from the start of laterd to that of job $i, of a lease of 600"
done
within 10 "all are done" settled
is "$(cut -d' ' -f1,2 "$work/begun" | sort | uniq -d)" "" "no attempt began twice"
is "$(counted lapsed)" 0 "no lease ran out"
pages() { [ "$(find "$work/state/slots" -type f | wc -l)" = 2 ]; }
within 5 "the pages of the dead are removed" pages
within 5 "the log tells" logged 'an earlier laterd was killed'

# ---- everything at once: laterd and its workers, with acks under way; five times

# caught PID: stops this worker in the middle of a job, and lets it go on if it was not: between the line that a job
# has ended and that its worker knows of it, a kill would let it run again. Or nothing runs any more.
caught()
{
    kill -STOP "$1"
    until [ "$(state_of "$1")" = T ] || gone "$1"; do :; done
    "$AWK" -v pid="$1" '
        FILENAME ~ /begun$/ && $5 == pid { runs = $1 }
        FILENAME ~ /ended$/ && $6 == pid && $1 == runs { runs = "" }
        END { exit runs == "" }' "$work/begun" "$work/ended" && return
    kill -CONT "$1"
    settled
}

rm -f "$work/begun" "$work/ended"
stop_laterd
start_laterd
push_many 4000 'do' '{"do":"sleep","for":0.002}' all-
for i in 1 2 3 4 5; do
    wait_until 20 reached ended $((i * 500))
    pids=$(workers)
    for pid in $pids; do
        wait_until 20 caught "$pid"
    done
    # shellcheck disable=SC2086 # each is a word
    kill -KILL "$laterd_pid" $pids
    await_laterd
    launch
done
within 40 "4,000 jobs survive five kills of everything" settled
is "$(cut -d' ' -f1 "$work/ended" | sort -u | wc -l) $(dead)" "4000 0" "no job is lost or dead after the kills"
# A kill repeats at most what ran in the two workers.
repeated=$(cut -d' ' -f1 "$work/begun" | sort | uniq -d | wc -l)
echo "# $repeated jobs were begun twice"
at_most "$repeated" 10 "jobs were begun twice"
is "$(cut -d' ' -f1 "$work/ended" | sort | uniq -d)" "" "no job that had ended ran again"
runs "the sums hold" conserved

# ---- the embedded Redis: it is started again, and nothing is lost

stop_laterd
rm -f "$work/begun" "$work/ended"
configure 'workers = 2;' 'lease = 60.0;'
start_embedded
later push 'do' '{"do":"sleep","until":"go-running"}' --id running >/dev/null
wait_until 5 begun running
later push note --id later --in 2 >/dev/null
# The append-only file is written at once, or after two seconds if the disk is busy.
written() { redis INFO persistence | tr -d '\r' | grep -qx 'aof_buffer_length:0'; }
awaited 10 "Redis has written it" written
server=$(redis INFO server | tr -d '\r' | sed -n 's/^process_id://p')
kill -KILL "$server"
within 10 "laterd starts its Redis again" logged 'starting it again'
touch "$work/go-running"
within 10 "a job that ran is done" ended running
within 10 "a delayed one too" ended later
is "$(attempts_in begun running | wc -l) $(ended running && echo 'done')" "1 done" \
    "the job that ran while Redis died has run once, and ended"
stop_laterd
is "$exited" 0 "laterd ends with 0"
finish
