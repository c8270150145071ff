#!/bin/sh
# Makes the Debian packages twice, in two folders, and tests them: equal checksums, nothing from lintian,
# clients that load, and the service in a booted tree. `make check-packages` runs this, by hand, since it
# compiles everything twice.
. "${top_srcdir:=.}/tests/tap.sh"
PATH=/usr/sbin:/usr/bin:/sbin:/bin # the packages' tools want Debian's own Python
needs dpkg-buildpackage dh lintian git
. "$top_srcdir/tests/system/systemd/container.sh"

# make_packages FOLDER: from what is committed
make_packages()
{
    mkdir -p "$work/$1"
    git clone -q "$top_srcdir" "$work/$1/laterd" && (
        unset MAKEFLAGS MFLAGS MAKELEVEL VERBOSE
        cd "$work/$1/laterd" && CCACHE_DISABLE=1 DEB_BUILD_OPTIONS="nocheck parallel=$(nproc)" \
            dpkg-buildpackage -b -us -uc
    ) >"$work/$1/log" 2>&1 && return
    tail -n 20 "$work/$1/log" | sed 's/^/# /'
    echo 'Bail out! dpkg-buildpackage fails'
    exit 99
}

make_packages here
make_packages in/another
for folder in here in/another; do
    (cd "$work/$folder" && sha256sum ./*.deb >sums)
done
runs "two builds make equal packages" cmp "$work/here/sums" "$work/in/another/sums"
is "$(git -C "$work/here/laterd" status --short)" '' "and change nothing in the sources"
runs "lintian has nothing to say" lintian --fail-on error,warning "$work/here"/*.changes

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
cp "$builddir/tests/system/check.so" "$work/tools"
echo "prefix=/usr sysconfdir=/etc localstatedir=/var room=packages parts='${PARTS-}'" >"$work/tools/settings"
boot_container
