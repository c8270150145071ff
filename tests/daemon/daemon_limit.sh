#!/bin/sh
# Limits by a member of the payload, several for one type, and max_running. Waiting is no attempt.
. "${top_srcdir:=.}/tests/system/daemon.sh"
start_redis

configure 'workers = 3;' 'limits = (
    { type = "do"; member = "to"; max = 1; per = 600.0; },
    { type = "note"; max = 2; per = 0.5; },
    { type = "note"; max = 3; per = 600.0; }
);' 'types = ( { name = "event"; max_running = 2; } );' \
    'queues = ( { name = "default"; }, { name = "thin"; max_running = 1; } );'
start_laterd

# ---- by a member: one a value

push_do ann-1 '"do":"done","to":"ann"'
push_do bob-1 '"do":"done","to":"bob"'
push_do num-1 '"do":"done","to":5'
push_do none-1 '"do":"done"'
within 5 "one each of ann, bob, 5 and none" counts 'done' 4
push_do ann-2 '"do":"done","to":"ann"'
push_do num-2 '"do":"done","to":5.0'
push_do null-2 '"do":"done","to":null'
push_do long-1 '"do":"done","to":"äöü {} '"$(printf '%070d' 0)"'"'
within 5 "a value of its own runs, however long" counts 'done' 5
within 5 "a second ann waits" is_delayed ann-2
within 5 "5.0 is 5" is_delayed num-2
within 5 "those without a value are one" is_delayed null-2
for value in ann bob 5 ''; do
    is "$(redis EXISTS "later:limit:{type:do:to=$value}")" 1 "a limit has the name type:do:to=$value"
done
is "$(redis EXISTS "later:limit:{type:do:to=~$(printf 'äöü {} %070d' 0 | sha1sum | cut -c1-40)}")" 1 \
    "a long value has its SHA-1"
is "$(attempts_of ann-2) $(counted released)" "0 0" "waiting is no attempt"

# ---- two limits of one type count apart

push_many 5 note null note-
three() { [ "$(grep -c '^note-' "$work/ended")" = 3 ]; }
within 10 "3 of 5: 2 in half a second, 3 in ten minutes" three
sleep 1
is "$(grep -c '^note-' "$work/ended")" 3 "no more jobs than the limit allows have run"
is "$(redis LLEN 'later:limit:{type:note/2}')" 3 "each is counted under a name of its own"

# ---- max_running of a type, in one event worker and in several

for i in 1 2 3 4 5 6; do push_event "e-$i" '"for":0.3'; done
events() { [ "$(grep -c '^e-' "$work/ended")" = 6 ]; }
within 10 "6 event jobs, 2 at once" events
most=$(grep '^e-' "$work/ended" | awk '{ print $4, 1; print $5, -1 }' | sort -n -k1,1 -k2,2 |
    awk '{ n += $2; if (n > most) most = n } END { print most }')
at_most "$most" 2 "never three" # nor need there be two, if a busy machine lets one end before the next begins

# ---- max_running of a queue; others go on

"$tools/push" "$LATER_REDIS_URL" thin many 4 event '{"for":0.2}' thin-
thin() { [ "$(grep -c '^thin-' "$work/ended")" = 4 ]; }
within 10 "4 jobs of a queue, one at once" thin
most=$(grep '^thin-' "$work/ended" | awk '{ print $4, 1; print $5, -1 }' | sort -n -k1,1 -k2,2 |
    awk '{ n += $2; if (n > most) most = n } END { print most }')
is "$most" 1 "never two"
# The places are given back a moment after the jobs have ended.
no_place() { [ "$(redis EXISTS 'later:running:{queue:thin}')$(redis EXISTS 'later:running:{type:event}')" = 00 ]; }
within 10 "no place is left" no_place
is "$(counted released) $(counted released thin)" "0 0" "a refused job is returned, not released"

end_well
finish
