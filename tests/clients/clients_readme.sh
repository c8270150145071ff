#!/bin/sh
# The programs in the clients' READMEs run as printed: one that pushes, one that performs.
. "${top_srcdir:=.}/tests/system/lib.sh"
redis_python
start_redis 'appendonly no'
clients=$(cd "$top_srcdir" && pwd)/clients
mkdir -p "$work/js/node_modules"

# block CLIENT LANGUAGE N: prints the Nth program of its README, with this Redis in place of
# laterd's.
block()
{
    $AWK -v fence="\`\`\`$2" -v wanted="$3" '
        $0 == fence { at++; next }
        /^```/ { if (at == wanted) exit }
        at == wanted { print }' "$clients/$1/README.md" |
        sed -e "s|/var/lib/laterd/redis.sock|$redis_socket|" -e 's/seconds: 10)/seconds: 0.1)/'
}

# pushes NAME COMMAND...: runs the first program, after a job thumb-7 has left a result.
pushes()
{
    what=$1
    shift
    redis FLUSHALL >/dev/null
    redis RPUSH 'later:{default}:result:thumb-7' '{"state":"done","attempt":1,"at":1}
{"width":640}' >/dev/null
    run timeout 600 "$@"
    is "$status" 0 "$what: the program that pushes ends well"
    [ "$status" -eq 0 ] || printf '%s\n' "$out" "$err" | sed 's/^/# /'
    is "$(redis HLEN 'later:{mail}:jobs') $(redis ZCARD 'later:{mail}:delayed') $(redis ZCARD 'later:{mail}:ready')" \
        '2 1 1' "$what: and has pushed its two jobs"
}

# schedules NAME COMMAND...: runs the second program, as a deploy does whose program had another schedule.
schedules()
{
    what=$1
    shift
    redis FLUSHALL >/dev/null
    later cron set shop.old '@daily' old -q reports >/dev/null
    later cron set billing '@daily' bill -q reports >/dev/null
    run timeout 600 "$@"
    is "$status" 0 "$what: the program of a deploy ends well"
    [ "$status" -eq 0 ] || printf '%s\n' "$out" "$err" | sed 's/^/# /'
    is "$(later cron -q reports --json | field name | sort | tr '\n' ' ')" 'billing shop.report shop.tidy ' \
        "$what: and has set its schedules, and taken away what it has no more"
}

# flow_block CLIENT LANGUAGE: prints the program that pushes flows, without the wait for one that nobody
# performs.
flow_block()
{
    block "$1" "$2" 3 | grep -v 'wait_*[fF]low('
}

# flows NAME COMMAND...: runs the third program.
flows()
{
    what=$1
    shift
    redis FLUSHALL >/dev/null
    run timeout 600 "$@"
    is "$status" 0 "$what: the program that pushes flows ends well"
    [ "$status" -eq 0 ] || printf '%s\n' "$out" "$err" | sed 's/^/# /'
    is "$(redis HMGET 'later:{default}:flow:order-7' total open waiting | tr '\n' ' ')$(redis HGET 'later:{default}:flow:chain-7' waiting) $(redis HGET 'later:{default}:flow:import-7' open)" \
        '4 2 2 1 2' "$what: and has pushed three, and added to one"
}

# performs NAME WANTED COMMAND...: tries the fourth program by hand.
performs()
{
    what=$1 wanted=$2
    shift 2
    run timeout 600 "$@"
    contains "$out" "$wanted" "$what: the handler performs a job"
    [ "$status" -eq 0 ] || printf '%s\n' "$out" "$err" | sed 's/^/# /'
}

{
    echo 'people = ["c@d.e"]'
    block python python 1
} >"$work/push.py"
{
    printf 'async def fetch(url): return "text"\ndef busy(): return False\n'
    block python python 4
} >"$work/feeds.py"
{
    printf 'import laterd, redis\nfrom types import SimpleNamespace\n'
    echo "queues = laterd.Client(redis.Redis(unix_socket_path='$redis_socket'))"
    echo 'rows = [1, 2]; job = SimpleNamespace(id="order-7.pay")'
    flow_block python python
} >"$work/flows.py"
block python python 2 >"$work/schedules.py"
schedules python env PYTHONPATH="$clients/python" "$python" "$work/schedules.py"
flows python env PYTHONPATH="$clients/python" "$python" "$work/flows.py"
pushes python env PYTHONPATH="$clients/python" "$python" "$work/push.py"
performs python '{"bytes": 4}' env PYTHONPATH="$clients/python:$work" "$python" -m laterd feeds:app feed.poll '{"url":"u"}'

if node_modules; then
    ln -s "$clients/node" "$work/js/node_modules/laterd"
    ln -s "$node_modules/node_modules/ioredis" "$work/js/node_modules/ioredis"
    {
        echo 'const people = ["c@d.e"];'
        block node js 1
        echo 'process.exit(0);'
    } >"$work/js/push.mjs"
    {
        echo 'globalThis.fetch = async () => ({ status: 200, text: async () => "text" });'
        block node js 4
    } >"$work/js/feeds.mjs"
    {
        echo 'import { Redis } from "ioredis"; import { batch, chain, Laterd } from "laterd";'
        echo "const queues = new Laterd(new Redis('$redis_socket')), rows = [1, 2], job = { id: 'order-7.pay' };"
        flow_block node js
        echo 'process.exit(0);'
    } >"$work/js/flows.mjs"
    block node js 2 >"$work/js/schedules.mjs"
    schedules node node "$work/js/schedules.mjs"
    flows node node "$work/js/flows.mjs"
    pushes node node "$work/js/push.mjs"
    performs node '{"bytes":4}' node "$work/js/feeds.mjs" feed.poll '{"url":"u"}'
else
    missing node "node or npm is not installed, or npm cannot install ioredis"
fi

if php -r 'exit((int) !extension_loaded("redis"));' 2>/dev/null; then
    {
        echo "<?php require '$clients/php/autoload.php'; \$redis = new Redis(); \$redis->connect('$redis_socket');"
        block php php 1
    } >"$work/push.php"
    {
        echo "<?php require '$clients/php/autoload.php';"
        block php php 4
    } >"$work/mail.php"
    {
        echo "<?php require '$clients/php/autoload.php';"
        flow_block php php | sed "s|^use .*|&\n\$later = Laterd\\\\Client::connect('unix:$redis_socket'); \$rows = [1, 2]; \$job = (object) ['id' => 'order-7.pay'];|"
    } >"$work/flows.php"
    {
        echo "<?php require '$clients/php/autoload.php';"
        block php php 2
    } >"$work/schedules.php"
    schedules php php "$work/schedules.php"
    flows php php "$work/flows.php"
    pushes php env LATER_REDIS_URL="unix:$redis_socket" php "$work/push.php"
    performs php '"sent":' php -d 'sendmail_path="cat >/dev/null"' "$work/mail.php" mail.send '{"to":"a@b.c"}'
else
    missing php "php-cli or php-redis is not installed"
fi

if ruby -e 'require "redis"' 2>/dev/null; then
    {
        echo 'people = ["c@d.e"]'
        block ruby ruby 1
    } >"$work/push.rb"
    {
        echo 'require "laterd"'
        echo "later = Laterd::Client.new(Redis.new(path: '$redis_socket'))"
        echo 'rows = [1, 2]; job = Struct.new(:id).new("order-7.pay")'
        flow_block ruby ruby
    } >"$work/flows.rb"
    block ruby ruby 2 >"$work/schedules.rb"
    schedules ruby ruby -I "$clients/ruby/lib" "$work/schedules.rb"
    flows ruby ruby -I "$clients/ruby/lib" "$work/flows.rb"
    pushes ruby ruby -I "$clients/ruby/lib" "$work/push.rb"
    {
        echo 'def busy?() false end'
        block ruby ruby 4
    } >"$work/mail.rb"
    performs ruby '"sent":"a@b.c"' ruby -I "$clients/ruby/lib" "$work/mail.rb" mail.send '{"to":"a@b.c"}'
else
    missing ruby "ruby-redis is not installed"
fi
finish
