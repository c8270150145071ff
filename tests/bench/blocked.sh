#!/bin/sh
# blocked.sh [JOBS [SECONDS]]: JOBS (100000) jobs of a group whose max_running of 1 a long job has used up, beside 50
# other groups that get 100 jobs of 12 ms a second. Prints how long the others' jobs wait without those of the group, as
# these go into their line, and when they are there; then, every 10 of SECONDS (300), how many jobs of the group are
# handed out a second, to look, and how busy Redis is. Run it from the build tree: sh tests/bench/blocked.sh.
. "${top_srcdir:=.}/tests/system/daemon.sh"

total=${1:-100000} span=${2:-300} # seconds; within() has a variable of that name
start_redis
configure 'workers = 4;' 'groups = ( { queue = "default"; group = "full"; max_running = 1; } );'
start_laterd
: >"$work/ended"

# others NAME: 1,500 of their jobs.
others()
{
    "$AWK" -v name="$1" -v now="$(date +%s.%N)" 'BEGIN {
        srand(7)
        for (i = 0; i < 1500; i++) {
            due = now + 2 + i / 100 + rand() * 0.005
            printf "{\"type\":\"do\",\"id\":\"%s-%d\",\"at\":%.3f,\"payload\":{\"do\":\"sleep\",\"for\":0.012},\"group\":\"g%d\"}\n",
                name, i, due, i % 50
            printf "%s-%d %.3f\n", name, i, due >"/dev/stderr"
        }
    }' 2>"$work/due" >"$work/documents"
    later push --file "$work/documents" >/dev/null
    all() { [ "$(grep -c "^$1-" "$work/ended")" = 1500 ]; }
    within 60 "$1: all jobs of others have run" all "$1"
    "$AWK" 'FILENAME == ARGV[1] { due[$1] = $2; next } $1 in due { print ($4 - due[$1]) * 1000 }' "$work/due" "$work/ended" |
        sort -n | "$AWK" -v name="$1" '{ wait[NR] = $1 }
            END { printf "%s\tothers wait p50 %.2f ms, p99 %.2f ms\n", name, wait[int(NR / 2)], wait[int(NR * 0.99)] }'
}

later push "do" '{"do":"sleep","for":3600}' --id runs --timeout 2h --group full >/dev/null
within 20 "one of the group runs" begun runs
others without
"$AWK" -v n="$total" 'BEGIN { for (i = 0; i < n; i++) print "{\"type\":\"null\",\"group\":\"full\"}" }' >"$work/documents"
later push --file "$work/documents" >/dev/null
others meanwhile
in_line() { [ "$(redis ZCARD 'later:{default}:ready')" = 0 ]; }
within 300 "all are in the line" in_line
others with

cpu() { redis INFO cpu | tr -d '\r' | "$AWK" -F: '/^used_cpu_(user|sys):/ { sum += $2 } END { print sum }'; }
seconds=0
while [ $seconds -lt "$span" ]; do
    looks=$(counted reserved) busy=$(cpu)
    sleep 10
    seconds=$((seconds + 10))
    "$AWK" -v s=$seconds -v looks="$(($(counted reserved) - looks))" -v busy="$busy" -v cpu="$(cpu)" 'BEGIN {
        printf "%d s\t%.1f looks a second, Redis %.1f %% of a core\n", s, looks / 10, (cpu - busy) * 10 }'
done
kill -KILL "$laterd_pid"
