#!/bin/sh
# Every file of the tree, or its folder, is on a list of the Makefile. A file that is not would be
# neither built nor shipped.
. "${top_srcdir:=.}/tests/tap.sh"

cd "$top_srcdir" || exit 1

# listed FILE: is it, or a folder above it, a word of the Makefile?
listed()
{
    name=$1
    while [ "$name" != "${name%/*}" ]; do
        ! grep -q "[[:space:]]$name\([[:space:]]\|\$\)" Makefile.am tests/tests.am || return 0
        name=${name%/*}
    done
    return 1
}

missing=$(mktemp)
for room in lib daemon cli web jobs scripts tests doc etc systemd; do
    find "$room" -type f ! -path 'scripts/expanded/*' ! -path 'tests/on/*' ! -name 'script_text.c' \
        ! -name 'asset_table.c' \
        ! -name 'script_names.h' \( -name '*.[ch]' -o -name '*.cc' -o -name '*.lua' -o \
        -name '*.awk' -o -name '*.sh' -o -name '*.in' -o -name '*.[1-8]' -o -name '*.md' -o \
        -name '*.conf' \) | sort |
        while read -r file; do
            case $file in # programs are listed without .c, files made by configure without .in
            tests/*.c) listed "${file%.c}" || listed "$file" ;;
            *.pc.in | systemd/*.in) listed "${file%.in}" ;;
            *) listed "$file" ;;
            esac || echo "$file is on no list of Makefile.am or tests/tests.am"
        done >"$missing"
    runs "all of $room is listed" test ! -s "$missing"
    sed 's/^/# /' "$missing"
done
rm -f "$missing"

# What forget leaves stays for ever. A queue with schedules is not forgotten; the last two are
# channels.
stay='cron crontab due cancelled'
left=
for key in $(sed -n '/^static const char \*const names\[/,/^};/p' lib/redis/key.c | grep -o '"[a-z]*"' | tr -d '"'); do
    case " $stay " in *" $key "*) continue ;; esac
    grep -qw "$key" scripts/forget.lua || left="$left $key"
done
is "$left" "" "scripts/forget.lua knows each key of a queue"
finish
