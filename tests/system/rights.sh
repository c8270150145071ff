#!/bin/sh
# The ACL lines of doc/protocol.md on a live server: each allows what it is for, and nothing else.
. "${top_srcdir:=.}/tests/system/lib.sh"
needs redis-server redis-cli

protocol=$top_srcdir/doc/protocol.md
scripts=$(cd "$top_builddir" && pwd)/scripts/expanded
start_redis 'appendonly yes'

# acl NAME: prints the words of the line after that mark.
acl()
{
    awk -v mark="<!-- acl: $1 -->" '
        $0 == mark { found = 1; next }
        found && /^```/ { if (++fences == 2) exit; next }
        found { print }' "$protocol" | tr -s '\n ' ' '
}

# A free port, since the URL must be redis:// to name a user: not one where the servers of a set have
# theirs (ports.c), nor where Linux has those of outgoing connections.
port=$((30300 + $$ % 2400))
until [ "$(redis config set port "$port")" = OK ]; do
    port=$((port + 1))
done
echo PASSWORD >"$work/password"
chmod 600 "$work/password"
LATER_REDIS_PASSWORD_FILE=$work/password

# become NAME...: goes on as the user of these lines, one after the other, instead of the default
# user.
become()
{
    words=
    for name in "$@"; do
        words="$words $(acl "$name")"
    done
    words=$(echo "$words" | sed 's/^ *user //; s/ on / reset on /')
    user=${words%% *}
    # As from a file: a selector is one word that begins with a parenthesis.
    echo "$words" | awk '{
        while (match($0, /\([^)]*\)|[^ ]+/)) {
            print substr($0, RSTART, RLENGTH)
            $0 = substr($0, RSTART + RLENGTH)
        }
    }' >"$work/words"
    set --
    while IFS= read -r word; do
        set -- "$@" "$word"
    done <"$work/words"
    is "$(redis acl setuser "$@")" OK "Redis takes the line \"$name\""
    redis acl log reset >/dev/null
    LATER_REDIS_URL=redis://$user@127.0.0.1:$port
    export LATER_REDIS_URL LATER_REDIS_PASSWORD_FILE
}

# none_denied NAME: checks that Redis has denied nothing since, by its own log.
none_denied()
{
    redis acl log >"$work/denied"
    is "$(awk '/^object$/ { getline; print }' "$work/denied" | sort -u | tr '\n' ' ')" '' \
        "nothing is denied: $1"
}

as_user()
{
    redis --user "$user" --pass PASSWORD --no-auth-warning "$@" 2>&1
}

# may VERB...: does this `later` work?
may()
{
    run later "$@"
    if [ "$status" -eq 0 ]; then
        ok "$name: later $*"
    else
        not_ok "$name: later $*: $err"
    fi
}

# may_not: are all these commands, one per line, denied? Only an administrator has them.
may_not()
{
    refused=0
    set -f
    while IFS= read -r command; do
        # shellcheck disable=SC2086 # words
        answer=$(as_user $command)
        case $answer in
        *NOPERM*) refused=$((refused + 1)) ;;
        *) not_ok "$name: $command is denied, not answered: $answer" ;;
        esac
    done
    set +f
    is "$((refused >= 25))" 1 "$name: $refused commands are denied"
}

administrators()
{
    cat <<'END'
acl list
acl setuser evil on nopass +@all
bgrewriteaof
bgsave
client kill type normal
client list
client pause 1
config get *
config set port 1
dbsize
eval return(1) 0
failover
flushall
flushdb
function list
keys *
latency latest
memory doctor
module list
monitor
randomkey
replicaof no one
rename later:{mail}:jobs later:{mail}:x
save
script flush
script kill
shutdown
slowlog get
swapdb 0 1
END
}

# ---- zadd

become zadd
is "$(as_user zadd 'later:{default}:ready' 1 '{"type":"null"}')" 1 "the user for plain pushes may ZADD"
is "$(as_user zadd 'later:{default}:delayed' 1 '{"type":"null"}')" 1 "and with a delay"
is "$(as_user lpush 'later:{default}:wake' 1)" 1 "it may leave a wake"
none_denied zadd
{
    administrators
    cat <<'END'
lpush later:{default}:ready x
lpush later:{default}:delayed x
zadd later:{default}:wake 1 x
zadd later:{default}:dead 1 x
zadd later:{default}:reserved 1 x
zadd later:{other}:ready 1 x
zrange later:{default}:ready 0 -1
zrem later:{default}:ready x
del later:{default}:ready
get later:protocol
sadd later:queues x
hset later:{default}:jobs a b
set later:{default}:paused 1
publish later:{default}:due 1
ping
END
} | sed 's/ *$//' >"$work/commands"
may_not <"$work/commands"

# ---- push

redis hset 'later:{mail}:stats' max_jobs 6 >/dev/null
become push
may push null -q mail --id a
may push null -q mail --id a
may push null -q mail --id a --replace
may push null -q mail --id u --in 30 --priority 7 --unique-for 60
printf '{"type":"null"}\n{"type":"null","in":5}\n{"type":"null"}\n' >"$work/lines"
may push --file "$work/lines" -q mail
may push null -q mail
run later push null -q mail --id full
is "$status" 75 "push: a full queue is told of"
none_denied push
run later push null -q default
contains "$err" NOPERM "push: no other queue"
{
    administrators
    cat <<'END'
set later:protocol 3
del later:protocol
del later:queues
smembers later:queues
srem later:queues mail
hset later:hosts a b
hget later:{mail}:jobs a
hgetall later:{mail}:jobs
hscan later:{mail}:jobs 0
zadd later:{default}:ready 1 {}
set later:{default}:paused 1
set later:{default}:shards 1
del later:{default}:jobs
zrange later:{default}:ready 0 -1
hset later:{default}:stats max_jobs 1
set later:lock:{nightly} 1
hset later:stock:{phone} total 9
del later:limit:{sms}
publish later:{default}:due 1
subscribe later:{mail}:due
blpop later:{mail}:wake 1
END
} >"$work/commands"
may_not <"$work/commands"

# ---- look, kick

redis hdel 'later:{mail}:stats' max_jobs >/dev/null
become push wait
run later push null -q mail --wait 0.01
is "$status" 75 "push --wait: the time is up"
redis lpush 'later:{mail}:result:left' '{"state":"done","attempt":1,"at":1}
7' >/dev/null
may wait left -q mail
may push null -q mail --id left --in 60
run later wait left -q mail --timeout 0
is "$status" 75 "result: of an earlier life"
# When the time is up `later` asks why the job has not ended; what may not be read is left out.
is "$err" "later wait: left has not ended yet; it goes on" "wait: the reason is left out"
is "$(redis acl log | awk '/^object$/ { getline; print }' | sort -u)" 'later:{mail}:jobs' "wait: nothing else is denied"
redis zadd 'later:{mail}:dead' 1 a >/dev/null
redis zrem 'later:{mail}:ready' a >/dev/null
redis hset 'later:{mail}:records' a 'p=3' >/dev/null
become push schedules
may cron set nightly '0 3 * * *' null -q mail
may cron -q mail
may cron delete nightly -q mail
none_denied schedules

become look
may size
may size mail
may size --names
may peek mail
may peek mail --state dead
may show a -q mail
may status
may check mail
may events -q mail --timeout 0
may search --saved
none_denied look
run later status --server
is "$status" 0 "look: what Redis says of itself"
like "$err" 'its slow log may not be read: .*NOPERM' "but not its slow log"
redis acl log reset >/dev/null
cat >"$work/changes" <<'END'
append later:{mail}:paused 1
copy later:{mail}:jobs later:{mail}:x
expire later:{mail}:jobs 1
getdel later:{mail}:paused
incr later:{mail}:paused
lpop later:{mail}:wake
blpop later:{mail}:wake 1
publish later:{mail}:due 1
rpush later:{mail}:wake 1
sadd later:queues x
set later:{mail}:paused 1
set later:protocol 9
srem later:queues mail
subscribe later:{mail}:due
unlink later:{mail}:jobs
zincrby later:{mail}:ready 1 a
zpopmin later:{mail}:ready
zremrangebyrank later:{mail}:ready 0 -1
zunionstore later:{mail}:ready 1 later:{mail}:dead
END
{
    administrators
    cat "$work/changes"
    cat <<'END'
del later:{mail}:jobs
hdel later:{mail}:jobs a
hincrby later:{mail}:stats done 1
hset later:{mail}:jobs a b
lpush later:{mail}:wake 1
zadd later:{mail}:ready 1 a
zrem later:{mail}:ready a
get later
hgetall other
END
} >"$work/commands"
may_not <"$work/commands"
for verb in 'push null' 'search --save s' 'kick a' 'cancel a' 'cancel -q mail --state dead --yes' 'pause mail' 'reserve mail'; do
    # shellcheck disable=SC2086 # words
    case $verb in
    *mail*) run later $verb ;;
    *) run later $verb -q mail ;;
    esac
    is "$((status != 0))" 1 "look: no later $verb"
done

become look slow
redis config set slowlog-log-slower-than 0 >/dev/null
like "$(later status --server 2>&1)" '	slow	' "the slow log"
redis config set slowlog-log-slower-than 10000 >/dev/null
none_denied slow
{
    administrators | grep -vx 'slowlog get'
    cat "$work/changes"
    echo 'slowlog reset'
} >"$work/commands"
may_not <"$work/commands"

become look kick
may kick a -q mail
redis zadd 'later:{mail}:dead' 1 a >/dev/null
redis zrem 'later:{mail}:ready' a >/dev/null
may kick -q mail --all --yes
may show a -q mail
none_denied kick
{
    administrators
    cat "$work/changes"
    echo 'del later:protocol'
    echo 'hset later:hosts web1 x'
    echo 'zadd later:queues 1 mail'
} >"$work/commands"
may_not <"$work/commands"
redis del 'later:{mail}:wake' >/dev/null

become look edit
echo '{"type":"null","payload":"edited"}' >"$work/edited"
may edit a -q mail --file "$work/edited"
none_denied edit
{
    administrators
    cat "$work/changes"
    echo 'hset later:hosts web1 x'
} >"$work/commands"
may_not <"$work/commands"

# ---- laterd, later

# laterd, with all that makes it talk to Redis: one job of each kind, a worker that is killed, a
# reload, a pause, a stop.
become laterd patterns
mkdir "$work/plugins"
cp "$top_builddir"/jobs/*.so "$work/plugins"
cat >"$work/laterd.conf" <<EOF
redis = { url = "$LATER_REDIS_URL/0"; password_file = "$work/password"; };
state_dir = "$work/state";
workers = 2;
queues = ( { name = "default"; }, { name = "more"; }, { name = "pattern-*"; } );
retry = { base = 0.05; };
plugins = { dir = "$work/plugins"; config = { exec = { slow = { argv = ( "/bin/sleep", "60" ); };
    bad = { argv = ( "/bin/false" ); }; }; }; };
limits = ( { type = "null"; max = 100; per = 1.0; window = "fixed"; },
           { type = "sleep"; max = 100; per = 1.0; } );
dead = { max = 1; };
EOF
redis script flush >/dev/null
spawn "$laterd_bin" -c "$work/laterd.conf"
laterd=$spawned
for document in '{"type":"null"}' '{"type":"sleep","payload":{"seconds":0.1}}' 'no JSON' 'nor this' \
    '{"type":"exec.bad","max_attempts":2}' '{"type":"null","expires_at":1000000000}' '{"type":"nobody"}'; do
    redis zadd 'later:{more}:ready' 0 "$document" >/dev/null
done
redis zadd 'later:{pattern-a}:ready' 0 '{"type":"null"}' >/dev/null
redis sadd later:queues pattern-a >/dev/null
redis zadd 'later:{more}:delayed' "$(date +%s)" '{"type":"null","n":2}' >/dev/null

# counted QUEUE FIELD N
counted()
{
    [ "$(redis hget "later:{$1}:stats" "$2")" -ge "$3" ]
}
# The worker that runs exec.slow is the one with a child.
busy_worker()
{
    for worker in $(ps -o pid= --ppid "$laterd"); do
        [ -z "$(ps -o pid= --ppid "$worker")" ] || echo "$worker"
    done
}
is_busy()
{
    [ -n "$(busy_worker)" ]
}
if wait_until 20 counted more 'done' 3 && wait_until 10 counted more buried 3; then
    ok "laterd works"
else
    not_ok "laterd works" "$work/spawned.err"
fi
if wait_until 10 counted pattern-a 'done' 1; then
    ok "and finds what its pattern means"
else
    not_ok "and finds what its pattern means" "$work/spawned.err"
fi
redis zadd 'later:{default}:ready' 0 '{"type":"exec.slow","timeout":600,"max_attempts":9}' >/dev/null
wait_until 10 is_busy
kill -KILL "$(busy_worker)"
wait_until 10 counted default released 1
kill -HUP "$laterd"
wait_until 10 grep -q reloaded "$work/spawned.err"
wait_until 10 is_busy
kill -TSTP "$laterd"
kill -CONT "$laterd"
kill -TERM "$laterd"
wait_until 5 grep -q stopping "$work/spawned.err"
for worker in $(ps -o pid= --ppid "$laterd"); do
    kill -KILL "$worker"
done
wait_until 20 gone "$laterd" || not_ok "laterd stops" "$work/spawned.err"
none_denied laterd
{
    administrators
    echo 'get other'
    echo 'publish other x'
    echo 'smembers later:queues'
} >"$work/commands"
may_not <"$work/commands"
outer='evalsha script|load client|setname client|id ping select info subscribe blpop client|unblock mget'
is "$(acl laterd | tr ' ' '\n' | sed -n 's/^+//p' | grep -vxF "$(echo "$outer" | tr ' ' '\n')" | sort |
    tr '\n' ' ')" \
    "$(grep -ohE "call\('[A-Z]+'" "$scripts"/*.lua "$top_srcdir/scripts/told.lua" | sed "s/.*'\(.*\)'/\1/" | tr '[:upper:]' '[:lower:]' | sort -u |
        tr '\n' ' ')" "laterd's line has the commands of the scripts and no others"

# ---- tenant: like push, with the scripts that laterd has loaded, and no Lua of its own

redis hdel 'later:{mail}:stats' max_jobs >/dev/null
become tenant
may push null -q mail
may push null -q mail --in 30 --replace --id tenant-1
may push --file "$work/lines" -q mail
none_denied tenant
{
    administrators
    echo 'script load return(1)'
    echo 'script exists 0'
    echo 'function load x'
    echo 'zadd later:{default}:ready 1 {}'
} >"$work/commands"
may_not <"$work/commands"

# later, every command: laterd's line and a few more.
redis del 'later:{default}:wake' >/dev/null
become laterd later
{
    later push null -q tour --id t1
    later push null -q tour --id t2 --in 60
    later size --names
    later size
    later peek tour
    later show t1 -q tour
    later kick t2 -q tour
    later kick -q tour --all --yes
    later search --save ready -q tour --state ready
    later search ready
    later search --unsave ready
    later pause tour
    later pause tour --type none.here --for 1h
    later resume tour
    later set
    later unset limit type:none
    for verb in ack release return bury touch; do
        later push null -q "by-$verb" --id "$verb"
        token=$(later reserve "by-$verb" --wait 1 | cut -f 2)
        later "$verb" "by-$verb" "$verb" "$token"
    done
    later cancel touch -q by-touch
    later work tour -n 1 -- true
    later cancel -q tour --state ready --yes
    later stock set thing 1
    later stock claim thing me
    later stock show thing
    later stock release thing me
    later status
    later check
} >"$work/tour" 2>&1
status=$?
if [ "$status" -eq 0 ] && ! grep -q NOPERM "$work/tour"; then
    ok "later works"
else
    not_ok "later works" "$work/tour"
fi
none_denied later
administrators >"$work/commands"
may_not <"$work/commands"
finish
