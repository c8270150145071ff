#!/bin/sh
# The C sources are formatted as .clang-format says. To fix: clang-format -i FILE.
. "${top_srcdir:=.}/tests/tap.sh"
needs clang-format

cd "$top_srcdir" || exit 1
list=$(mktemp)
find lib daemon cli web jobs tests -name '*.[ch]' ! -name 'asset_table.c' ! -name 'script_text.c' ! -name 'script_names.h' |
    sort >"$list"
runs "clang-format: $(wc -l <"$list") files" \
    xargs -a "$list" clang-format --dry-run --Werror --style=file
rm -f "$list"
finish
