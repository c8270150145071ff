#!/bin/sh
# Performs two jobs without Redis, and compares the result and the value with what is expected.
cd "$(dirname "$0")" || exit 1
: "${LATERD:=@LATERD@}"
make -s || exit 1
errors=$(mktemp) failed=0
trap 'rm -f "$errors"' EXIT

# check PAYLOAD STATUS VALUE: 0 = done, 65 = buried, 75 = to be tried again.
check()
{
    value=$(printf '%s\n' "$1" | "$LATERD" -c @NAME@.conf --perform ./@NAME@.so @NAME@ 2>"$errors")
    status=$?
    if [ "$status $value" = "$2 $3" ]; then
        echo "ok: $1"
    else
        echo "not ok: $1: status $status, not $2; value '$value', not '$3'"
        cat "$errors"
        failed=1
    fi
}
check '"world"' 0 '{"hello":"world"}'
check 'null' 65 ''
exit "$failed"
