#!/bin/sh
# However a job is pushed, it is performed once, with exactly its payload's bytes.
. "${top_srcdir:=.}/tests/system/daemon.sh"
start_redis
configure 'workers = 2;'
start_laterd

# One payload per line. They are numbered.
{
    printf '%s\n' '[]' '{}' '12345678901234567890' '0.1' '-0' '1E5' '1.0' 'null' 'true' '""' \
        '"two  spaces"' '{ "a" :  [ 1,2 , 3 ],"a b":"\/" }' '"\/\u0000\ud83d\ude00\"\\"' \
        '"größe, 雪 und 🎉"' '-1.5e-300' '{"z":1,"a":2,"z2":{"b":[[[]]]}}'
    printf '"%050000d"\n' 7
    awk 'BEGIN { for (i = 0; i < 120; i++) printf "["; for (i = 0; i < 120; i++) printf "]"; print "" }'
} >"$work/payloads"
count=$(wc -l <"$work/payloads")

# ---- pushing each of them in five ways

expect()
{
    echo "$1 $number" >>"$work/expected"
}

add()
{
    document="{\"type\":\"bytes\",\"payload\":$payload,\"way\":\"$1 $number\"}"
    redis ZADD "$(key "$1")" "$(present)" "$document" >/dev/null
    expect "$(printf %s "$document" | sha1sum | cut -d' ' -f1)"
}

number=0
while IFS= read -r payload; do
    number=$((number + 1))
    printf %s "$payload" >"$work/payload-$number"
    push_job "script-$number" "\"type\":\"bytes\",\"payload\":$payload"
    expect "script-$number"
    add ready
    add delayed
    printf %s "$payload" | later push bytes - --id "later-$number" >/dev/null
    expect "later-$number"
    "$tools/push" "$LATER_REDIS_URL" default one 1 bytes "$payload" "library-$number-"
    expect "library-$number-1"
done <"$work/payloads"
while IFS= read -r payload; do
    printf '{"type":"bytes","id":"file-%d","payload":%s}\n' $((number += 1)) "$payload"
done <"$work/payloads" >"$work/jobs.ndjson"
later push --file "$work/jobs.ndjson" >/dev/null
for number in $(seq "$count"); do
    expect "file-$((count + number))"
done

total=$((6 * count))
within 20 "$total jobs are done" counts 'done' "$total"
is "$(lines ended) $(cut -d' ' -f1 "$work/ended" | sort -u | wc -l)" "$total $total" "each job has ended once"
is "$(counted pushed) $(counted adopted)" "$((4 * count)) $((2 * count))" "pushed, adopted"

# ---- the bytes

sum_of()
{
    sha256sum <"$1" 2>/dev/null | cut -d' ' -f1
}

for number in $(seq "$count"); do
    wanted=$(sum_of "$work/payload-$number")
    wrong=
    while read -r id of; do
        case $id in
        file-*) of=$((${id#file-} - count)) ;;
        esac
        [ "$of" != "$number" ] || [ "$(sum_of "$work/bytes-$id")" = "$wanted" ] || wrong="$wrong $id"
    done <"$work/expected"
    is "$wrong" "" "the bytes of $(head -c 40 "$work/payload-$number")"
done

# ---- a member that comes without a wake, while all workers are idle

document='{"type":"note","payload":"a plain ZADD"}'
before=$(present)
redis ZADD "$(key ready)" 0 "$document" >/dev/null
id=$(printf %s "$document" | sha1sum | cut -d' ' -f1)
within 5 "a plain ZADD is performed" begun "$id"
in_time "$(sum "$(began "$id") - $before")" 1 "s until it was found"

# Equal bytes that wait in one set at the same time are one job. In two sets, or later again, they
# are two. (Its id is the same if the first has ended.)
awaited 5 "the first has ended" unknown "$id"
redis ZADD "$(key ready)" 0 "$document" >/dev/null
within 5 "the same bytes again are another job" begun "$id" 2

end_well
finish
