#!/bin/sh
# Documents that are broken or wrong never run and are never lost. Each becomes dead with its reason
# and keeps its bytes. Good ones around it run once, and no worker is restarted.
. "${top_srcdir:=.}/tests/system/daemon.sh"
start_redis
configure 'workers = 2;'
start_laterd
pids=$(workers)
number=0

# bad REASON DOCUMENT: pushes it between good ones. Its error must say REASON.
bad()
{
    number=$((number + 1))
    [ "$(push_script "bad-$number" "$2")" = PUSHED ] || echo "# bad-$number is refused by push.lua"
    push_job "good-$number" '"type":"note"'
    printf '%s\n' "$1" >"$work/reason-$number"
    printf %s "$2" >"$work/document-$number"
}

# repeat N TEXT
repeat()
{
    awk -v n="$1" -v text="$2" 'BEGIN { for (i = 0; i < n; i++) printf "%s", text }'
}

bad JSON 'not JSON'
bad JSON '{'
bad JSON '{"type":"note"'
bad JSON '{"type":"note"}}'
bad JSON '{"type":"note"} {"type":"note"}'
bad JSON '{"type":"note","payload":[1,]}'
bad JSON '{"type":"note","payload":NaN}'
bad JSON '{"type":"note","payload":01}'
bad JSON "{'type':'note'}"
bad JSON '{"type":"note","payload":"\x"}'
bad JSON '{"type":"note","payload":"\ud800"}'
bad JSON "$(printf '{"type":"note","payload":"\377\376"}')"
bad JSON "$(printf '{"type":"note","payload":"\001"}')"
bad JSON "$(printf '\357\273\277{"type":"note"}')"
bad object '[]'
bad object '[{"type":"note"}]'
bad object '"note"'
bad object 17
bad object null
bad type '{}'
bad type '{"payload":{"type":"note"}}'
bad type '{"type":null}'
bad type '{"type":7}'
bad type '{"type":["note"]}'
bad type '{"type":""}'
bad type '{"type":"no te"}'
bad type '{"type":"nöte"}'
bad type "{\"type\":\"$(repeat 129 n)\"}"
bad duplicate '{"type":"note","type":"note"}'
bad duplicate '{"type":"note","payload":1,"payload":2}'
bad duplicate '{"type":"note","payload":{"a":1,"a":2}}'
bad duplicate '{"type":"note","typ\u0065":"bytes"}'
bad max_attempts '{"type":"note","max_attempts":0}'
bad max_attempts '{"type":"note","max_attempts":-3}'
bad max_attempts '{"type":"note","max_attempts":1.5}'
bad max_attempts '{"type":"note","max_attempts":"3"}'
bad max_attempts '{"type":"note","max_attempts":99999999999999999999}'
bad timeout '{"type":"note","timeout":0}'
bad timeout '{"type":"note","timeout":-1}'
bad timeout '{"type":"note","timeout":"10"}'
bad timeout '{"type":"note","timeout":null}'
bad 'number too large' '{"type":"note","timeout":1e999}'
bad backoff '{"type":"note","backoff":"1"}'
bad backoff '{"type":"note","backoff":[]}'
bad backoff '{"type":"note","backoff":[1,"2"]}'
bad backoff '{"type":"note","backoff":-1}'
bad backoff '{"type":"note","backoff":{"base":true}}'
bad backoff '{"type":"note","backoff":{"base":-1}}'
bad expires_at '{"type":"note","expires_at":"tomorrow"}'
bad expires_at '{"type":"note","expires_at":-1}'
bad trace '{"type":"note","trace":1}'
bad trace "{\"type\":\"note\",\"trace\":\"$(repeat 257 t)\"}"
bad on_dead '{"type":"note","on_dead":"a b"}'
bad on_done '{"type":"note","on_done":""}'
bad hook_of '{"type":"note","hook_of":"a b"}'
bad priority '{"type":"note","priority":101}'
bad priority '{"type":"note","priority":"high"}'
bad id '{"type":"note","id":7}'
bad id '{"type":"note","id":""}'
bad deep "{\"type\":\"note\",\"payload\":$(repeat 128 '[')$(repeat 128 ']')}"
count=$number

# Too large for a command line, so a program pushes it.
repeat 1048577 ' ' >"$work/large"
redis -x HSET "$(key jobs)" large <"$work/large" >/dev/null
redis HINCRBY "$(key stats)" pushed 1 >/dev/null
redis ZADD "$(key ready)" 1 large >/dev/null
# A member that is not a document, and has none in jobs.
redis ZADD "$(key ready)" 2 ghost >/dev/null
# A document that reaches every limit but exceeds none. (The shortest timeout has none, and would end the
# worker if that stood still.)
push_job limit "\"type\":\"note\",\"trace\":\"$(repeat 256 t)\",\"max_attempts\":1,\"timeout\":604800,\"payload\":$(repeat 127 '[')$(repeat 127 ']')"

within 20 "$((count + 1)) good jobs are done" counts 'done' $((count + 1))
within 20 "$((count + 2)) bad ones are dead" counts buried $((count + 2))
is "$(cut -d' ' -f1 "$work/begun" | sort | uniq -c | awk '$1 != 1 || $2 !~ /^(good-|limit$)/')" "" \
    "each good one ran once, a bad one never"
is "$(workers)" "$pids" "no worker was restarted"

for number in $(seq "$count"); do
    redis HGET "$(key jobs)" "bad-$number" | head -c -1 >"$work/kept"
    reason=$(cat "$work/reason-$number")
    error=$(error_of "bad-$number")
    case $(is_dead "bad-$number" && cmp "$work/kept" "$work/document-$number" && echo "$error") in
    *'"attempt":0,"kind":"bad","text":"'*"$reason"*) ok "$reason: $(head -c 60 "$work/document-$number")" ;;
    *)
        not_ok "$reason: $(head -c 60 "$work/document-$number" | tr '\n' ' ')"
        printf '# dead: %s; error: %s\n' "$(is_dead "bad-$number" && echo yes)" "$error"
        ;;
    esac
done
contains "$(error_of large)" '1048576' "too large: the error names the limit"
is "$(redis HSTRLEN "$(key jobs)" large)" 1048577 "and its bytes are kept"
ghost=$(printf ghost | sha1sum | cut -d' ' -f1)
contains "$(error_of "$ghost")" '"kind":"bad"' "a member without a document is dead, too"
is "$(attempts_of bad-1)" 0 "none has an attempt"

# ---- 500 of them, pushed at once among 500 good ones

before=$(dead)
i=0
while [ "$i" -lt 500 ]; do
    i=$((i + 1))
    printf 'ZADD %s 5 "%s"\r\n' "$(key ready)" "{\\\"type\\\":\\\"note\\\",\\\"n\\\":$i,}"
    printf 'ZADD %s 5 "%s"\r\n' "$(key ready)" "{\\\"type\\\":\\\"note\\\",\\\"n\\\":$i}"
done | redis >/dev/null
within 20 "500 more bad ones are dead" counts buried $((count + 502))
within 20 "500 more good ones are done" counts 'done' $((count + 501))
is "$(lines begun)" "$((count + 501))" "each good job has run once"
is "$(($(dead) - before)) $(workers)" "500 $pids" "still no worker was restarted"

end_well
finish
