#!/bin/sh
# What the fuzzers found once is tried again, by whichever compiler made the programs.
. "${top_srcdir:=.}/tests/tap.sh"

for source in "$top_srcdir"/tests/fuzz/fuzz_*.c; do
    name=$(basename "$source" .c)
    runs "$name on its corpus" \
        "$top_builddir/tests/fuzz/$name" "$top_srcdir/tests/fuzz/corpus_${name#fuzz_}"/*
done
finish
