#!/bin/sh
# Every file of the tree, or its folder, is on a list of the Makefile. A file that is not would be
# neither built nor shipped.
. "${top_srcdir:=.}/tests/tap.sh"

cd "$top_srcdir" || exit 1

# Prints those of the files on standard input that are on no list. Programs are listed without .c, files
# made by configure without .in, and whole folders by their name.
unlisted()
{
    awk 'function listed(name) {
            while (!(name in words) && sub("/[^/]*$", "", name)) {}
            return name in words
        }
        FILENAME != "-" && /^#/ { next }
        NR == FNR || FILENAME ~ /tests.am$/ {
            for (i = 1; i <= NF; i++) if ($i ~ "/" || $1 == "shared_folders") words[$i]
            next
        }
        { bare = $0 }
        /^tests\/.*\.c$/ { sub(/\.c$/, "", bare) }
        /\.pc\.in$/ || /^systemd\/.*\.in$/ { sub(/\.in$/, "", bare) }
        !listed($0) && !listed(bare) { print $0 " is on no list of Makefile.am or tests/tests.am" }' \
        Makefile.am tests/tests.am -
}

# What is in git; in a release, which has no .git, there is nothing to ask.
if git rev-parse --git-dir >/dev/null 2>&1; then
    missing=$(mktemp)
    for room in lib daemon cli clients web jobs scripts templates tests doc etc systemd; do
        git ls-files --cached --others --exclude-standard "$room" | sort | unlisted >"$missing"
        runs "all of $room is listed" test ! -s "$missing"
        sed 's/^/# /' "$missing"
    done
    rm -f "$missing"
fi

# Make looks for a test that is not there only at the very end, after all others.
gone=$(awk '/^\ttests\/[a-z_\/0-9]+(\.sh)?( \\)?$/ { print $1 }' tests/tests.am | sort -u |
    while read -r test; do
        case $test in
        tests/on/valgrind/*.sh) source=tests/unit/${test#tests/on/valgrind/} source=${source%.sh}.c ;;
        tests/on/*.sh) source=tests/${test#tests/on/*/} ;;
        *) source=$test ;;
        esac
        [ -e "$source" ] || [ -e "$source.c" ] || echo "$test"
    done)
is "$gone" "" "each test that a list of tests.am names is there"

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
