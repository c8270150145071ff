# container.sh: boots a Debian tree and runs files in it, for the tests beside; sourced after tap.sh.
#
# The tree is made once, by tree.sh; what happens in a run is forgotten with it. Nothing of the machine
# is changed: no network is there but the container's own, and its processes end with it.
#
# Sourcing it makes $work, with what the container gets: build (/build), tools
# (/tools, with the file settings) and out (/out). boot_container then runs inside.sh and prints its results.
# shellcheck shell=sh
PATH=$PATH:/usr/sbin:/sbin
needs debootstrap systemd-nspawn make flock
if [ "$(id -u)" -ne 0 ]; then
    echo '1..0 # SKIP only root can boot a tree'
    exit 0
fi

BOOT_SECONDS=900 # for all of it
tests=$(cd "$top_srcdir/tests" && pwd)
# shellcheck disable=SC2034 # for those who source it
builddir=$(cd "$top_builddir" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/later-boot-XXXXXX") || exit 99
container=
clean_up()
{
    [ -z "$container" ] || ! kill "$container" || wait "$container"
    rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 1' INT TERM HUP

# The tree is made if it is not there; one run at a time uses it.
if ! tree=$(sh "$tests/system/systemd/tree.sh" 2>"$work/debootstrap"); then
    tail -n 20 "$work/debootstrap" | sed 's/^/# /'
    echo 'Bail out! debootstrap makes no tree'
    exit 99
fi
mkdir "$work/build" "$work/out" "$work/tools"
cat >"$work/tools/inside.service" <<'UNIT'
[Unit]
Description=the tests of laterd
SuccessAction=poweroff
FailureAction=poweroff
[Service]
Type=oneshot
ExecStart=/bin/sh /tests/system/systemd/inside.sh
StandardOutput=file:/out/tap
StandardError=file:/out/errors
UNIT

boot_container()
{
    exec 8>"${tree%/*}/lock"
    flock 8
    # Without a running systemd nobody gives nspawn a cgroup of its own, so it makes two in ours.
    [ -d /run/systemd/system ] && keep='' || keep=--keep-unit
    cgroups=$(ls -d /sys/fs/cgroup/*/payload /sys/fs/cgroup/*/supervisor 2>/dev/null)
    # For the unit's filter of addresses: the groups that have one, and what puts it there.
    SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1
    export SYSTEMD_NSPAWN_UNIFIED_HIERARCHY
    # shellcheck disable=SC2086 # $keep is a word or none
    timeout -k 30 "$BOOT_SECONDS" systemd-nspawn -q --register=no $keep --machine="laterd-check-$$" \
        --directory="$tree" --volatile=overlay --boot --private-network --system-call-filter=bpf --console=pipe \
        --bind-ro="$work/build:/build" --bind-ro="$tests:/tests" --bind-ro="$work/tools:/tools" \
        --bind-ro="$work/tools/inside.service:/etc/systemd/system/inside.service" \
        --bind="$work/out:/out" systemd.wants=inside.service systemd.mask=getty.target \
        systemd.mask=redis-server.service </dev/null >"$work/console" 2>&1 &
    container=$!
    wait "$container"
    status=$? container=
    if [ -z "$cgroups" ] && [ -n "$keep" ]; then
        find /sys/fs/cgroup/*/payload /sys/fs/cgroup/*/supervisor -depth -type d -exec rmdir {} + 2>/dev/null
    fi

    if [ -s "$work/out/tap" ]; then
        awk -v n="$tap_number" '/^(not )?ok [0-9]/ { sub(/ok [0-9]+/, "ok " ++n) } 1' "$work/out/tap"
        # shellcheck disable=SC2034 # finish prints it
        tap_number=$((tap_number + $(grep -cE '^(not )?ok ' "$work/out/tap")))
    else
        tail -n 40 "$work/console" | sed 's/^/# /'
    fi
    [ ! -s "$work/out/errors" ] || sed 's/^/# /' "$work/out/errors"
    if grep -q '^# all of it was run$' "$work/out/tap" 2>/dev/null; then
        is "$status" 0 "the container has powered off by itself"
        finish
    else
        echo "Bail out! the container ended before its tests: status $status"
        exit 99
    fi
}
