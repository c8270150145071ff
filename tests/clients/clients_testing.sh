#!/bin/sh
# Each client's own tests, which a user's tests look like, pass by its language's own command in a copy of its
# folder alone: without Redis, and without a library for it.
. "${top_srcdir:=.}/tests/system/lib.sh"
needs python3 node php ruby rake go

clients=$(cd "$top_srcdir" && pwd)/clients
built=$(cd "$top_builddir" && pwd)
mkdir -p "$work/none" "$work/src"
echo 'raise ImportError("there is no redis-py here")' >"$work/none/redis.py"
echo 'raise LoadError, "there is no gem redis here"' >"$work/none/redis.rb"
HOME=$work
export HOME

# passes LANGUAGE COMMAND...
passes()
{
    language=$1
    shift
    mkdir -p "$work/src/laterd"
    rm -rf "$work/src/laterd"
    cp -R "$clients/$language" "$work/src/laterd"
    chmod -R u+w "$work/src/laterd" # make distcheck takes that from the sources
    cd "$work/src/laterd" || exit 99
    run timeout 600 "$@"
    is "$status" 0 "$language: $*"
    [ "$status" -eq 0 ] || printf '%s\n%s\n' "$out" "$err" | sed 's/^/# /'
    cd "$work" || exit 99
}
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$work/none
export PYTHONDONTWRITEBYTECODE PYTHONPATH
passes python python3 -m unittest
contains "$err" 'OK' "python: and there were some"
run env PYTHONPATH="$work/none:$clients/python" python3 -c 'import laterd; laterd.Client'
contains "$err" 'there is no redis-py here' "python: and there was no redis-py"
if command -v npm >/dev/null; then
    passes node npm test --offline
else
    passes node node --test test/
fi
like "$out" '^# pass [1-9]' "node: and there were some"
if command -v composer >/dev/null; then
    passes php env COMPOSER_ALLOW_SUPERUSER=1 composer test --no-interaction
else
    passes php php -n -d extension=mbstring.so tests/testing.php
fi
contains "$out" 'all passed' "php: and there were some"
passes ruby env RUBYLIB="$work/none" rake test
like "$out" '[1-9][0-9]* runs' "ruby: and there were some"
# Go has its client of Redis in the same package; there is no Redis to ask, though.
passes go env GOPATH="$work:/usr/share/gocode" GO111MODULE=off GOFLAGS=-p=2 GOCACHE="$built/build/go" go test
like "$out" '^PASS|^ok' "go: and there were some"
finish
