#!/bin/sh
# The Debian tree that boot.sh boots: made by debootstrap the first time, and kept in $LATER_TREES.
# Prints where it is. `./quickstart check` calls it before the tests: a download is none of their time.
set -eu
PATH=$PATH:/usr/sbin:/sbin

packages=dbus,libconfig9,libcurl4,libevent-2.1-7,libevent-extra-2.1-7,libevent-pthreads-2.1-7
packages=$packages,libhiredis0.14,libjansson4,libmd0,libsystemd0,nodejs,procps,python3,redis-server
packages=$packages,redis-tools,systemd,systemd-sysv
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
trees=${LATER_TREES:-/var/cache/laterd-trees}
tree=$trees/$suite-$(echo "$packages" | cksum | cut -d' ' -f1)

mkdir -p "$trees"
exec 8>"$trees/lock"
flock 8
if ! [ -d "$tree" ]; then
    rm -rf "$tree.new"
    debootstrap --variant=minbase --include="$packages" "$suite" "$tree.new" >&2
    rm -f "$tree.new"/var/cache/apt/archives/*.deb
    mv "$tree.new" "$tree"
fi
echo "$tree"
