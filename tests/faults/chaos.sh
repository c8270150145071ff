#!/bin/sh
# chaos.sh [SECONDS [SEED]]: faults at random times against two laterds and a Redis. Every job must
# be accounted for. `make check`: 60 seconds; `make soak`: ten minutes. The seed is printed: the
# same seed makes the same jobs and faults in the same order.
: "${top_builddir:=.}"
export top_builddir

exec "$top_builddir/tests/faults/chaos" "${1:-${LATER_SOAK:-60}}" "${2:-${LATER_SEED:-$(date +%s)}}"
