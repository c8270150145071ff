#!/bin/sh
# Jobs that others have put into Redis, with ids that push refuses or that are known. Each is
# performed, no worker spins, and the sums hold.
. "${top_srcdir:=.}/tests/system/daemon.sh"
start_redis
configure 'workers = 2;'
start_laterd

# plant ID: puts a document under an id of any bytes, without a counter.
plant()
{
    printf 'HSET %s "%s" "{\\"type\\":\\"note\\",\\"n\\":%s}"\r\nZADD %s 5 "%s"\r\n' \
        "$(key jobs)" "$1" "$2" "$(key ready)" "$1" | redis >/dev/null
}

# ---- ids that push refuses

number=0
for id in "$(printf '%0300d' 0)" 'a\x00b' '\x00' 'with spaces in it' '\x1b[31mred' 'caf\xc3\xa9' ''; do
    number=$((number + 1))
    plant "$id" "$number"
done
within 10 "all $number are done" counts 'done' "$number"
is "$(lines begun) $(counted adopted) $(redis HLEN "$(key jobs)")" "$number $number 0" \
    "each once, under another id"
is "$(how_often 'no memory for')" 0 "no worker could not hold one"
before=$(called evalsha) start=$(date +%s)
push_do later '"do":"done"'
within 10 "then others are" counts 'done' $((number + 1))
# laterd itself calls some each second.
at_most "$(($(called evalsha) - before))" $((50 + 10 * ($(date +%s) - start))) "scripts meanwhile: no worker spins"

# ---- the id of a job that runs

push_do twice '"do":"sleep","until":"go-twice"'
within 10 "a job runs" begun twice
redis ZADD "$(key ready)" 1 twice >/dev/null
wait_until 10 begun twice 2
touch "$work/go-twice"
within 10 "its id, put into ready, runs once more, beside it" sh -c "[ \$(grep -c '^twice ' '$work/ended') = 2 ]"
within 10 "nothing is reserved any more" sh -c "[ \$($redis_cli ZCARD '$(key reserved)') = 0 ]"
is "$(counted 'done')" $((number + 2)) "a job that two owners ended counts once"

# ---- the id of a dead one

push_do dead '"do":"bury"'
within 10 "a job is dead" is_dead dead
redis ZADD "$(key ready)" 1 dead >/dev/null
within 10 "its id, put into ready, is buried again" counts buried 2
is "$(redis ZCARD "$(key ready)") $(redis ZCARD "$(key dead)")" "0 1" "and in no other set"

end_well
finish
