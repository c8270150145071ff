# summary.awk: what `make bench` was to show, beside what it has shown.
#
#   awk -f summary.awk RESULTS...      RESULTS: what bench and bench-peers wrote
#
# Where a figure was measured more than once, the last time counts. Status 1 if one is not met.

# The value of a member in the present line, "" where there is none.
function member(name,    at, rest) {
    at = index($0, "\"" name "\":")
    if (!at)
        return ""
    rest = substr($0, at + length(name) + 3)
    sub(/^"/, "", rest)
    sub(/[",}].*/, "", rest)
    return rest
}

# Notes the members of a line under a name of its own: "drain 1 100 ratio".
function note(key, names,    list, n, i) {
    n = split(names, list, " ")
    for (i = 1; i <= n; i++)
        value[key " " list[i]] = member(list[i])
}

/^\{"bench":/ {
    bench = member("bench")
    if (bench == "drain" || bench == "ceiling")
        note(bench " " member("workers") " " member("payload"), "ratio redis_us laterd_us sent rate")
    else if (bench == "backlog")
        note("backlog " (member("ratio") == "" ? "few" : "many"), "ratio rate")
    else if (bench == "queues")
        note("queues " member("order"), "ratio rate")
    else if (bench == "latency")
        note("latency " member("queues"), "p50_pings p99_pings p50_ms p99_ms ping_ms")
    else if (bench == "shards")
        note("shards " member("shards"), "ratio busiest_share rate")
    else if (bench == "peer")
        note("peer " member("peer"), "rate")
    else if (bench == "crowd")
        note(bench, "rate redis_us")
    else
        note(bench, "ratio cpu_ratio redis_us ceiling_redis_us p50_ms p99_ms least_ms longest_ms seconds " \
                    "sent_per_second laterd_cpu_percent redis_cpu_percent")
}

function shown(number) {
    if (number == "")
        return "-"
    number += 0 # what was read is text
    return number >= 1000 ? sprintf("%.0f", number) : sprintf("%.3g", number)
}

# One line of the table. sign: ">=" or "<=".
function line(figure, sign, required, measured,    verdict) {
    if (measured == "")
        verdict = "not measured"
    else if (sign == ">=" ? measured + 0 >= required : measured + 0 <= required)
        verdict = "met"
    else {
        verdict = "NOT MET"
        missed++
    }
    printf "%-58s %2s %6s %10s  %s\n", figure, sign, required, shown(measured), verdict
}

function sum(a, b) {
    return a == "" || b == "" ? "" : a + b
}

function quotient(a, b) {
    return a == "" || b == "" || b == 0 ? "" : a / b
}

END {
    printf "%-58s %9s %10s\n", "figure", "required", "measured"
    drain = "drain 1 100 "
    line("drain, 1 worker, 100 B, against the ceiling", ">=", 0.85, value[drain "ratio"])
    line("drain, 2 workers, against the ceiling", ">=", 0.85, value["drain 2 100 ratio"])
    line("drain, 4 workers, against the ceiling", ">=", 0.85, value["drain 4 100 ratio"])
    ours = sum(value["push_bulk redis_us"], value[drain "redis_us"])
    least = sum(value["push_bulk ceiling_redis_us"], value["ceiling 1 100 redis_us"])
    line("Redis CPU, push + reserve + ack, us a job", "<=", 18, ours)
    line("  against the ceiling's", "<=", 1.25, quotient(ours, least))
    line("laterd CPU, us a job", "<=", 8, value[drain "laterd_us"])
    line("drain against beanstalkd", ">=", 2,
         quotient(value["peer laterd rate"], value["peer beanstalkd rate"]))
    line("drain against BullMQ", ">=", 10,
         quotient(value["peer laterd rate"], value["peer bullmq rate"]))
    line("commands sent a job, full load", "<=", 0.05, value[drain "sent"])
    line("drain at a backlog of 1,000,000 against 10,000", ">=", 0.8, value["backlog many ratio"])
    line("1 busy of 8 queues against 1 queue, strict", ">=", 0.9, value["queues strict ratio"])
    line("1 busy of 8 queues against 1 queue, weighted", ">=", 0.9, value["queues weighted ratio"])
    line("later_push_many() against the ceiling", ">=", 0.8, value["push_bulk ratio"])
    line("later push --file against the ceiling", ">=", 0.8, value["push_file ratio"])
    line("pick-up, 1 queue, p50, in PINGs", "<=", 3.5, value["latency 1 p50_pings"])
    line("pick-up, 1 queue, p99, in PINGs", "<=", 12, value["latency 1 p99_pings"])
    line("pick-up, 4 queues, p50, in PINGs", "<=", 6, value["latency 4 p50_pings"])
    line("lateness of delayed jobs, p50, ms", "<=", 1, value["lateness p50_ms"])
    line("lateness of delayed jobs, p99, ms", "<=", 5, value["lateness p99_ms"])
    line("earliest of them, ms after its time", ">=", 0, value["lateness least_ms"])
    line("a million due at once: longest call, ms", "<=", 10, value["due longest_ms"])
    line("idle: commands sent a second", "<=", 6, value["idle sent_per_second"])
    line("idle: CPU of laterd and Redis, % of a core", "<=", 0.3,
         sum(value["idle laterd_cpu_percent"], value["idle redis_cpu_percent"]))
    line("1,000 event jobs of 1 s: done in, s", "<=", 1.3, value["events seconds"])
    line("1,000 jobs behind a slow one: done in, s", "<=", 0.5, value["slow seconds"])
    line("1,000 workers, one job of 10 ms at a time: a second", ">=", 25000, value["crowd rate"])
    line("  Redis CPU, us a job", "<=", 32, value["crowd redis_us"])
    line("8 shards on a Cluster, CPU a job against a plain queue", "<=", 1.25,
         value["shards 8 ratio"])
    line("  share of the busiest of three masters", "<=", 0.45, value["shards 8 busiest_share"])
    line("drain by TLS against plain TCP", ">=", 0.7, value["tls ratio"])
    line("  by the CPU of laterd and Redis", ">=", 0.7, value["tls cpu_ratio"])
    exit missed > 0
}
