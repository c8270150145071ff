#!/bin/sh
# Every client, and `later` for C, does what tests/clients/conformance.json says. CLIENTS='python c'
# tries only those.
. "${top_srcdir:=.}/tests/system/lib.sh"
redis_python

clients=$(cd "$top_srcdir" && pwd)/tests/clients

start_redis 'appendonly no'

# conforms NAME DRIVER [ARGUMENT...]: one result for each step of the file. Of a fake, once for all kinds of Redis.
conforms()
{
    client=$1
    shift
    url=$LATER_REDIS_URL
    case $client in
    *-fake)
        [ "${LATER_TEST_REDIS:-single}" = single ] || return 0
        url=fake
        ;;
    esac
    case " ${CLIENTS:-$client} " in
    *" $client "*) ;;
    *) return 0 ;;
    esac
    judge "$python" "$clients/judge.py" "$clients/conformance.json" "$url" -- "$@"
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

# missing NAME WHY: reports a client that this machine cannot try.
missing()
{
    tap_number=$((tap_number + 1))
    echo "ok $tap_number - $1 # SKIP $2"
}

conforms c "$python" "$clients/driver_later.py" "$later_bin"
conforms python "$python" "$clients/driver.py"
conforms python-asyncio "$python" "$clients/driver.py" async
conforms python-fake "$python" "$clients/driver.py"
conforms python-asyncio-fake "$python" "$clients/driver.py" async
is "$(PYTHONPATH=$clients/../../clients/python "$python" -c '
import datetime, laterd, laterd.document
print(laterd.document.prepare(laterd.NewJob("t", expires_at=datetime.timedelta(minutes=10))).when)')" '!600' \
    "python: expires_at, a timedelta, is from now"
client=python
judge "$python" "$clients/wait.py" "$LATER_REDIS_URL"
for library in phpredis predis; do
    if php "$clients/driver.php" "$library" </dev/null >/dev/null 2>&1; then
        conforms "php-$library" php "$clients/driver.php" "$library"
    else
        missing "php-$library" "php-cli or php-redis, or php-predis, is not installed"
    fi
done
command -v php >/dev/null && conforms php-fake php "$clients/driver.php" fake
command -v node >/dev/null && conforms node-fake node "$clients/driver.mjs" fake
if node_modules; then
    conforms node-ioredis node "$clients/driver.mjs" ioredis "$node_modules"
    conforms node-redis node "$clients/driver.mjs" redis "$node_modules"
    client=node-ioredis
    [ "${LATER_TEST_REDIS:-single}" != cluster ] ||
        judge node "$clients/replica.mjs" "$node_modules" "$LATER_REDIS_URL"
else
    missing node "node or npm is not installed, or npm cannot install ioredis and redis"
fi
if ruby -e 'require "redis"' 2>/dev/null; then
    conforms ruby ruby "$clients/driver.rb"
    conforms ruby-fake ruby "$clients/driver.rb"
    client=ruby
    [ "${LATER_TEST_REDIS:-single}" != single ] || judge ruby "$clients/wait.rb" "$redis_socket"
else
    missing ruby "ruby-redis is not installed"
fi

# The program is built once for all kinds of Redis. Debian's packages are in /usr/share/gocode.
go_driver()
{
    [ -d /usr/share/gocode/src/github.com/mna/redisc ] || return 1
    mkdir -p "$work/go/src"
    ln -s "$clients/../../clients/go" "$work/go/src/laterd"
    GOPATH=$work/go:/usr/share/gocode GO111MODULE=off GOFLAGS=-p=2 \
        GOCACHE="$(cd "$top_builddir" && pwd)/build/go" \
        go build -o "$work/driver" "$clients/driver.go" >"$work/go.log" 2>&1
}
if ! command -v go >/dev/null; then
    missing go "golang-go is not installed"
elif go_driver; then
    conforms go "$work/driver"
    conforms go-fake "$work/driver"
elif [ -s "$work/go.log" ]; then
    not_ok "go: the driver is built" "$work/go.log"
else
    missing go "golang-github-mna-redisc-dev is not installed"
fi
finish
