#!/bin/sh
# The commands of doc/operations.md: each block after a comment `<!-- test: NAME -->` runs on a laterd
# with its embedded Redis.
#
# In the commands, /var and redis.example.org stand for $box/var and for a Redis of ours. systemctl is
# a stand-in that starts, stops and signals our laterd.
. "${top_srcdir:=.}/tests/system/lib.sh"
needs redis-server redis-cli

box=$work/box
dir=$box/var/lib/laterd
mkdir -p "$work/bin" "$work/blocks" "$dir" "$box/var/backups" "$work/jobs"
cp "$top_builddir"/jobs/*.so "$work/jobs"

# The Redis to move to. It has other data in it.
start_redis 'appendonly yes'
port=$(($$ % 20000 + 20000))
until [ "$(redis config set port "$port")" = OK ]; do
    port=$((port + 1))
done
redis set mine 1 >/dev/null
unset LATER_REDIS_URL

awk -v to="$work/blocks" '
    /^ *<!-- test: [^ ]+ -->$/ { name = $3; next }
    /^ *```sh$/ {
        if (name == "") print FNR ": not tested"
        out = to "/" (name == "" ? "unmarked" : name)
        next
    }
    /^ *```$/ { out = ""; name = ""; next }
    out != "" { print >out }' "$top_srcdir/doc/operations.md" >"$work/unmarked"
is "$(cat "$work/unmarked")" "" "every block is tested"
sed -i -e "s|/var/|$box/var/|g; s|-C /var/lib|-C $box/var/lib|g" \
    -e "s|redis\.example\.org\([ :]\)6379|127.0.0.1\1$port|; s|/root/|$work/|g" "$work"/blocks/*

configure()
{
    printf '%s\n' "$1" "state_dir = \"$dir\";" 'workers = 1;' "plugins = { dir = \"$work/jobs\"; };" \
        >"$work/laterd.conf"
}

cat >"$work/bin/systemctl" <<EOF
#!/bin/sh
set -eu
pid=\$(cat "$work/pid")
ready() { [ "\$(grep -c ' ready: ' "$work/log")" -gt "\$before" ]; }
running() { [ -n "\$(ps -o stat= -p "\$pid" | grep -v Z)" ]; }
wait_for() { for _ in \$(seq 600); do ! "\$@" || return 0; sleep 0.1; done; exit 1; }
stopped() { ! running; }
start()
{
    before=\$(grep -c ' ready: ' "$work/log") || true
    "$laterd_bin" -c "$work/laterd.conf" </dev/null >>"$work/log" 2>&1 &
    echo \$! >"$work/pid"
    echo \$! >>"$work/pids"
    wait_for ready
}
stop() { kill "\$pid"; wait_for stopped; }
case \$* in
'start laterd') start ;;
'stop laterd') stop ;;
'restart laterd') stop; start ;;
'kill --kill-whom=main --signal=TSTP laterd') kill -TSTP "\$pid" ;;
*) exit 64 ;;
esac
EOF
printf '#!/bin/sh\nexec %s -c %s "$@"\n' "$later_bin" "$work/laterd.conf" >"$work/bin/later"
chmod +x "$work/bin/systemctl" "$work/bin/later"
PATH=$work/bin:$PATH
echo 0 >"$work/pid"
: >"$work/log"

# block NAME: runs it, and waits for the Redis of the laterd that it leaves running.
block()
{
    runs "$1" sh -eux "$work/blocks/$1"
    wait_until 10 later size
    while read -r pid; do
        own "$pid"
    done <"$work/pids"
}

unalias later
later()
{
    "$work/bin/later" "$@"
}

# delayed QUEUE: how many jobs of the queue are delayed.
delayed()
{
    later size "$1" | cut -f 3
}

# At the new place.
two_are_done()
{
    [ "$(redis hget 'later:{default}:stats' 'done')" -ge 2 ]
}

configure ''
runs "laterd starts" systemctl start laterd
wait_until 10 later size
later push null --in 1h --id first >/dev/null

block admin
block backup
later push null --in 1h --id second >/dev/null
is "$(delayed default)" 2 "two jobs wait in the old Redis"
runs "laterd has seen both" wait_until 30 grep -q '^default 2 ' "$dir/counters"
block restore
redis-cli -s "$dir/restore.sock" shutdown nosave >/dev/null 2>&1 # if the block ended early
is "$(delayed default)" 1 "one after the restore"
contains "$(later show first)" delayed "it is that of the backup"

runs "laterd looks at what was restored" wait_until 30 grep -q '^default 1 ' "$dir/counters"
is "$(grep -c 'has lost writes' "$work/log")" 0 "a restore is not lost writes"

block cold
is "$(stat -c %a "$box"/var/backups/laterd.rdb "$box"/var/backups/laterd.tar.gz | tr '\n' ' ')" "600 600 " \
    "nobody else may read the backups"
later push null --in 1h --id third >/dev/null
block cold-back
is "$(delayed default)" 1 "one after the copy came back"
runs "nothing is lost" later check

# One job dies, for the alarm; one runs, for the move.
later push 'flash_sale.buy' '"bad"' --id dead >/dev/null
wait_until 10 sh -c 'later show --json dead | grep -q "\"state\":\"dead\""'
run sh "$work/blocks/alarm"
is "$status $out" "1 default" "the alarm names the queue"
sed "s|later size|later --redis unix:$work/nobody size|" "$work/blocks/alarm" >"$work/alarm"
run sh "$work/alarm"
is "$status" 1 "there is an alarm where Redis is not"
contains "$out" "cannot reach Redis" "the alarm prints why Redis cannot be asked"
later push sleep '{"seconds":4}' --id running >/dev/null
wait_until 10 sh -c 'later show running | grep -q reserved'
later push null --in 1h --id m1 -q mail >/dev/null
later push null --priority 7 --id m2 -q mail >/dev/null
block move-queue
is "$(later size mail | cut -f 2-6)" "$(printf '0\t0\t0\t0\tno')" "the queue is empty here"
is "$(later --redis "redis://127.0.0.1:$port/0" peek mail | cut -f 1,6) $(redis zcard 'later:{mail}:delayed')" \
    "$(printf 'm2\t7') 1" "and there it has both jobs, with their times and priorities"
redis --scan --pattern 'later:*' | while read -r key; do redis del "$key" >/dev/null; done
block move-1
later push null --id waiting >/dev/null
block move-3
configure "redis = { url = \"redis://127.0.0.1:$port/0\"; };"
block move-5
is "$(delayed default)" 1 "what was delayed is there"
contains "$(later show dead)" dead "what was dead, too"
runs "what waited is done" wait_until 10 two_are_done
runs "nothing is lost" later check
is "$(redis get mine)" 1 "the other data is untouched"
runs "laterd stops" systemctl stop laterd
finish
