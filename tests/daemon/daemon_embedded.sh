#!/bin/sh
# The embedded Redis: whoever can open its socket may work with it, but not administrate it.
. "${top_srcdir:=.}/tests/system/daemon.sh"
needs redis-cli

configure 'workers = 1;'
mkdir "$work/state"
umask 022
echo old >"$work/state/redis.conf"
start_embedded

# ---- work

for verb in 'push note --id a' 'push note --id b --in 1h' 'size --names' 'size' 'peek default' 'show b' \
    'kick b' 'pause default' 'resume default' 'push note --id c --in 1h' 'cancel c' \
    'push null -q own --id d' 'cancel -q own --state ready --yes' 'stock set thing 1' \
    'stock claim thing me' 'limit l --max 1 --per 60' 'lock l -- true' 'status' 'check'; do
    # shellcheck disable=SC2086 # words
    runs "later $verb" later $verb
done
redis ZADD 'later:{default}:ready' 0 '{"type":"note"}' >/dev/null
within 10 "three jobs are done, one by a plain ZADD" counts 'done' 3

# ---- administration

set -f
refused=0
while IFS= read -r command; do
    # shellcheck disable=SC2086 # words
    answer=$(redis $command 2>&1)
    case $answer in
    *NOPERM*) refused=$((refused + 1)) ;;
    *) not_ok "$command is denied, not answered: $answer" ;;
    esac
done <<'END'
acl list
acl setuser default +@all
bgrewriteaof
bgsave
client kill type normal
client list
client pause 1
cluster reset
config get dir
config rewrite
config set bind 0.0.0.0
config set maxmemory 1mb
config set maxmemory-policy allkeys-lru
config set port 6399
config set protected-mode no
config set requirepass x
failover
function delete later
function flush
flushall
flushdb
keys later:*
lastsave
latency latest
migrate 127.0.0.1 1 later:protocol 0 1
module list
monitor
psync ? -1
replicaof 127.0.0.1 1
restore later:x 0 x
save
script flush
script kill
set other 1
get other
publish other 1
shutdown
slowlog get
sort later:queues
swapdb 0 1
sync
END
set +f
at_least "$refused" 25 "commands are denied"
is "$(redis ping)" PONG "and Redis is there"

# ---- its administrator

secret=$work/state/redis.password
is "$(stat -c %a "$secret") $(stat -c %a "$work/state/redis.conf")" "600 600" \
    "only laterd's user reads the password, and the file that it stands in"
admin()
{
    REDISCLI_AUTH=$(cat "$secret") redis --user admin "$@"
}
is "$(admin config get maxmemory-policy | tail -n 1)" noeviction "the user admin may all"
runs "also a snapshot" admin --rdb "$work/rdb"
before=$(cat "$secret")
stop_laterd
start_laterd
wait_until 20 redis_answers
is "$(test "$(cat "$secret")" = "$before" && echo same)" '' "the password is new at each start"
is "$(admin acl whoami)" admin "the admin's password is valid"
stop_laterd
finish
