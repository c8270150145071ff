#!/bin/sh
# Jobs that wait for a lock, a permit or a limit: first come, first served; what one limit refuses has
# not used another; a job that was pushed again keeps its place, or its new time.
# LATER_SOAK=1: 600 jobs and 20 late ones, and how fast two limits of a job are.
. "${top_srcdir:=.}/tests/system/daemon.sh"
start_redis
first=150 late=10
[ -z "${LATER_SOAK:-}" ] || first=600 late=20

configure 'workers = 2;' 'limits = (
    { queue = "limit"; max = 1; per = 0.01; },
    { queue = "two"; member = "k"; max = 1; per = 600.0; },
    { queue = "two"; max = 1; per = 0.1; },
    { queue = "many"; max = 12; per = 600.0; },
    { queue = "many"; member = "k"; max = 1; per = 600.0; },
    { queue = "slow"; max = 1; per = 3.0; },
    { queue = "narrow"; max = 1; per = 0.5; },
    { queue = "narrower"; member = "k"; max = 1; per = 20.0; },
    { queue = "narrower"; max = 1; per = 0.5; }
);' 'queues = ( { name = "default"; }, { name = "permit"; max_running = 1; }, { name = "limit"; },
    { name = "two"; }, { name = "many"; }, { name = "slow"; }, { name = "narrow"; }, { name = "narrower"; } );' \
    'types = ( { name = "note"; exclusive = "type"; } );'
start_laterd

# push QUEUE COUNT TYPE PAYLOAD PREFIX
push() { "$tools/push" "$LATER_REDIS_URL" "$1" many "$2" "$3" "$4" "$5"; }
ended_of() { grep -c "^$1" "$work/ended"; }
ended_are() { [ "$(ended_of "$1")" -ge "$2" ]; }
begin_of() { awk -v id="$1" '$1 == id { print $4; exit }' "$work/begun"; }

# ---- who came first goes first, also when the line has become shorter

# all_in NAME LINE: are all but two of the first in their line, or have they ended? (As long as a worker has some in
# its hand, which may be long if it stands still, others overtake those.)
all_in()
{
    waiting=$(redis ZCARD "later:$2:waiting")
    [ $((waiting + $(ended_of "$1-first-") + 2)) -ge "$first" ]
}

# in_order NAME QUEUE TYPE LINE: many jobs, and some more while they run
in_order()
{
    push "$2" "$first" "$3" '{"do":"sleep","for":0.01}' "$1-first-"
    awaited 60 "$1: all are in the line" all_in "$1" "$4"
    for i in $(seq "$late"); do
        wait_until 60 ended_are "$1-first-" $((first * (i + 5) / (late + 10)))
        push "$2" 1 "$3" '{"do":"sleep","for":0.01}' "$1-late$i-"
    done
    within 60 "$1: all jobs run" ended_are "$1-" $((first + late))
    # Begun before three that were there first. One alone may come late, if its worker stands still.
    sort -rn -k4,4 "$work/begun" | awk -v name="$1" 'index($1, name "-") == 1 {
        if (!index($1, "late")) first++; else if (first >= 3) overtook++
    } END { print overtook + 0 }' >"$work/overtook"
    at_most "$(cat "$work/overtook")" 2 "$1: of $late jobs that came later hardly one overtook"
}
in_order lock default note 'lock:{type:note}'
in_order permit permit 'do' 'running:{queue:permit}'
in_order limit limit 'do' 'limit:{queue:limit}'

# ---- two limits

push two 10 'do' '{"do":"done","k":%u}' two-
within 60 "ten jobs, each of another member: the member's limit was not used up by waiting" \
    ended_are two- 10
for i in 1 2 3 4 5 6 7 8 9 10; do push many 1 'do' '{"do":"done","k":"same"}' "same$i-"; done
push many 11 'do' '{"do":"done","k":%u}' many-
within 60 "eleven of other members run beside one of ten of the same" ended_are many- 11
is "$(ended_of same)" 1 "which is one"
# span_of PREFIX: seconds from the first begin to the last
span_of() { awk -v id="$1" 'index($1, id) == 1 { print $4 }' "$work/begun" | sort -n | sed -n '1p;$p' | paste -sd ' ' | awk '{ print $2 - $1 }'; }
if [ -n "${LATER_SOAK:-}" ]; then
    push narrow 20 'do' '{"do":"done"}' narrow-
    push narrower 20 'do' '{"do":"done","k":%u}' members-
    within 60 "one limit: all begin" ended_are narrow- 20
    within 60 "two limits, 20 members: all begin" ended_are members- 20
    echo "# one limit: $(span_of narrow-) s; with another one by member: $(span_of members-) s"
    runs "as fast as the narrower limit alone" awk -v a="$(span_of narrow-)" -v b="$(span_of members-)" \
        'BEGIN { exit !(b > 0.9 * a && b < 1.1 * a) }'
fi
used() { [ "$(redis LLEN 'later:limit:{queue:many}')" = 12 ]; }
within 60 "and the limit of all has counted those that began" used

# ---- pushed again

push slow 1 'do' '{"do":"done"}' k
wait_until 60 ended_are k 1
later push 'do' '{"do":"done"}' --id again -q slow >/dev/null
# It waits, or has ended, since replacing it took longer than its turn.
waiting() { [ -n "$(redis ZSCORE 'later:limit:{queue:slow}:waiting' 'slow again')" ] || ended_are again 1; }
for i in 1 2 3 4 5 6 7 8; do
    wait_until 60 waiting
    later push 'do' '{"do":"done"}' --id again -q slow --replace >/dev/null
done
# Had each of them used a turn, it would wait for eight turns now. (They may take long themselves.)
replaced=$(present)
within 60 "replaced eight times while it waits for its limit" ended_are again 1
at_most "$(awk -v a="$(begin_of again)" -v b="$replaced" 'BEGIN { turns = int((a - b) / 3); print turns }')" 4 \
    "it has used hardly one turn"
push_do holder '"do":"sleep","until":"go-holder"' '"lock":"pair"'
wait_until 60 grep -q '^holder ' "$work/begun"
push_do put-off '"do":"done"' '"lock":"pair"'
in_line() { [ -n "$(redis ZSCORE 'later:lock:{pair}:waiting' 'default put-off')" ]; }
within 60 "a job waits for a lock" in_line
start=$(present)
later push 'do' '{"do":"done"}' --id put-off --replace --in 4 >/dev/null
touch "$work/go-holder"
within 60 "put off while it waits for a lock, it runs" ended_are put-off 1
runs "not before its new time" awk -v begin="$(begin_of put-off)" -v start="$start" \
    'BEGIN { exit !(begin - start >= 4) }'

end_well
finish
