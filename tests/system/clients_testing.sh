#!/bin/sh
# What the clients have for tests of users' programs works without Redis, and without a library for it.
. "${top_srcdir:=.}/tests/system/lib.sh"
needs python3 node php ruby go

mkdir -p "$work/none"
echo 'raise ImportError("there is no redis-py here")' >"$work/none/redis.py"
clients=$(cd "$top_srcdir" && pwd)
run env PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$work/none:$clients/clients/python" \
    timeout 120 python3 "$clients/tests/clients/testing.py"
is "$status" 0 "python: keep, look, drain, inline"
[ "$status" -eq 0 ] || printf '%s\n' "$err" | sed 's/^/# /'
run env PYTHONPATH="$work/none:$clients/clients/python" python3 -c 'import laterd; laterd.Client'
contains "$err" 'there is no redis-py here' "python: and there was none"

# passes LANGUAGE COMMAND...
passes()
{
    language=$1
    shift
    run timeout 120 "$@"
    is "$status" 0 "$language: keep, look, drain, inline"
    [ "$status" -eq 0 ] || printf '%s\n%s\n' "$out" "$err" | sed 's/^/# /'
}
mkdir -p "$work/js/node_modules"
ln -s "$clients/clients/node" "$work/js/node_modules/laterd"
cp "$clients/tests/clients/testing.mjs" "$work/js"
passes node node --test "$work/js/testing.mjs"
passes php php -n -d extension=mbstring.so "$clients/tests/clients/testing.php" "$clients/clients/php"
echo 'raise LoadError, "there is no gem redis here"' >"$work/none/redis.rb"
passes ruby ruby -w -I "$work/none" -I "$clients/clients/ruby/lib" "$clients/tests/clients/testing.rb"

# Go has its client of Redis in the same package; there is no Redis to ask, though.
mkdir -p "$work/go/src/shop"
ln -s "$clients/clients/go" "$work/go/src/laterd"
cp "$clients/tests/clients/testing_test.go" "$work/go/src/shop"
passes go env GOPATH="$work/go:/usr/share/gocode" GO111MODULE=off GOFLAGS=-p=2 \
    GOCACHE="$(cd "$top_builddir" && pwd)/build/go" go test shop
finish
