#!/bin/sh
# later stock: claim one of N.
. "${top_srcdir:=.}/tests/system/lib.sh"
start_redis 'appendonly no'

run later stock
is "$status $(printf '%s\n' "$err" | head -n 1)" "64 later stock: a verb is missing: set, claim, release or show" "without a verb"
run later stock show ticket
is "$status $out" "66 " "an item that was never set: status 66"
contains "$err" 'no stock of ticket was ever set; `later stock set` does' "and what sets it"
run later stock claim ticket ann
is "$status" 75 "claim without any stock: status 75"
is "$(later stock set ticket 2)" 2 "set: how many are left"
is "$(later stock claim ticket ann)" 1 "a claim has a number"
is "$(later stock claim ticket bob --json)" \
    '{"item":"ticket","who":"bob","result":"claimed","number":2}' "the next another"
run later stock claim ticket eve
is "$status $out" "75 " "sold out: status 75"
is "$err" "later stock: ticket is sold out" "a sold-out item is named"
is "$(later stock claim ticket eve --json 2>/dev/null)" \
    '{"item":"ticket","who":"eve","result":"sold_out","number":null}' "sold out, --json"
run later stock claim ticket ann
is "$status $out $err" "0 1 later stock: ann had claimed ticket before" "once a claimant: the same one"
is "$(later stock claim ticket ann --json 2>/dev/null)" \
    '{"item":"ticket","who":"ann","result":"held","number":1}' "claim --json of a claim that is held already"
is "$(later stock show ticket)" "$(printf 'ticket\t2\t2\t0')" "show: total, claimed, left"
run later stock release ticket ann
is "$status$out$err" 0 "release gives the claim back"
run later stock release ticket ann
is "$status" 66 "release without a claim: status 66"
is "$(later stock show ticket --json)" '{"item":"ticket","total":2,"claimed":1,"left":1}' \
    "show --json has total, claimed and left"
is "$(later stock claim ticket eve)" 3 "numbers only grow"
is "$(later stock set ticket 1 --json)" '{"item":"ticket","total":1,"left":0}' "fewer than are claimed"
is "$(later stock set ticket 3)" 1 "a larger total leaves one more"
run later stock set ticket -1
is "$status" 64 "set to a negative number: status 64"
run later stock set ticket many
is "$status" 64 "set to a word: status 64"
run later stock clam ticket ann
is "$status" 64 "a verb that there is not"
like "$err" 'did you mean claim' "the nearest is named"
run later stock claim ticket
is "$status" 64 "claim without WHO: status 64"
run later stock claim 'a b' ann
is "$status" 64 "a bad name"

# 200 claimants at once for 10 tickets.
later stock set sale 10 >/dev/null
for i in 1 2 3 4; do
    (
        for j in $(seq 50); do
            later stock claim sale "buyer$i-$j" 2>/dev/null && :
        done >"$work/sold$i"
        exit 0
    ) &
    own "$!"
    eval "seller$i=\$!"
done
for i in 1 2 3 4; do eval "wait \"\$seller$i\""; done
is "$(cat "$work"/sold* | sort -n | tr '\n' ' ')" "1 2 3 4 5 6 7 8 9 10 " \
    "never more than N, each number once"
finish
