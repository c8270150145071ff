#!/bin/sh
# Tests the service under a real systemd: boots a Debian tree in a container, installs laterd there
# as the README says, and runs inside.sh. `make check-systemd` runs this.
#
# PARTS='30 40' runs only those files beside, and the first and the last.
. "${top_srcdir:=.}/tests/tap.sh"
. "$top_srcdir/tests/system/systemd/container.sh"

# ---- what the container gets: the build as `make install` installs it, a plugin, a unit

# prefix and the like are those of the configured build.
if ! env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -C "$builddir" install DESTDIR="$work/build" \
    >"$work/install" 2>&1; then
    tail -n 20 "$work/install" | sed 's/^/# /'
    echo 'Bail out! make install fails'
    exit 99
fi
cp "$builddir/tests/system/check.so" "$work/tools"
for name in prefix sysconfdir localstatedir; do
    sed -n "s/^$name = /$name=/p" "$builddir/Makefile"
done >"$work/tools/settings"
echo "room=systemd parts='${PARTS-}'" >>"$work/tools/settings"
boot_container
