#!/bin/sh
# Puts the scripts that a client calls into its package: clients/carry.sh [PACKAGE...]. `make` does it for
# all of them, and each package's own tool for its own when it makes a package, which then gets the
# licence and what is new, too. A package that is on its own, without laterd's sources around it, has
# its copies already.
set -eu
LC_ALL=C
export LC_ALL
cd "$(dirname "$0")/.."
[ -f scripts/expand.awk ] || exit 0

# folder PACKAGE: prints where a package keeps its scripts, and which these are.
folder()
{
    common='push push_now flow_push flow_join flow_park show peek cancel kick reschedule size pause resume cron_put
        cron_move cron_look'
    case $1 in
    go | node) echo "clients/$1/scripts $common" ;;
    php) echo "clients/php/scripts $common ack bury lapse migrate purge release reserve" ;;
    python) echo "clients/python/laterd/scripts $common" ;;
    ruby) echo "clients/ruby/lib/laterd/scripts $common" ;;
    *)
        echo "carry.sh: no package $1: go, node, php, python, ruby" >&2
        return 1
        ;;
    esac
}

# carry FOLDER NAME...: a copy appears whole, and only if it differs, since another tool may be reading it.
carry()
{
    into=$1
    shift
    # shellcheck disable=SC2046 # words
    "${AWK:-awk}" -v keys=lib/redis/key.h -v bounds="$(echo lib/*/*.h)" -v inc=scripts/inc \
        -v lua="$made" -f scripts/expand.awk $(printf 'scripts/%s.lua ' "$@")
    for name in "$@"; do
        cmp -s "$made/$name.lua" "$into/$name.lua" && continue
        mkdir -p "$into"
        cp "$made/$name.lua" "$into/$name.lua.$$"
        mv "$into/$name.lua.$$" "$into/$name.lua"
    done
}

# bundle FOLDER: makes one file of the scripts there, which a bundler of Node programs takes along.
bundle()
{
    "${AWK:-awk}" '
        FNR == 1 { printf "%s\"%s\": \"", FILENAME == ARGV[1] ? "{\n" : "\",\n", name(FILENAME) }
        { gsub(/["\\]/, "\\\\&"); printf "%s\\n", $0 }
        END { print "\"\n}" }
        function name(path) { sub(/.*\//, "", path); sub(/\.lua$/, "", path); return path }' "$1"/*.lua >"$made/scripts.json"
    cmp -s "$made/scripts.json" "$1/scripts.json" && return
    cp "$made/scripts.json" "$1/scripts.json.$$"
    mv "$1/scripts.json.$$" "$1/scripts.json"
}

made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
trap 'exit 1' INT TERM HUP
packs=$#
[ $# -gt 0 ] || set -- go node php python ruby
for package; do
    what=$(folder "$package")
    # shellcheck disable=SC2086 # words
    carry $what
    [ "$package" != node ] || bundle clients/node/scripts
    [ "$packs" -eq 0 ] || cp LICENSE "clients/$package/LICENSE"
    [ "$packs" -eq 0 ] || cp NEWS "clients/$package/CHANGELOG"
done
