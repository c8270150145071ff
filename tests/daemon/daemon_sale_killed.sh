#!/bin/sh
# The flash sale under fire: 20 items, eight workers on two laterds, of which one is killed (kill -9)
# every 200 to 500 ms until the end. Every other buyer's job holds its claim for 3 ms before it ends, so
# that most jobs that are killed have claimed. The items come one after the other, so that there are
# winners all the time. Of each item exactly as many are sold as there are, nobody buys twice, and a
# buyer who has claimed stays the winner when the job runs again.
#
# 20,000 buyers; LATER_SOAK=N makes it N times as many. LATER_SEED=N kills in another order.
. "${top_srcdir:=.}/tests/system/daemon.sh"
start_redis 'appendonly yes' 'appendfsync everysec'
configure 'workers = 4; crash_max = 1000;' # a job may be hit by more than three kills
buyers=$((20000 * ${LATER_SOAK:-1})) items=20
each=$((buyers / items / 4))
seed=${LATER_SEED:-11}
echo "# LATER_SEED=$seed"

# random N: sets $random to a number below N.
random()
{
    seed=$(((seed * 1103515245 + 12345) % 2147483648))
    random=$((seed / 65536 % $1))
}

# ---- the other laterd

sed "s|state_dir = \"$work/state\"|state_dir = \"$work/state-2\"|" "$work/laterd.conf" \
    >"$work/other.conf"
start_laterd
"$laterd_bin" -c "$work/other.conf" </dev/null 2>"$work/other.log" &
other_pid=$!
own "$other_pid"
runs "two laterds are ready" wait_until 20 grep -qF ' ready: ' "$work/other.log"

# workers_of PID
workers_of()
{
    first_pid=$laterd_pid laterd_pid=$1
    workers
    laterd_pid=$first_pid
}

# ---- a worker that dies between claim and ack

later stock set last 1 >/dev/null
later push 'do' '{"do":"claim","item":"last","who":"first","die":2}' --id first >/dev/null
wait_until 10 test -e "$work/claim-first-1"
later push 'do' '{"do":"claim","item":"last","who":"second","die":0}' --id second >/dev/null
within 30 "both end" counts 'done' 2
is "$(cat "$work/claim-first-1")" "claimed 1" "claimed, then killed"
is "$(cat "$work/claim-first-2" "$work/claim-first-3")" "claimed before 1
claimed before 1" "it runs again and is the winner still"
is "$(cat "$work/claim-second-1")" "sold out 0" "a second claimant gets nothing"
is "$(redis HGETALL 'later:stock:{last}:claims' | tr '\n' ' ')" "first 1 " "exactly one is sold"

# ---- the sale

for item in $(seq $items); do
    later stock set "item-$item" $each >/dev/null
done
later pause default >/dev/null 2>&1
seq "$buyers" | awk -v items=$items -v buyers="$buyers" '{
        item = int(($1 - 1) * items / buyers) + 1
        if ($1 % 2)
            printf "{\"type\":\"flash_sale.buy\",\"id\":\"sale-%d\",\"payload\":{\"item\":\"item-%d\"," \
                "\"buyer\":\"buyer-%d\"}}\n", $1, item, $1
        else
            printf "{\"type\":\"do\",\"id\":\"sale-%d\",\"payload\":{\"do\":\"claim\",\"for\":0.003," \
                "\"item\":\"item-%d\",\"who\":\"buyer-%d\"}}\n", $1, item, $1 }' |
    later push --file - >/dev/null 2>"$work/pushed.err"
is "$(ready)" "$buyers" "$buyers buyers wait"
later resume default >/dev/null 2>&1

kills=0
begin=$(present)
until counts 'done' $((buyers + 2)) || [ "$kills" -gt $((buyers / 50)) ]; do
    random 2
    [ "$random" -eq 0 ] && host=$laterd_pid || host=$other_pid
    found=$(workers_of "$host")
    count=$(echo "$found" | wc -w)
    if [ "$count" -gt 0 ]; then
        random "$count"
        kill -KILL "$(echo "$found" | sed -n "$((random + 1))p")" && kills=$((kills + 1))
    fi
    random 301
    sleep "0.$((random + 200))"
done
echo "# $buyers bought or were refused in $(sum "$(present) - $begin") s; $kills workers were killed"
within 60 "all of them are served" counts 'done' $((buyers + 2))
at_least "$kills" 3 "workers killed meanwhile"
echo "# $(($(counted released) - 2)) jobs were running in one of them"
is "$(counted 'done') $(known) $(dead)" "$((buyers + 2)) 0 0" "each done once, none lost, none dead"

wrong=
seq $each >"$work/numbers"
for item in $(seq $items); do
    redis HGETALL "later:stock:{item-$item}:claims" >"$work/claims"
    sed -n 'p;n' "$work/claims" >>"$work/winners"
    sed -n 'n;p' "$work/claims" | sort -n | cmp -s - "$work/numbers" || wrong="$wrong item-$item"
    sed -n 'p;n' "$work/claims" | sed 's/^buyer-//' |
        awk -v item="$item" -v items=$items -v buyers="$buyers" '
            int(($1 - 1) * items / buyers) + 1 != item { bad = 1 } END { exit bad }' ||
        wrong="$wrong buyers-of-$item"
done
is "$wrong" '' "of each of $items items exactly $each are sold, numbers 1 to $each"
is "$(sort -u "$work/winners" | wc -l)" $((items * each)) "to $((items * each)) buyers, nobody twice"


# Buyers whose job claimed, was killed and ran again: begun once more than ended.
cut -d ' ' -f 1 "$work/begun" | sort | uniq -d | sed -n 's/^sale-/buyer-/p' >"$work/again"
echo "# $(sort "$work/winners" | comm -12 - "$work/again" | wc -l) of the winners ran again after" \
    "their worker was killed; of all buyers $(wc -l <"$work/again")"

run later check
is "$status" 0 "later check finds nothing"
runs "the sums hold" conserved
kill -TERM "$other_pid"
stop_laterd
is "$exited" 0 "laterd ends with 0"
runs "so does the other" wait_until 30 gone "$other_pid"
finish
