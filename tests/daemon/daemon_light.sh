#!/bin/sh
# Light load: no attempt is charged if nothing went wrong. Event jobs come one by one, with pauses;
# then nothing for a while, then again. LATER_SOAK=1 runs it for minutes: two of steady http jobs, 20
# times sleep, 12 s of nothing, sleep, with the default configuration; and for a minute 1,000 jobs of
# a type without a plugin.
. "${top_srcdir:=.}/tests/system/daemon.sh"
needs python3
start_redis
seconds=3 pairs=0 unknown=100 minute=2
if [ -n "$LATER_SOAK" ]; then
    seconds=120 pairs=20 unknown=1000 minute=60
fi

# ---- event jobs of 0.1 s, which one charged attempt would bury

spawn python3 "$top_srcdir/tests/system/http_server.py" "$work"
wait_until 20 test -e "$work/port" || {
    echo "Bail out! the web server does not start: $(cat "$work/spawned.err")"
    exit 99
}
type='sleep'
[ ! -e "$top_builddir/jobs/http.so" ] || type=http.ok
mkdir -p "$work/conf.d"
if [ "$type" = http.ok ]; then
    echo "plugins = { config = { http = { ok = {
        url = \"http://127.0.0.1:$(sed -n 1p "$work/port")/slow/100\"; private = true; }; }; }; };" \
        >"$work/conf.d/http.conf"
fi
configure 'workers = 2;'
start_laterd
end=$(($(date +%s) + seconds)) pushed=0
while [ "$(date +%s)" -lt "$end" ]; do
    later push "$type" '{"seconds":0.1}' --max-attempts 1 >/dev/null && pushed=$((pushed + 1))
    sleep "$(awk -v seed="$pushed" 'BEGIN { srand(seed); printf "%.2f", 0.1 + 0.8 * rand() }')"
done
within 10 "all are done" counts 'done' "$pushed"
echo "# $pushed jobs of type $type in $seconds s"
is "$(dead) $(counted released) $(counted lapsed)" "0 0 0" "none was buried, retried or lapsed"
if [ "$type" = http.ok ]; then
    is "$(grep -c '^/slow' "$work/requests")" "$pushed" "each was posted once"
fi
stop_laterd

# ---- sleep, nothing, sleep

configure
start_laterd
before=$(counted 'done') pair=0
while [ "$pair" -lt "$pairs" ]; do
    later push sleep '{"seconds":0.6}' --max-attempts 1 >/dev/null
    sleep 12.6
    later push sleep '{"seconds":0.6}' --max-attempts 1 >/dev/null
    sleep 1
    pair=$((pair + 1))
done
within 10 "after $pairs times sleep, nothing, sleep all are done" counts 'done' $((before + 2 * pairs))
is "$(dead) $(counted released) $(how_often 'is ended')" "0 0 0" "none failed, no worker was ended"

# ---- a type that nobody has

# Has each been returned? (One of them may just be due again.)
all_wait()
{
    [ "$(noting e)" = "$unknown" ] && [ "$(known)" = "$unknown" ]
}

: >"$log"
seq "$unknown" | sed 's/.*/{"type":"nobody.has","id":"unknown-&"}/' | later push --file - >/dev/null
sleep "$minute"
lines=$(wc -l <"$log")
at_most "$lines" 20 "lines in the log about $unknown jobs of an unknown type in $minute s"
within 10 "all of them wait" all_wait
contains "$(later show unknown-1)" "no plugin has its type" "later show says why"
end_well
finish
