#!/bin/sh
# The ACL file that the documents make: nobody can log in as the default user, and Redis keeps its
# append-only file over a restart. With a default user without rights it does not, and laterd says so.
. "${top_srcdir:=.}/tests/system/daemon.sh"

# acl FILE NAME...: the lines after these marks, joined as the page says.
acl()
{
    page=$top_srcdir/doc/$1
    shift
    for name; do
        awk -v mark="<!-- acl: $name -->" '
            $0 == mark { found = 1; next }
            found && /^```/ { if (++fences == 2) exit; next }
            found { print }' "$page"
    done | paste -sd ' '
}

# as_laterd COMMAND...
as_laterd()
{
    redis --user laterd --pass PASSWORD --no-auth-warning "$@"
}

# Since Redis has started, laterd has read counters, and then done more.
compared()
{
    as_laterd INFO commandstats | tr -d '\r' >"$work/stats" && grep -q '^cmdstat_hgetall:' "$work/stats" &&
        grep -q '^cmdstat_hset:' "$work/stats"
}

start_with_users()
{
    start_redis "aclfile $work/users.acl" 'appendonly yes' "port $port"
    LATER_REDIS_URL=redis://laterd@127.0.0.1:$port
    export LATER_REDIS_URL
}

# try DEFAULT-LINE: a Redis with this line pushes, is stopped, and comes back; sets $left.
try()
{
    rm -rf "$work/appendonlydir" "$work/state"
    {
        echo "$1"
        acl protocol.md laterd later
    } >"$work/users.acl"
    start_with_users
    configure 'workers = 1;'
    sed -i "1s|; };|; password_file = \"$work/password\"; };|" "$work/laterd.conf"
    start_laterd
    later push --file "$work/lines" >/dev/null
    awaited 20 "laterd has seen the jobs" grep -q '^default 100 ' "$work/state/counters"
    stop_redis
    start_with_users
    since=$(present)
    awaited 20 "laterd has compared" compared
    left=$(as_laterd HLEN "$(key jobs)")
}

echo PASSWORD >"$work/password"
chmod 600 "$work/password"
LATER_REDIS_PASSWORD_FILE=$work/password
export LATER_REDIS_PASSWORD_FILE
seq 100 | sed 's/.*/{"type":"note","in":86400}/' >"$work/lines"
start_redis
port=$(($$ % 12000 + 20000)) # below those that the system gives away while Redis is stopped
until [ "$(redis config set port "$port")" = OK ]; do
    port=$((port + 1))
done
stop_redis

try "$(acl operations.md default)"
is "$left" 100 "with the documented line all jobs are there after a restart of Redis"
contains "$(redis PING 2>&1)" NOAUTH "nobody is let in without a password"
contains "$(redis AUTH default '' 2>&1)" WRONGPASS "nor as the default user"
is "$(how_often 'Redis has lost writes')" 0 "nothing is said to be lost"
stop_laterd
stop_redis

try 'user default off'
if [ "$left" = 100 ]; then
    ok "this Redis reads its file whatever the default user may # SKIP fixed there"
else
    within 20 "with a default user without rights, jobs are lost, and laterd says how many" \
        logged "queue default: 100 jobs had been pushed, now $left"
    in_time "$(sum "$(logged_at 'Redis has lost writes:') - $since")" 10 "after Redis is back"
    run later check
    is "$status" 1 "later check says it, too"
fi
stop_laterd
finish
