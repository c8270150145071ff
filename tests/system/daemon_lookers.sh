#!/bin/sh
# A few hosts look after the queues of all: what idle hosts ask Redis does not grow with them, and a job is due in
# time when one that looks is killed, frozen or cut off.
. "${top_srcdir:=.}/tests/system/daemon.sh"
needs redis-server redis-cli sha1sum
start_redis
hosts='1 2 3 4 5 6 7 8' queues='default'
for n in 1 2 3 4 5 6 7 8 9; do queues="$queues q$n"; done

# ---- hosts: each reaches Redis by a name of its own for the socket

# host N: starts one; is_ready N; pid_of_host N.
host()
{
    mkdir -p "$work/host$1"
    ln -sf "$redis_socket" "$work/host$1/redis"
    sed "s|url = \"[^\"]*\"|url = \"unix:$work/host$1/redis\"|; s|state_dir = \"[^\"]*\"|state_dir = \"$work/host$1\"|" \
        "$work/laterd.conf" >"$work/host$1.conf"
    : >"$work/host$1.log"
    "$laterd_bin" -c "$work/host$1.conf" </dev/null 2>>"$work/host$1.log" &
    echo "$!" >"$work/host$1.pid"
    own "$!"
}
is_ready() { grep -q ' ready: ' "$work/host$1.log"; }
pid_of_host() { cat "$work/host$1.pid"; }

# cut_off N: its connections end, and it cannot make new ones until it is let in again.
cut_off()
{
    rm "$work/host$1/redis"
    pid=$(pid_of_host "$1")
    redis client list | sed -n "s/^id=\([0-9]*\) .* name=laterd-[a-z ]*-$pid .*/client kill id \1/p" |
        $redis_cli >/dev/null
}
let_in() { ln -s "$redis_socket" "$work/host$1/redis"; }

# Prints the tokens whose leases are not over; the numbers of the hosts that have them.
lookers()
{
    redis --scan --pattern 'later:lookers:*' | while read -r key; do
        redis zrangebyscore "$key" "$(redis time | head -n 1)" +inf
    done
}
who_look()
{
    lookers >"$work/lookers"
    for n in $hosts; do
        [ -e "$work/host$n/identity" ] || continue
        token=$(printf '%s:%s' "$(hostname)" "$(cat "$work/host$n/identity")" | sha1sum | cut -c1-40)
        if grep -q "$token" "$work/lookers"; then echo "$n"; fi
    done
}
three_look() { [ "$(lookers | wc -l)" -eq 3 ] && [ "$(who_look | wc -l)" -eq 3 ]; }

configure 'workers = 1;' "queues = ( $(echo "$queues" | sed 's/[^ ]*/{ name = "&"; }/g; s/} {/}, {/g') );"
for n in 1 2; do host $n; done
for n in 1 2; do awaited 30 "host $n is ready" is_ready $n; done

# ---- what is asked

# A queue with a job that is not due is looked at every 0.8 s.
for queue in $queues; do later pause "$queue" >/dev/null; done
for queue in $queues; do later push null -q "$queue" --in 1h >/dev/null; done
redis_now() { redis time | tr '\n' ' ' | awk '{ printf "%.6f", $1 + $2 / 1e6 }'; }
# rate SECONDS: scripts a second in this time.
rate()
{
    before=$(called evalsha) since=$(redis_now)
    sleep "$1"
    sum "($(called evalsha) - $before) / ($(redis_now) - $since)"
}
# few MOST: it was not more in the last 3 seconds. Busy hosts ask less often, never more.
few() { asked=$(rate 3) && awk -v a="$asked" -v most="$1" 'BEGIN { exit !(a <= most) }'; }
within 30 "two hosts call for ten queues at most 30 scripts a second" few 30
echo "# $asked"
for n in 3 4 5 6 7 8; do host $n; done
for n in 3 4 5 6 7 8; do awaited 30 "host $n is ready" is_ready $n; done
within 30 "three of eight look" three_look
# Each looker 12.5 and its lease; each of the others two in a second and a half. All eight: 100.
within 60 "eight hosts at most 55" few 55
echo "# $asked"

# ---- one that looks is lost

redis monitor >"$work/monitor" &
own "$!"
began() { grep -q '"ping" "begin"' "$work/monitor"; }
monitored() { redis ping begin >/dev/null; began; }
awaited 10 "what Redis does is written down" monitored

# lose HOW N, mend HOW N.
lose()
{
    case $1 in
    killed) kill -KILL "$(pid_of_host "$2")" ;;
    frozen) kill -STOP "$(pid_of_host "$2")" ;;
    'cut off') cut_off "$2" ;;
    esac
}
mend()
{
    case $1 in
    killed) host "$2" ;;
    frozen) kill -CONT "$(pid_of_host "$2")" ;;
    'cut off') let_in "$2" ;;
    esac
}

# moved JOB: prints when, by Redis's clock, it became ready; a line for each time.
moved() { awk -v job="\"$1\"" '/"ZADD" "later:\{default\}:ready"/ && index($0, job) { print $1 }' "$work/monitor"; }
is_moved() { [ -n "$(moved "$1")" ]; }

# lost HOW COUNT LIMIT: COUNT of those that look are lost a second before a job is due. `late` is how late it is then;
# empty: the machine stood still until it was due.
lost()
{
    nth=$((nth + 1))
    awaited 30 "three look before one is $1" three_look
    gone=$(who_look | sort -R | head -n "$2")
    push_job "job-$nth" '"type":"null"' +1
    due=$(redis zscore "$(key delayed)" "job-$nth")
    for n in $gone; do lose "$1" "$n"; done
    awaited 30 "job-$nth is due" is_moved "job-$nth"
    late=${due:+$(sum "$(moved "job-$nth" | head -n 1) - $due")}
    for n in $gone; do mend "$1" "$n"; done
    echo "# host $(echo "$gone" | tr '\n' ' ')$1: $late s late"
}
nth=0
# A machine may stand still for longer than a second: some rounds are in time, and none is without another looker.
for how in killed frozen 'cut off'; do
    good=0 tries=0
    while [ "$good" -lt 3 ] && [ "$tries" -lt 12 ]; do
        tries=$((tries + 1))
        lost "$how" 1
        good=$((good + $(awk -v late="$late" 'BEGIN { print (late != "" && late >= 0 && late <= 1) }')))
    done
    is "$good" 3 "the host that looks is $how: at most 1 s late in three of $tries rounds"
done
late='' tries=0
while [ -z "$late" ] && [ "$tries" -lt 10 ]; do
    tries=$((tries + 1))
    lost killed 3
done
in_time "$late" 7 "all three are killed: another has noticed, in seconds"

# ---- nothing twice

times=$(for n in $(seq "$nth"); do moved "job-$n" | wc -l; done | sort -u)
is "$times" 1 "each job became ready once"
for queue in $queues; do later resume "$queue" >/dev/null; done
within 20 "all are performed" counts 'done' "$nth"
for n in $hosts; do kill -TERM "$(pid_of_host "$n")"; done
all_gone() { for n in $hosts; do gone "$(pid_of_host "$n")" || return 1; done; }
within 60 "all hosts end" all_gone
nobody_looks() { [ -z "$(redis --scan --pattern 'later:lookers:*')" ]; }
within 10 "and nobody looks any more" nobody_looks
runs "the sums hold" conserved
finish
