#!/bin/sh
# later lock without words: what is held now, by whom, since when and for how long, and who waits.
. "${top_srcdir:=.}/tests/system/lib.sh"
start_redis 'appendonly no'

is "$(later lock)" '' "lock prints nothing if nothing is held"

# locked NAME: is it held?
locked()
{
    later lock "$1" --show | grep -q held
}
spawn "$later_bin" lock night --ttl 60 -- sleep 900
locker=$spawned
wait_until 20 locked night
for limit in sms:'[1]' sms:'[1]' 'slide --window sliding'; do
    # shellcheck disable=SC2086 # words
    later limit $limit --max 5 --per 1h >/dev/null
done
now=$(redis TIME | head -n 1)
# Two jobs have a permit, and a third one had it. Two wait for it, and one waits for the lock. Others
# have been cancelled, or called.
redis ZADD 'later:running:{video}' $((now - 5)) t0 $((now + 600)) t1 $((now + 700)) t2 >/dev/null
redis ZADD 'later:running:{video}:waiting' 1 'media j1' 2 'media j2' 3 'media cancelled' >/dev/null
redis ZADD 'later:lock:{night}:waiting' 1 'default gone' 2 'default j9' -1 'default called' >/dev/null
redis ZADD 'later:{media}:delayed' 4000000000 j1 4000000000 j2 >/dev/null
redis ZADD 'later:{default}:delayed' 4000000000 j7 4000000000 j9 4000000000 called >/dev/null
# One job waits for a lock that is free.
redis ZADD 'later:lock:{free}:waiting' 1 'default j7' >/dev/null
# What is over, and what is not ours.
redis ZADD 'later:running:{over}' $((now - 5)) t0 >/dev/null
redis SET 'later:lock:{once}:fence' 7 >/dev/null
redis SET 'later:limit:{a b}' 1 >/dev/null
redis SET 'other:limit:{x}' 1 >/dev/null

later lock | sort >"$work/locks"
is "$(cut -f 1-3,6-7 "$work/locks" | tr '\t' ' ')" "limit slide 1 0 
limit sms:[1] 2 0 
lock free 0 1 default j7
lock night 1 1 default j9
permit video 2 2 media j1" "locks, permits and limits: how many have it, how many wait, who is next"
like "$(grep night "$work/locks" | cut -f 4,5,8)" \
    "^[0-9.]+.([1-5]?[0-9]|60)[0-9.]*.[^:]+:$locker sleep\$" "the lock: since when, how long still, whose it is"
like "$(grep video "$work/locks" | cut -f 4,5)" '^.(5[0-9][0-9]|600)[0-9.]*$' "the permit that ends first"
like "$(grep slide "$work/locks" | cut -f 4,5)" '^[0-9.]+.3[56][0-9.]+$' "the limit: since when, and till when"

later lock --json | sort >"$work/locks"
like "$(grep video "$work/locks")" \
    '^\{"kind":"permit","name":"video","held":2,"remaining":[0-9.]+,"since":null,"owner":null,"fence":null,"waiting":2,"waiters":\["media j1","media j2"\],"max":null,"per":null,"opens":null,"set":null\}$' \
    "--json: those that wait"
like "$(grep night "$work/locks")" \
    '"held":1,"remaining":[0-9.]+,"since":[0-9.]+,"owner":"[^"]+","fence":1,"waiting":1,"waiters":\["default j9"\]' \
    "--json: the lock"
like "$(NO_COLOR=1 on_terminal "$later_bin lock")" '^KIND +NAME +HELD +FOR +LEFT +WAITING +NEXT +OWNER +MAX +PER +OPENS$' "headings on a terminal"

# What a laterd says of its limits. One that is gone says nothing; the name that says most counts.
redis HSET later:hosts here:1 '{"host":"here","seen":'$((now + 3600))',"needs":[{"kind":"limit","name":"sms:","max":9,"per":60},
{"kind":"limit","name":"slide","max":1,"per":3600,"window":"sliding"},{"kind":"permit","name":"video","max":3},{"kind":"limit","name":"sms:[1]","max":2,"per":3600},
{"kind":"lock","name":"night"},{"kind":"permit","name":"slide","max":8},{"name":5},"x"]}' \
    gone:1 '{"host":"gone","seen":5,"needs":[{"kind":"limit","name":"sms:[1]","max":77,"per":3600}]}' >/dev/null
later lock | sort >"$work/locks"
is "$(cut -f 2,9,10 "$work/locks" | tr '\t' ' ')" "slide 1 3600
sms:[1] 2 3600
free  
night  
video 3 " "how many may have it, and in what time"
like "$(cut -f 11 "$work/locks" | tr '\n' ' ')" '^3[56][0-9.]+ 3[56][0-9.]+    $' "and when a limit opens"
redis HDEL later:hosts here:1 >/dev/null

kill "$locker"
wait_until 20 gone "$locker"
is "$(later lock | grep -c night)" 0 "freed, and the job that waited is called: it is not told any more"
finish
