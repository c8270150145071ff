#!/bin/sh
# Makes the Debian packages twice, in two folders of a bare Debian tree, and tests them: equal checksums,
# nothing from lintian, clients that load, and the service in a booted tree. `make check-packages` runs
# this, by hand, since it downloads and compiles everything twice.
#
# LATER_SUITE=trixie, LATER_ARCH=i386: for another Debian. The unit tests run there, too.
. "${top_srcdir:=.}/tests/tap.sh"
PATH=/usr/sbin:/usr/bin:/sbin:/bin # for the clients, Debian's own Python
needs git unshare chroot dpkg-deb
. "$top_srcdir/tests/system/systemd/container.sh"

# in_tree COMMAND: by sh and as root in a tree with what debian/control wants, where $work is /work
in_tree()
{
    # shellcheck disable=SC2016 # for the sh
    unshare --mount --pid --fork --kill-child sh -c '
        set -e
        mkdir -p "$1/work"
        mount --bind "$2" "$1/work"
        mount -t proc proc "$1/proc"
        exec chroot "$1" env -i PATH="$PATH" LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive sh -ec "$3"' sh \
        "$builds" "$work" "$1" </dev/null
}

# must COMMAND: there, or the test ends
must()
{
    in_tree "$1" >"$work/log" 2>&1 && return
    { grep -aE '^(FAIL|ERROR): ' "$work/log" | head -n 20; tail -n 20 "$work/log"; } | sed 's/^/# /'
    echo "Bail out! $1 fails"
    exit 99
}

# make_packages FOLDER OPTIONS: from what was committed when the test began
make_packages()
{
    mkdir -p "$work/$1"
    git clone -q "$work/sources/laterd" "$work/$1/laterd"
    must "cd /work/$1/laterd && DEB_BUILD_OPTIONS='$2 parallel=$(nproc)' dpkg-buildpackage -b -us -uc"
}

if ! builds=$(sh "$tests/system/systemd/tree.sh" build 2>"$work/debootstrap"); then
    tail -n 20 "$work/debootstrap" | sed 's/^/# /'
    echo 'Bail out! debootstrap makes no tree'
    exit 99
fi
cp /etc/resolv.conf "$builds/etc"
mkdir "$work/sources"
git clone -q "$top_srcdir" "$work/sources/laterd"
must 'apt-get update && apt-get build-dep -y /work/sources/laterd && apt-get install -y --no-install-recommends lintian'
unchecked=nocheck
[ -z "${LATER_SUITE-}${LATER_ARCH-}" ] || unchecked=
make_packages here "$unchecked"
make_packages in/another nocheck
for folder in here in/another; do
    (cd "$work/$folder" && sha256sum ./*.deb >sums)
done
runs "two builds make equal packages" cmp "$work/here/sums" "$work/in/another/sums"
(cd "$work/here" && stat -c '# %s bytes: %n' ./*.deb && sed 's/^/# /' sums)
is "$(git -C "$work/here/laterd" status --short)" '' "and change nothing in the sources"
runs "lintian has nothing to say" in_tree 'lintian --fail-on error,warning /work/here/*.changes'
must 'make -C /work/here/laterd tests/system/check.so'

# ---- the clients, from their packages

for package in python3 node php ruby; do
    dpkg-deb -x "$work/here/$package"-laterd_*.deb "$work/$package"
done
dpkg-deb -x "$work/here"/golang-laterd-dev_*.deb "$work/go"
if command -v python3 >/dev/null; then
    runs "python3-laterd" env PYTHONPATH="$work/python3/usr/lib/python3/dist-packages" python3 -c \
        'import laterd, laterd.script'
fi
if command -v node >/dev/null; then
    runs "node-laterd" node --input-type=module -e "await import('$work/node/usr/share/nodejs/laterd/index.js')"
fi
if command -v php >/dev/null; then
    runs "php-laterd" php -r "require '$work/php/usr/share/php/Laterd/autoload.php';
        exit(class_exists('Laterd\\\\Client') ? 0 : 1);"
fi
if command -v ruby >/dev/null; then
    runs "ruby-laterd" ruby -I "$work/ruby/usr/lib/ruby/vendor_ruby" -e 'require "laterd"; Laterd::Client'
fi
for package in python3 node php ruby go; do
    for script in push show; do
        found=$(find "$work/$package" -name "$script.lua")
        runs "the $script.lua of $package" cmp "$found" "$work/here/laterd/scripts/expanded/$script.lua"
    done
done

# ---- the service: an older version is this one by another number

mkdir "$work/build/new" "$work/build/old"
cp "$work/here"/laterd_*.deb "$work/here"/later-web_*.deb "$work/build/new"
for deb in "$work/build/new"/*.deb; do
    name=$(basename "${deb%%_*}")
    dpkg-deb -R "$deb" "$work/old-$name"
    sed -i -e 's/^Version: .*/Version: 0.0.9/' -e 's/(= [0-9.]*)/(= 0.0.9)/' "$work/old-$name/DEBIAN/control"
    dpkg-deb --root-owner-group -b "$work/old-$name" "$work/build/old/${name}_0.0.9.deb" >/dev/null
done
cp "$work/here/laterd/tests/system/check.so" "$work/tools"
echo "prefix=/usr sysconfdir=/etc localstatedir=/var room=packages parts='${PARTS-}'" >"$work/tools/settings"
boot_container
