#!/bin/sh
# What ends is told, as it ends: each end once, also if a worker is killed; `later events` goes on where it
# was, and knows how many it has missed.
. "${top_srcdir:=.}/tests/system/daemon.sh"
start_redis 'appendonly yes'
configure 'workers = 2; lease = 60.0; crash_max = 1000;' \
    'queues = ( { name = "default"; events_kept = 100000; }, { name = "wide"; shards = 2; events_kept = 100000; },' \
    '    { name = "short"; events_kept = 20; }, { name = "silent"; events_kept = 0; } );' \
    'retry = { max_attempts = 2; base = 0.1; jitter = 0.0; };' \
    'types = ( { name = "note"; max_attempts = 25; } );' # one may be what runs at each of the kills
start_laterd

# watch FILE OPTION...: `later events` in the background, as $watcher, into FILE, and what it says into FILE.err.
watch()
{
    into=$1
    shift
    "$later_bin" events --json "$@" </dev/null >>"$work/$into" 2>>"$work/$into.err" &
    watcher=$!
    own "$watcher"
}

# unwatch: ends it.
unwatch()
{
    kill "$watcher"
    wait "$watcher" 2>/dev/null
}

# tells FILE N [WORDS]: has it N lines with these words?
tells() { [ "$(grep -c -e "${3:-\"id\"}" "$work/$1")" -ge "$2" ]; }

# in_order FILE: prints each gap in the numbers of a queue or shard, which begin with 1.
in_order()
{
    sed -n 's/^{"queue":"\([^"]*\)",\("shard":[0-9]*,\)\{0,1\}"n":\([0-9]*\),.*/\1 \2 \3/p' "$work/$1" |
        awk '{ part = $1 (NF > 2 ? $2 : "") } $NF != ++last[part] { print part, $NF, "after", last[part] - 1; last[part] = $NF }'
}

# of ID: what was told of a job, without the times.
of()
{
    later events --json --since 1h --timeout 0 -q default | sed -n "s/.*\"id\":\"$1\",\(.*\),\"at\":.*/\1/p" |
        sed 's/,"ms":[0-9.]*//; s/,"waited":[0-9.]*//' | paste -sd ';' -
}

# ---- how they end

push_do good '"do":"value","value":7' '"result":60'
push_do again '"do":"retry"'
push_do slow '"do":"sleep","for":60' '"timeout":0.1,"max_attempts":1'
push_do kills '"do":"sleep","for":60,"upto":1'
push_job late '"type":"x.y","expires_at":1000000001'
push_job wrong '"type":5'
wait_until 10 begun kills
kill -KILL "$(pid_of kills)"
within 30 "all have ended" settled
is "$(of good)" '"type":"do","ending":"done","state":"done","attempt":1' "done, with a result"
is "$(of again)" '"type":"do","ending":"retry","state":"delayed","kind":"retry","attempt":1;"type":"do","ending":"retry","state":"dead","kind":"retry","attempt":2' \
    "each attempt of one that fails; the last one makes it dead"
is "$(of slow)" '"type":"do","ending":"timeout","state":"dead","kind":"timeout","attempt":1' "over its time, told by the keeper"
is "$(of kills)" '"type":"do","ending":"crash","state":"ready","kind":"crash","attempt":1;"type":"do","ending":"done","state":"done","attempt":2' \
    "one whose worker was killed"
is "$(of late)" '"type":"x.y","ending":"expired","state":"expired"' "expired"
is "$(of wrong)" '"type":null,"ending":"bad","state":"dead","kind":"bad"' "a bad document"
run later events --json --since 1h --timeout 0 -n 1
like "$status:$out" '^0:\{"queue":"default","n":1,"id":"[a-z]+","type":("[a-z.]+"|null),"ending":.*,"at":[0-9]{10}[0-9.]*,"host":"[^"]+"\}$' \
    "a line has its number, the time, the host"
like "$(later events --since 1h --timeout 0 --type 'd?' -n 1)" '^[0-9TZ:-]+	default	do	[a-z]+	[a-z]+	[a-z]+	1	[0-9.]*	[0-9.]*	[^	]+$' \
    "--type, and a line of a table"
is "$(later events --timeout 0)" "" "without --since it begins now"

# ---- thousands, with workers that are killed, and a reader that goes away

later events --bookmark "$work/mark" --since 1h >/dev/null 2>&1
is $? 64 "--since and --bookmark both say where to begin"
rm -f "$work/begun" "$work/ended"
redis DEL "$(key events)" >/dev/null
watch told --bookmark "$work/mark" -q default -q wide
wait_until 20 test -s "$work/mark"
push_many 2000 note
seq 1000 | sed 's/.*/{"type":"note","id":"w-&"}/' | later push -q wide --file - >/dev/null 2>&1
wait_until 20 tells told 500
unwatch
for _ in 1 2 3; do
    kill -KILL "$(workers | head -n 1)"
    push_many 500 note null "more$_-"
done
watch told --bookmark "$work/mark" -q default -q wide
within 60 "all jobs have ended" settled
wait_until 60 settled wide
# Who is killed between a line and its bookmark tells it once more.
told_once()
{
    awk '!seen[$0]++' "$work/told" >"$work/once"
    tells once 4500 '"state":"done"'
}
within 60 "and all of it is told" told_once
unwatch
is "$(in_order once)" "" "each queue and shard is told in order, and nothing is left out"
is "$(sed -n 's/.*"id":"\([^"]*\)",.*"state":"done".*/\1/p' "$work/once" | sort | uniq -c | awk '$1 != 1' | wc -l)" 0 \
    "no job is told to be done twice"
is "$(grep -c '"state":"done"' "$work/once")" 4500 "each is told to be done"
is "$(grep -c missed "$work/told") $(cat "$work/told.err")" "0 " "none was missed"
is "$(sort "$work/mark" | cut -d' ' -f1 | paste -sd' ' -)" "default wide wide/0 wide/1" "the bookmark has each part"

# ---- what is no longer kept

later events --bookmark "$work/short" -q short --timeout 0
is "$(cat "$work/short")" "short 0" "a bookmark of a queue that has told nothing"
for _ in 1 2 3; do
    seq 100 | sed 's/.*/{"type":"note"}/' | later push -q short --file - >/dev/null 2>&1
done
wait_until 30 settled short
later events --json --bookmark "$work/short" -q short --timeout 0 >"$work/missed"
missed=$(sed -n 's/^{"queue":"short","missed":\([0-9]*\)}$/\1/p' "$work/missed")
is "$((${missed:-0} + $(grep -c '"id"' "$work/missed")))" 300 "what was missed and what is told are all that has ended"
at_least "$(grep -c '"id"' "$work/missed")" 20 "as many are kept as was asked for"
is "$(tail -n 1 "$work/missed" | sed 's/.*"n":\([0-9]*\),.*/\1/')" 300 "the last one is there"
is "$(later events --json --bookmark "$work/short" -q short --timeout 0)" "" "nothing comes twice"
redis DEL "$(key events short)" >/dev/null
watch anew --bookmark "$work/short" -q short
within 30 "numbers that begin anew are noticed" tells anew 1 '{"queue":"short","missed":null}'
later push note -q short --id fresh >/dev/null
within 30 "and told from then on" tells anew 1 '"n":1,"id":"fresh"'

# ---- a Redis that stands still

pause_redis
within 60 "a Redis that does not answer is reported" grep -q 'trying again' "$work/anew.err"
resume_redis
wait_until 60 redis_answers
later push note -q short --id after >/dev/null
within 60 "it goes on when Redis does" tells anew 1 '"id":"after"'
unwatch

# ---- who does not ask

later push note -q silent --id quiet >/dev/null
wait_until 20 settled silent
is "$(redis EXISTS "$(key events silent)")" 0 "a queue that is not to tell has no stream"
run later events --timeout 0 -q silent
like "$status $out$err" '^0 .*none of these queues has told .* queues.events_kept$' "who follows it is told why nothing comes"
run later events --timeout 0 -q silent -q short
is "$status $out$err" "0 " "who also follows one that tells is not"
echo 'short x' >"$work/bad"
run later events --bookmark "$work/bad" --timeout 0
like "$status $err" "^65 later events: .*/bad:1: no bookmark" "a file that is something else"
end_well
finish
