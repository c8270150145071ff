#!/bin/sh
# Every shell script is plain sh (or says bash), and shellcheck finds nothing.
. "${top_srcdir:=.}/tests/tap.sh"
needs shellcheck

cd "$top_srcdir" || exit 1
for script in quickstart .ci/run $(find tests doc etc systemd web -name '*.sh' ! -path 'tests/on/*' | sort); do
    runs "shellcheck: $script" shellcheck "$script"
done
finish
