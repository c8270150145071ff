#!/bin/sh
# The grammar of later: queues are words, jobs are ids that are looked for in all queues, conditions
# go with -q or -A; and the words of other programs.
. "${top_srcdir:=.}/tests/system/lib.sh"
start_redis 'appendonly no'

# state Q ID: prints the state of a job.
state()
{
    later show "$2" -q "$1" --json 2>/dev/null | sed 's/.*"state":"\([a-z]*\)".*/\1/'
}

# ---- ids, and only ids

for id in x1 x2 abcdefghij012345; do later push t --id "$id" >/dev/null; done
run later bury x1 x2 abcdefghij012345
is "$status $out" "0 $(printf 'x1\tready\nx2\tready\nabcdefghij012345\tready')" \
    "three ids are three jobs, even if one looks like a token"
is "$(later size default | cut -f 5)" 3 "all of them are dead"

later push t -q mail --id far >/dev/null
later bury far >/dev/null
is "$(state mail far)" dead "bury finds a job of another queue"
is "$(later kick far --json)" '{"queue":"mail","id":"far","result":"kicked","state":"dead"}' \
    "kick finds it, and says where"
is "$(later show far | cut -f 1,2)" "$(printf 'far\tready')" "so does show"
is "$(later cancel far)" "$(printf 'far\tready')" "and cancel"
run later kick far x1
is "$status $out" "66 $(printf 'x1\tdead')" "the others are acted on, if one is nowhere"
is "$err" "later kick: no dead, delayed or waiting job far in any queue" "which is said"

redis ZADD 'later:{default}:ready' 1 plain >/dev/null
redis HSET 'later:{default}:jobs' plain '{"type":"t"}' >/dev/null
is "$(later cancel plain)" "$(printf 'plain\tready')" "default is looked at, whoever pushed into it"

# ---- two queues with the same id

for queue in mail sms; do later push t -q "$queue" --id both --in 1h >/dev/null; done
for verb in kick bury cancel show wait 'ack --token abcdefghij012345' 'touch --token abcdefghij012345' \
    'release --uncounted --token abcdefghij012345'; do
    # shellcheck disable=SC2086 # words
    run later $verb both
    is "$status $out" "64 " "$verb of an id that two queues have: status 64"
    like "$err" 'the queues mail and sms both have a job both: say which with -q' "both are named"
done
is "$(state mail both) $(state sms both)" "delayed delayed" "neither was touched"
is "$(later kick both -q sms)" "$(printf 'both\tdelayed')" "with -q it is that one"
is "$(state mail both) $(state sms both)" "delayed ready" "and not the other"
later cancel both -q sms >/dev/null
is "$(later cancel both)" "$(printf 'both\tdelayed')" "when one is left, -q is not needed"

# An id that stays taken, and a result, lead to their queue only if no job has the id.
later push t -q sms --id once --unique-for 1h --result 1h >/dev/null
later ack once --token "$(later reserve sms | cut -f 2)"
is "$(later cancel once --json)" '{"queue":"sms","id":"once","result":"freed","state":"ended"}' \
    "cancel frees an id in its queue"
later push t -q mail --id once --in 1h >/dev/null
like "$(later wait once --timeout 0 2>&1)" '^later wait: once has not ended yet: due in (60|5[0-9]) min, at .*; also: no laterd is alive$' \
    "wait finds the job, whatever one in another queue has left"
later cancel once >/dev/null
redis RPUSH 'later:{sms}:result:left' "$(printf '{"state":"done","attempt":1,"at":1}\n7')" >/dev/null
run later wait left --timeout 0
is "$status $out" "0 7" "wait --timeout 0 finds a result of a job that is gone"
run later wait nowhere --timeout 0
is "$status $err" "66 later wait: no job nowhere in any queue, and no result of it; push --result keeps one" "or says that there is none"

# ---- shards are their queue

redis SET 'later:{wide}:shards' '2 4' >/dev/null
later push t -q wide --id spread >/dev/null
is "$(later bury spread --json)" '{"queue":"wide","id":"spread","result":"buried","state":"ready"}' \
    "a job in a shard is in its queue"

# ---- conditions

for id in d1 d2; do later push t -q mail --id "$id" >/dev/null; done
later bury d1 d2 >/dev/null
later push t -q mail --id put-off --in 1h >/dev/null
is "$(later kick -q mail --state dead --yes)" 2 "kick -q mail --state dead"
is "$(state mail put-off)" delayed "kicks no other"
run later kick -q mail --yes
is "$status" 64 "-q alone is not enough"
run later kick d1 --state dead --yes
like "$status $err" '^64 .*d1 is the id of a job: conditions stand alone' "ids and conditions do not go together"
is "$(later search -A --type t --count)" "$(printf 'default\t3\nmail\t3\nwide\t1')" "-A: all queues"
is "$(later search -q mail --state delayed -n 1 | cut -f 1)" put-off "-n: at most so many"
is "$(later cancel -A --state delayed --yes)" "$(printf 'mail\t1')" "cancel -A"
is "$(later cancel -q mail --all --yes)" 2 "--all: all of them"

# ---- a token

for id in r1 r2 r3; do later push t -q mail --id "$id" >/dev/null; done
token=$(later reserve mail -n 3 | head -n 1 | cut -f 2)
later release r1 --token "$token" --error soft
later release r2 --token "$token" --uncounted
is "$(later show r1 r2 --json | sed 's/.*"attempts":\([0-9]*\).*/\1/' | tr '\n' ' ')" "1 0 " \
    "release counts an attempt, with --uncounted it does not"
run later release r3 --token "$token" --uncounted --error why
is "$status" 64 "what is not counted has no error"
run later ack r3
like "$status $err" '^64 .*--token is missing' "ack wants a token"
later ack r3 --token "$token"
is "$(later size mail | cut -f 2-5)" "$(printf '2\t0\t0\t0')" "and ends the job"

# ---- the words of others

while read -r word command; do
    run later "$word" some words
    is "$status $out$err" "64 later: no command $word: that is \`later $command\`" "later $word"
    # shellcheck disable=SC2086 # words
    set -- $command
    runs "which there is" later help "$1"
    run later help "$word"
    is "$status $err" "64 later help: no command $word: that is \`later $command\`" "later help $word"
done <<'END'
retry kick
delete cancel
rm cancel
stats size
ls size --names
list size --names
jobs peek
inspect show
logs history
ps status
result wait --timeout 0
queues size --names
count search --count
locks lock
return release --uncounted
purge cancel -q Q --state STATE
END
is "$(later -V)" "$(later --version)" "-V is --version"
finish
