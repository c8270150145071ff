#!/bin/sh
# flow_rounds.sh [ROUNDS [KILLS [MEMBERS]]]: rounds (20) of a batch of MEMBERS (2000) jobs and one that waits for all,
# with laterd's defaults, while every 0.3 s one of four workers is killed as long as members are left, which is at least
# KILLS (10) times; then rounds in which the push itself is killed, and done again; then rounds in which a member is
# dead, and kicked. Each callback must run once, not early, and within 2 s of the last kill. Run it from the build tree,
# by hand: it takes some seconds a round.
. "${top_srcdir:=.}/tests/system/daemon.sh"

times=${1:-20} kills=${2:-10} members=${3:-2000}
start_redis
configure 'workers = 4;'
start_laterd

# batch MEMBERS PAYLOAD: its lines.
batch()
{
    "$AWK" -v n="$1" -v payload="$2" 'BEGIN {
        for (i = 0; i < n; i++) print "{\"type\":\"do\",\"payload\":" payload "}"
        print "{\"type\":\"note\",\"step\":\"end\",\"after\":[\"*\"]}" }'
}

# random FROM TO: prints a number.
random()
{
    od -An -N4 -tu4 /dev/urandom | "$AWK" -v a="$1" -v b="$2" '{ printf "%.4f\n", a + (b - a) * $1 / 4294967296 }'
}

some_worker() { workers | sed -n "$(random 1 4.999 | cut -d. -f1)p"; }

# left FLOW MEMBERS: so many have not ended yet.
left() { echo $(($2 - $(grep -c "^$1:" "$work/ended"))); }

# told FLOW KILLED: members that have ended, that were begun again, callbacks; whether all had ended before, and how
# long after that, and after the last kill, it began.
told()
{
    "$AWK" -v flow="$1" -v killed="$2" '
        index($1, flow ":") != 1 && $1 != flow ".end" { next }
        FILENAME ~ /ended$/ { ended += !($1 in last)
            if ($5 > last[$1]) last[$1] = $5
            next }
        $1 == flow ".end" { callbacks++; if (!began || $4 < began) began = $4; next }
        $1 in begun { again++ }
        { begun[$1] = 1 }
        END {
            for (id in last) if (id != flow ".end" && last[id] > latest) latest = last[id]
            printf "%d members done, %d begun again, callback %d times, %s, ", \
                ended - (flow ".end" in last), again, callbacks, began < latest ? "EARLY" : "in time"
            printf "%.1f ms after the last member, %.1f ms after the last kill\n", \
                (began - latest) * 1000, killed ? (began - killed) * 1000 : 0 }' "$work/ended" "$work/begun"
}

# right FLOW MEMBERS [KILLED]: is it all there?
right()
{
    told "$1" "${3:-0}" >"$work/told"
    like "$(cat "$work/told")" "^$2 members done, .* callback 1 times, in time" "$1: $(cat "$work/told")"
}

# ---- workers are killed

# (finding a worker takes time, too)
batch "$members" "{\"do\":\"sleep\",\"for\":$(sum "$kills * 0.4 * 4 / $members")}" >"$work/batch"
for round in $(seq "$times"); do
    later push --flow "killed$round" --file "$work/batch" >/dev/null
    for hits in $(seq $((10 * kills))); do
        sleep 0.3
        [ "$(left "killed$round" "$members")" -ge 4 ] || break
        kill -KILL "$(some_worker)" 2>/dev/null
        killed=$(present)
    done
    later flow wait "killed$round" --timeout 5m >/dev/null
    wait_until 10 ended "killed$round.end"
    right "killed$round" "$members" "$killed"
    at_least $((hits - 1)) "$kills" "workers killed while members were left"
    closely "$(sum "$(began "killed$round.end") - $killed")" 2 "s from the last kill to the callback"
done

# ---- the pusher is killed, and pushes again

batch 10000 '{"do":"done"}' >"$work/batch"
began=$(present)
later push --flow whole --file "$work/batch" >/dev/null
took=$(sum "$(present) - $began")
for round in $(seq "$times"); do
    before=$(counted pushed)
    timeout -s KILL "$(random 0.005 "$took")" "$later_bin" push --flow "half$round" --file "$work/batch" >/dev/null 2>&1
    half=$(($(counted pushed) - before))
    later push --flow "half$round" --file "$work/batch" >/dev/null
    later flow wait "half$round" --timeout 5m >/dev/null
    wait_until 10 ended "half$round.end"
    is "$(($(counted pushed) - before))" 10001 "half$round: $half jobs, then the rest"
    right "half$round" 10000
done

# ---- a member is dead

for round in $(seq "$times"); do
    {
        printf '{"type":"do","step":"bad","payload":{"do":"sleep","until":"mended%s"},"timeout":0.3,"max_attempts":1}\n' "$round"
        batch "$members" '{"do":"done"}'
    } >"$work/batch"
    later push --flow "dead$round" --file "$work/batch" >/dev/null
    run later flow wait "dead$round" --timeout 5m
    is "$status" 65 "dead$round is blocked"
    like "$(later show "dead$round.end" --json)" '"reason":"flow_blocked"' "and says so"
    is "$(attempts_in begun "dead$round.end" | wc -l)" 0 "its callback waits"
    : >"$work/mended$round"
    later flow kick "dead$round" >/dev/null
    later flow wait "dead$round" --timeout 5m >/dev/null
    wait_until 10 ended "dead$round.end"
    right "dead$round" "$members"
done
end_well
finish
