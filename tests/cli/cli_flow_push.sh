#!/bin/sh
# later push of single jobs into flows: --flow --step --after --when, --then; who may add to a closed one.
. "${top_srcdir:=.}/tests/system/lib.sh"
needs redis-server redis-cli
start_redis 'appendonly yes'

# members FLOW: its jobs, as level, step, state, when and after.
members()
{
    later flow show "$1" | cut -f 1-3,5-6 | tr '\t\n' ',;'
}

# one: the next job is done; prints its id.
one()
{
    line=$(later reserve default) || return 1
    later ack "$(echo "$line" | cut -f 1)" --token "$(echo "$line" | cut -f 2)" -q default >/dev/null
    echo "$line" | cut -f 1
}

# ---- one by one

is "$(later push null --flow f --step a)" f.a "its id is by its step"
is "$(later push null --flow f --step c --after a,b --when ended --id own)" own "or its own"
is "$(later push null --flow f --after '*' --json | sed 's/"id":"[^"]*"/ID/')" \
    '{"queue":"default",ID,"result":"pushed","state":"waiting"}' "one that waits for all"
is "$(later show own --json | sed 's/.*"document"://; s/.*\("flow[^}]*\)}.*/\1/')" \
    '"flow\":\"f\",\"step\":\"c\",\"after\":[\"a\",\"b\"],\"when\":\"ended\"' "the document says all four"
is "$(members f)" "1,a,open,,;2,c,waiting,ended,a,b;3,,waiting,done,*;" "the flow"
# waits ID: what it waits for, as show says.
waits()
{
    later show "$1" --json | sed -n 's/.*"text":"\(waits for [^"]*\)".*/\1/p'
}
is "$(waits own)" "waits for 2 of 2: a (open), b (unknown) in flow f" "show: what a job waits for"
later push null --flow h -q other >/dev/null
is "$(later push null --flow f --step b)" f.b "a step that was waited for"
is "$(waits own)" "waits for 2 of 2: a (open), b (open) in flow f" "show: both are there"
id=$(later flow show f | sed -n '$p' | cut -f 4)
is "$(waits "$id")" "waits for 3 of 3: all others (2 open, 1 waiting, 0 dead), and until the flow is closed in flow f" "show: all jobs"
is "$(later size default other | cut -f 1,10 | tr '\t\n' ' ;')" "default 2;other 0;" "size: the waiting have a column"
run later push null --flow f --step b
is "$status $out" "0 f.b" "the same step again is no failure"
contains "$err" "exists (ready)" "which is said"
run later push null --flow f --step b --id other
is "$status" 65 "a step has one job"
contains "$err" "step b is job f.b" "which is said"
later flow close f
is "$(one) $(one) $(one)" "f.a f.b own" "they run one after the other"

# ---- closed

run later push null --flow f --step late
is "$status" 65 "a closed flow takes no more"
contains "$err" "flow f is closed: only a running job of it may add to it" "why"
id=$(later flow show f | sed -n '$p' | cut -f 4)
is "$(later push null --flow f --step late --adder "$id")" f.late "but from a job of it that runs"
printf '%s\n' '{"type":"null","step":"x"}' '{"type":"null","step":"y","after":["x"]}' >"$work/more"
is "$(later push --flow f --file "$work/more" --adder "$id" | tr '\n' ' ')" "f.y f.x " "or a file of them"
is "$(later flow wait f --timeout 0 2>&1 >/dev/null)" "later flow: f is running; it goes on" "it goes on"
run later push null --flow f --adder f.a
is "$status" 65 "one that has ended may not"
while [ -n "$(one)" ]; do :; done
is "$(later flow wait f | cut -f 3,4)" "$(printf 'done\t7')" "all are done"

# ---- into another queue than the flow's, and into a spread one

is "$(later push null --flow wide --step a --after b -q mail --home default)" wide.a "a job of another queue"
is "$(later push null --flow wide --step b -q mail --home default --json)" \
    '{"queue":"mail","id":"wide.b","result":"pushed","state":"waiting"}' "which waits until the flow has heard of it"
redis SET 'later:{spread}:shards' '1764000000123 4 1' >/dev/null
later push null --flow wide --step c -q spread --home default >/dev/null
redis SET 'later:{home}:shards' '1764000000123 2 1' >/dev/null
later push null --flow spread --step a -q home >/dev/null
run later push null --flow wide --step a -q mail --home default
is "$status $err" "0 later push: exists (waiting)" "the same again adds nothing"
is "$(later flow show wide | cut -f 2,7 | sort | tr '\t\n' ',;' | sed 's/[0-9]/N/')" "a,mail;b,mail;c,spread/N;" "all lie in one flow"
is "$(later flow show spread | cut -f 2,7 | tr '\t\n' ',;' | sed 's/[0-9]/N/')" "a,home/N;" "a flow of a spread queue"
is "$(later push null --flow wide --step d --json)" '{"queue":"default","id":"wide.d","result":"pushed"}' "one of its own queue"
printf '%s\n' '{"type":"null","step":"e"}' '{"type":"null","step":"f","after":["e"],"queue":"default"}' >"$work/more"
is "$(later push --flow wide --file "$work/more" --open -q mail --home default --json | cut -d, -f 1,4 | tr '\n' ' ')" \
    '{"queue":"default","state":"waiting" {"queue":"mail","state":"waiting" ' "a file: -q is the queue of its lines then"
later flow cancel wide >/dev/null
later flow cancel spread >/dev/null

# ---- --then

later push first '{"n":1}' --flow chain --step begin --then second='{"n":2}' --then third >"$work/ids"
is "$(tr '\n' ' ' <"$work/ids")" "chain.begin chain.2 chain.3 " "a chain: the ids"
is "$(members chain)" "1,begin,open,,;2,2,waiting,done,begin;3,3,waiting,done,2;" "each after the one before"
is "$(later show chain.2 --json | grep -o 'payload.*n[^}]*')" 'payload\":{\"n\":2' "a payload"
is "$(one) $(one) $(one) $(one)" "chain.begin chain.2 chain.3 " "one by one"
is "$(later flow wait chain | cut -f 3)" "done" "and it was closed"
later push first --then second --json >"$work/ids"
is "$(sed 's/"id":"[A-Za-z0-9]*\./"id":"F./' "$work/ids" | tr '\n' ' ')" \
    '{"queue":"default","id":"F.1","result":"pushed"} {"queue":"default","id":"F.2","result":"pushed"} ' \
    "a flow without a name gets one"
is "$(later push first x --text --then second=y --flow texts | wc -l | tr -d ' ')" 2 "text"
is "$(later show texts.2 --json | grep -o 'payload.*y[^}]*')" 'payload\":\"y\"' "for all of them"
run later push first --then second --flow texts
is "$status $err" "0 later push: flow texts: 0 pushed, 2 existed" "the same again adds nothing"

# ---- what is refused

# refused STATUS WORDS ARGUMENT...
refused()
{
    code=$1 words=$2
    shift 2
    run later push "$@"
    is "$status" "$code" "push $*: refused"
    contains "$err" "$words" "push $*: why"
}
refused 64 "step, after, when, adder, home: go with flow" t --step a
refused 64 "step, after, when, adder, home: go with flow" t --after a
refused 64 "step, after, when, adder, home: go with flow" t --adder a
refused 64 "step, after, when, adder, home: go with flow" t --home a
refused 64 "--home goes with --flow" --home a --file "$work/more"
refused 64 "queue a b: a name is 1 to 64" t --flow g --home 'a b'
refused 64 "queue a b: a name is 1 to 64" --flow g --home 'a b' --file "$work/more"
refused 64 "--then and --home" t --flow g --home a --then u
refused 64 "--flow: 1 to 64" t --flow 'a b'
refused 64 "--step: 1 to 64" t --flow g --step 'a b'
refused 65 "after: must be a list of 1 to 100 steps" t --flow g --after 'a,,b'
refused 65 "when: must be done, ended or failed" t --flow g --after a --when never
refused 65 "when: needs" t --flow g --when failed
refused 64 "not for a job of a flow" t --flow g --id x --throttle 5
refused 64 "--then and --after" t --flow g --after a --then u
refused 64 "\`later flow wait F\` waits for all" t --then u --wait
refused 64 "--then: TYPE or TYPE=PAYLOAD" t --then '=1'
refused 65 "job 2: payload: not JSON" t --then 'u=x'
refused 64 "--step goes with --flow" t --step a --then u
refused 64 "--open goes with --flow and --file" t --flow g --open
refused 64 "--after: with --file" --flow g --after a --file "$work/more"
refused 65 "line 1: flow, step, after: push the file with --flow F" --file "$work/more"
is "$(later flow --json | grep -c '"g"')" 0 "nothing was pushed"

# ---- a waiting job that was exported goes back into a flow, not beside it

later push null --flow e --step a -q third >/dev/null
later push null --flow e --step b --after a -q third >/dev/null
later export -q third --state ready >"$work/exported"
run later push --file "$work/exported"
is "$status $(wc -l <"$work/exported" | tr -d ' ')" "0 1" "an exported job that does not wait is as any other"
is "$(later check default >/dev/null; echo $?)" 0 "the sums hold"
finish
