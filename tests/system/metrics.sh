#!/bin/sh
# later metrics: Prometheus's own tool accepts it, counters never go back, and alerts and board use
# metrics that exist.
. "${top_srcdir:=.}/tests/system/daemon.sh"
needs redis-server redis-cli promtool python3

# metric SAMPLE: prints its value.
metric() { later metrics | awk -v name="$1" '$1 == name { print $2 }'; }
shows() { [ "$(metric "$1")" = "$2" ]; }
attempts() { shows "laterd_attempts_total{queue=\"default\",type=\"$1\",result=\"$2\"}" "$3"; }

start_redis
configure 'workers = 2;' 'queues = ( { name = "default"; }, { name = "spread"; shards = 2; } );'
start_laterd
push_many 20 note null note-
push_do crash '"do":"signal","signal":11,"upto":1'
push_do bury '"do":"bury"'
seq 5 | sed 's/.*/{"type":"note","queue":"spread"}/' | later push --file - >/dev/null
within 20 "attempts by type and result" attempts note 'done' 20
within 20 "a crash" attempts 'do' crash 1
within 10 "burials" attempts 'do' bury 1
within 10 "worker crashes" shows laterd_worker_crashes_total 1
within 10 "shards are added up" shows 'laterd_jobs_done_total{queue="spread"}' 5
within 10 "daemons" shows laterd_hosts 1
within 10 "and their workers" shows laterd_workers 2
later metrics >"$work/metrics"
runs "promtool finds nothing to say" promtool check metrics <"$work/metrics"
is "$(metric 'laterd_jobs{queue="default",state="dead"}')" 1 "jobs by state"
is "$(metric "laterd_build_info{version=\"$(later --version | sed 's/^later //')\"}")" 1 "the version"
is "$(metric 'laterd_job_run_seconds_count{queue="default",type="note"}')" 20 "the run histogram counts all attempts"
is "$(metric 'laterd_job_wait_seconds_count{queue="default",type="note"}')" 20 "the wait histogram, too"
is "$(metric 'laterd_job_run_seconds_bucket{queue="default",type="note",le="+Inf"}')" 20 \
    "whose last bucket has all"
bounds=$(sed -n 's/^laterd_job_run_seconds_bucket{queue="default",type="note",le="\([0-9.]*\)"}.*/\1/p' "$work/metrics")
is "$(echo "$bounds" | awk 'NR > 1 && $1 != 2 * last { print } { last = $1 }')" '' "each bucket is twice the one before"
is "$(echo "$bounds" | sed -n '1p;$p' | tr '\n' ' ')" '0.0009765625 16384.0 ' "from a millisecond to four hours"

# ---- groups

is "$(grep '^laterd_group_' "$work/metrics")" '' "a queue without groups has no metrics of them"
redis SET 'later:{rent}:shards' 2 >/dev/null
cat >"$work/line" <<'E'
{"type":"note","queue":"rent","group":"a\"b\\c"}
E
printf '%s\n' '{"type":"note","queue":"rent","group":"only\\one"}' >"$work/other"
{
    for i in $(seq 22); do
        seq "$i" | sed "s|.*|{\"type\":\"note\",\"queue\":\"rent\",\"group\":\"g$i\"}|"
    done
    seq 30 | sed 's|.*|{"type":"note","queue":"rent"}|'
    for i in $(seq 40); do cat "$work/line"; done
    for i in $(seq 35); do cat "$work/other"; done
} | later push --file - >/dev/null
later metrics >"$work/metrics"
runs "promtool finds nothing to say" promtool check metrics <"$work/metrics"
{
    printf '%s\n' '"a\"b\\c"} 40' '"only\\one"} 35' '""} 30'
    for i in $(seq 22 -1 6); do echo "\"g$i\"} $i"; done
} | sed 's/^/laterd_group_ready_jobs{queue="rent",group=/' >"$work/groups"
grep '^laterd_group_ready_jobs' "$work/metrics" >"$work/told"
runs "the 20 groups with most ready jobs, of both shards" cmp "$work/groups" "$work/told"
later cancel -q rent --all --yes >/dev/null
later metrics >"$work/metrics"
is "$(grep '^laterd_group_' "$work/metrics")" '' "without ready jobs they are gone"

# ---- counters never go back

# counters: prints all samples of counters and histograms, in order.
counters()
{
    later metrics | grep -E '_(total|count|bucket|sum)[{ ]' | sort
}
# backwards OLD NEW: prints the samples that have become less, or are gone.
backwards()
{
    awk 'NR == FNR { now[$1] = $2; next } !($1 in now) || now[$1] < $2' "$2" "$1"
}
counters >"$work/before"
stop_laterd
counters >"$work/after"
is "$(backwards "$work/before" "$work/after")" '' "nothing goes back when laterd ends"
start_laterd
push_many 10 note null more-
within 20 "the next one counts on" attempts note 'done' 30
counters >"$work/later"
is "$(backwards "$work/after" "$work/later")" '' "nothing goes back when the next one begins"

# ---- the other format, and no Redis

# A trouble may begin or end between the two.
same_samples()
{
    later metrics | grep -v '^#' | cut -d ' ' -f 1 >"$work/plain.names"
    later metrics --openmetrics >"$work/open"
    grep -v '^#' "$work/open" | cut -d ' ' -f 1 | cmp -s - "$work/plain.names"
}
within 10 "OpenMetrics has the same samples" same_samples
is "$(tail -n 1 "$work/open")" '# EOF' "OpenMetrics has its last line"
is "$(grep -c '^# TYPE .*_total ' "$work/open")" 0 "and no suffix in a counter's name"
runs "there is an answer without Redis" "$later_bin" --redis "unix:$work/none" metrics
is "$(later --redis "unix:$work/none" metrics 2>/dev/null | grep '^laterd_redis_up')" \
    'laterd_redis_up 0' "laterd_redis_up is 0"

# ---- alerts and board

cp "$top_srcdir/etc/prometheus/laterd.rules.yml" "$top_srcdir/tests/system/metrics_rules.yml" "$work"
runs "promtool takes the rules" promtool check rules "$work/laterd.rules.yml"
runs "and they say what they shall" promtool test rules "$work/metrics_rules.yml"
runs "each of them is seen to fire and to be silent" python3 "$top_srcdir/tests/system/metrics_board.py" alerts \
    "$work/laterd.rules.yml" "$work/metrics_rules.yml"
board=$top_srcdir/etc/prometheus/laterd-grafana.json
runs "the board is as Grafana wants it" sh -c 'python3 "$1" board "$2" >"$3"' sh \
    "$top_srcdir/tests/system/metrics_board.py" "$board" "$work/board.json"
runs "promtool takes each of its expressions" promtool check rules "$work/board.json"
sed 's/sum by (state)/sum by/' "$board" >"$work/bad.json"
python3 "$top_srcdir/tests/system/metrics_board.py" board "$work/bad.json" >"$work/board.json"
run promtool check rules "$work/board.json"
is "$status" 1 "and not one that is wrong"

# has_series BOARD: each expression has a value, with what happened here.
later pause spread >/dev/null
later metrics >"$work/seen"
later resume spread >/dev/null
has_series()
{
    python3 "$top_srcdir/tests/system/metrics_board.py" series "$1" "$work/seen" >"$work/series.json"
    promtool test rules "$work/series.json" >"$work/told" 2>&1
}
runs "each of its panels has something to show" has_series "$board"
sed 's/laterd_queue_paused/laterd_queue_pausd/' "$board" >"$work/bad.json"
run has_series "$work/bad.json"
is "$status" 1 "and one that names another metric has not"
grep -ohE 'laterd_[a-z_]+' "$top_srcdir"/etc/prometheus/* | sed 's/_bucket$//' | sort -u >"$work/named"
grep '^# TYPE' "$work/metrics" | cut -d ' ' -f 3 | sort -u >"$work/there"
is "$(comm -23 "$work/named" "$work/there")" '' "both name metrics that there are"

# ---- the line for cron's table, where PATH is short

mkdir "$work/collector"
sed -n 's/^ *\* \* \* \* \*  root  //p' "$top_srcdir/doc/operations.md" |
    sed "s|/var/lib/prometheus/node-exporter|$work/collector|; s|/usr/local/bin/later |$later_bin |" >"$work/line"
runs "the line of doc/operations.md runs as cron would run it" env PATH=/usr/bin:/bin sh -e "$work/line"
is "$(ls "$work/collector") $(grep -x 'laterd_redis_up 1' "$work/collector/laterd.prom")" "laterd.prom laterd_redis_up 1" \
    "and leaves a whole file for node_exporter"

# ---- many queues

many=100
[ -z "${LATER_SOAK:-}" ] || many=1000
stop_laterd # it calls scripts, too
seq "$many" | sed 's/.*/{"type":"t","queue":"many&"}/' | later push --file - >/dev/null
before=$(called evalsha)
later metrics >"$work/metrics"
is "$(grep -c '^laterd_jobs{queue="many.*ready"} 1$' "$work/metrics")" "$many" "each queue is there"
is "$(called evalsha)" "$before" "no script is called"
later push t -q many1 --priority 3 >/dev/null
later push t -q spread --priority -3 >/dev/null
before=$(called evalsha)
later metrics >"$work/metrics"
at_most "$(($(called evalsha) - before))" 3 "but for two queues, where priorities hide which is the oldest"
is "$(awk '/^laterd_queue_oldest_ready_seconds/ && ($2 < 0 || $2 > 600)' "$work/metrics")" '' \
    "no priority is taken for an age"
if [ -n "${LATER_SOAK:-}" ]; then
    start=$(date +%s%3N)
    later metrics >/dev/null
    echo "# $many queues: $(($(date +%s%3N) - start)) ms, load $(cat /proc/loadavg)"
fi

# ---- many types

if [ "$redis_kind" = single ]; then
    redis eval "for i = 1, 1100 do
            redis.call('SADD', 'later:queues', 'z' .. i)
            redis.call('COPY', 'later:{default}:totals', 'later:{z' .. i .. '}:totals')
        end" 0 >/dev/null
    later metrics >"$work/metrics"
    histograms=$(grep -c '^laterd_job_run_seconds_count' "$work/metrics")
    is "$histograms" 1000 "at most 1,000 histograms of runs are printed"
    at_least "$(awk '/^laterd_histograms_left_out / { print $2 }' "$work/metrics")" 100 "and how many were left out"
    runs "promtool finds nothing to say" promtool check metrics <"$work/metrics"
    redis eval "for i = 1, 1100 do
            redis.call('SREM', 'later:queues', 'z' .. i)
            redis.call('DEL', 'later:{z' .. i .. '}:totals')
        end" 0 >/dev/null
fi

# ---- one that later-web asks, and that outlives Redis

mkfifo "$work/lines"
"$later_bin" serve <"$work/lines" >"$work/answers" 2>&1 &
own $!
exec 3>"$work/lines"
answered() { [ "$(grep -c '"status":' "$work/answers")" = "$1" ]; }
silent() { awk '$1 == "laterd_redis_silent_seconds" { last = $2 } END { print (last '"$1"' 0) }' "$work/answers"; }
echo '["metrics"]' >&3
within 20 "later serve prints metrics" answered 1
is "$(silent "==")" 1 "Redis answers"
stop_redis
echo '["metrics"]' >&3
within 20 "also when Redis is away" answered 2
is "$(grep '^laterd_redis_up' "$work/answers" | tail -n 1)" 'laterd_redis_up 0' "metrics say that Redis is away"
is "$(silent '>')" 1 "metrics say since when Redis is away"
exec 3>&-
finish
