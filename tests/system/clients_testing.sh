#!/bin/sh
# What the clients have for tests of users' programs works without Redis, and without a library for it.
. "${top_srcdir:=.}/tests/system/lib.sh"
needs python3

mkdir -p "$work/none"
echo 'raise ImportError("there is no redis-py here")' >"$work/none/redis.py"
clients=$(cd "$top_srcdir" && pwd)
run env PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$work/none:$clients/clients/python" \
    timeout 120 python3 "$clients/tests/clients/testing.py"
is "$status" 0 "python: keep, look, drain, inline"
[ "$status" -eq 0 ] || printf '%s\n' "$err" | sed 's/^/# /'
run env PYTHONPATH="$work/none:$clients/clients/python" python3 -c 'import laterd; laterd.Client'
contains "$err" 'there is no redis-py here' "python: and there was none"
finish
