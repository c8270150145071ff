#!/bin/sh
# What the fuzzers found once is tried again, by whichever compiler made the programs.
. "${top_srcdir:=.}/tests/tap.sh"

folder=$(mktemp -d)
for target in "$top_srcdir"/tests/fuzz/fuzz_*.c; do
    target=$(basename "$target" .c)
    target=${target#fuzz_}
    sh "$top_srcdir/tests/fuzz/corpus.sh" "$target" "$folder/$target"
    for input in "$folder/$target"/*; do
        runs "fuzz_$target: $(basename "$input")" "$top_builddir/tests/fuzz/fuzz_$target" "$input"
    done
done
rm -rf "$folder"
finish
