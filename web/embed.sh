#!/bin/sh
# embed.sh FILE... bundle=NAME SCRIPT... [bundle=NAME SCRIPT...]: prints C for web/http/asset.h, with each file, each
# bundle of scripts and its map (bundle.awk), plain and compressed.
set -eu
LC_ALL=C
export LC_ALL
here=${0%/*}
awk=${AWK:-awk}

bytes()
{
    od -An -v -tu1 | sed 's/  */,/g; s/^,//; s/$/,/'
}

type_of()
{
    case $1 in
    *.html) echo 'text/html; charset=utf-8' ;;
    *.css) echo 'text/css; charset=utf-8' ;;
    *.js) echo 'text/javascript; charset=utf-8' ;;
    *.map | *.json) echo 'application/json' ;;
    *.svg) echo 'image/svg+xml' ;;
    *)
        echo "embed.sh: what is $1?" >&2
        exit 1
        ;;
    esac
}

made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
while [ "${1-bundle=}" = "${1#bundle=}" ]; do
    case $1 in
    *.css) $awk -f "$here/lean_css.awk" "$1" >"$made/${1##*/}" ;;
    *) cp "$1" "$made" ;;
    esac
    shift
done
$awk -v to="$made" -f "$here/lean.awk" -f "$here/bundle.awk" "$@"

echo '/* made by web/embed.sh */'
echo '#include "http/asset.h"'
number=0
for file in "$made"/*; do
    number=$((number + 1))
    echo "static const unsigned char plain${number}[] = {"
    bytes <"$file"
    echo '};'
    echo "static const unsigned char packed${number}[] = {"
    gzip -9nc "$file" | bytes
    echo '};'
done
echo 'const struct asset assets[] = {'
number=0
for file in "$made"/*; do
    number=$((number + 1))
    type=$(type_of "$file")
    tag=$(sha256sum <"$file" | cut -c 1-16)
    echo "{ \"/${file##*/}\", \"$type\", \"\\\"$tag\\\"\", plain$number, packed$number,"
    echo "  sizeof plain$number, sizeof packed$number },"
done
echo '};'
echo 'const size_t asset_count = sizeof assets / sizeof *assets;'
