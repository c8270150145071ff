#!/bin/sh
# later push: one job, files of jobs, bytes, refusals.
. "${top_srcdir:=.}/tests/system/lib.sh"
start_redis 'appendonly no'

# ---- one job

run later push mail.send '{"to":"a@b.c"}' -q mail --id m1 --priority 7 --max-attempts 3 \
    --retry-for 2h --timeout 90s --backoff 1,5m --expires-at 2036-01-01T00:00:00Z --lock 'account"7"' --trace t-1 --on-dead alert --on-done a.b
is "$status $out" "0 m1" "push prints the id"
is "$err" "" "a push says nothing on standard error"
is "$(redis HGET 'later:{mail}:jobs' m1)" \
    '{"type":"mail.send","id":"m1","priority":7,"max_attempts":3,"retry_for":7200,"timeout":90,"backoff":[1,300],"expires_at":2082758400,"lock":"account\"7\"","trace":"t-1","on_dead":"alert","on_done":"a.b","payload":{"to":"a@b.c"}}' \
    "the document has what was said"
is "$(noted p m1 mail)" 7 "the priority is kept"
is "$(redis SISMEMBER later:queues mail)" 1 "the queue is announced"
is "$(redis LLEN 'later:{mail}:wake')" 1 "a wake is left"

run later push mail.send --id m1 -q mail
is "$status $out" "0 m1" "a known id is no failure"
is "$err" "later push: exists (ready)" "a push of a known id names its state"
is "$(later push mail.send --id m1 -q mail --json 2>/dev/null)" \
    '{"queue":"mail","id":"m1","result":"exists","state":"ready"}' "with --json: its state"
is "$(later --json push mail.send '[1]' --id=m1 -qmail --replace)" \
    '{"queue":"mail","id":"m1","result":"replaced"}' "--replace; options before the command"
is "$(redis HGET 'later:{mail}:jobs' m1)" '{"type":"mail.send","id":"m1","payload":[1]}' \
    "--replace puts in the new document"

# ---- an id that stays taken after its job has ended

# perform Q ID: performs it by hand
perform()
{
    later ack "$2" --token "$(later reserve "$1" | cut -f 2)" -q "$1"
}
is "$(later push t -q once --id u --unique-for 2h)" u "--unique-for pushes the job"
is "$(noted u u once)" 7200.000000 "is kept beside the job"
perform once u
run later push t -q once --id u --json
is "$status $out" '0 {"queue":"once","id":"u","result":"exists","state":"ended"}' "the id is taken"
run later push t -q once --id u --replace
is "$status $err" "0 later push: exists (ended)" "an id that stays taken is not replaced"
run later kick u -q once
is "$status" 66 "kick knows no such job"
is "$(later cancel u -q once)" "$(printf 'u\tended')" "cancel frees it"
run later push t -q once --id u --unique-for 0.05
is "$status $err" "0 " "it can be pushed again"
perform once u
run wait_until 5 sh -c '[ -z "$("$1" push t -q once --id u 2>&1 >/dev/null)" ]' sh "$later_bin"
is "$status" 0 "it is free when its time has passed"
perform once u
printf '%s\n' '{"type":"t","id":"f1","unique_for":600}' '{"type":"t","id":"f2"}' \
    '{"type":"t","id":"f3","unique_for":-1}' >"$work/unique"
run later push --file "$work/unique" -q once
is "$status $out" "65 f1
f2" "unique_for in the lines of a file; a bad one is refused"
like "$err" 'line 3: unique_for: must be from 0 to 1000000000 seconds' \
    "a bad unique_for in a file is named with its line"
perform once f1
perform once f2
run later push --file "$work/unique" -q once --json
like "$out" '"id":"f1","result":"exists","state":"ended","line":1' "each line is answered: ended"
like "$out" '"id":"f2","result":"pushed","line":2' "each line is answered: pushed"
run later push t --unique-for 40000000000
is "$status" 64 "--unique-for has a limit"
taken=
for option in $(later help push | sed '/^Options of every/,$d' | sed -n 's/^  \(-., \|    \)--\([a-z-]*\).*/\2/p'); do
    case $option in adder | file | flow | home | open | queue | replace) continue ;; esac
    run later push --file "$work/unique" "--$option" 5
    case "$status $err" in
    "64 later push: --$option: with --file, each line sets its own"*) ;;
    *) taken="$taken $option" ;;
    esac
done
is "$taken" "" "--file: each line sets its own, whatever the option"
run later check
is "$status" 0 "later check adds up"

like "$(later push t)" '^[0-9A-Za-z]{14}$' \
    "without an id: a new one, into default"
like "$(redis HVALS 'later:{default}:jobs')" '^\{"type":"t","id":"[0-9A-Za-z]{14}"\}$' \
    "without a payload there is no member for it"

now=$(redis TIME | head -n 1)
later push t -q soon --id in --in 2h >/dev/null
score=$(redis ZSCORE 'later:{soon}:delayed' in | cut -d. -f1)
is "$((score - now >= 7200 && score - $(redis TIME | head -n 1) <= 7200))" 1 "--in 2h is due in two hours"
later push t -q soon --id at --at 2035-12-31T23:59:59.5+01:00 >/dev/null
is "$(redis ZSCORE 'later:{soon}:delayed' at)" 2082754799.5 "--at with an offset"
run later push t -q soon --id past --at 1000000000
is "$(redis ZRANGE 'later:{soon}:ready' 0 -1)" past "a time that is over is now"
is "$status $out $err" '0 past later push: --at: 1000000000 has passed: the job is due now' \
    "--at a time that has passed is due now, with a message"

printf '[1,\n 2]\n' | later push t - --id stdin -q p >/dev/null
is "$(redis HGET 'later:{p}:jobs' stdin)" "$(printf '{"type":"t","id":"stdin","payload":[1,\n 2]}')" \
    "- is standard input; the line end behind it is no part of it"
printf 'a "q" \\ \303\251' | later push t - --text --id text -q p >/dev/null
is "$(redis HGET 'later:{p}:jobs' text)" \
    "$(printf '%s\303\251"}' '{"type":"t","id":"text","payload":"a \"q\" \\ ')" \
    "--text makes a string"

# ---- the payload's bytes come back unchanged from every command that returns them

printf '%s\n' '[]' '{}' '12345678901234567890' '0.1' '-0' '1E5' '{"a":  [1,  2]}' '"\/"' \
    '"\u00e9"' '"h\u00e4'"$(printf '\303\266\342\202\254\360\237\230\200')"'"' 'null' '"\\\"\n"' \
    '-5' '1e-999' >"$work/payloads"
number=0
while IFS= read -r payload; do
    number=$((number + 1))
    id=b$number
    later push bytes "$payload" -q bytes --id "$id" >/dev/null </dev/null
    wanted=$(printf '{"type":"bytes","id":"%s","payload":%s}' "$id" "$payload" | sha256sum)
    is "$(later show "$id" -q bytes --json </dev/null | field document | tr -d '\n' | sha256sum)" \
        "$wanted" "show --json gives back payload $number"
    is "$(later peek bytes -n 1 </dev/null | cut -f 8 | tr -d '\n' | sha256sum)" "$wanted" \
        "peek gives back payload $number"
    line=$(later reserve bytes --json </dev/null)
    is "$(printf '%s' "$line" | field document | tr -d '\n' | sha256sum)" "$wanted" \
        "reserve --json gives back payload $number"
    later ack "$id" --token "$(printf '%s' "$line" | field token)" -q bytes </dev/null
    later push bytes "$payload" -q bytes --id "$id" >/dev/null </dev/null
    is "$(later work bytes --until-empty -- cat </dev/null | sha256sum)" "$wanted" \
        "work hands on payload $number"
done <"$work/payloads"

# ---- refusals

refused()
{
    wanted_status=$1 pattern=$2
    shift 2
    run later push "$@"
    is "$status" "$wanted_status" "push $*: status"
    like "$err" "$pattern" "push $*: words"
}
refused 65 'payload: not JSON: .* at byte 3' t '[1,'
refused 65 'payload: not JSON: .*; --text makes a string of plain text$' t 'plain text'
refused 65 'byte 9; JSON has names and texts in double quotes, and no comma before \} or \]$' t '{"a": 1,}'
refused 65 'byte 2; JSON has names ' t '{a: 1}'
refused 65 'payload: .* at byte 2' t '1}'
refused 65 'payload' t ''
refused 65 'type' 'a b' 1
refused 65 'id' t 1 --id 'a b'
refused 65 'backoff' t 1 --backoff '{"x":1}'
refused 64 'is not a duration' t 1 --in 5y
refused 64 'is not a time' t 1 --at tomorrow
refused 64 'milliseconds' t 1 --at 1767225600000
refused 64 'for a duration use in' t 1 --at 300
refused 64 'for a duration use expires_in' t 1 --expires-at 0
refused 64 'for a duration use expires_in' t 1 --expires-at 600
refused 64 '0 to 604800 seconds' t 1 --timeout 8d
refused 64 '3651d is longer than ten years' t 1 --result 3651d
refused 64 'from -100 to 100' t 1 --priority 101
refused 64 'from -100 to 100' t 1 --priority 1.5
refused 64 'only one of them' t 1 --in 5 --at 5
refused 64 'TYPE is missing'
refused 64 'too many words, from `"a@b"}` on; one with spaces wants quotes' t '{"to":' '"a@b"}'
refused 64 'queue' t 1 -q 'a{b'
refused 64 'did you mean --priority' t 1 --prioriti 5
refused 64 '--id needs ID' t 1 --id
refused 64 'takes no value' t 1 --text=x
head -c 1048577 /dev/zero | tr '\0' 1 | later push t - >/dev/null 2>"$work/err"
is $? 65 "a payload over 1 MiB"
like "$(cat "$work/err")" 'payload: longer than 1048576 bytes; push where the data is, or raise document.max' "is refused with limit and remedy"
is "$(redis EXISTS 'later:{a{b}:jobs')" 0 "nothing of that was pushed"

# ---- a typing error in the name of a queue

like "$(on_terminal "$later_bin push t -q defualt")" 'pushed to queue defualt, which no laterd serves' \
    "a person is told that nobody serves a queue"
run later push t -q defualt
is "$status $err" "0 " "a program is not"
alive=$(($(redis TIME | head -n 1) + 3600)) # for as long as the test takes
redis HSET later:hosts a:1 "{\"seen\":$alive,\"queues\":[\"mail\",\"default\"]}" >/dev/null
like "$(on_terminal "$later_bin push t -q defualt")" 'laterd serves; did you mean default\?' "the nearest is named"
like "$(on_terminal "$later_bin pause defualt")" 'paused queue defualt, .*; did you mean default\?' \
    "pause warns of a queue that nobody serves, too"
later resume defualt 2>/dev/null
like "$(on_terminal "$later_bin size defualt")" 'nobody' "and a queue that nobody serves is marked in its row"
like "$(on_terminal "$later_bin status")" 'defualt.*nobody' "status says that nobody serves the queue"
run later size mial
is "$status:$err" "66:later size: no queue mial; did you mean mail?" "one that there never was is told to all"
redis HSET later:hosts a:1 "{\"seen\":$alive,\"queues\":[\"defualt\"]}" >/dev/null
is "$(on_terminal "$later_bin push t -q defualt" | grep -c serves)" 0 "nor is a person where somebody does"

# ---- times in the caller's zone

for zone in UTC0 CET-1; do
    TZ=$zone later push t -q zones --id "$zone" --at '2037-01-01 9:00' >/dev/null
done
is "$(redis ZSCORE 'later:{zones}:delayed' UTC0) $(redis ZSCORE 'later:{zones}:delayed' CET-1)" \
    "2114413200 2114409600" "--at in the zone of TZ"

# ---- a file

cat >"$work/jobs" <<'END'
{"type":"a","id":"f1"}

{"type":"a","id":"f2","queue":"files2","in":3600}
{"type":"a","id":"f3",
not json
  {"type":"a","id":"f4","priority":3}	
{"type":"a","id":"f1"}
{"type":"a","at":4102444800,"id":"f5"}
{"id":"no type"}
END
printf '{"type":"a","id":"last"}' >>"$work/jobs"
run later push --file "$work/jobs" -q files
is "$status" 65 "bad lines: status 65"
is "$(printf '%s\n' "$err" | sed -n 's/^later push: \(line [0-9]*:\).*/\1/p' | tr '\n' ' ')" \
    "line 4: line 5: line 9: " "bad lines are named"
like "$err" 'line 9: .*(type|id)' "the message says what is wrong with the line"
like "$err" '5 pushed, 0 replaced, 1 existed, 3 refused' "the sum is told"
is "$(printf '%s\n' "$out" | sort | tr '\n' ' ')" "f1 f1 f2 f4 f5 last " "ids are printed"
is "$(redis ZRANGE 'later:{files}:ready' 0 -1 | tr '\n' ' ')" "f4 f1 last " "good ones are pushed"
is "$(redis ZRANGE 'later:{files}:delayed' 0 -1)" f5 "a line with at is delayed"
is "$(redis ZRANGE 'later:{files2}:delayed' 0 -1)" f2 "queue and in are followed"
is "$(redis HGET 'later:{files}:jobs' f4)" '{"type":"a","id":"f4","priority":3}' \
    "white space around a document is no part of it"
is "$(redis HGET 'later:{files2}:jobs' f2)" '{"type":"a","id":"f2","queue":"files2","in":3600}' \
    "a document is kept as it is"
is "$(echo '{"type":"j","id":"j1"}' | later push -f - -q j --json)" \
    '{"queue":"j","id":"j1","result":"pushed","line":1}' "- is standard input; --json tells the line"
is "$(echo '{"type":"j","id":"j1"}' | later push -f - -q j --replace --json)" \
    '{"queue":"j","id":"j1","result":"replaced","line":1}' "--replace for a file"
{
    printf '{"type":"big","id":"big1","payload":"'
    head -c 1048576 /dev/zero | tr '\0' x
    printf '"}\n{"type":"big","id":"big2"}\n'
} | later push -f - -q big >"$work/out" 2>"$work/err"
is "$? $(cat "$work/out")" "65 big2" "a line that is too long is passed over"
like "$(cat "$work/err")" 'line 1: too large: [0-9]+ bytes, 1048576 allowed; push where the data is, or raise document.max' "a line that is too large is named, with the remedy"
{
    printf '{"type":"big","payload":"'
    head -c 20971520 /dev/zero | tr '\0' x
    printf '"}\n'
} | later push -f - -q big 2>"$work/err"
contains "$(cat "$work/err")" 'line 1: too large: over 1399124 bytes, 1048576 allowed;' \
    "of one that is not read to its end, no length is told that it has not"
run later push --file "$work/none"
is "$status" 66 "no such file: status 66"
run later push --file "$work"
is "$status" 66 "a folder is no file"
contains "$err" "$work: line 1: Is a directory" "and it is named"
run later push --file "$work/jobs" --id x
is "$status" 64 "options of one job do not go with a file"

# rest QUEUE MAX: lets the queue have so many jobs, and pushes what push --file has said is left.
rest()
{
    printf '%s\n' "$err" | sed -n 's/^later push: these lines were not pushed: //p' >"$work/rest"
    redis HSET "later:{$1}:stats" max_jobs "$2" >/dev/null
    sh "$work/rest" | later push --file - >/dev/null 2>&1
}
redis HSET 'later:{full}:stats' max_jobs 1 >/dev/null
for n in 1 2 3; do printf '{"type":"a","queue":"full"}\n{"type":"a","queue":"roomy"}\n'; done >"$work/mixed"
run later push --file "$work/mixed"
is "$status $(printf '%s\n' "$err" | tail -n 2 | sed 's/ is full: .*/ is full/')" "75 later push: these lines were not pushed: sed -n '3p;5p;7,\$p' $work/mixed
later push: line 3: queue full is full" "one of two queues is full: which lines were not pushed"
rest full 100
is "$(redis HLEN 'later:{full}:jobs') $(redis HLEN 'later:{roomy}:jobs')" "3 3" "so the rest can be pushed, and nothing twice"
redis SET 'later:{spread}:shards' '1 4' >/dev/null
for n in 0 1 2 3; do redis HSET "later:{spread/$n}:stats" max_jobs 20 >/dev/null; done
awk 'BEGIN { for (i = 0; i < 200; i++) print "{\"type\":\"a\",\"queue\":\"spread\"}" }' </dev/null >"$work/mixed"
run later push --file "$work/mixed"
like "$status $err" '^later push: line [0-9]*: queue spread is full' "shards that are full"
for n in 1 2 3; do redis HSET "later:{spread/$n}:stats" max_jobs 200 >/dev/null; done
rest spread/0 200
is "$(later size spread | cut -f 2)" 200 "their rest, too"
redis HSET 'later:{tail}:stats' max_jobs 2 >/dev/null
for n in 1 2 3 4; do echo '{"type":"a"}'; done | "$later_bin" push --file - -q tail >/dev/null 2>"$work/err"
is "$(tail -n 1 "$work/err" | sed 's/ is full: .*/ is full/')" "later push: line 3 and those behind it: queue tail is full" \
    "of one queue all lines behind the first are left"

mkfifo "$work/slow"
spawn env --default-signal=INT "$later_bin" push --file "$work/slow" -q stopped
exec 4>"$work/slow"
awk 'BEGIN { for (i = 0; i < 5000; i++) print "{\"type\":\"a\"}" }' </dev/null >&4
printf '{"type":"a",' >&4
pushed()
{
    [ "$(redis HLEN "later:{$1}:jobs")" -eq "$2" ]
}
runs "all whole lines are pushed" wait_until 60 pushed stopped 5000
kill -INT "$spawned"
wait "$spawned"
is "$? $(tail -n 1 "$work/spawned.err")" "75 later push: stopped after line 5000" "^C: how far push --file came"
exec 4>&-
redis HKEYS 'later:{stopped}:jobs' | sort >"$work/there"
sort "$work/spawned.out" >"$work/told"
runs "and the ids of all jobs are printed, whole" cmp "$work/told" "$work/there"
run later push -f /dev/null
is "$status $out$err" "0 " "an empty file is no failure"

# If lines come slowly, each is pushed before the next one comes.
mkfifo "$work/fifo"
"$later_bin" push -f - -q slow <"$work/fifo" >/dev/null 2>&1 &
pusher=$!
own "$pusher"
exec 3>"$work/fifo"
echo '{"type":"s"}' >&3
queue_has()
{
    test "$(redis ZCARD "later:{$1}:ready")" -ge "$2"
}
if wait_until 5 queue_has slow 1; then
    ok "a line is pushed though no more come"
else
    not_ok "a line is pushed though no more come"
fi
exec 3>&-
wait "$pusher"
is $? 0 "and the end is the end"

# ---- the line of a crontab on three hosts, as coming-from.md has it; the job is done in between

# On one day, even if midnight comes meanwhile.
line=$(grep -o 'later push report\.daily [^`]*' "$top_srcdir/doc/coming-from.md" |
    sed "s/date +/date -d @$(date +%s) +/")
eval "$line -q crontab" >"$work/out"
# shellcheck disable=SC2046
runs "coming-from.md: the line of a crontab pushes a job" \
    later ack -q crontab $(later reserve crontab | awk '{ print $1, "--token", $2 }')
for _ in 2 3; do
    eval "$line -q crontab" >"$work/out" 2>&1
done
is "$(redis HGET 'later:{crontab}:stats' pushed)" 1 "coming-from.md: and only one on three hosts"

# ---- an id of type and payload, by the lines of protocol.md

sed -n "s/^    \(job='\[\|later push .*jq \)/\1/p" "$top_srcdir/doc/protocol.md" >"$work/unique.sh"
eval "$(cat "$work/unique.sh")" >"$work/out"
is "$(later show -q default 5b54206178de10ad2c96121b3336bf1f --json | jq -r .state)" ready \
    "protocol.md: a shell makes the id that the clients make"

# ---- each line has its own group

# groups_of_grouped: each group, and how many of its jobs are ready
groups_of_grouped() { later size grouped --groups | cut -f 2,3 | tr '\t\n' ' ;'; }
for g in A B '' C; do
    echo "{\"type\":\"t\",\"step\":\"s$g\"${g:+,\"group\":\"$g\"}}"
done >"$work/groups"
sed 's/"step"/"id"/' "$work/groups" | later push --file - -q grouped >/dev/null
is "$(groups_of_grouped)" " 1;A 1;B 1;C 1;" "push --file: each line has its own group"
later push --file "$work/groups" --flow grouped -q grouped >/dev/null
is "$(groups_of_grouped)" " 2;A 2;B 2;C 2;" "or that of a flow"

# ---- 100,000 lines in bounded memory

awk 'BEGIN { for (i = 0; i < 100000; i++)
    printf "{\"type\":\"bulk\",\"payload\":{\"number\":%d,\"text\":\"some words to make it longer\"}}\n", i }' \
    >"$work/many"
"$later_bin" push -f - -q many <"$work/fifo" >"$work/ids" 2>"$work/err" &
pusher=$!
own "$pusher"
exec 3>"$work/fifo"
begun=$(date +%s%N)
cat "$work/many" >&3
wait_until 60 queue_has many 100000
took=$((($(date +%s%N) - begun) / 1000000))
memory=$(sed -n 's/^VmHWM:[[:space:]]*\([0-9]*\) kB/\1/p' "/proc/$pusher/status")
exec 3>&-
wait "$pusher"
is "$?" 0 "100,000 lines: status 0"
is "$(redis ZCARD 'later:{many}:ready') $(sort -u "$work/ids" | wc -l)" "100000 100000" \
    "all are pushed, each id is printed"
echo "# $took ms, that is $((100000 * 1000 / took)) jobs/s; at most $memory kB of memory"
is "$((memory < 20000))" 1 "in less than 20 MB"
is "$(later check many >"$work/out" && cut -f 3 "$work/out" | sort -u)" ok "later check agrees"
finish
