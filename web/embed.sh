#!/bin/sh
# embed.sh FILE...: prints C for web/http/asset.h, with each file plain and compressed.
set -eu

bytes()
{
    od -An -v -tu1 | sed 's/  */,/g; s/^,//; s/$/,/'
}

# What a browser gets of a file: without indentation, and without comments that have a line to themselves, or stand
# behind code and have no quotation mark: one in a text has the end of the text behind it. The lines are as many as
# before, so what it says of a place is true of the file. No text in a script may span lines.
lean()
{
    case $1 in
    *.js | *.css) sed 's|^ *//.*||; s|  *// [^'"'"'"`]*$||; s/^ *//' "$1" ;;
    *) cat "$1" ;;
    esac
}

type_of()
{
    case $1 in
    *.html) echo 'text/html; charset=utf-8' ;;
    *.css) echo 'text/css; charset=utf-8' ;;
    *.js) echo 'text/javascript; charset=utf-8' ;;
    *.svg) echo 'image/svg+xml' ;;
    *)
        echo "embed.sh: what is $1?" >&2
        exit 1
        ;;
    esac
}

echo '/* made by web/embed.sh */'
echo '#include "http/asset.h"'
number=0
for file; do
    number=$((number + 1))
    echo "static const unsigned char plain${number}[] = {"
    lean "$file" | bytes
    echo '};'
    echo "static const unsigned char packed${number}[] = {"
    lean "$file" | gzip -9nc | bytes
    echo '};'
done
echo 'const struct asset assets[] = {'
number=0
for file; do
    number=$((number + 1))
    type=$(type_of "$file")
    tag=$(lean "$file" | sha256sum | cut -c 1-16)
    echo "{ \"/${file##*/}\", \"$type\", \"\\\"$tag\\\"\", plain$number, packed$number,"
    echo "  sizeof plain$number, sizeof packed$number },"
done
echo '};'
echo 'const size_t asset_count = sizeof assets / sizeof *assets;'
