#!/bin/sh
# scripts/expand.awk refuses each bad script with its own message and line, and writes good ones.
. "${top_srcdir:=.}/tests/tap.sh"
needs sha1sum

expand=$top_srcdir/scripts/expand.awk
keys=$top_srcdir/lib/redis/key.h
box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT
mkdir "$box/inc" "$box/lua"
printf '%s\n' '#define LATER_MOST 12 /* things */' '#define LATER_LONGER (LATER_MOST + 1)' >"$box/bounds.h"
LC_ALL=C
export LC_ALL

# expand NAME...: runs the tool on scripts of the box; its words in $said, its status in $status.
expand()
{
    for name in "$@"; do
        set -- "$@" "$box/$name.lua"
        shift
    done
    rm -f "$box/lua/"* "$box/text.c" "$box/names.h"
    said=$("$AWK" -v keys="$keys" -v bounds="$box/bounds.h" -v inc="$box/inc" -v lua="$box/lua" -v c="$box/text.c" \
        -v h="$box/names.h" -f "$expand" "$@" 2>&1)
    status=$?
}

# script NAME: standard input becomes a script of the box.
script()
{
    cat >"$box/$1.lua"
}

# bad WHAT LINE WORDS: the script `bad` on standard input is refused, at the line, in these words.
bad()
{
    script bad
    expand bad
    contains "status $status: $said" "status 1: " "refused: $1"
    contains "$said" "bad.lua:$2: $3" "its words: $1"
    [ ! -e "$box/text.c" ] || not_ok "and yet C was written: $1"
}

# body WHAT LINE WORDS: the same for what comes after a good head (from line 5 on).
body()
{
    {
        printf '%s\n' '-- bad: does things' '-- KEYS   ready' '-- ARGV   token (id)...' '-- reply  1'
        cat
        echo "return redis.call('ZSCORE', ready, token)"
    } >"$box/body"
    bad "$@" <"$box/body"
}

# ---- good ones

cat >"$box/inc/pair.lua" <<'LUA'
-- @include now
local function pair(a, b)
    return { a, b, now }
end
LUA
cat >"$box/inc/now.lua" <<'LUA'
local now = redis.call('TIME')[1]
LUA
script second <<'LUA'
-- second: one with all there is
-- KEYS   ready
-- KEYS   stock
-- ARGV   token
-- ARGV   (id score)...
-- reply  the pairs
--        on two lines
--
-- free words with "quotes", KEYS and ARGV[1]
-- @include now
-- @include pair

local total, last = 0, nil -- a comment
for i = 2, #ARGV, 2 do
    total, last = total + ARGV[i + 1], pair(ARGV[i], { name = 1 })
end
redis.call('SET', stock, "a -- b \"c\" \\")
redis.call('ZADD', ready, total, token)
return last
LUA
script first <<'LUA'
-- first: one with nothing
-- KEYS   paused
-- ARGV   none
-- reply  1
return redis.call('EXISTS', paused)
LUA
script third <<'LUA'
-- third: a group alone
-- KEYS   jobs
-- ARGV   (id) ...
-- reply  1
return redis.call('HDEL', jobs, unpack(ARGV))
LUA
script fourth <<'LUA'
-- fourth: keys that are a list
-- KEYS   jobs ready (others)...
-- ARGV   none
-- reply  1
return redis.call('EXISTS', jobs, ready, unpack(others or {}))
LUA
expand third second first fourth
is "$status $said" "0 " "good scripts are taken without a word"

is "$(sed -n 's/^    LATER_SCRIPT_\([A-Z]*\).*/\1/p' "$box/names.h" | paste -sd ' ' -)" \
    "FIRST FOURTH SECOND THIRD COUNT" "names.h: sorted by name"
contains "$(cat "$box/text.c")" '1, { LATER_KEY_PAUSED }, 0, 0, NULL },' "a row: one key, no arguments"
contains "$(cat "$box/text.c")" '2, { LATER_KEY_READY, -1 /* stock */ }, 1, 2, NULL },' \
    "a row: keys on two lines, one of them no queue's; an argument and a group of two"
contains "$(cat "$box/text.c")" '1, { LATER_KEY_JOBS }, 0, 1, NULL },' "a row: a group alone"

full=$(cat "$box/lua/second.lua")
contains "$full" "if #KEYS ~= 2 or #ARGV < 1 or (#ARGV - 1) % 2 ~= 0 then" "the check of the call"
contains "$full" "'ERR usage: second: KEYS ready stock ARGV token (id score)...'" "its answer"
contains "$full" "local ready, stock = unpack(KEYS)" "locals for the keys"
contains "$full" "local token = unpack(ARGV, 1, 1)" "and for the arguments, not for the group"
is "$(grep -c "redis.call('TIME')" "$box/lua/second.lua")" 1 "an include that is asked for twice comes once"
contains "$full" "-- free words" "the installed script keeps its comments"
contains "$(cat "$box/lua/first.lua")" "if #KEYS ~= 1 or #ARGV ~= 0 then" "no arguments"
contains "$(cat "$box/lua/third.lua")" "if #KEYS ~= 1 then" "any number of arguments"
full=$(cat "$box/lua/fourth.lua")
contains "$full" "if #KEYS < 2 or #ARGV ~= 0 then" "any number of keys"
contains "$full" "local others = KEYS[3] and { unpack(KEYS, 3) }" "and a list of them"

# What C says is what Redis gets: compile the texts, and let C and sha1sum speak.
mkdir "$box/redis"
cat >"$box/redis/script.h" <<'C'
#include "redis/key.h"
struct later_script_text {
    const char *name, *text;
    unsigned long len;
    const char *sha;
    int key_count, keys[16], argc, group;
    const char *told;
};
C
cat >"$box/main.c" <<'C'
#include "text.c"
#include <stdio.h>
int main(int argc, char **argv)
{
    const struct later_script_text *second = &later_script_texts[2];
    return argc > 1 && argv[1] ? puts(second->sha) < 0
                               : fwrite(second->text, 1, second->len, stdout) != second->len;
}
C
runs "the C compiles" "${CC:-cc}" -Wall -Wextra -Werror -I"$box" -I"$top_srcdir/lib" \
    -o "$box/main" "$box/main.c"
"$box/main" >"$box/second.short"
contains "$(cat "$box/second.short")" '"a -- b \"c\" \\"' "a string with -- and quotes survives"
is "$(grep -c -e '-- free' -e '-- a comment' -e '^$' "$box/second.short")" 0 \
    "comments and empty lines do not"
is "$(sha1sum <"$box/second.short" | cut -c1-40)" "$("$box/main" sha)" "sha is the text's SHA-1"

# ---- bad heads

bad "no sentence" 1 "the first line does not say what the script does" <<'LUA'
-- KEYS   ready
-- ARGV   none
-- reply  1
return redis.call('ZCARD', ready)
LUA
bad "another name" 1 "the first line does not say what the script does; write \`-- bad: \`" <<'LUA'
-- good: does things
-- KEYS   ready
-- ARGV   none
-- reply  1
return redis.call('ZCARD', ready)
LUA
bad "no KEYS" 2 "\`-- KEYS\` is not here" <<'LUA'
-- bad: does things
-- ARGV   none
-- reply  1
return 1
LUA
bad "ARGV before KEYS" 2 "\`-- KEYS\` is not here; write -- NAME:, KEYS, ARGV, reply in this order" <<'LUA'
-- bad: does things
-- ARGV   none
-- KEYS   ready
-- reply  1
return redis.call('ZCARD', ready)
LUA
bad "no reply" 4 "\`-- reply\` is not here" <<'LUA'
-- bad: does things
-- KEYS   ready
-- ARGV   none
return redis.call('ZCARD', ready)
LUA
bad "an unknown key" 2 "unknown key \`reddy\`; name one of enum later_key" <<'LUA'
-- bad: does things
-- KEYS   reddy
-- ARGV   none
-- reply  1
return redis.call('ZCARD', reddy)
LUA
bad "a list of keys that is not the last" 2 "unknown key \`(others)...\`; name one of enum later_key" <<'LUA'
-- bad: does things
-- KEYS   (others)... ready
-- ARGV   none
-- reply  1
return redis.call('ZCARD', ready)
LUA
bad "ARGV empty-handed" 3 "\`-- ARGV\` is not here" <<'LUA'
-- bad: does things
-- KEYS   ready
-- ARGV
-- reply  1
return redis.call('ZCARD', ready)
LUA
bad "a group that is not the last" 3 "\`(id)...\` cannot name an argument" <<'LUA'
-- bad: does things
-- KEYS   ready
-- ARGV   (id)... token
-- reply  1
return redis.call('ZSCORE', ready, token)
LUA
bad "an empty group" 3 "an empty group; name what repeats" <<'LUA'
-- bad: does things
-- KEYS   ready
-- ARGV   ()...
-- reply  1
return redis.call('ZCARD', ready)
LUA
bad "a word of Lua as argument" 3 "\`until\` cannot name an argument" <<'LUA'
-- bad: does things
-- KEYS   ready
-- ARGV   until
-- reply  1
return redis.call('ZCARD', ready)
LUA
bad "a name twice" 3 "\`ready\` stands twice in the head; give each its own name" <<'LUA'
-- bad: does things
-- KEYS   ready
-- ARGV   ready
-- reply  1
return redis.call('ZCARD', ready)
LUA
bad "an unused key" 2 "the key \`dead\` is not used; take it out of the head" <<'LUA'
-- bad: does things
-- KEYS   ready dead
-- ARGV   none
-- reply  1
local t = { dead = 1 }
return redis.call('ZCARD', ready, t.dead, 'dead') -- dead
LUA
bad "an unused argument" 3 "the argument \`token\` is not used; take it out of the head" <<'LUA'
-- bad: does things
-- KEYS   ready
-- ARGV   token
-- reply  1
return redis.call('ZCARD', ready)
LUA
bad "ARGV without a group" 5 "ARGV in the body of a script without a group; use the names" <<'LUA'
-- bad: does things
-- KEYS   ready
-- ARGV   token
-- reply  1
return redis.call('ZSCORE', ready, token, ARGV[1])
LUA

# ---- bad bodies

body "KEYS in the body" 5 "KEYS in the body; use the names from the head" <<'LUA'
local first = KEYS[1]
LUA
body "a key that the head does not name" 5 "\`delayed\` is declared nowhere (in bad); add it to KEYS" <<'LUA'
redis.call('ZCARD', delayed)
LUA
body "a global" 6 "\`count\` is declared nowhere (in bad); add it to KEYS or ARGV in the head of bad.lua, or write \`local\`" <<'LUA'
local a = 1
if a == 1 then count = 2 end
LUA
body "a second name assigned" 6 "\`b\` is declared nowhere" <<'LUA'
local a
a, b = 1, 2
LUA
body "a name of Lua's assigned" 5 "\`next\` is Lua's own; choose another name" <<'LUA'
next = 1
LUA
body "a global function" 5 "function count is global; write \`local function\`" <<'LUA'
function count(a) return a end
LUA
body "cjson" 5 "cjson changes what it decodes; hand the bytes on" <<'LUA'
local t = cjson.decode(token)
LUA
body "cmsgpack" 5 "cmsgpack changes what it decodes" <<'LUA'
local t = cmsgpack.pack(token)
LUA
body "the command KEYS" 5 "KEYS searches the whole of Redis; name the key" <<'LUA'
redis.call("keys", '*')
LUA
body "TIME twice" 6 "TIME is read more than once; read it once, by \`-- @include now\`" <<'LUA'
local a = redis.call('TIME')
local b = redis.pcall("time")
LUA
body "TIME again behind an include" 6 "TIME is read more than once" <<'LUA'
-- @include now
local a = redis.call('TIME')[1] + now
LUA
body "a long comment" 5 "a long string or long comment; use quotes, or -- on each line" <<'LUA'
--[[ comment ]]
LUA
body "a long string" 5 "a long string or long comment" <<'LUA'
local a = [==[ text ]==]
LUA
body "a string over two lines" 5 "a string does not end on its line; end it" <<'LUA'
local a = 'one\
two'
LUA
printf 'local a = 1\n\tlocal b = 2\n' >"$box/tab"
body "a tab" 6 "a tab; indent with spaces" <"$box/tab"
wide=$(printf '%080d' 1)
body "a line of 101 columns" 5 "longer than 100 columns; break the line" <<LUA
local a = '$wide' -- ÄÖÜß.
LUA
body "an include that is not there" 5 "there is no $box/inc/none.lua; name a file of scripts/inc" <<'LUA'
-- @include none
LUA
body "an include with more words" 5 "no include; write \`-- @include NAME\`, alone on the line" <<'LUA'
-- @include now and then
LUA
body "another word with @" 5 "no include; write" <<'LUA'
-- @import now
LUA

printf -- '-- @include two\n' >"$box/inc/one.lua"
printf -- '-- @include one\n' >"$box/inc/two.lua"
script circle <<'LUA'
-- circle: includes in a circle
-- KEYS   ready
-- ARGV   none
-- reply  1
-- @include one
return redis.call('ZCARD', ready)
LUA
expand circle
contains "$said" "inc/two.lua:1: \`one\` includes itself; break the circle" "a circle of includes"

# A line of exactly 100 columns, counted in characters, is good.
script wide <<LUA
-- wide: a line of 100 columns
-- KEYS   ready
-- ARGV   none
-- reply  1
local a = '$wide' -- ÄÖÜß
return redis.call('ZSCORE', ready, a)
LUA
expand wide
is "$status $said" "0 " "100 columns are taken"

# A bound is written by its name, and comes out as its number.
script bounded <<'LUA'
-- bounded: at most LATER_MOST things
-- KEYS   ready
-- ARGV   none
-- reply  1
return redis.call('ZCARD', ready) < LATER_MOST and 'LATER_MOST, or LATER_MOST' or 0
LUA
expand bounded
contains "$(cat "$box/lua/bounded.lua")" "< 12 and '12, or 12'" "a bound is its number"
contains "$(cat "$box/text.c")" "< 12 and '12, or 12'" "also in C"
sed 's/LATER_MOST/LATER_LONGER/' "$box/bounded.lua" | sed 's/bounded:/bad:/' >"$box/bad.lua"
expand bad
contains "$said" "bad.lua:1: \`LATER_LONGER\` is no bound; name a number of" "what is no number is refused"

script Bad-name <<'LUA'
-- Bad-name: does things
-- KEYS   ready
-- ARGV   none
-- reply  1
return redis.call('ZCARD', ready)
LUA
expand Bad-name
contains "$said" "Bad-name.lua:1: no name for a script; use lower case" "a bad name"
expand none
contains "$said" "none.lua:1: cannot be read; take it off the list" "a script that is not there"

# All faults of all scripts at once, none of the good ones written.
expand first wide none Bad-name
is "$(echo "$said" | wc -l)" 2 "all faults are told at once"
is "$(ls "$box/lua")" "" "and nothing is written"
finish
