#!/bin/sh
# corpus.sh TARGET FOLDER: writes what a fuzzer begins with into a folder, an input a file.
set -eu
here=$(dirname "$0")
mkdir -p "$2"
while read -r target name bytes; do
    [ "$target" != "$1" ] || printf %b "$bytes" >"$2/$name"
done <"$here/corpus.txt"
[ "$1" != config ] || cp "$here/../../etc/laterd.conf" "$2/shipped"
