#!/bin/sh
# later with queues of several shards: the queue's name means all of them.
# shellcheck disable=SC2046,SC2086 # lists of words
. "${top_srcdir:=.}/tests/system/lib.sh"
start_redis 'appendonly no'

# plan Q WORDS: writes a plan as laterd does.
plan()
{
    redis SET "later:{$1}:shards" "$2" >/dev/null
}

# ask Q COMMAND KEY: asks one queue. For `reserved`, whatever COMMAND is, it prints how many jobs
# the tokens hold.
ask()
{
    if [ "$3" = reserved ]; then
        held_by_tokens "$1"
    else
        redis "$2" "later:{$1}:$3"
    fi
}

# each Q COUNT COMMAND KEY: the answers of the shards, on one line.
each()
{
    i=0
    while [ "$i" -lt "$2" ]; do
        ask "$1/$i" "$3" "$4"
        i=$((i + 1))
    done | tr '\n' ' '
}

# sum Q COUNT COMMAND KEY: the sum over the plain queue and the shards.
sum()
{
    { ask "$1" "$3" "$4" && each "$@"; } | tr ' ' '\n' | awk '{ sum += $1 } END { print sum }'
}

# counted Q COUNT NAME: the sum of a counter.
counted()
{
    {
        redis HGET "later:{$1}:stats" "$3"
        i=0
        while [ "$i" -lt "$2" ]; do
            redis HGET "later:{$1/$i}:stats" "$3"
            i=$((i + 1))
        done
    } | awk '{ sum += $1 } END { print sum + 0 }'
}

# shards COUNT ID...: the shard of each id, by a CRC16 (XMODEM) that is not lib's.
shards()
{
    redis EVAL '
        local out = {}
        for i = 2, #ARGV do
            local crc = 0
            for at = 1, #ARGV[i] do
                crc = bit.bxor(crc, bit.lshift(string.byte(ARGV[i], at), 8))
                for _ = 1, 8 do
                    crc = bit.lshift(crc, 1)
                    if bit.band(crc, 65536) ~= 0 then
                        crc = bit.bxor(crc, 69665)
                    end
                end
            end
            out[i - 1] = crc % ARGV[1]
        end
        return out' 0 "$@"
}

# spread COUNT ID...: how many of them belong to each shard, on one line.
spread()
{
    shards "$@" | awk -v count="$1" '
        { has[$1]++ }
        END { for (i = 0; i < count; i++) printf "%d ", has[i] }'
}

# ids PREFIX N: PREFIX1 … PREFIXN.
ids()
{
    seq -f "$1%g" "$2" | tr '\n' ' '
}

# push_all Q ID...
push_all()
{
    push_queue=$1
    shift
    printf '{"type":"t","id":"%s"}\n' "$@" | later push -f - -q "$push_queue" >/dev/null
}

is "$(shards 16384 123456789 foo)" "$(printf '12739\n12182')" \
    "the CRC16 of this test is that of the Redis Cluster specification"

# ---- pushing, counting

plan events '1 4'
push_all events $(ids job 99)
later push t -q events --id job100 >/dev/null
wanted=$(spread 4 $(ids job 100))
is "$(each events 4 ZCARD ready)" "$wanted" "100 jobs are where their ids belong"
is "$(printf '%s' "$wanted" | tr ' ' '\n' | awk '$1 > 10' | wc -l)" 4 "that is all four shards"
is "$(redis ZCARD 'later:{events}:ready')" 0 "the plain queue has none"
is "$(later size events | cut -f 1-6)" "$(printf 'events\t100\t0\t0\t0\tno')" "size: the sum"
third=$(redis ZCARD 'later:{events/3}:ready')
is "$(later size events/3 --json | sed 's/,"oldest.*//')" \
    "{\"queue\":\"events/3\",\"ready\":$third,\"delayed\":0,\"reserved\":0,\"dead\":0,\"waiting\":0,\"paused\":false" \
    "who names a shard means that one"
like "$(later size events --json)" \
    '^\{"queue":"events","ready":100,.*"oldest_ready":[0-9.]+,"shards":4,' "size --json adds the shards up"
redis ZADD 'later:{events}:ready' 1000000000 plain >/dev/null
redis HSET 'later:{events}:jobs' plain '{"type":"t"}' >/dev/null
redis HINCRBY 'later:{events}:stats' adopted 1 >/dev/null
is "$(later size events | cut -f 2)" 101 "the plain queue is of the whole"
age=$(later size events --json | field oldest_ready | cut -d. -f1)
is "$((age > 700000000))" 1 "the oldest of all is the oldest"
run later push t -q events/3
is "$status $out" "64 " "nobody pushes into a shard by hand"
like "$err" 'later push: queue events/3: ' "a push to one shard is refused by name"

later push t -q none --id n1 >/dev/null
is "$(later size none --json | sed 's/"oldest_ready":[0-9.]*/"oldest_ready":A/; s/,"served":.*/}/')" \
    '{"queue":"none","ready":1,"delayed":0,"reserved":0,"dead":0,"waiting":0,"paused":false,"oldest_ready":A}' \
    "a queue without shards: no word of them"
# Every connection asks for the protocol, and one that is tried again once more.
no_call_more()
{
    first=$(called get)
    later size none/1 >/dev/null
    second=$(called get)
    later size none >/dev/null
    [ $(($(called get) - second)) -le $((second - first)) ]
}
runs "no call more tells that it has none" wait_until 10 no_call_more

is "$(later size --names | tr '\n' ' ')" "events none " "queues: no shards"
is "$(later size --names --json | tr '\n' ' ')" '{"queue":"events","shards":4} {"queue":"none"} ' \
    "queues --json lists no shards"
is "$(later size | cut -f 1,2 | tr '\t\n' '= ')" "events=101 none=1 " "size of all"
is "$(later status --json | field queue | tr '\n' ' ')" "events none " "status: no shards"

# ---- looking

plan look '1 4'
# 7 and 41 have no common factor: this gives 1 to 40, out of order.
for i in $(seq 40); do
    later push t -q look --id "d$((i * 7 % 41))" --at $((4102440000 + i * 7 % 41)) >/dev/null
done
redis ZADD 'later:{look}:delayed' 4102440000.5 d0 >/dev/null
redis HSET 'later:{look}:jobs' d0 '{"type":"t"}' >/dev/null
redis HINCRBY 'later:{look}:stats' adopted 1 >/dev/null
is "$(later peek look --state delayed -n 15 | cut -f 1 | tr '\n' ' ')" "d0 $(ids d 14)" \
    "peek: the first of all, in their order"
is "$(later peek look --state delayed -n 100 | cut -f 1 | tr '\n' ' ')" "d0 $(ids d 40)" \
    "all of them, over several pages"
is "$(later peek look --state delayed -n 3 --offset 12 | cut -f 1)" \
    "$(later peek look --state delayed -n 15 | cut -f 1 | tail -n 3)" "peek --offset: behind the first of all"
is "$(later peek look --state delayed -n 3 --json | field queue | sort | uniq -c | tr -s ' ')" \
    " 3 look" "peek --json names the whole"
is "$(later peek look/1 --state delayed -n 100 | wc -l)" "$(redis ZCARD 'later:{look/1}:delayed')" \
    "peek at a shard"
is "$(later peek look)" '' "peek shows no ready job"
is "$(later show $(ids d 40) d0 -q look | cut -f 1,2 | grep -c 'delayed$')" 41 "show finds each"
is "$(later show d5 -q look --json | field queue)" look "show --json names the whole"
run later show d5 none -q look
like "$status $err" "^66 later show: no job none in queue look: " "one that none of them has"

# ---- former plans

moved=''
for id in $(ids m 40); do
    [ "$(shards 4 "$id")" = "$(shards 8 "$id")" ] || moved="$moved $id"
done
is "$(test "$(echo $moved | wc -w)" -gt 5 && echo some)" some "some ids have another place of eight"
plan former '1 4'
push_all former $moved
plan former '2 8 4'
first=${moved# }
first=${first%% *}
is "$(later push t -q former --id "$first" --json | field result)" exists \
    "an id that lies under the former count is known"
push_all former $moved
is "$(sum former 8 ZCARD ready)" "$(echo $moved | wc -w)" "no id is in two shards"
is "$(later show $moved -q former | wc -l)" "$(echo $moved | wc -w)" "show finds them"
push_all former $(ids new 40)
is "$(later show $(ids new 40) -q former | wc -l)" 40 "and those of the present count"
is "$(each former 8 ZCARD ready)" \
    "$({ shards 4 $moved && shards 8 $(ids new 40); } |
        awk '{ has[$1]++ } END { for (i = 0; i < 8; i++) printf "%d ", has[i] }')" \
    "each where it was pushed"
is "$(later size former | cut -f 2)" $((40 + $(echo $moved | wc -w))) "size counts them all"
like "$(later size former --json)" '"shards":8,' "it has eight shards now"
is "$(later kick "$first" -q former 2>&1)" "later kick: no dead, delayed or waiting job $first in queue former; it is ready" \
    "what is ready is not kicked"
is "$(later cancel "$first" -q former --json)" \
    "{\"queue\":\"former\",\"id\":\"$first\",\"result\":\"cancelled\",\"state\":\"ready\"}" \
    "cancel finds it where it was pushed"
is "$(counted former 8 cancelled)" 1 "a job in a former shard is cancelled once"
redis ZADD 'later:{former/6}:ready' 5 astray >/dev/null
redis HSET 'later:{former/6}:jobs' astray '{"type":"t"}' >/dev/null
redis HINCRBY 'later:{former/6}:stats' adopted 1 >/dev/null
is "$(test "$(shards 8 astray)" -eq 6 || echo another)" another "its place would be another one"
is "$(later show astray -q former | cut -f 1,2)" "$(printf 'astray\tready')" \
    "what somebody put into another shard is found, too"

# ---- reserve and settlements

plan acts '1 4'
push_all acts $(ids a 20)
later reserve acts -n 3 --lease 1h >"$work/three"
is "$(wc -l <"$work/three") $(sum acts 4 ZCARD reserved)" "3 3" "reserve -n 3: three of all"
later reserve acts -n 500 --lease 1h --json >"$work/taken"
is "$(each acts 4 ZCARD reserved)" "$(spread 4 $(ids a 20))" "reserve: from all shards"
is "$(field queue <"$work/taken" | sort | uniq -c | tr -s ' ')" " 17 acts" \
    "reserve --json names the whole"
{
    cut -f 1,2 "$work/three" | tr '\t' ' '
    sed 's/.*"id":"\([^"]*\)","token":"\([^"]*\)".*/\1 \2/' "$work/taken"
} | sort >"$work/held"
is "$(cut -d ' ' -f 1 "$work/held" | tr '\n' ' ')" "$(ids a 20 | tr ' ' '\n' | sort | sed '/^$/d' | tr '\n' ' ')" \
    "each once"
run later reserve acts
is "$status $out$err" "75 " "reserve of an empty queue with shards: status 75"
# The place of a held job may or may not be among the former ones now.
plan acts '2 8 4'
sed -n 1,4p "$work/held" >"$work/ack"
sed -n 5,8p "$work/held" >"$work/release"
sed -n 9,12p "$work/held" >"$work/bury"
sed -n 13,16p "$work/held" >"$work/return"
for verb in ack bury 'release --in 1h' 'release --uncounted'; do
    while read -r id token; do
        # shellcheck disable=SC2086 # words
        later $verb "$id" --token "$token"
    done <"$work/$(echo "$verb" | sed 's/.*--uncounted/return/; s/ .*//')" >/dev/null
done
is "$(for key in ready delayed dead reserved; do sum acts 8 ZCARD $key; done | tr '\n' ' ')" \
    "4 4 4 4 " "ack, release, bury, return: each finds its job"
is "$(counted acts 8 'done')" 4 "four are done"
is "$(later size acts | cut -f 2-5)" "$(printf '4\t4\t4\t4')" "size agrees with what was settled"
read -r id token <"$work/ack"
run later ack "$id" --token "$token" -q acts
is "$status" 77 "twice: LOST, since none has it"
like "$err" 'this token is not, or no longer, the owner of job ' "a wrong token in a shard is named"
tail -n 1 "$work/held" >"$work/last"
read -r id token <"$work/last"
is "$(later touch "$id" --token "$token" -q acts --lease 2h --json)" \
    "{\"queue\":\"acts\",\"id\":\"$id\",\"result\":\"touched\",\"state\":\"reserved\"}" "touch --json names the whole"
shard=$(shards 4 "$id")
until=$(redis ZSCORE "later:{acts/$shard}:reserved" "$token" | cut -d. -f1)
now=$(redis TIME | head -n 1)
is "$((until - now > 7000 && until - now <= 7201))" 1 "its lease is renewed"
is "$(later cancel "$id" -q acts)" "$(printf '%s\treserved' "$id")" "cancel of a reserved one"
is "$(sum acts 8 ZCARD reserved)" 3 "an acked job is in no shard"

id=$(head -n 1 "$work/bury" | cut -d ' ' -f 1)
is "$(later kick "$id" -q acts)" "$(printf '%s\tdead' "$id")" "kick of one"
is "$(sum acts 8 ZCARD dead)" 3 "it is not dead any more"
run later kick -q acts --all
like "$err" 'Kick 3 dead and 4 delayed jobs of queue acts\?' "kick --all tells the sum"
is "$(later kick -q acts --state dead --yes)" 3 "kick --all: the dead ones of all"
is "$(later kick -q acts --all --yes --json)" '{"queue":"acts","kicked":4}' \
    "kick --all kicks the delayed jobs of all shards"
is "$(for key in ready delayed dead; do sum acts 8 ZCARD $key; done | tr '\n' ' ')" "12 0 0 " \
    "the kicked jobs of all shards are ready"
run later cancel -q acts --state ready
like "$err" 'Cancel 12 ready jobs of queue acts for good\?' "cancel tells the sum"
before=$(redis HGET 'later:{acts/0}:stats' cancelled)
gone=$(later cancel -q acts/0 --state ready --yes)
is "$(redis HGET 'later:{acts/0}:stats' cancelled)" $((${before:-0} + gone)) "cancel of a shard"
is "$(later cancel -q acts --state ready --yes)" $((12 - gone)) "cancel of the rest"
is "$(sum acts 8 ZCARD ready)" 0 "cancel leaves no ready job in any shard"

# ---- waiting

(later reserve acts --wait 300 >"$work/waited") &
own $!
# On a Cluster there is one waiter per slot, otherwise one for all.
runs "one that waits is blocked in Redis" \
    wait_until 5 blocks "$(test "$redis_kind" = cluster && echo 9 || echo 1)"
later push t -q acts --id waited >/dev/null
runs "a push into a shard ends the waiting" wait_until 10 grep -q '^waited	' "$work/waited"

# ---- pause, resume

plan still '1 4'
push_all still $(ids s 20)
run later pause still
is "$status$out$err" 0 "pause: no words"
is "$(sum still 4 EXISTS paused)" 5 "the plain queue and all shards are paused"
is "$(later size still | cut -f 6)" yes "size says so"
run later reserve still
is "$status$out" 75 "no shard of a paused queue hands out jobs"
redis DEL 'later:{still/2}:paused' >/dev/null
is "$(later size still | cut -f 6)" partly "where only some are, it says that"
like "$(later size still --json)" '"paused":false,.*"shards":4,"partly_paused":true,' \
    "size --json says that some shards are paused"
run later pause still
is "$status$err" 0 "to pause the rest is a change"
run later pause still
is "$status $err" "0 later pause: queue still was paused already" "pausing twice: a message says so"
is "$(later resume still --json)" '{"queue":"still","paused":false,"changed":true}' \
    "resume --json names the whole queue"
is "$(sum still 4 EXISTS paused)" 0 "none is paused any more"
is "$(later reserve still -n 20 | wc -l)" 20 "after resume all jobs are handed out"
redis LPUSH 'later:{order}:shards' 'no plan' >/dev/null
run later pause order
is "$status $(redis EXISTS 'later:{order}:paused')" "69 1" \
    "the plain queue is paused before the plan is read"
redis DEL 'later:{order}:shards' >/dev/null

# ---- work

plan w '1 4'
push_all w $(ids w 40)
redis ZADD 'later:{w}:ready' 7 '{"type":"t","id":"w41"}' >/dev/null
later work w -n 10 -- true
is "$(sum w 4 ZCARD ready) $(counted w 4 'done')" "31 10" "ten jobs of a queue with shards"
later work w --until-empty -p 4 --json -- sh -c 'echo "$LATER_QUEUE $LATER_ID" >>"$1"' - "$work/ran" \
    2>"$work/told"
is "$(cut -d ' ' -f 1 "$work/ran" | sort | uniq -c | tr -s ' ')" " 31 w" \
    "work: all of the rest, and programs get the queue's name"
is "$(grep '"text":"done"' "$work/told" | field queue | sort | uniq -c | tr -s ' ')" " 31 w" "and so does --json"
is "$(sum w 4 ZCARD ready) $(sum w 4 HLEN jobs) $(counted w 4 'done')" "0 0 41" "work has done each job of all shards"

plan grows '1 2'
spawn "$later_bin" work grows -- sh -c 'echo "$LATER_ID" >>"$1"' - "$work/grown"
worker=$spawned
push_all grows g1
wait_until 10 grep -q '^g1$' "$work/grown"
plan grows '2 8 2'
late=''
for id in $(ids l 30); do
    [ "$(shards 8 "$id")" -lt 2 ] || late="$late $id"
done
push_all grows $late
grown()
{
    [ "$(wc -l <"$work/grown")" -eq $((1 + $(echo $late | wc -w))) ]
}
runs "shards that are added while it works are served" wait_until 20 grown
kill "$worker"
wait_until 10 gone "$worker"
is "$(sum grows 8 HLEN jobs)" 0 "all their jobs are done"

# ---- schedules

later cron set nightly '@every 86400' t -q turns >/dev/null
run later cron set shard '@every 86400' t -q turns/1
is "$status $(redis EXISTS 'later:{turns/1}:cron')" "64 0" "cron set: a schedule is of a queue, not of a shard"
plan turns '1 4'
run later cron run nightly -q turns
is "$status $(sum turns 4 ZCARD ready)" "0 1" "cron run pushes into a shard"
is "$(redis ZCARD 'later:{turns}:ready')" 0 "and not beside them"

# ---- check

run later check events look former acts still w grows
is "$status" 0 "check: all is well"
is "$(later check events | cut -f 1 | uniq | tr '\n' ' ')" \
    "events events/0 events/1 events/2 events/3 " "check of a queue looks at its shards"
plan c '1 4'
redis SADD later:queues c >/dev/null
redis HSET 'later:{c/3}:jobs' ghost '{"type":"t"}' >/dev/null
run later check c
is "$status $(printf '%s\n' "$out" | awk '/VIOLATED/ { print $1 }' | uniq)" "1 c/3" \
    "a fault in a shard is found"
run later check
is "$status $(printf '%s\n' "$out" | awk '/VIOLATED/ { print $1 }' | uniq)" "1 c/3" \
    "also where only the plan knows of it"
is "$(later check c/2 | cut -f 1 | uniq)" c/2 "a shard alone"
redis DEL 'later:{c}:shards' >/dev/null
redis SADD later:queues c/3 c/10 >/dev/null
run later check
is "$status $(printf '%s\n' "$out" | awk '/VIOLATED/ { print $1 }' | uniq)" "1 c/3" \
    "or where there is no plan any more"
is "$(printf '%s\n' "$out" | cut -f 1 | uniq | grep '^c' | tr '\n' ' ')" "c c/3 c/10 " \
    "check goes through the shards in order"
is "$(later size --names | grep '^c')" c "the queue stays one"
finish
