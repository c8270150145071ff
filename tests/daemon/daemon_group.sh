#!/bin/sh
# Groups share a queue: a quiet one waits for one job of each other, weights count, and one that is at its
# limit holds nobody up.
. "${top_srcdir:=.}/tests/system/daemon.sh"
start_redis

# push_group GROUP PREFIX COUNT PAYLOAD-MEMBERS [TYPE]: in bulk
push_group()
{
    seq "$3" | sed "s|.*|{\"type\":\"${5:-do}\",\"id\":\"$2&\",\"group\":\"$1\",\"payload\":{$4}}|" |
        later push --file - >/dev/null
}

# begun_before ID COUNT: how many jobs have begun before it, but after the first COUNT
begun_before() { awk -v id="$1" -v n="$2" '$1 == id { print NR - 1 - n; exit }' "$work/begun"; }
has_begun() { grep -q "^$1 " "$work/begun"; }
begun() { if [ -e "$work/begun" ]; then wc -l <"$work/begun"; else echo 0; fi; }
begun_at_least() { [ "$(begun)" -ge "$1" ]; }

line='later:running:{group:default:full}'
settled_but_one() { [ "$(reserved)" = 1 ]; }
settled() { [ "$(reserved)" = 0 ]; }
# push_b ID: pushes a job of B while nothing runs, so that what has begun before it can be counted.
push_b()
{
    later pause default >/dev/null
    within 20 "nothing is held" settled
    n=$(begun)
    later push "do" '{"do":"done"}' --group B --id "$1" >/dev/null
    later resume default >/dev/null
}

# ---- one worker, jobs of 10 ms; it runs one and has taken at most one more

configure 'workers = 1;' 'groups = ( { queue = "default"; group = "heavy"; weight = 4.0; } );'
push_group A a- 10000 '"do":"sleep","for":0.01'
is "$(ready)" 10000 "10,000 jobs of A are ready"
start_laterd
within 20 "A is being performed" begun_at_least 20
most=0
for i in 1 2 3 4 5; do
    push_b "b-$i"
    within 20 "B's job runs beside A's thousands" has_begun "b-$i"
    n=$(begun_before "b-$i" "$n")
    [ "$n" -le "$most" ] || most=$n
done
at_most "$most" 3 "jobs that began before one of B"
push_group C c- 2000 '"do":"sleep","for":0.01'
push_b b-c
within 20 "B's job runs beside A's and C's" has_begun b-c
at_most "$(begun_before b-c "$n")" 4 "jobs that began before it"

# ---- what waits

later pause default >/dev/null
within 20 "nothing is held" settled
later size default --groups >"$work/groups"
is "$(cut -f1,2 "$work/groups" | tr '\t\n' '  ')" "default A default C " "size --groups: those with most jobs first"
is "$(awk -F '\t' '{ n += $3 } END { print n }' "$work/groups")" "$(ready)" "their jobs are those that are ready"
contains "$(later size default --groups -n 1 --json)" '{"queue":"default","group":"A","ready":' "--json, the first of them"
age=$(later size default --json | sed 's/.*"oldest_ready":\([0-9.]*\).*/\1/')
is "$(awk "BEGIN { print ($age > 0 && $age < 600) }")" 1 "the age of the oldest is a time, not a tag"
later cancel -q default --all --yes >/dev/null
is "$(redis EXISTS "$(key fair)")" 0 "without ready jobs nothing is kept of groups"
is "$(later size default --groups)" "" "and there are none to show"

# ---- weights

is "$(redis HGET "$(key groups)" heavy)" 4.000000 "laterd writes the weights"
n=$(begun)
# A slow worker gives back what it has taken, and meanwhile some hundreds that come later may begin. Among those,
# too, both groups must have jobs.
push_group heavy h- 2000 '' note
push_group light l- 2000 '' note
later resume default >/dev/null
within 30 "4,000 jobs" begun_at_least $((n + 4000))
share=$(grep '^[hl]-' "$work/begun" | head -n 300 | grep -c '^h-')
at_most "$share" 252 "of the first 300, weight 4 of 5"
at_least "$share" 228 "at least"
is "$(later check default >/dev/null 2>&1; echo $?)" 0 "later check"
stop_laterd

# ---- a group at its limit

rm -f "$work/begun" "$work/ended"
configure 'workers = 3;' 'groups = ( { queue = "default"; max_running = 1; },
    { queue = "default"; group = "two"; max_running = 2; } );' \
    'limits = ( { queue = "default"; by = "group"; max = 40; per = 600.0; } );'
start_laterd
no_weights() { [ "$(redis EXISTS "$(key groups)")" = 0 ]; }
within 10 "weights that the configuration has no more are gone" no_weights
later pause default >/dev/null
push_group one o- 30 '"for":0.05,"until":"go-on"' event
push_group two t- 30 '"for":0.05,"until":"go-on"' event
push_group other x- 5 '' event
later resume default >/dev/null
others() { [ "$(grep -c '^x-' "$work/ended")" = 5 ]; }
within 20 "others run meanwhile" others
at_most "$(grep -c '^o-' "$work/begun")" 1 "jobs of the group at its limit that have begun meanwhile"
at_most "$(grep -c '^t-' "$work/begun")" 2 "jobs of the one whose limit is two"
touch "$work/go-on"
ended_all() { [ "$(grep -c '^[ot]-' "$work/ended")" = 60 ]; }
within 30 "all have run in the end" ended_all
at_once()
{
    grep "^$1-" "$work/ended" | awk '{ print $4, 1; print $5, -1 }' | sort -n -k1,1 -k2,2 |
        awk '{ n += $2; if (n > most) most = n } END { print most }'
}
is "$(at_once o)" 1 "never two of a group whose limit is one"
at_most "$(at_once t)" 2 "never three of one whose limit is two"
push_group one more- 20 '"do":"done"'
more() { [ "$(grep -c '^more-' "$work/ended")" = 10 ]; }
within 20 "limits by group: 40 in ten minutes" more
push_group other y- 5 '"do":"done"'
y() { [ "$(grep -c '^y-' "$work/ended")" = 5 ]; }
within 20 "each group has its own" y
is "$(grep -c '^more-' "$work/ended")" 10 "and no more of the first"
is "$(redis EXISTS 'later:limit:{queue:default:group=one}')" 1 "its name says so"
is "$(counted released)" 0 "a job that waits for its group is returned, not released"

# ---- those that wait in the line look rarely

push_group full hold- 1 '"until":"go"' event
within 20 "one holds its group's permit" settled_but_one
push_group full f- 200 '"do":"done"'
in_line() { [ "$(redis ZCARD "$line:waiting")" = "$1" ] && settled_but_one && [ "$(ready)" = 0 ]; }
within 60 "200 of its group are in its line" in_line 200
# looks_rarely ID: it is due in N / 4 seconds at the earliest, not in N / 10; else it is made to look, which
# it does in vain if Redis has just said no to another.
looks_rarely()
{
    due=$(redis ZSCORE "$(key delayed)" "$1" | cut -d . -f 1)
    [ "${due:-0}" -lt $(($(redis TIME | sed -n 1p) + 50)) ] || return 0
    later kick "$1" >/dev/null 2>&1
    return 1
}
for i in 10 60 110 190; do
    within 20 "f-$i has looked, and need not soon again" looks_rarely "f-$i"
done
configure 'workers = 3;' 'groups = ( { queue = "default"; max_running = 300; } );'
kill -HUP "$laterd_pid"
touch "$work/go"
all_of_it() { [ "$(grep -c '^f-' "$work/ended")" = 200 ]; }
within 20 "a raised limit calls them all" all_of_it

# ---- those that wait when the option is taken out, and laterd starts again

stop_laterd
far=5000000000
redis ZADD "$line" "$far" other >/dev/null # another host has the permit
configure 'workers = 3;' 'groups = ( { queue = "default"; max_running = 1; } );'
start_laterd
push_group full g- 30 '"do":"done"'
# They are due in a hundred years, in both places; so none looks by itself.
# shellcheck disable=SC2046 # two words for each of them
put_off()
{
    redis ZADD "$(key delayed)" XX $(seq 30 | sed "s/.*/$far g-&/") >/dev/null
    for i in $(seq 30); do redis ZADD "$line:due" XX "$far" "default g-$i" >/dev/null; done
    [ "$(redis ZCOUNT "$(key delayed)" "$far" "$far")" = 30 ] && [ "$(redis ZCOUNT "$line:due" "$far" "$far")" = 30 ]
}
within 60 "30 of a group wait in its line, for ever" put_off
stop_laterd
configure 'workers = 3;'
start_laterd
# One that looks is enough.
freed()
{
    later kick g-17 >/dev/null 2>&1
    [ "$(grep -c '^g-' "$work/ended")" = 30 ]
}
within 30 "without the option the first that looks calls them all" freed
is "$(redis ZCARD "$line")" 1 "while the permit was held"
redis DEL "$line" >/dev/null

end_well
finish
