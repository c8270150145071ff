#!/bin/sh
# check_headers.sh: every header includes what it needs, so that it can be included first; and the
# first comment of a client's file says what it is, "client.rb: ...", or "wait.rb SOCKET: ..." of a program.
. "${top_srcdir:=.}/tests/tap.sh"

cd "$top_srcdir" || exit 1
flags="-std=gnu11 -D_GNU_SOURCE -Wall -Werror -Ilib -I$top_builddir/lib -iquote daemon -iquote cli -iquote web
    $(pkg-config --cflags hiredis openssl libevent_core jansson libconfig)"

# alone HEADER...: fails if one of them does not compile alone.
alone()
{
    status=0
    for header in "$@"; do
        # shellcheck disable=SC2086 # flags are words
        echo "#include \"$header\"" | ${CC:-cc} $flags -I. -x c -fsyntax-only - || status=1
    done
    return $status
}

for room in lib/later lib daemon cli web jobs; do
    # shellcheck disable=SC2046 # names without blanks
    runs "headers of $room" alone $(find "$room" -name '*.h')
done

# Not what Python's tools make. An empty file (__init__.py) has nothing to say, so awk does not name it.
unsaid=$(find clients tests/clients -name build -prune -o -type f -regex '.*\.\(rb\|php\|go\|py\|js\|mjs\|ts\)' \
    -exec awk 'FNR == 1 { name = FILENAME; sub(".*/", "", name); open[FILENAME] = 1; seen = 0 }
        FNR > 6 || seen || !sub("^(#|//|/[*][*]| [*]|\"\"\") ?", "") || /^(!|frozen_string_literal|$)/ { next }
        { seen = 1; if (index($0, name) == 1 && substr($0, length(name) + 1) ~ /^( [^:]+)?: /) delete open[FILENAME] }
        END { for (file in open) print file }' {} + | sort)
is "$unsaid" "" "each file of the clients begins with what it is"
finish
