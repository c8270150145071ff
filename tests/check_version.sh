#!/bin/sh
# The version is configure.ac's; the packages repeat it, since their tools read files of their own.
. "${top_srcdir:=.}/tests/tap.sh"

cd "$top_srcdir" || exit 1
version=$(sed -n 's/^AC_INIT(\[laterd\], \[\([^]]*\)\])$/\1/p' configure.ac)

known=clients/go/go.sum # has that of others
# repeats FILE PATTERN: the version that sed finds in a file
repeats()
{
    known="$known
$1"
    is "$(sed -n "s/$2/\1/p" "$1" | head -n 1)" "$version" "$1 has configure.ac's version"
}

repeats NEWS '^laterd \([0-9.]*\).*$'
repeats debian/changelog '^laterd (\(.*\)) .*$'
repeats clients/go/README.md '^.* laterd@v\([0-9.]*\) .*$'
repeats clients/README.md '^.*\/laterd-\([0-9.]*\)\.tgz .*$'
repeats clients/README.md '^.*\/laterd-\([0-9.]*\)\.gem.*$'
repeats clients/node/README.md '^.*\/laterd-\([0-9.]*\)\.tgz .*$'
repeats clients/node/package.json '^ *"version": "\(.*\)",$'
repeats clients/python/laterd/__init__.py '^__version__ = "\(.*\)"$'
repeats clients/python/pyproject.toml '^version = "\(.*\)"$'
repeats clients/ruby/README.md '^.*\/laterd-\([0-9.]*\)\.gem$'
repeats clients/ruby/laterd.gemspec '^ *gem.version = "\(.*\)"$'

# A copy that no line above has would lag behind, and nothing would say so. What the packages' own tools make is left out.
elsewhere=$(grep -rIlF --exclude=CHANGELOG --exclude-dir=build --exclude-dir='*.egg-info' -e "$version" clients templates |
    grep -vxF -e "$known" | sort)
is "$elsewhere" "" "no other file of the clients spells it"
finish
