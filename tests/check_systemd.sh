#!/bin/sh
# The units' sandboxes leave an exposure of at most 1.5, and 1.0 where no handler runs, by systemd's
# own measure.
. "${top_srcdir:=.}/tests/tap.sh"
needs systemd-analyze

runs "systemd-analyze security: laterd.service" \
    systemd-analyze security --offline=true --threshold=15 --no-pager \
    "$top_builddir/systemd/laterd.service"
runs "systemd-analyze security: laterd-web.service" \
    systemd-analyze security --offline=true --threshold=10 --no-pager \
    "$top_builddir/systemd/laterd-web.service"
finish
