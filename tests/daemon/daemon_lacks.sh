#!/bin/sh
# A Redis that does not know a command that laterd needs (rename-command), or denies one that no script calls:
# laterd says which, with the remedy, and is not ready. So does later.
. "${top_srcdir:=.}/tests/system/daemon.sh"

# lacks COMMAND WHOSE: laterd does not start on a Redis without this command, and says so.
lacks()
{
    start_redis 'appendonly yes' "rename-command $1 \"\""
    : >"$log"
    launch
    await_laterd
    is "$exited $(how_often ' ready: ')" "78 0" "without $1 laterd is not ready, and ends with 78"
    like "$(grep ' error ' "$log")" "denies $2.*$1.*rename-command" "and says which command it lacks, and why"
    stop_redis
    rm -rf "$work/appendonlydir"
}

configure 'workers = 1;'
for command in TIME ZADD XADD; do
    lacks "$command" 'our scripts 1 commands'
done
for command in EVALSHA BLPOP; do
    lacks "$command" 'us what we need'
done

start_redis 'rename-command ZADD ""'
run later push null
is "$status" 69 "nor does later push"
contains "$err" 'renamed there (rename-command)?' "it says why"
stop_redis
start_redis 'rename-command SCRIPT ""'
run later push null
contains "$err" "unknown command 'SCRIPT'; is it renamed" "without the text of the script"
stop_redis

# ---- rights that no script needs

start_redis 'appendonly yes'
redis ACL SETUSER admin on '>secret' '~*' '&*' +@all >/dev/null
redis_cli="$redis_cli --user admin --pass secret --no-auth-warning"
redis ACL SETUSER default -blpop >/dev/null
: >"$log"
launch
await_laterd
is "$exited $(how_often ' ready: ')" "78 0" "without the right to BLPOP laterd is not ready, and ends with 78"
like "$(grep ' error ' "$log")" "denies us what we need: NOPERM.*'blpop'.*least ACL" "and says which"

# faulty WORDS: does later status --local give them as the reason?
faulty()
{
    ! later -c "$work/laterd.conf" status --local >/dev/null 2>"$work/fault" && grep -q "$1" "$work/fault"
}
well() { later -c "$work/laterd.conf" status --local >/dev/null; }

redis ACL SETUSER default +blpop -subscribe >/dev/null
start_laterd
within 10 "without SUBSCRIBE it works, and says that it hears late" logged 'refuses to tell of changes (SUBSCRIBE)'
within 10 "so does later status --local" faulty 'SUBSCRIBE'
push_job heard '"type":"note"'
within 10 "jobs are performed" ended heard
redis ACL SETUSER default +subscribe >/dev/null
within 20 "with the right all is well" well
stop_laterd

redis ACL SETUSER default -sscan >/dev/null
configure 'queues = ({ name = "default"; }, { name = "p-*"; });' 'workers = 1;'
start_laterd
asked() { [ "$(redis INFO commandstats | tr -d '\r' | sed -n 's/^cmdstat_scard:calls=\([0-9]*\),.*/\1/p')" -ge 6 ]; }
awaited 20 "the names are asked for six times" asked
is "$(how_often 'redis refuses to say which queues there are')" 1 "a refusal that lasts is one line in the log"
redis ACL SETUSER default +sscan >/dev/null
within 20 "which is over when the right is back" well
stop_laterd
finish
