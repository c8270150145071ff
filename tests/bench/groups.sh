#!/bin/sh
# groups.sh [JOBS [SECONDS]]: JOBS (8000) jobs of 1,000 tenants, the k-th of whom has 1/k of the first's, for 20
# workers, which are busy for nine tenths of SECONDS (14). The ten largest push all at the start, the others at
# any time. Prints how long jobs wait with a group for each tenant, and in one line; and how busy the workers are.
# Run it from the build tree: sh tests/bench/groups.sh.
. "${top_srcdir:=.}/tests/system/daemon.sh"

total=${1:-8000} span=${2:-14} # seconds; within() has a variable of that name
start_redis
configure 'workers = 20;' ''
start_laterd

# documents GROUP: the same jobs each time, with a group if it is not empty. Seven of ten run for 0.3 times the
# mean, the others for 2.63 times: 9 and 83 ms, if no arguments are given.
documents()
{
    "$AWK" -v jobs="$total" -v seconds="$span" -v member="$1" -v now="$(date +%s.%N)" 'BEGIN {
        srand(7)
        for (k = 1; k <= 1000; k++) sum += 1 / k
        mean = 0.9 * 20 * seconds / jobs
        for (k = 1; k <= 1000; k++) {
            count = int(jobs / k / sum + 0.5)
            if (count < 1) count = 1
            for (i = 1; i <= count; i++) {
                runs = mean * (rand() < 0.7 ? 0.3 : 2.63)
                due = now + 3 + (k <= 10 ? 0 : rand() * seconds)
                printf "{\"type\":\"do\",\"id\":\"%d-%d\",\"at\":%.3f,\"payload\":{\"do\":\"sleep\",\"for\":%.4f}%s}\n",
                    k, i, due, runs, member ? ",\"group\":\"t" k "\"" : ""
                printf "%d-%d %.3f\n", k, i, due >"/dev/stderr"
            }
        }
    }'
}

# waits NAME: of the tenants with up to ten jobs, and of all.
waits()
{
    "$AWK" 'FILENAME == ARGV[1] { due[$1] = $2; split($1, part, "-"); count[part[1]]++; next }
        { split($1, part, "-"); print (count[part[1]] <= 10 ? "small" : "large"), $4 - due[$1] }' "$work/due" "$work/ended" |
        sort -k1,1 -k2,2n | "$AWK" -v name="$1" '
        { wait[$1, ++n[$1]] = $2 }
        END {
            for (size in n)
                printf "%s, %s tenants, %d jobs\twait p50 %.3f s, p99 %.3f s\n", name, size, n[size],
                    wait[size, int((n[size] + 1) / 2)], wait[size, int(n[size] * 0.99) + 1]
        }'
}

# busy NAME: while jobs were ready, by the sums of what ran: of 20 workers, from the first to when the last began.
busy()
{
    sort -n -k4,4 "$work/ended" | "$AWK" -v name="$1" '
        { start[NR] = $4; end[NR] = $5 }
        END {
            for (i = 1; i <= NR; i++) sum += end[i] - start[i]
            printf "%s\tlast begun after %.2f s, workers busy %.1f %%\n", name, start[NR] - start[1],
                100 * sum / 20 / (end[NR] - start[1])
        }'
}

for way in groups line; do
    : >"$work/ended"
    documents "$([ $way = line ] || echo group)" 2>"$work/due" >"$work/documents"
    later push --file "$work/documents" >"$work/pushed"

    all() { [ "$(wc -l <"$work/ended" 2>/dev/null || echo 0)" = "$(wc -l <"$work/due")" ]; }
    within 120 "$way: all jobs have run" all
    waits "$way"
    busy "$way"
done
stop_laterd
