#!/bin/sh
# Every client, and `later` for C, does what tests/clients/conformance.json says, and with scripts that say words
# that it does not know, what strange.json says. CLIENTS='python c' tries only those.
. "${top_srcdir:=.}/tests/system/lib.sh"
redis_python

clients=$(cd "$top_srcdir" && pwd)/tests/clients
file=conformance

start_redis 'appendonly no'

# Behind Sentinels a client sends what it sends to one server, over a connection that its Redis library has
# found. So there are the steps that open, lose and share connections, or wait.
if [ "$redis_kind" = sentinel ]; then
    : "${CONFORMANCE_ONLY=^a payload$|connection was|were forgotten|^wait(_many)?:|^call:|1,200|^many: over|^a chain|^events}"
    export CONFORMANCE_ONLY
fi

# conforms NAME DRIVER [ARGUMENT...]: one result for each step of $file. Of a fake, once for all kinds of Redis.
conforms()
{
    client=$1
    shift
    url=$LATER_REDIS_URL
    case $file/$client in
    strange/c | strange/*-fake) return 0 ;; # C has the scripts in its program; fakes have none
    *-fake)
        [ "${LATER_TEST_REDIS:-single}" = single ] || return 0
        url=fake
        ;;
    esac
    case " ${CLIENTS:-$client} " in
    *" $client "*) ;;
    *) return 0 ;;
    esac
    judge "$python" "$clients/judge.py" "$clients/$file.json" "$url" -- "$@"
}

# judge COMMAND...: reads results from its lines.
judge()
{
    "$@" >"$work/verdicts" 2>"$work/judge.err" </dev/null
    judged=$?
    while IFS= read -r verdict; do
        case $verdict in
        'ok '*) ok "$client: ${verdict#ok }" ;;
        'no '*) not_ok "$client: ${verdict#no }" ;;
        *) echo "$verdict" ;;
        esac
    done <"$work/verdicts"
    [ "$judged" -eq 0 ] || not_ok "$client: the judge comes to an end" "$work/judge.err"
}

php_conforms()
{
    conforms "php-$1" php "$clients/driver.php" "$1"
}

# try_all: each client by its driver in $clients.
try_all()
{
    conforms c "$python" "$clients/driver_later.py" "$later_bin"
    conforms python "$python" "$clients/driver.py"
    conforms python-asyncio "$python" "$clients/driver.py" async
    conforms python-fake "$python" "$clients/driver.py"
    conforms python-asyncio-fake "$python" "$clients/driver.py" async
    with_php php_conforms
    command -v php >/dev/null && conforms php-fake php "$clients/driver.php" fake
    command -v node >/dev/null && conforms node-fake node "$clients/driver.mjs" fake
    if node_modules; then
        conforms node-ioredis node "$clients/driver.mjs" ioredis "$node_modules"
        conforms node-redis node "$clients/driver.mjs" redis "$node_modules"
    else
        missing node "node or npm is not installed, or npm cannot install ioredis and redis"
    fi
    if ruby -e 'require "redis"' 2>/dev/null; then
        conforms ruby ruby "$clients/driver.rb"
        conforms ruby-fake ruby "$clients/driver.rb"
    else
        missing ruby "ruby-redis is not installed"
    fi
    if ! command -v go >/dev/null; then
        missing go "golang-go is not installed"
    elif go_driver "$clients" "$work/driver-$file"; then
        conforms go "$work/driver-$file"
        conforms go-fake "$work/driver-$file"
    elif [ -s "$work/go.log" ]; then
        not_ok "go: the driver is built" "$work/go.log"
    else
        missing go "golang-github-mna-redisc-dev is not installed"
    fi
}

try_all
is "$(PYTHONPATH=$clients/../../clients/python "$python" -c '
import datetime, laterd, laterd.document
print(laterd.document.prepare(laterd.NewJob("t", expires_at=datetime.timedelta(minutes=10))).when)')" '!600' \
    "python: expires_at, a timedelta, is from now"
client=python
judge "$python" "$clients/wait.py" "$LATER_REDIS_URL"
if [ "${LATER_TEST_REDIS:-single}" = cluster ] && node_modules; then
    client=node-ioredis
    judge node "$clients/replica.mjs" "$node_modules" "$LATER_REDIS_URL"
fi
if ruby -e 'require "redis"' 2>/dev/null && [ "${LATER_TEST_REDIS:-single}" = single ]; then
    client=ruby
    judge ruby "$clients/wait.rb" "$redis_socket"
fi

# What a client makes of a word is the same, however it came.
if [ "$redis_kind" != single ]; then
    finish
    exit
fi

# estrange SCRIPT: in a queue that is called as the script, it says NOVEL for each of its words.
estrange()
{
    name=$(basename "$1" .lua)
    cp "$1" "$work/script"
    {
        echo "local novel = string.find(KEYS[1], '{$name}', 1, true)"
        sed -e "s/'\(PUSHED\|REPLACED\|AGAIN\|WAITING\|CLOSED\)'/(novel and 'NOVEL' or '\1')/g" \
            -e "s/'\(EXISTS\|PARK\) '/(novel and 'NOVEL ' or '\1 ')/g" "$work/script"
    } >"$1"
}

mkdir -p "$work/strange/tests"
cp -R "$clients" "$work/strange/tests/clients"
cp -R "$clients/../../clients" "$work/strange/clients"
chmod -R u+w "$work/strange" # make distcheck takes that from the sources
find "$work/strange" -name 'push.lua' -o -name 'push_now.lua' -o -name 'flow_push.lua' -o -name 'flow_join.lua' \
    -o -name 'flow_park.lua' >"$work/scripts"
while IFS= read -r script; do
    estrange "$script"
done <"$work/scripts"
clients=$work/strange/tests/clients file=strange
try_all
finish
