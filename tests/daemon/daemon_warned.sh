#!/bin/sh
# What laterd warns of at each connection to a master that Sentinels name, it says at each connection, and not
# each time that it looks whether that Redis is still fit.
. "${top_srcdir:=.}/tests/system/daemon.sh"

port=$(($$ % 12000 + 20000)) # below those that the system gives away
while redis-cli -p $port PING >/dev/null 2>&1 || redis-cli -p $((port + 1)) PING >/dev/null 2>&1; do
    port=$((port + 2))
done
start_redis 'appendonly yes' "port $port" 'bind 127.0.0.1'
printf '%s\n' "port $((port + 1))" 'bind 127.0.0.1' "dir $work" "sentinel monitor shop 127.0.0.1 $port 1" \
    >"$work/sentinel.conf"
spawn redis-server "$work/sentinel.conf" --sentinel
knows() { redis-cli -p $((port + 1)) SENTINEL GET-MASTER-ADDR-BY-NAME shop | grep -qx $port; }
awaited 20 "the Sentinel is there" knows
LATER_REDIS_URL=sentinel://127.0.0.1:$((port + 1))/shop
export LATER_REDIS_URL
configure 'workers = 1;'
start_laterd
warnings() { [ "$(how_often 'min-replicas-to-write is 0')" -ge "$1" ]; }
within 10 "a master whose writes wait for no replica is warned of" warnings 1

# Of a Redis that is not fit laterd asks each second.
redis CONFIG SET maxmemory 100mb maxmemory-policy allkeys-lru >/dev/null
redis CLIENT KILL TYPE normal >/dev/null
awaited 20 "it is not fit" logged 'set it to noeviction'
redis CONFIG RESETSTAT >/dev/null
asked() { [ "$(called zrangestore)" -ge 4 ]; } # which only the look calls
awaited 30 "it is asked four times more" asked
is "$(how_often 'min-replicas-to-write is 0')" 2 "that is said twice, over two connections"
stop_laterd
finish
