#!/bin/sh
# Every header includes what it needs, so that it can be included first.
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
finish
