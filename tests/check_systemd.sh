#!/bin/sh
# By systemd's own measure, the exposure of laterd.service is at most 1.1, since handlers may reach any
# address; 1.0 when a drop-in names those that they need, as in laterd(8). That of laterd-web.service, which
# runs no handlers, is at most 1.0 (0.4).
. "${top_srcdir:=.}/tests/tap.sh"
needs systemd-analyze

runs "systemd-analyze security: laterd.service" \
    systemd-analyze security --offline=true --threshold=11 --no-pager \
    "$top_builddir/systemd/laterd.service"
unit=$(mktemp -d)/laterd.service
{ cat "$top_builddir/systemd/laterd.service" && echo '[Service]' &&
    grep '^IPAddress' "$top_srcdir/doc/laterd.8"; } >"$unit"
runs "systemd-analyze security: laterd.service with the addresses of laterd(8)" \
    systemd-analyze security --offline=true --threshold=10 --no-pager "$unit"
rm -r "${unit%/*}"
runs "systemd-analyze security: laterd-web.service" \
    systemd-analyze security --offline=true --threshold=10 --no-pager \
    "$top_builddir/systemd/laterd-web.service"
finish
