#!/bin/sh
# later kick, cancel, pause, resume.
. "${top_srcdir:=.}/tests/system/lib.sh"
start_redis 'appendonly no'

# bury Q ID: pushes a job and buries it.
bury()
{
    later push t -q "$1" --id "$2" --priority 100 >/dev/null
    later bury "$2" --token "$(later reserve "$1" | cut -f 2)" -q "$1"
}

# ---- kick

bury k a
bury k b
later push t -q k --id c --in 1h >/dev/null
later push t -q k --id d >/dev/null
is "$(later kick a c -q k)" "$(printf 'a\tdead\nc\tdelayed')" "kick: each with the state it had"
is "$(later size k | cut -f 2-5)" "$(printf '3\t0\t0\t1')" "kicked jobs are ready"
run later kick b d x -q k --json
is "$status" 66 "one that is neither dead nor delayed: status 66"
is "$out" '{"queue":"k","id":"b","result":"kicked","state":"dead"}' "the others are kicked"
is "$err" "later kick: no dead, delayed or waiting job d in queue k; it is ready
later kick: no dead, delayed or waiting job x in queue k" "those are named, with the state of one that is there"
later push t -q run --id runs >/dev/null
later reserve run >/dev/null
run later bury runs
is "$status $err" "66 later bury: no ready, delayed or waiting job runs in any queue; it is reserved" "also without -q"
is "$(noted a a k)" '' "a kicked job begins anew"

for id in e f g; do bury all "$id"; done
later push t -q all --id h --in 1h >/dev/null
redis ZADD 'later:{all}:delayed' 4102444800 '{"type":"plain"}' >/dev/null
run later kick -q all --all
is "$status $out" "64 " "--all in a pipe wants --yes"
like "$err" 'Kick 3 dead and 2 delayed jobs of queue all\? .*--yes' "and tells how many it would be"
is "$(later size all | cut -f 5)" 3 "kick --all without --yes and a terminal changes nothing"
is "$(later kick -q all --all --state dead --yes)" 3 "--state dead: how many"
is "$(later kick -q all --all -y --json)" '{"queue":"all","kicked":2}' "kick --all --json counts the kicked jobs"
is "$(later size all | cut -f 2-5)" "$(printf '5\t0\t0\t0')" "kick --all has made all jobs ready"
is "$(later kick -q all --all)" 0 "nothing to do needs no --yes"
run later kick -q all --state ready
is "$status" 64 "--state ready makes no sense"
run later kick
is "$status" 64 "kick with neither id nor --all: status 64"

redis EVAL 'for i = 1, 1234 do redis.call("ZADD", KEYS[1], i, "id" .. i) redis.call("HSET", KEYS[2], "id" .. i, "{\"type\":\"n\"}") end' \
    2 'later:{many}:dead' 'later:{many}:jobs' >/dev/null
is "$(later kick -q many --all --yes)" 1234 "kick --all of more jobs than one call takes"

# ---- cancel

later push t -q c --id r >/dev/null
later push t -q c --id d --in 1h >/dev/null
bury c x
is "$(later cancel r d x -q c)" "$(printf 'r\tready\nd\tdelayed\nx\tdead')" "cancel in any state"
is "$(redis HLEN 'later:{c}:jobs')" 0 "cancelled jobs leave no document"
for id in 'a*b' 'a[1]?\x' 'a:b' plain; do later push t -q held --id "$id" >/dev/null; done
later push t -q held --id 'axb' >/dev/null
later reserve held -n 5 >"$work/held"
is "$(later cancel 'a*b' -q held)" "$(printf 'a*b\treserved')" "an id with a glob character"
is "$(later cancel 'a[1]?\x' -q held --json)" \
    '{"queue":"held","id":"a[1]?\\x","result":"cancelled","state":"reserved"}' "cancel of several ids at once"
is "$(later cancel 'a:b' -q held)" "$(printf 'a:b\treserved')" "an id with a colon"
run later cancel b -q held
is "$status" 66 "what ends like an id is another one"
is "$(held_by_tokens held)" 2 "and only those are gone"
run later ack 'a*b' --token "$(sed -n '1s/^[^	]*	\([^	]*\)	.*/\1/p' "$work/held")" -q held
is "$status" 77 "its holder is refused"
run later cancel plain none -q held
is "$status" 66 "cancel of an id that is not there: status 66"
is "$out$err" "$(printf 'plain\treserved')later cancel: no job none in queue held" "the other is cancelled"
redis EVAL 'for i = 1, 3000 do local token = string.format("%016d", i) redis.call("ZADD", KEYS[1], i, token)
    redis.call("ZADD", KEYS[1] .. ":" .. token, i, "id" .. i) redis.call("HSET", KEYS[2], "id" .. i, "{\"type\":\"n\"}") end' \
    2 'later:{wide}:reserved' 'later:{wide}:jobs' >/dev/null
is "$(later cancel id2999 -q wide)" "$(printf 'id2999\treserved')" "found among many tokens"

# ---- purge

for id in 1 2 3; do
    bury p "dead$id"
    later push t -q p --id "ready$id" >/dev/null
done
later push t -q p --in 1h >/dev/null
run later cancel -q p --state dead
is "$status $out" "64 " "purge in a pipe wants --yes"
like "$err" 'Cancel 3 dead jobs of queue p for good\?' "cancel asks, and tells how many jobs"
run later cancel -q p
is "$status" 64 "a condition must be given"
is "$(later cancel -q p --state dead --yes)" 3 "cancel of the dead jobs"
is "$(later cancel -q p --state delayed -y --json)" '{"queue":"p","cancelled":1}' "cancel of the delayed jobs"
is "$(later size p | cut -f 2-5)" "$(printf '3\t0\t0\t0')" "the ready ones are still there"
is "$(later cancel -q p --state ready --yes)" 3 "cancel of the ready jobs"
is "$(later cancel -q many --state ready --yes)" 1234 "cancel of more jobs than one call takes"

# ---- asking, on a terminal

for id in 1 2; do bury ask "$id"; done
screen=$(on_terminal "$later_bin cancel -q ask --state dead" 'n\n')
is $? 75 "the answer no: status 75"
like "$screen" 'Cancel 2 dead jobs of queue ask for good\? \[y/N\]' "on a terminal cancel asks first"
is "$(redis ZCARD 'later:{ask}:dead')" 2 "after a no, nothing is cancelled"
on_terminal "$later_bin cancel -q ask --state dead" '\n' >/dev/null
is $? 75 "an empty answer is a no"
screen=$(on_terminal "$later_bin kick -q ask --all" 'y\n')
is $? 0 "the answer yes: status 0"
like "$screen" '2 kicked$' "kick tells how many jobs it kicked"
is "$(redis ZCARD 'later:{ask}:ready')" 2 "after a yes, the jobs are kicked"

# Only what was there when it was asked, whatever comes until the answer.
later push t -q swap --id old >/dev/null
mkfifo "$work/answer"
TERM=xterm script -qec "$later_bin cancel -q swap --state ready" /dev/null <"$work/answer" >"$work/screen" &
canceller=$!
own "$canceller"
exec 4>"$work/answer"
runs "cancel has asked" wait_until 60 grep -q 'Cancel 1 ready jobs' "$work/screen"
later cancel old -q swap >/dev/null
later push t -q swap --id new --priority 5 >/dev/null
echo y >&4
wait "$canceller"
exec 4>&-
is "$(redis ZRANGE 'later:{swap}:ready' 0 -1)" new "cancel leaves a job that came after the question"
like "$(tr -d '\r' <"$work/screen")" '1 left alone: no longer where they were' "and says that the other one had gone"

# ---- done jobs that are kept

for id in 1 2 3 4; do
    redis ZADD 'later:{kept}:done' "400000000$id" "$id" >/dev/null
    redis HSET 'later:{kept}:kept' "$id" "{\"type\":\"t$id\"}" >/dev/null
done
redis SADD later:queues kept >/dev/null
is "$(later cancel -q kept --state=done --dry-run) $(redis HLEN 'later:{kept}:kept')" "4 4" "cancel --state done --dry-run"
is "$(later cancel -q kept --state=done --type t4 --yes)" 1 "cancel --state done with a condition"
is "$(later cancel -q kept --state=done -n 1 --rate 5 --yes) $(redis ZRANGE 'later:{kept}:done' 0 -1 | tr '\n' ' ')" \
    "1 2 3 " "with -n and --rate"
is "$(later cancel --all-queues --state=done --yes)" "$(printf 'kept\t2')" "of all queues"
is "$(redis EXISTS 'later:{kept}:kept')" 0 "and their documents are gone"

# ---- pause, resume

later push t -q w --id 1 >/dev/null
run later pause w
is "$status$out$err" 0 "pause: no words"
run later pause w
is "$status $err" "0 later pause: queue w was paused already" "pausing twice: a message says so"
run later reserve w
is "$status" 75 "a paused queue hands out nothing"
is "$(later resume w --json)" '{"queue":"w","paused":false,"changed":true}' "resume --json says what changed"
is "$(redis LLEN 'later:{w}:wake')" 1 "a wake is left"
run later resume w
is "$status $err" "0 later resume: queue w was not paused" "resuming twice: a message says so"
run later pause w v
is "$status $(later size w v | cut -f 1,6 | tr '\n' ' ')" "0 $(printf 'w\tyes v\tyes ')" "pause of several queues"
run later resume w v
is "$status $(later size w | cut -f 6)" "0 no" "are resumed, too"
later push t --id f -q for >/dev/null
is "$(later pause for --for 1h --json)" '{"queue":"for","paused":true,"changed":true}' \
    "pause --for --json says what changed"
run later reserve for
is "$status" 75 "is a pause"
redis PEXPIRE 'later:{for}:paused' 300 >/dev/null # the rest of the hour
run wait_until 10 sh -c '[ "$("$1" reserve for | cut -f 1)" = f ]' sh "$later_bin"
is "$status" 0 "a pause with --for ends by itself"
run later pause for --for 0
is "$status" 64 "but lasts a moment at least"
later pause for
run later pause for --for 1h --json
is "$status $err$out $(redis PTTL 'later:{for}:paused' | cut -c 1-2)" \
    '0 {"queue":"for","paused":true,"changed":true} 35' "a pause that is there gets an end: that is a change"
run later pause for --json
is "$out $(redis PTTL 'later:{for}:paused')" '{"queue":"for","paused":true,"changed":true} -1' \
    "a pause loses its end: so is that"
is "$(later reserve w | cut -f 1)" 1 "after a pause, jobs are handed out again"
run later pause 'bad name'
is "$status" 64 "a bad name"
run later pause w 'bad name' v
is "$status $(later size w v | cut -f 6 | tr '\n' ' ')" "64 yes yes " "pause of several goes on behind one that fails"
like "$err" '^later pause: queue bad name: ' "and names it"
later resume w v
redis SET 'later:{split}:shards' '1 2' >/dev/null
run later pause split/2
is "$status $err $(redis EXISTS 'later:{split/2}:paused')" "66 later pause: no queue split/2: the last shard is split/1 0" \
    "no pause of a shard that there is not"
run later pause w/0
is "$status $err" "66 later pause: no queue w/0: w has no shards" "nor of a queue without shards"
is "$(later pause split/1 --json)" '{"queue":"split/1","paused":true,"changed":true}' "but of one that there is"
redis_all CONFIG SET maxmemory 1 >/dev/null
run later pause full --for 1h
is "$status $err" "0 " "pause --for on a full Redis, as without"
run later pause full --type t --reason why
is "$status $err" "0 " "nor does it refuse the pause of a type"
run later resume full --type t
is "$status $err" "0 " "or its end"
redis_all CONFIG SET maxmemory 0 >/dev/null

# ---- forget

later push t -q gone --id 1 --unique-for 1h >/dev/null
run later forget gone
is "$status" 75 "forget: not while it has a job"
like "$err" 'queue gone has 1 job, which would be lost' "it is said how many"
later reserve gone >/dev/null
run later forget gone
is "$status" 75 "nor one that is reserved"
later cancel 1 -q gone >/dev/null
later pause gone
redis HSET 'later:{gone}:totals' h:1:r x >/dev/null
redis HSET later:hosts f:1 "{\"seen\":$(($(redis TIME | head -n 1) + 3600)),\"queues\":[\"gone\"]}" >/dev/null
run later forget gone
is "$status" 75 "nor while somebody serves it"
like "$err" 'queue gone is served by 1 laterd; take it out' "forget of a served queue names the remedy"
redis HDEL later:hosts f:1 >/dev/null
later cron set nightly '0 3 * * *' report -q gone >/dev/null
run later forget gone
is "$status $(echo "$err" | grep -c 'later cron delete nightly')" "75 1" "forget: not while it has a schedule"
later cron delete nightly -q gone >/dev/null
run later forget gone
is "$status$out$err" 0 "forget: no words"
is "$(redis --scan --pattern 'later:{gone}:*' | grep -v ':call:')" '' "forget leaves no key of the queue"
is "$(later size --names | grep -c '^gone$')" 0 "a forgotten queue is not listed"
run later forget gone
is "$status $err" "66 later forget: no queue gone" "now it is unknown"
redis_all CONFIG SET maxmemory 1 >/dev/null
run later forget gone
is "$status $err" "66 later forget: no queue gone" "on a full Redis too"
redis_all CONFIG SET maxmemory 0 >/dev/null
later push t -q gone --id 1 >/dev/null
is "$(later size --names | grep -c '^gone$')" 1 "who pushes to it makes it anew"
later cancel -q gone --state ready --yes >/dev/null
redis SADD later:queues bare >/dev/null
redis ZADD 'later:{bare}:dead' 1 x >/dev/null # the sizes that are looked at first have no job
run later forget bare
is "$status $(redis SISMEMBER later:queues bare)" "75 1" "one that is refused at the last moment stays known"
redis DEL 'later:{bare}:dead' >/dev/null
later forget bare
is "$(later forget gone --json)" '{"queue":"gone","result":"forgotten"}' "forget --json names the queue"
run later forget 'a/1'
is "$status" 64 "a shard goes with its queue"
redis SET 'later:{spread}:shards' '1 3' >/dev/null
redis SADD later:queues spread spread/0 spread/1 spread/2 >/dev/null
later push t -q spread --id s >/dev/null
run later forget spread
is "$status $(later size --names | grep -c '^spread$')" "75 1" "one with shards, whichever has the job"
later cancel s -q spread >/dev/null
run later forget spread
is "$status $(redis SMEMBERS later:queues | grep -c spread) $(redis --scan --pattern 'later:{spread*' |
    grep -cv ':call:')" "0 0 0" "goes with all of them"

redis ZADD 'later:{known}:ready' 5 '{"type":"a"}' 6 '{"type":"b"}' >/dev/null
is "$(later bury -q known --state ready -n 1 --yes)" 1 "bury of what a plain ZADD has pushed"
redis SISMEMBER later:queues known >"$work/known"
redis SREM later:queues known >/dev/null
later bury '{"type":"b"}' -q known >/dev/null
is "$(cat "$work/known") $(redis SISMEMBER later:queues known)" "1 1" "makes the queue known, by conditions and by id"

for queue in k all many c p ask w; do
    is "$(later check "$queue" | cut -f 3 | sort -u)" "$(test "$queue" = many && printf 'VIOLATED\nok' || echo ok)" \
        "check $queue"
done
finish
