#!/bin/sh
# later search: jobs that meet conditions, the newest first.
. "${top_srcdir:=.}/tests/system/lib.sh"
start_redis 'appendonly no'

awk 'BEGIN { for (i = 0; i < 450; i++)
    printf "{\"type\":\"t%d\",\"id\":\"j%03d\",\"payload\":{\"n\":%d}}\n", i % 2, i, i }' |
    later push --file - -q a >/dev/null
later push t1 '{"n":449}' -q b --id other --in 1h >/dev/null
later push t1 -q b --id dead >/dev/null
later bury dead --token "$(later reserve b | cut -f 2)" -q b --error 'smtp: greylisted'
later push t1 -q b --id held >/dev/null
later reserve b --lease 1h >/dev/null

is "$(later search -q a -n 3 | cut -f 1 | tr '\n' ' ')" "j449 j448 j447 " "the newest first"
is "$(later search -q a | wc -l)" 100 "a hundred, if nothing is said"
is "$(later search -q a -n 1000 | cut -f 1 | sort -u | wc -l)" 450 "search finds all jobs, each once"
is "$(later search -q a -n 1000 | cut -f 1)" "$(later peek a -n 450 | cut -f 1 | tac)" "in the order of peek, from behind"
is "$(later search --all-queues --where payload.n=449 | cut -f 1 | tr '\n' ' ')" "j449 other " "in all queues"
is "$(later search -q b --error grey | cut -f 1,2)" "$(printf 'dead\tdead')" "search by the error"
is "$(later search -q b --state reserved | cut -f 1)" held "search finds what runs"
is "$(later search -q b --state delayed --json | field id)" other "search --json"
is "$(later search -q a --type t0 -n 1 --json)" "$(later show j448 -q a --json | sed 's/,"why":.*},"document"/,"document"/')" "a line is that of show, without why"
for i in 1 2 3; do
    later push t3 -q held --id "h$i" >/dev/null
    later reserve held --lease 1h >/dev/null
done
place=$(later search -q held -n 2 --json --progress | tail -n 1 | field next)
is "$(later search -q held -n 2 --json --progress --after "$place" | grep -c '"id"')" 1 "going on among those that run"
for p in 5 5 -7; do
    later push ranked -q ranks --priority "$p" >/dev/null
done
later push ranked -q ranks >/dev/null
is "$(for n in 5 '>0' 0 '<=-7'; do later search -q ranks --count --priority "$n"; done | tr '\n' ' ')" "2 2 1 1 " "how many wait, by priority"
echo '{"type":"t","queue":"own","id":"mine","context":{"tenant":7,"tags":["vip"]}}' | later push --file - >/dev/null
is "$(later search -q own --where context.tenant=7 | cut -f 1) $(later search -q own --where context.tags.0=vip --count)" "mine 1" "what a job carries beside its payload is found"
later search -q a --text '"j00' --json --progress >"$work/lines"
is "$(tail -n 1 "$work/lines")" '{"searched":450,"of":450,"found":10,"ended":true}' "--progress: how far it is"
is "$(grep -c '"id"' "$work/lines")" 10 "between the hits"
run later search -q a --progress
is "$status" 64 "--progress without --json: status 64"
run later search
is "$status" 64 "search without a queue: status 64"
run later search -q a --state running
is "$status" 64 "search for a state that does not exist: status 64"
run later search -q none --text x
is "$status $out$err" "0 later search: no queue none" "a queue that is not there has no such job, and that is said"

# Continued searches together find what one search finds, each job once, even if scores are equal or
# a job is its own document.
redis ZADD 'later:{c}:ready' 5 '{"type":"t1","payload":"no id"}' >/dev/null
for i in 1 2 3 4 5 6 7 8 9; do
    later push t1 -q c --id "c$i" >/dev/null
    redis ZADD 'later:{c}:ready' XX 5 "c$i" >/dev/null
    later push t1 -q d --id "d$i" --in 1h >/dev/null
done
parts() # CONDITIONS: prints the documents found, two per search
{
    place=
    while :; do
        later search "$@" -n 2 --json --progress ${place:+--after "$place"} >"$work/part"
        grep '"queue"' "$work/part" | field document
        place=$(tail -n 1 "$work/part" | field next)
        [ -n "$place" ] || break
    done
}
later search --all-queues --type t1 -n 1000 --json | field document >"$work/whole"
parts --all-queues --type t1 >"$work/parts"
runs "as many, in the same order" cmp "$work/parts" "$work/whole"
is "$(grep -c . "$work/parts")" 247 "the parts of a continued search have all jobs"
place=$(later search -q a -n 1 --json --progress | tail -n 1 | field next)
later cancel -q a j449 j448 >/dev/null
is "$(later search -q a -n 1 --after "$place" | cut -f 1)" j447 "jobs between have gone"
for place in x "1,a,ready" "1,a,running,5,=x" "1,A b,ready,5,=x" "1,a,ready,abc,=x" \
    "1,a,ready,5,y" "1,a,ready,5,x1" "1,a,ready,5,xg0"; do
    run later search -q a --after "$place"
    is "$status" 64 "--after $place"
done

# Long ones, of which a place has only a digest: of one score, more than a page of them.
redis EVAL 'for i = 1, 450 do
    redis.call("ZADD", KEYS[1], i < 5 and i or 5, "{\"type\":\"t\",\"payload\":\"" .. string.rep("x", 300) .. i .. "\"}")
end' 1 'later:{long}:ready' >/dev/null
place='' turns=0
while [ "$turns" -lt 20 ]; do # it takes eight
    later search -q long -n 60 --json --progress ${place:+--after "$place"} >"$work/part"
    grep '"queue"' "$work/part"
    place=$(tail -n 1 "$work/part" | field next)
    [ -n "$place" ] || break
    turns=$((turns + 1))
done >"$work/parts"
is "$(wc -l <"$work/parts") $(sort -u "$work/parts" | wc -l)" "450 450" "searches go on behind long members, too"
place=$(later search -q long -n 250 --json --progress | tail -n 1 | field next)
later search -q long -n 251 --json | sed -n 251p >"$work/next"
redis ZREMRANGEBYRANK 'later:{long}:ready' -250 -250 >/dev/null
is "$(later search -q long -n 2 --after "$place" --json | grep -c -F -f "$work/next")" 1 \
    "and where such a one was, if it has gone"
for place in "1,long,ready,5,#" "1,long,ready,5,#0:$(printf %040d 0)" "1,long,ready,5,#1:abc"; do
    run later search -q long --after "$place"
    is "$status" 64 "--after $place"
done

# Jobs of plain ZADDs that laterd would take are found, whatever their bytes and their clock.
redis ZADD 'later:{odd}:ready' 0 ' {"type":"a"}' $(($(redis TIME | head -n 1) + 60)) '{"type":"a"}' 0 nonsense >/dev/null
redis HSET 'later:{odd}:jobs' ahead '{"type":"b"}' >/dev/null
redis ZADD 'later:{odd}:dead' $(($(redis TIME | head -n 1) + 60)) ahead >/dev/null # Redis's clock was put back
is "$(later search -q odd --json | field document | sort)" ' {"type":"a"}
nonsense
{"type":"a"}
{"type":"b"}' "search finds what laterd would take, and what has a time to come"
is "$(later search --count -q odd) $(later search --count -q odd --type a) $(later search --count -q odd --where type=b)" "4 2 1" "so does count"

# Jobs that end while a search reads the others of their token hide none of those.
redis EVAL 'for i = 1, 3 do
    redis.call("ZADD", KEYS[1] .. ":aaaaaaaaaaaaaaaa", i, "b" .. i)
    redis.call("HSET", KEYS[2], "b" .. i, "{\"type\":\"t\",\"payload\":\"" .. string.rep("x", 700000) .. "\"}")
end redis.call("ZADD", KEYS[1], 4102444800, "aaaaaaaaaaaaaaaa")' 2 'later:{heavy}:reserved' 'later:{heavy}:jobs' >/dev/null
mkfifo "$work/fifo"
"$later_bin" search -q heavy --state reserved --json >"$work/fifo" &
own $!
exec 3<"$work/fifo"
head -c 10 <&3 >/dev/null # the first one is being printed
redis ZREM 'later:{heavy}:reserved:aaaaaaaaaaaaaaaa' b1 >/dev/null
is "$(cat <&3 | grep -o '"id":"b[23]"' | tr '\n' ' ')" '"id":"b2" "id":"b3" ' "a job that ends during a search hides no other"
exec 3<&-

# How many have each value.
by() # ARGUMENT...: as `later search --count --by`, a line each
{
    later search --count "$@" | tr '\t\n' ' ;'
}
later push mail '{"tenant":7}' -q by --id y1 --group gold >/dev/null
later push mail '{"tenant":"a b"}' -q by --id y2 >/dev/null
later push sms '{"tenant":{"no":7}}' -q by --id y3 --in 1h >/dev/null
later bury y1 -q by --error no >/dev/null
is "$(by -q by --by type,state)" "type mail 2;type sms 1;state dead 1;state delayed 1;state ready 1;" "by type, by state"
is "$(by -q by --by payload.tenant,group)" "payload.tenant 7 1;payload.tenant a b 1;payload.tenant (none) 1;group gold 1;group (none) 2;" "by values"
is "$(by -q by --by kind,host,queue)" "kind buried 1;kind (none) 2;host $(uname -n) 1;host (none) 2;queue by 3;" "by the last error, by queue"
is "$(by -q by --host "$(uname -n)") $(by -q by --not "host:$(uname -n)") $(by -q by --host other)" "1; 2; 0;" "search by the host of the last error"
is "$(by -q by --type mail --by state)" "state dead 1;state ready 1;" "by state, of those that meet a condition"
is "$(by -q by --type none --by type)" "" "of none there is nothing to count"
is "$(later search -A --where payload.tenant=7 --count --by queue,type --json)" '{"by":"queue","value":"by","others":false,"count":1}
{"by":"type","value":"mail","others":false,"count":1}' "of all queues, --json"
is "$(later search -q by --count --by type --json --progress | tail -n 1)" '{"searched":3,"of":3,"found":3,"ended":true}' "its progress"
awk 'BEGIN { for (i = 0; i < 1101; i++) printf "{\"type\":\"v%04d\"}\n%s", i, i < 50 ? "{\"type\":\"v1050\"}\n" : "" }' |
    later push --file - -q by2 >/dev/null
later search -q by2 --count --by type >"$work/by"
is "$(wc -l <"$work/by") $(head -n 1 "$work/by") $(tail -n 1 "$work/by")" "101 $(printf 'type\tv1050\t51') $(printf 'type\t(others)\t1001')" \
    "a thousand values are told apart, a hundred of them are shown, the others counted"
for names in 'a"b' '' 'type,' 'a,b,c,d,e,f,g,h,i'; do
    run later search -q by --count --by "$names"
    is "$status" 64 "--by $names"
done
run later search -q by --by type
is "$status $err" "64 later search: --by goes with --count
usage: later search -q Q [CONDITIONS] | -A [CONDITIONS] | NAME [CONDITIONS]" "--by without --count"

# Searches that are saved under a name.
is "$(later search --save 'my mail' -q by --type mail --not kind:bad -n 5 --where payload.tenant=7 --columns type,payload.n --json)" '{"search":"my mail","saved":true}' "a search is saved"
later search --save all --type mail --type sms
is "$(later search --saved)" "$(printf 'all\ttype:mail type:sms\nmy mail\tqueue:by number:5 columns:type,payload.n type:mail not:kind:bad where:payload.tenant=7')" "--saved: by name"
is "$(later search --saved --json | tail -n 1)" '{"search":"my mail","conditions":["queue:by","number:5","columns:type,payload.n","type:mail","not:kind:bad"],"looks_inside":["where:payload.tenant=7"]}' "--saved --json"
is "$(later search all | cut -f 1)" "$(later search -A --type mail --type sms | cut -f 1)" "a saved search finds what its conditions do"
is "$(later search 'my mail' --count) $(later search 'my mail' --count --state ready) $(later search all -q by --count) $(later search all -q by2 --count)" "1 0 3 0" "with others, in a queue"
is "$(later search 'my mail' -A --count --json)" '{"queue":"by","count":1}' "-A goes before its queue"
run later search 'my mail' --text x --older 1h --not type:a --count
is "$status $out" "0 0" "more conditions"
later search --save twice --state dead
run later search twice --state ready
is "$status" 64 "a condition that cannot be given twice"
later search --save twice --state ready -n 1 -n 2
is "$(later search --saved | tail -n 1)" "$(printf 'twice\tnumber:2 state:ready')" "one of that name is replaced"
later search --unsave twice
run later search --unsave twice
is "$status $err" "66 later search: no search is saved as twice" "--unsave of what is not there"
run later search twice
is "$status $err" "66 later search: no search is saved as twice; -q names a queue" "nor can it be used"
long=$(printf '%065d' 0)
run later search --save "${long#0}"
is "$status" 0 "a name of 64 bytes"
later search --unsave "${long#0}"
value=$(printf '%0240d' 0)
for words in "--save $long" '--save=' '--save=-x' '--save a --columns id,,b' '--save a --columns a/b' '--save a --columns 1,2,3,4,5,6,7,8,9,10,11,12,13' \
    '--save a --state done --state dead' '--save a -q a/b' '--save a --count' '--save a --saved' 'all --saved' '--columns id -A' 'all all' \
    "--save a --where a=$value --where b=$value --where c=$value --where d=$value --where e=$value"; do
    # shellcheck disable=SC2086 # words
    run later search $words
    is "$status" 64 "search $(printf '%.40s' "$words")"
done
run later search --save a --text '"'
is "$status" 64 "a quotation mark"
redis HSET later:searches odd 'colour:red' >/dev/null
run later search odd
is "$status $err" "65 later search: the saved search odd has a condition colour" "what a later version may have saved"
later search --unsave odd
i=2
while [ "$i" -lt 100 ]; do
    i=$((i + 1))
    echo "[\"search\",\"--save\",\"s$i\"]"
done | later serve >"$work/saved"
is "$(grep -c '"status":0' "$work/saved")" 98 "a hundred are saved"
run later search --save more
is "$status $err" "75 later search: 100 searches are saved already: drop one with --unsave" "and no more"
is "$(later search --save all --type mail; later search --saved | wc -l) $(later search --saved | head -n 1)" "100 $(printf 'all\ttype:mail')" "but one is replaced"
redis DEL later:searches >/dev/null

# Large documents come a few at a time.
for i in 1 2 3 4 5; do
    { printf '"' && head -c 400000 /dev/zero | tr '\0' x && printf '"'; } |
        later push large - -q large --id "l$i" >/dev/null
done
is "$(later search -q large | cut -f 1 | tr '\n' ' ')" "l5 l4 l3 l2 l1 " "large documents, the newest first"
finish
