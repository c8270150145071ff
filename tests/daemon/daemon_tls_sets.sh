#!/bin/sh
# TLS with every server of a Cluster, and with Sentinels and the Redis that they name, also after a
# failover. Each has one certificate for all, whose name is not that of the hosts, so that name= is
# needed.
. "${top_srcdir:=.}/tests/system/daemon.sh"
. "$top_srcdir/tests/system/tls_lib.sh"
needs redis-server redis-cli openssl python3

authority ours
certificate server ours DNS:redis.example.org
certificate client ours DNS:laterd
tls="tls=yes&ca=$work/ours.crt&cert=$work/client.crt&key=$work/client.key&name=redis.example.org"

# server NAME PORT LINE...: a redis-server that only takes TLS on this port; its pid is in $server.
# Through its unix socket we look into it.
server()
{
    name=$1 listen=$2
    shift 2
    mkdir -p "$work/$name"
    {
        printf '%s\n' 'port 0' "tls-port $listen" 'bind 127.0.0.1' "dir $work/$name" 'save ""' \
            "unixsocket $work/$name.sock" "logfile $work/$name.log" 'tls-replication yes' \
            'tls-cluster yes'
        tls_options server ours
        printf '%s\n' "$@"
    } >"$work/$name.conf"
    redis-server "$work/$name.conf" $mode >/dev/null 2>&1 </dev/null &
    server=$!
    own "$server"
}

# ask NAME COMMAND...
ask()
{
    socket=$work/$1.sock
    shift
    redis-cli -s "$socket" "$@"
}

answers() { [ "$(ask "$1" ping)" = PONG ]; }

# free_ports COUNT: prints a number, so that the COUNT ports after it are free, and 10,000 above too. They are
# below those that the system gives away meanwhile.
free_ports()
{
    python3 - "$1" <<'PROGRAM'
import os, socket, sys
base = os.getpid() % 11000 + 11000
def free(port):
    with socket.socket() as one:
        try:
            one.bind(('127.0.0.1', port))
        except OSError:
            return False
    return True
while not all(free(base + n) and free(base + 10000 + n) for n in range(1, int(sys.argv[1]) + 1)):
    base += 10
print(base)
PROGRAM
}

# push_notes COUNT QUEUE NAME
push_notes()
{
    awk -v count="$1" -v name="$3" 'BEGIN { for (i = 1; i <= count; i++)
        printf "{\"id\":\"%s-%d\",\"type\":\"note\"}\n", name, i }' |
        later push --file - -q "$2" >/dev/null
}

# php_pushes NAME: so does the PHP client, which takes the same URLs, with the libraries that are here.
php_pushes()
{
    with_php php_push "$1"
}

# php_push NAME LIBRARY (Predis gives a Sentinel 0.1 s for a handshake, warns, and asks again.)
php_push()
{
    is "$(php -d display_errors=stderr -r '
        require $argv[1] . "/clients/php/autoload.php";
        @include_once "Predis/autoload.php";
        echo Laterd\Client::connect($argv[2], library: $argv[3])->push("note", id: $argv[3], queue: "red")->result;' \
        "$(cd "$top_srcdir" && pwd)" "$LATER_REDIS_URL" "$2" 2>"$work/php.err")" pushed "$1: $2 pushes"
    sed 's/^/# /' "$work/php.err"
}

# notes NAME COUNT: have so many of these jobs been performed? (One whose push was repeated, twice.)
notes() { [ "$(cut -d ' ' -f 1 "$work/ended" | grep "^$1-" | sort -u | wc -l)" -eq "$2" ]; }

# ---- a Cluster of three

mode=
base=$(free_ports 6)
for n in 1 2 3; do
    server "node$n" $((base + n)) 'cluster-enabled yes'
done
for n in 1 2 3; do
    awaited 20 "node $n starts" answers "node$n"
    ask "node$n" cluster addslotsrange $(((n - 1) * 5461)) $((n == 3 ? 16383 : n * 5461 - 1)) \
        >/dev/null
done
for n in 2 3; do
    ask node1 cluster meet 127.0.0.1 $((base + n)) >/dev/null
done
formed()
{
    for n in 1 2 3; do
        ask "node$n" cluster info | grep -q 'cluster_state:ok' &&
            ask "node$n" cluster info | grep -q 'cluster_known_nodes:3' || return 1
    done
}
awaited 60 "the Cluster forms" formed

LATER_REDIS_URL="cluster://127.0.0.1:$((base + 1))?$tls"
export LATER_REDIS_URL
configure 'queues = ( { name = "red"; }, { name = "green"; }, { name = "blue"; } );'
start_laterd
for queue in red green blue; do
    # A busy machine may not have made its handshakes in the seconds that later gives a call.
    within 60 "100 jobs are pushed into a Cluster by TLS: $queue" push_notes 100 "$queue" "$queue"
done
all_notes() { notes red 100 && notes green 100 && notes blue 100; }
within 20 "300 jobs of a Cluster by TLS" all_notes
php_pushes Cluster
nodes=0
for n in 1 2 3; do
    [ "$(ask "node$n" client list | grep 'name=laterd' | grep -c "laddr=127.0.0.1:$((base + n)) ")" = 0 ] ||
        nodes=$((nodes + 1))
done
at_least "$nodes" 2 "by connections to its nodes"
run later --redis "cluster://127.0.0.1:$((base + 1))?tls=yes&ca=$work/ours.crt&cert=$work/client.crt" size
like "$status $err" '^69 .*client\.crt is not right' "a certificate without its key"
run later --redis "cluster://127.0.0.1:$((base + 1))?$(echo "$tls" | sed 's/&name=.*//')" size
like "$status $err" '^69 .*wrong name: it is for redis\.example\.org, not for 127\.0\.0\.1' \
    "a wrong name at a node"
stop_laterd
is "$exited" 0 "laterd ends with 0"
for n in 1 2 3; do
    ask "node$n" shutdown nosave
done

# ---- a master, its replica, a Sentinel

server master $((base + 4))
master_pid=$server
server replica $((base + 5)) "replicaof 127.0.0.1 $((base + 4))"
mode=--sentinel
server sentinel $((base + 6)) "sentinel monitor main 127.0.0.1 $((base + 4)) 1" \
    'sentinel down-after-milliseconds main 60000' 'sentinel failover-timeout main 5000'
awaited 20 "they start" answers sentinel
knows_replica() { [ "$(ask sentinel sentinel replicas main | grep -c runid)" = 1 ]; }
awaited 60 "the Sentinel knows the replica" knows_replica
in_step() { ask replica info replication | grep -q 'master_link_status:up'; }
awaited 60 "the replica follows" in_step

LATER_REDIS_URL="sentinel://127.0.0.1:$((base + 6))/main?$tls"
rm -f "$work/begun" "$work/ended"
configure 'queues = ( { name = "red"; } );'
start_laterd
within 60 "100 jobs are pushed to the master that a Sentinel names" push_notes 100 red one
within 20 "100 jobs of the master that a Sentinel names" notes one 100
php_pushes Sentinel
drained() { [ "$(ask replica hlen 'later:{red}:jobs')" = 0 ]; }
awaited 20 "the replica has followed" drained
kill -KILL "$master_pid"
# Only now, since on a busy machine a master may be silent for a second.
ask sentinel sentinel set main down-after-milliseconds 1000 >/dev/null
within 60 "after a failover laterd goes on at the replica" logged "is at 127.0.0.1:$((base + 5)) now"
within 60 "later finds it, too" push_notes 100 red two
within 60 "and they are performed" notes two 100
# later gives a Sentinel half a second, which a busy machine may not have.
looked()
{
    run later --redis "sentinel://127.0.0.1:$((base + 6))/main?tls=yes&name=redis.example.org" size
    case $err in *'no handshake in time'*) return 1 ;; esac
}
wait_until 60 looked
like "$status $err" '^69 .*no Sentinel answers.*unknown authority: ours' \
    "the Sentinel's certificate is checked"
stop_laterd
is "$exited" 0 "laterd ends with 0"
finish
