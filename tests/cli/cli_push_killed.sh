#!/bin/sh
# later push --file: Redis is killed three times during a file, and is away for 3 seconds once.
. "${top_srcdir:=.}/tests/system/lib.sh"
start_redis 'appendonly yes' 'appendfsync always'

pushed()
{
    [ "$(redis ZCARD 'later:{crash}:ready')" -ge "$1" ]
}
awk 'BEGIN { for (i = 0; i < 100000; i++) printf "{\"type\":\"t\",\"payload\":%d}\n", i }' >"$work/lines"
"$later_bin" push -f "$work/lines" -q crash >"$work/ids" 2>"$work/err" </dev/null &
pusher=$!
own "$pusher"
for part in 10000 30000 60000; do
    wait_until 20 pushed "$part"
    stop_redis KILL
    [ "$part" -ne 30000 ] || sleep 3 # on a Cluster each try is refused at once
    start_redis 'appendonly yes' 'appendfsync always'
done
wait "$pusher"
is "$? $(cat "$work/err")" "0 " "it goes on when Redis is back"
is "$(redis ZCARD 'later:{crash}:ready') $(sort -u "$work/ids" | wc -l)" "100000 100000" \
    "100,000 pushed, 100,000 told"
is "$(redis HVALS 'later:{crash}:jobs' | sort -u | wc -l)" 100000 "each line exactly once"
is "$(later check crash | cut -f 3 | sort -u)" ok "later check holds after kills and repeats"
finish
