#!/bin/sh
# The Debian tree that boot.sh boots: made by debootstrap the first time, and kept in $LATER_TREES.
# Prints where it is. `./quickstart check` begins it before the build, and limit.sh waits until it is there: a
# download is none of the test's time. It is this machine's Debian, or $LATER_SUITE, and for this machine, or for
# $LATER_ARCH.
#
# `tree.sh wait` only waits while another one is made.
# `tree.sh build` is a bare one instead, with Debian's compiler and nothing of ours.
set -eu
PATH=$PATH:/usr/sbin:/sbin

suite=${LATER_SUITE:-$(. /etc/os-release && echo "$VERSION_CODENAME")}
case $suite in
bookworm) libraries=libconfig9,libcurl4,libevent-2.1-7,libevent-extra-2.1-7,libevent-pthreads-2.1-7,libhiredis0.14 ;;
*) libraries=libconfig11,libcurl4t64,libevent-2.1-7t64,libevent-extra-2.1-7t64,libevent-pthreads-2.1-7t64,libhiredis1.1.0 ;;
esac
packages=dbus,$libraries,libjansson4,libmd0,libsystemd0,nodejs,procps,python3,redis-server
packages=$packages,redis-tools,systemd,systemd-sysv
trees=${LATER_TREES:-/var/cache/laterd-trees}
name=$suite${LATER_ARCH:+-$LATER_ARCH}
case ${1-} in
build) tree=$trees/$name-build variant=buildd packages=ca-certificates ;;
*) tree=$trees/$name-$(echo "$packages" | cksum | cut -d' ' -f1) variant=minbase ;;
esac

mkdir -p "$trees"
exec 8>"$trees/lock"
flock 8
[ "${1-}" != wait ] || exit 0
if ! [ -d "$tree" ]; then
    rm -rf "$tree.new"
    debootstrap ${LATER_ARCH:+--arch="$LATER_ARCH"} --variant="$variant" --include="$packages" "$suite" "$tree.new" >&2
    rm -f "$tree.new"/var/cache/apt/archives/*.deb
    mv "$tree.new" "$tree"
fi
echo "$tree"
