#!/bin/sh
# The unit's sandbox leaves an exposure of at most 1.5 by systemd's own measure.
. "${top_srcdir:=.}/tests/tap.sh"
needs systemd-analyze

runs "systemd-analyze security: laterd.service" \
    systemd-analyze security --offline=true --threshold=15 --no-pager \
    "$top_builddir/systemd/laterd.service"
finish
