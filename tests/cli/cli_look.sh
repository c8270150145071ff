#!/bin/sh
# later size --names, size, peek, show.
. "${top_srcdir:=.}/tests/system/lib.sh"
start_redis 'appendonly no'

run later size --names
is "$status $out" "0 " "no queues, no output"
run later size nothing --json
is "$status $out$err" '66 later size: no queue nothing' "a queue that never was is no queue"

later push a --id r1 -q mail >/dev/null
later push b --id r2 -q mail --priority 5 >/dev/null
later push c --id d1 -q mail --at 4102444800 >/dev/null
later push d --id x1 -q big >/dev/null
later push e --id dead1 -q mail --priority 100 >/dev/null
line=$(later reserve mail)
later bury dead1 --token "$(printf '%s' "$line" | cut -f 2)" -q mail --error 'no "such" address'
later push f --id held -q mail --priority 100 >/dev/null
later reserve mail >/dev/null
redis ZADD 'later:{mail}:ready' 1000 '{"type":"plain","payload":[1]}' >/dev/null

is "$(later size --names | tr '\n' ' ')" "big mail " "queues in order"
is "$(later size --names --json | tr '\n' ' ')" '{"queue":"big"} {"queue":"mail"} ' "queues --json prints an object a queue"
is "$(later size | cut -f 1-6)" "$(printf 'big\t1\t0\t0\t0\tno\nmail\t3\t1\t1\t1\tno')" \
    "size in a pipe: separated by TAB, no headings"
is "$(later size mail --json | sed 's/,"oldest_ready.*//')" \
    '{"queue":"mail","ready":3,"delayed":1,"reserved":1,"dead":1,"waiting":0,"paused":false' "size --json has all numbers"
like "$(later size big --json)" '"oldest_ready":[0-9]+(\.[0-9]+)?,"served":0,"overdue":0,"counts":\{"pushed":[1-9][0-9]*,"adopted":0,"done":0,"released":0,"buried":0\}\}$' "with the age of the oldest"
run later size mail nothing big
is "$status $(printf '%s\n' "$out" | cut -f 1 | tr '\n' ' ')" "66 mail big " "the others are told"
now=$(redis TIME | head -n 1) alive=$((now + 3600)) # for as long as the test takes
redis HSET later:hosts a:1 "{\"host\":\"a\",\"seen\":$alive,\"queues\":[\"mail\",\"idle\"]}" \
    b:1 "{\"host\":\"b\",\"seen\":$alive,\"queues\":[\"mail\"]}" \
    c:1 "{\"host\":\"c\",\"seen\":$((now - 100)),\"queues\":[\"mail\",\"big\"]}" d:1 '[' >/dev/null
is "$(later size mail big idle | cut -f 1,8 | tr '\n' ' ')" "$(printf 'mail\t2 big\t0 idle\t1 ')" \
    "how many hosts serve it; those that are gone do not count"
is "$(later size mail --json | field served | tr '\n' ' ')" "2 " "size --json counts the hosts that serve the queue"
redis DEL later:hosts >/dev/null
later pause mail
is "$(later size mail | cut -f 6)" yes "a pause is shown"
later resume mail

# ---- peek

is "$(later peek mail | cut -f 1-3)" \
    "$(printf '\tready\tplain\nr2\tready\tb\nr1\tready\ta')" "peek: the ready ones in their order"
is "$(later peek mail -n 2 | wc -l)" 2 "-n"
is "$(later peek mail -n 1 --offset 1 | cut -f 1)" r2 "peek --offset skips jobs"
is "$(later peek mail --offset 3)" "" "beyond the last one there is nothing"
is "$(later peek mail --state delayed | cut -f 1-6)" "$(printf 'd1\tdelayed\tc\t4102444800\t0\t0')" \
    "peek --state delayed"
is "$(later peek mail --state reserved | cut -f 1-2)" "$(printf 'held\treserved')" \
    "peek --state reserved"
is "$(later peek mail --state dead | cut -f 1,2,5-8)" \
    "$(printf 'dead1\tdead\t1\t100\tburied: no "such" address\t{"type":"e","id":"dead1","priority":100}')" \
    "peek --state dead: attempts, priority, error, document"
line=$(later peek mail --state dead --json)
is "$(printf '%s' "$line" | sed 's/"score":[0-9.]*/"score":S/; s/"at":[0-9.]*/"at":T/; s/"host":"[^"]*"/"host":"H"/')" \
    '{"queue":"mail","id":"dead1","state":"dead","type":"e","score":S,"attempts":1,"priority":100,"error":{"at":T,"attempt":1,"kind":"buried","text":"no \"such\" address","host":"H"},"document":"{\"type\":\"e\",\"id\":\"dead1\",\"priority\":100}"}' \
    "peek --json: the members of the contract, in order"
like "$(later peek mail --json -n 1)" '"id":null,.*"type":"plain","score":1000,' \
    "a plain ZADD has no id yet"
is "$(later size mail --json | field ready)" 3 "looking changes nothing"
run later peek mail --state ended
is "$status" 64 "a state that there is not"

redis ZADD 'later:{odd}:ready' 1 "$(printf '{"a\tb\nc')" 2 '{"type":"esc","x":"\u001b"}' >/dev/null
redis HSET 'later:{odd}:jobs' bad "$(printf '\377\033[31m{')" >/dev/null
redis ZADD 'later:{odd}:ready' 3 bad >/dev/null
is "$(later peek odd | wc -l)" 3 "a document with line ends is one line"
is "$(later peek odd | head -n 1 | cut -f 8)" '{"a b c' "TAB and line end become spaces"
is "$(later peek odd --json | tail -n 1 | field document)" \
    "$(printf '\357\277\275\\u001b[31m{')" "bytes that are no UTF-8 become U+FFFD, control ones \\u"
like "$(later peek odd --json | tail -n 1)" '"type":null' "without a type: null"

redis EVAL 'for i = 1, 1200 do redis.call("ZADD", KEYS[1], i, "id" .. i) redis.call("HSET", KEYS[2], "id" .. i, "{\"type\":\"n\"}") end' \
    2 'later:{pages}:ready' 'later:{pages}:jobs' >/dev/null
is "$(later peek pages -n 1100 | cut -f 1 | sort -u | wc -l)" 1100 "more than a call gives"

redis ZADD 'later:{far}:delayed' inf far1 -inf far2 1e308 far3 >/dev/null
redis HSET 'later:{far}:jobs' far1 '{"type":"t"}' far2 '{"type":"t"}' far3 '{"type":"t"}' >/dev/null
is "$(later peek far --state delayed | cut -f 1,4 | tr '\n' ' ')" "$(printf 'far2\t-inf far3\t1e+308 far1\tinf ')" \
    "scores that no clock has"
is "$(later peek far --state delayed --json | field score | tr '\n' ' ')" "-inf 1e+308 inf " \
    "peek --json prints infinite and huge scores"

# What others have put into Redis must not reach a terminal, however it is printed.
bad=$(printf 'a\033[31m\302\233m\342\200\256b')
redis HSET 'later:{evil}:jobs' "$bad" '{"type":"t","\u009b":1,"\u009b":2}' >/dev/null
redis ZADD 'later:{evil}:ready' 1 "$bad" >/dev/null
clean()
{
    printf '%s' "$1" | LC_ALL=C grep -cE "$(printf '\033\\[31m|\302\233|\342\200\256')"
}
is "$(clean "$bad")" 1 "escapes of three kinds are found where they are"
is "$(clean "$(NO_COLOR=1 && export NO_COLOR && on_terminal "$later_bin peek evil")")" 0 \
    "tables send no control characters of a job to a terminal"
run later kick "$bad" -q evil
is "$status $(clean "$err")" "66 0" "messages send no control characters of an id to a terminal"
run later reserve evil
is "$status $(clean "$err")" "75 0" "what is buried, and why"
like "$err" 'b.*buried: ' "is told all the same"

# ---- show

is "$(later show r1 -q mail | cut -f 1-3,5-8)" \
    "$(printf 'r1\tready\ta\t0\t0\t\t{"type":"a","id":"r1"}')" "show in a pipe"
run later show r1 none held -q mail --json
is "$status" 66 "one is not there: status 66"
like "$err" "^later show: no job none in queue mail: " "show names the id that it does not find"
is "$(printf '%s\n' "$out" | field state | tr '\n' ' ')" "ready reserved " "the others are shown"
like "$out" '"id":"held","state":"reserved","type":"f","score":null,' \
    "a reserved one has no score that its id tells"
run later show r1 -q big
like "$status $err" "^66 later show: no job r1 in queue big: " "in another queue it is not"
is "$(later show r1 held --json | field queue | tr '\n' ' ')" "mail mail " "without -q it is found in any queue"
later push a --id r1 >/dev/null
run later show r1 held --json
is "$status $(printf '%s' "$out" | field queue) $err" \
    "64 mail later show: the queues default and mail both have a job r1: say which with -q" \
    "if it is in several, they are named"
run later show nowhere
like "$status $err" '^66 later show: no job nowhere in any queue: it has ended or been cancelled, or never existed; types\.keep .*later wait' \
    "of an id that is in no queue, show says what would keep it"

# ---- on a terminal

screen=$(on_terminal "$later_bin size")
like "$screen" 'QUEUE.*READY.*DELAYED.*RESERVED.*DEAD.*PAUSED.*OLDEST READY' "headings on a terminal"
like "$screen" "$(printf '\033')\[1mQUEUE" "headings are bold on a terminal"
is "$(NO_COLOR=1 && export NO_COLOR && on_terminal "$later_bin size" | grep -c "$(printf '\033')")" 0 \
    "no colours with NO_COLOR"
is "$(on_terminal "TERM=dumb $later_bin size" | grep -c "$(printf '\033')")" 0 \
    "none on a dumb terminal"
columns=$(NO_COLOR=1 && export NO_COLOR && on_terminal "$later_bin peek mail --state dead; $later_bin peek odd" |
    awk '{ print length($0) }' | sort -n | tail -n 1)
is "$((columns <= 110))" 1 "lines are cut at the terminal's edge"
is "$(NO_COLOR=1 && export NO_COLOR && on_terminal "$later_bin peek odd" | grep -c "$(printf '\033')")" 0 \
    "a document's control bytes do not reach the terminal"
later push t 7 -q described --id d1 --description 'Invoice é 7' >"$work/out"
like "$(on_terminal "$later_bin show d1 -q described")" 'description.*Invoice é 7' "a person is told its description"
is "$(later search -q described --where description='Invoice é 7' | cut -f 1)" d1 "which is found"
like "$(on_terminal "$later_bin show dead1 -q mail")" 'error.*buried: no "such" address' \
    "show on a terminal: one below the other"

# ---- where there is nothing, a person is told what to do

is "$(later peek mail --state waiting; later cron; later flow; later lock; later history mail)" "" \
    "a program reads nothing"
# nothing WORDS SENTENCE
nothing()
{
    is "$(NO_COLOR=1 && export NO_COLOR && on_terminal "$later_bin $1" | tr -d '\r')" "$2" "later $1: a person reads why"
}
nothing 'peek mail --state waiting' 'no waiting job in mail; `later size mail` counts all'
nothing 'peek mail --state waiting --json' ''
nothing cron 'no schedule; `later cron set NAME EXPRESSION TYPE` makes one'
nothing flow 'no flow; `later push --flow NAME --file FILE` makes one'
nothing 'flow --state open' 'no flow of this state'
nothing lock 'no lock, limit or max_running is in use'
nothing 'history mail' 'no job was performed in that time'

# ---- how it failed before

later push t -q failing --id f >/dev/null
is "$(later show f -q failing --json | field earlier)" "" "a job that has not failed has no earlier errors"
for why in one "two$(printf '\033')[31m
more" three; do
    later release f --token "$(later reserve failing | cut -f 2)" -q failing --error "$why" >/dev/null
done
told=$(later show f -q failing --json)
like "$told" '"error":\{"at":[0-9.]+,"attempt":3,"kind":"retry","text":"three".*"earlier":\[\{"at":[0-9.]+,"attempt":2,"kind":"retry","text":"two\\u001B\[31m","host":"[^"]+"\},\{"at":[0-9.]+,"attempt":1,"kind":"retry","text":"one","host":"[^"]+"\}\]' \
    "show --json: the newest first"
screen=$(NO_COLOR=1 && export NO_COLOR && on_terminal "$later_bin show f -q failing")
like "$screen" 'attempt 2 .*retry: two' "on a terminal a line each"
is "$(printf '%s' "$screen" | grep -c "$(printf '\033')")" 0 "without what it would obey"
redis HSET 'later:{failing}:records' f 'h=[{"at":1}, 7, "x", {}]' >/dev/null
run later show f -q failing --json
is "$status" 0 "what a foreign hand wrote there is shown as far as it goes"
redis HSET 'later:{failing}:records' f 'h={"at":1' >/dev/null
is "$(later show f -q failing --json | field earlier)" "" "earlier errors that cannot be read are left out"
finish
