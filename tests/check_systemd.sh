#!/bin/sh
# By systemd's own measure, the units' exposure is at most 1.5, and 1.0 for the one that runs no
# handlers.
. "${top_srcdir:=.}/tests/tap.sh"
needs systemd-analyze

runs "systemd-analyze security: laterd.service" \
    systemd-analyze security --offline=true --threshold=15 --no-pager \
    "$top_builddir/systemd/laterd.service"
runs "systemd-analyze security: laterd-web.service" \
    systemd-analyze security --offline=true --threshold=10 --no-pager \
    "$top_builddir/systemd/laterd-web.service"
finish
