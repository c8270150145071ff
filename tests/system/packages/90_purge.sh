# 90_purge.sh: what is removed is stopped, and what is purged has never been.
# shellcheck shell=sh disable=SC2154
begin_section 'removed and purged'

# A plugin of the operator's own goes with its options, since laterd does not start without it.
rm "$plugins/check.so"
echo 'workers = 2;' >"$conf"
later push null --in 1h >/dev/null
runs "apt-get remove" apt_get remove later-web laterd
is "$(ps -u laterd -o pid= | wc -l)" 0 "no process of its user is left"
runs "the configuration is" test -e "$conf"
runs "apt-get install" apt_get install -o Dpkg::Options::=--force-confold /build/new/laterd_*.deb
kept() { [ "$(size delayed)" = 1 ]; }
within 10 "with the jobs that were there" kept
runs "apt-get purge" apt_get purge later-web laterd
traces >/root/left
runs "leaves no file, no user and no group" diff /root/traces /root/left
configured >/root/configured.left
runs "and /etc as it was" diff /root/configured /root/configured.left
