#!/bin/sh
# By systemd's own measure, the exposure of each service is at most 1.0, that of laterd also with what
# programs that generate code want.
. "${top_srcdir:=.}/tests/tap.sh"
needs systemd-analyze

is_tight()
{
    systemd-analyze security --offline=true --threshold=10 --no-pager "$1"
}

for unit in "$top_builddir"/systemd/*.service; do
    runs "${unit##*/}" is_tight "$unit"
done
runs "there are two at least" test -e "$top_builddir/systemd/laterd.service" -a -e "$top_builddir/systemd/laterd-web.service"
eased=$(mktemp -d)/laterd.service
{ cat "$top_builddir/systemd/laterd.service" && printf '[Service]\nMemoryDenyWriteExecute=no\n'; } >"$eased"
runs "laterd.service for programs that generate code" is_tight "$eased"
rm -r "${eased%/*}"
finish
