#!/bin/sh
# later/job.h works alone in strict C and C++, and the examples of its manual compile.
. "${top_srcdir:=.}/tests/tap.sh"
: "${CC:=cc}" "${CXX:=c++}"
needs "${CC%% *}" "${CXX%% *}" nm

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$top_srcdir" || exit 1
page=doc/later-job.3
warnings='-Wall -Wextra -Wshadow -Wconversion -Wsign-conversion -Werror -pedantic-errors'

# compiles NAME COMPILER STANDARD FILE [FLAG...]
compiles()
{
    name=$1 compiler=$2 standard=$3 file=$4
    shift 4
    # shellcheck disable=SC2086 # lists of words
    runs "$name" $compiler -std="$standard" $warnings -Ilib "$@" -c "$file" -o "$work/out.o"
}

# Only the header, with nothing before or after it.
echo '#include <later/job.h>' >"$work/alone.c"
cp "$work/alone.c" "$work/alone.cc"
for standard in c99 c11 c17; do
    compiles "job.h alone, $standard" "$CC" "$standard" "$work/alone.c" -Wstrict-prototypes \
        -Wmissing-prototypes
    compiles "job.h for hosts, $standard" "$CC" "$standard" "$work/alone.c" -DLATER_TYPES_ONLY
done
for standard in c++11 c++17 c++20; do
    compiles "job.h alone, $standard" "$CXX" "$standard" "$work/alone.cc"
done

# A plugin pushes through its host, so a file with both headers is refused with a message.
printf '#include <later/client.h>\n#include <later/job.h>\n' >"$work/both.c"
# shellcheck disable=SC2086 # a compiler may be words
words=$($CC -std=c99 -Ilib -fsyntax-only "$work/both.c" 2>&1)
contains "$words" 'a plugin pushes through its host' 'job.h and client.h are not for one file'

# The examples of the manual, and the one at the head of the header.
awk -v work="$work" '
    /^\.Bd -literal/ { first = 1; next }
    /^\.Ed/ { out = ""; first = 0; next }
    first { first = 0; if (/^#include/) out = work "/example" ++n ".c" }
    out { gsub(/\\e/, "\\"); print > out }
' "$page"
awk '
    /^ \*     #include <later\/job.h>/ { on = 1 }
    on && /^ \*$/ { print ""; next }
    on && /^ \*     cc / { exit }
    on { sub(/^ \*     /, ""); print }
' lib/later/job.h >"$work/example0.c"
for example in "$work"/example[0-9]*.c; do
    compiles "example $(basename "$example")" "$CC" gnu99 "$example" -Itests/unit -D_GNU_SOURCE
done
is "$(find "$work" -name 'example*.c' | wc -l | tr -d ' ')" 4 'examples found'
is "$(grep -c 'LATER_PLUGIN' "$work/example0.c")" 1 'the example of job.h is whole'

# The first plugin needs no symbol of laterd and exports only its entry.
# shellcheck disable=SC2086
if $CC -shared -fPIC -fvisibility=hidden -Ilib "$work/example1.c" -o "$work/example1.so"; then
    ok 'the first plugin links'
    is "$(nm -D --defined-only "$work/example1.so" | sed 's/.* //')" later_plugin_open \
        'it exports one symbol'
    is "$(nm -D --undefined-only "$work/example1.so" | grep later_)" '' 'it needs none of laterd'
else
    not_ok 'the first plugin links'
fi

# Every function of the header is in the manual.
functions=$(sed -n 's/^static inline .*[ *]\(later_[a-z_]*\)(.*/\1/p' lib/later/job.h | sort -u)
for function in $functions; do
    runs "later-job(3) tells of $function" grep -q "Fn $function " "$page"
done
finish
