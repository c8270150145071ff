# 20_restart.sh: ready is ready: with 100,000 jobs in the embedded Redis's file, a push right behind
# each restart.
# shellcheck shell=sh disable=SC2034,SC2154
begin_section 'restarted'

awk 'BEGIN { for (i = 0; i < 100000; i++) print "{\"type\":\"note\",\"in\":86400}" }' >/root/jobs
runs "100,000 delayed jobs" sh -c 'later push --file /root/jobs -q late >/root/out'
pushed=0 slowest=0
for round in $(seq 50); do
    begun=$(date +%s%3N)
    systemctl restart laterd || echo "# restart $round failed"
    if later push note >/dev/null 2>/root/err; then
        pushed=$((pushed + 1))
    else
        echo "# push $round: $(cat /root/err)"
    fi
    took=$(($(date +%s%3N) - begun))
    [ "$took" -le "$slowest" ] || slowest=$took
done
echo "# the slowest restart with its push took $slowest ms"
is "$pushed" 50 "50 restarts, each with a push at once: so many were pushed"
within 20 "and performed" performed 52
is "$(size delayed late)" 100000 "none of the others was lost"
runs "later check" later check
