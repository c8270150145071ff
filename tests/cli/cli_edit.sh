#!/bin/sh
# later edit: the document of a job that does not run.
. "${top_srcdir:=.}/tests/system/lib.sh"
start_redis 'appendonly no'

# document Q ID: prints what Redis has.
document()
{
    redis HGET "later:{$1}:jobs" "$2"
}

# editor COMMAND: what VISUAL runs; the file is $1 there.
editor()
{
    printf '#!/bin/sh\n%s\n' "$1" >"$work/editor"
    chmod +x "$work/editor"
    export VISUAL="$work/editor"
}

printf '%s\n' '{"type":"t","payload":{"to":"a@exmaple.org","n":1.50},"id":"r","priority":5}' | later push --file - -q e >/dev/null
later push t -q e --id d --in 1h >/dev/null
later push t -q e --id x --priority 100 >/dev/null
later bury x --token "$(later reserve e | cut -f 2)" -q e --error 'no such host'
before=$(later show d -q e | cut -f 4)

# ---- an editor

# shellcheck disable=SC2016 # for the editor
editor 'echo "$1" >'"$work"'/name; cp "$1" '"$work"'/opened; sed -i s/exmaple/example/ "$1"'
mkdir "$work/tmp"
TMPDIR=$work/tmp run later edit r
is "$status $out" "$(printf '0 r\tready')" "edit: id and state"
is "$(document e r)" '{"type":"t","payload":{"to":"a@example.org","n":1.50},"id":"r","priority":5}' "all but the change is as it was, byte for byte"
is "$(cat "$work/opened")" '{
  "type": "t",
  "payload": {
    "to": "a@exmaple.org",
    "n": 1.50
  },
  "id": "r",
  "priority": 5
}' "the editor sees a line for each member"
like "$(cat "$work/name")" "^$work/tmp/later-edit-" "in a file of its own in TMPDIR"
is "$(later show r -q e | cut -f 6)" 5 "the priority stays"
is "$(ls -A "$work/tmp")" "" "no file is left"
editor true
run later edit r
is "$status $err" "0 later edit: job r is as it was" "without a change nothing is written"
editor 'exit 3'
run later edit r
is "$status" 66 "an editor that fails"
like "$err" 'ended with status 3; nothing was changed' "its status is named"
unset VISUAL
export EDITOR=true
run later edit r
is "$status" 0 "EDITOR, if there is no VISUAL"

# ---- from a file

# edit Q ID DOCUMENT [OPTION...]
edit()
{
    printf '%s\n' "$3" >"$work/document"
    queue=$1 id=$2
    shift 3
    run later edit "$id" -q "$queue" --file "$work/document" "$@"
}

edit e d '{ "type": "t2",  "payload": [1, "a b"] }'
is "$(document e d)" '{"type":"t2","payload":[1,"a b"]}' "white space is not kept, but in strings"
is "$(later show d -q e | cut -f 4)" "$before" "a delayed job is due when it was"
edit e x '{"type":"t","payload":"fixed"}' --json
is "$out" '{"queue":"e","id":"x","result":"edited","state":"dead"}' "a dead job, as JSON"
like "$(later show x -q e)" 'no such host' "it keeps its error"
is "$(later kick x -q e)" "$(printf 'x\tdead')" "and can be kicked"
is "$(echo '{"type":"t","payload":"piped"}' | later edit x -q e --file - | cut -f 2)" ready "from standard input"
is "$(document e x)" '{"type":"t","payload":"piped"}' "that is what it has now"

# ---- another group

echo '{"type":"t","queue":"shared","id":"g","group":"old"}' | later push --file - >/dev/null
edit shared g '{"type":"t","group":"new"}'
is "$(later size shared --groups | cut -f 1-3)" "$(printf 'shared\told\t1')" "its place is that of its old group"
like "$(document shared g)" '"group":"new"' "its document has the new one"

# ---- what is no document

# refuses DOCUMENT WORDS NAME
refuses()
{
    edit e x "$1"
    is "$status" 65 "$3: status 65"
    like "$err" "$2" "$3: the place"
}

refuses '{"type":"t",}' 'not JSON: .* at byte 13' "a comma too many"
refuses '{"payload":1}' 'type' "no type"
refuses '{"type":"t","timeout":"soon"}' 'timeout' "a wrong member"
refuses '' 'empty|not JSON' "nothing"
printf '{"type":"t","payload":"%s"}' "$(head -c 1100000 /dev/zero | tr '\0' a)" >"$work/large"
run later edit x -q e --file "$work/large"
like "$status $err" "^65 .*at most 1048576 are allowed; push where the data is" "one that is too large"
run later edit x -q e --file "$work/none"
is "$status" 66 "no such file"
is "$(document e x)" '{"type":"t","payload":"piped"}' "none of these changed anything"
# shellcheck disable=SC2016 # for the editor
editor 'echo "{ broken" >"$1"'
TMPDIR=$work run later edit x -q e
is "$status" 65 "an editor that leaves no document"
like "$err" "what you wrote is in $work/later-edit-.*.json" "it is kept"
is "$(cat "$work"/later-edit-*.json)" '{ broken' "in that file"
rm "$work"/later-edit-*.json

# ---- jobs that must be left alone

later push t -q run --id held >/dev/null
later reserve run >/dev/null
edit run held '{"type":"t"}'
is "$status" 75 "a reserved job: status 75"
like "$err" 'job held is reserved: .*nothing was changed' "it says so"
later push t 1 -q race --id j >/dev/null
# Somebody else changes it while it is edited.
editor "'$later_bin' push t 2 -q race --id j --replace >/dev/null; echo '{\"type\":\"t\",\"payload\":3}' >\"\$1\""
TMPDIR=$work run later edit j -q race
is "$status" 75 "changed by somebody else: status 75"
like "$err" "was changed by somebody else meanwhile; nothing was changed; what you wrote is in $work/later-edit-" "it says so"
is "$(document race j)" '{"type":"t","id":"j","payload":2}' "the other one's change stays"
editor "'$later_bin' cancel j -q race >/dev/null; echo '{\"type\":\"t\",\"payload\":4}' >\"\$1\""
TMPDIR=$work run later edit j -q race
is "$status $(document race j)" "66 " "cancelled meanwhile: it stays gone"
edit e nosuch '{"type":"t"}'
is "$status" 66 "no such job"

# ---- only when it is due, and its priority

# order Q: the ids that are ready, in their order.
order()
{
    later peek "$1" | cut -f 1 | tr '\n' ' '
}

for id in one two three; do
    later push t -q when --id "$id" >/dev/null
done
run later edit three -q when --priority 5
is "$status $out" "$(printf '0 three\tready')" "another priority: id and the state it had"
is "$(order when)" "three one two " "it goes ahead of the others"
is "$(later show three -q when | cut -f 6)" 5 "show says the new priority"
run later edit three -q when --priority 0
is "$(order when)" "one two three " "back, it has the turn that it had"
run later edit one -q when --in 1h --json
is "$out" '{"queue":"when","id":"one","result":"changed","state":"ready"}' "a ready one is put off, as JSON"
is "$(later size when --json | sed 's/.*"ready":\([0-9]*\),"delayed":\([0-9]*\).*/\1 \2/')" "2 1" "it is delayed"
run later edit one -q when --at 4000000000 --priority -3
is "$(later show one -q when | cut -f 2,4,6)" "$(printf 'delayed\t4000000000\t-3')" "a time and a priority"
run later edit one -q when --in 0
is "$status $(order when)" "0 two three one " "due at once, behind the others by its priority"
later reserve when >/dev/null
run later edit two -q when --in 1h
is "$status" 75 "a reserved job is left alone"
like "$err" 'job two is reserved: .*nothing was changed' "it says so"
later bury three -q when >/dev/null
run later edit three -q when --in 1h
is "$status" 75 "a dead one, too"
like "$err" "job three is dead: .later kick. makes it ready" "with the way to go"
run later edit nosuch -q when --in 1h
is "$status" 66 "no such job"
run later edit one -q when --in 1h --at 4000000000
is "$status" 64 "--in and --at exclude each other"
run later edit one -q when --priority 101
is "$status" 64 "a priority has its limits"
for id in a1 a2 b1; do
    printf '{"type":"t","queue":"fair","id":"%s","group":"%.1s"}\n' "$id" "$id" | later push --file - >/dev/null
done
later edit a1 -q fair --in 1h >/dev/null
is "$(later size fair --groups | cut -f 1-3)" "$(printf 'fair\ta\t1\nfair\tb\t1')" "who is put off leaves its group's jobs"
later edit a1 -q fair --in 0 >/dev/null
is "$(later size fair --groups | cut -f 1-3 | sort)" "$(printf 'fair\ta\t2\nfair\tb\t1')" "and comes back into it"
is "$(order fair)" "b1 a2 a1 " "at its group's end"
later check fair >/dev/null
is $? 0 "the sums hold"

# ---- a job that waits in a flow, and one of a shard

printf '%s\n' '{"type":"t","step":"a"}' '{"type":"t","step":"b","after":["a"]}' >"$work/flow"
later push --flow f --file "$work/flow" -q flow >/dev/null
edit flow f.b '{"type":"t","payload":"later","step":"b","after":["a"]}'
is "$out" "$(printf 'f.b\twaiting')" "a waiting job"
is "$(later size flow --json | sed 's/.*"waiting":\([0-9]*\).*/\1/')" 1 "goes on waiting"
run later edit f.b -q flow --priority 5
is "$status" 75 "its turn is not for it to have yet"
like "$err" 'job f.b waits for other jobs of its flow' "it says so"

finish
