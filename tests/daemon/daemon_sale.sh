#!/bin/sh
# The flash sale: 100,000 buyers, ten phones, forked workers on the embedded Redis. The outcome is
# read from Redis.
. "${top_srcdir:=.}/tests/system/daemon.sh"
needs redis-server redis-cli
configure 'workers = 4;'
start_embedded

later stock set phone 10 >/dev/null
begin=$(present)
seq 100000 |
    sed 's/.*/{"type":"flash_sale.buy","id":"sale-&","payload":{"item":"phone","buyer":"buyer-&"}}/' |
    later push --file - >"$work/pushed" 2>"$work/pushed.err"
is "$?" 0 "later push --file - takes 100,000 lines"
within 80 "100,000 jobs are done" counts 'done' 100000
echo "# pushed and performed in $(sum "$(present) - $begin") s"

later stock show phone --json >"$work/stock"
contains "$(cat "$work/stock")" '"total":10,"claimed":10,"left":0' "later stock show: sold out"
is "$(counted 'done') $(known) $(dead) $(redis HLEN "$(key records)")" "100000 0 0 0" \
    "each done once, none lost, none failed"
redis HGETALL 'later:stock:{phone}:claims' >"$work/claims"
sed -n 'n;p' "$work/claims" | sort -n | tr '\n' ' ' >"$work/numbers"
is "$(cat "$work/numbers")" "1 2 3 4 5 6 7 8 9 10 " "ten phones are sold, each once"
is "$(sed -n 'p;n' "$work/claims" | grep -c '^buyer-[0-9]*$')" 10 "the ten claims belong to buyers"
is "$(sed -n 'p;n' "$work/claims" | sort -u | wc -l)" 10 "the ten buyers differ"

# A buyer that asks again gets what it has. Others get nothing.
buyer=$(head -n 1 "$work/claims")
later push flash_sale.buy "{\"item\":\"phone\",\"buyer\":\"$buyer\"}" >/dev/null
later push flash_sale.buy '{"item":"phone","buyer":"late"}' >/dev/null
within 10 "two more come" counts 'done' 100002
is "$(redis HGETALL 'later:stock:{phone}:claims' | cksum)" "$(cksum <"$work/claims")" \
    "and change nothing"
run later check
is "$status" 0 "later check finds nothing"
runs "the sums hold" conserved
stop_laterd
is "$exited" 0 "laterd ends with 0"
finish
