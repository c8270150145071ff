#!/bin/sh
# The installed scripts, run by hand: a job's whole life with `redis-cli --eval`, and each script
# under Redis's debugger with `redis-cli --ldb --eval`.
. "${top_srcdir:=.}/tests/tap.sh"
needs redis-server redis-cli

scripts=${LATER_SCRIPTS:-$top_builddir/scripts/expanded}
box=$(mktemp -d)
server=
trap 'kill $server 2>/dev/null; wait; rm -rf "$box"' EXIT

# The debugger forks; hz: how often Redis looks after its children.
redis-server --port 0 --unixsocket "$box/socket" --save '' --dir "$box" --hz 100 >"$box/log" 2>&1 &
server=$!

redis()
{
    redis-cli -s "$box/socket" "$@"
}

tries=0
until [ "$(redis ping 2>/dev/null)" = PONG ]; do
    tries=$((tries + 1))
    [ $tries -lt 2000 ] || { cat "$box/log" >&2; exit 1; }
    sleep 0.05
done

# keys SCRIPT [ARGUMENT...]: its keys, as its head names them: later:{demo}:ready …
keys()
{
    sed -n 's/^-- KEYS *//p' "$scripts/$1.lua" | tr ' ' '\n' |
        sed '/^stock$/s/.*/later:stock:{item}/;t
             /^claims$/s/.*/later:stock:{item}:claims/;t
             /^lookers$/s/.*/later:lookers:{served}/;t
             /^running$/s/.*/later:running:{place}/;t
             /^line_waiting$/s/.*/later:'"$(case $1 in lock*) echo 'lock:{item}' ;; limit*) echo 'limit:{item}' ;; *) echo 'running:{place}' ;; esac)"':waiting/;t
             /^line_due$/s/.*/later:'"$(case $1 in lock*) echo 'lock:{item}' ;; limit*) echo 'limit:{item}' ;; *) echo 'running:{place}' ;; esac)"':due/;t
             /^limit$/s/.*/later:limit:{'"$1"'}/;t
             /^lock$/s/.*/later:lock:{item}/;t
             /^fence$/s/.*/later:lock:{item}:fence/;t
             /^lock_wake$/s/.*/later:lock:{item}:wake/;t
             /^held$/s/.*/later:{demo}:reserved:'"$token"'/;t
             /^fresh$/s/.*/later:{demo}:reserved:'"${2-}"'/;t
             /^flow$/s/.*/later:{demo}:flow:f/;t
             /^unknown$/s/.*/later:{demo}:flow:f:unknown/;t
             /^values$/s/.*/later:{demo}:flow:f:values/;t
             /^failed$/s/.*/later:{demo}:flow:f:failed/;t
             /^result$/s/.*/later:{demo}:result:x/;t
             s/.*/later:{demo}:&/'
}

# eval_script OPTION... NAME ARGUMENT...: the answer, its lines joined by spaces.
eval_script()
{
    options=
    while [ "$1" != "${1#--}" ]; do
        options="$options $1"
        shift
    done
    name=$1
    shift
    # Options and keys hold no spaces.
    # shellcheck disable=SC2046,SC2086
    redis $options --eval "$scripts/$name.lua" $(keys "$name" "$@") , "$@" | tr '\n' ' ' |
        sed 's/ $//'
}

# run NAME ARGUMENT...: the first time, the script also runs under the debugger, which undoes its
# changes. Of an argument TOKEN:ID the token names the key `held`.
run()
{
    left=$# token=none
    [ "$1" != reserve ] || token=$2
    while [ "$left" -gt 0 ]; do
        argument=$1
        shift
        case $argument in
        ????????????????:?) token=${argument%%:*} argument=${argument#*:} ;;
        esac
        set -- "$@" "$argument"
        left=$((left - 1))
    done
    if [ ! -e "$box/session.$1" ]; then
        echo continue | eval_script --ldb "$@" >"$box/session.$1"
    fi
    eval_script "$@"
}

# well NAME: did its debugging session begin, and end without an error?
well()
{
    grep -q 'Stopped at' "$box/session.$1" && ! grep '(error)\|ERR' "$box/session.$1"
}

document='{"type":"mail.send","payload":{"to":"a@b.c"}}'
failed='"kind":"retry","text":"no","host":"h"}'
t1=aaaaaaaaaaaaaaaa t2=bbbbbbbbbbbbbbbb t3=cccccccccccccccc t4=dddddddddddddddd

is "$(run push 0 new a '' 0 "$document")" PUSHED 'push'
is "$(run push 0 new a '' 0 "$document")" 'EXISTS ready' 'push again'
contains "$(run size)" '1 0 0 0 0 ' 'size: one ready'
contains "$(run peek ready 0 10)" "$document" 'peek'
is "$(run wake)" 1 'wake'
contains "$(run reserve $t1 30 10 262144 0)" " a " 'reserve'
is "$(run touch 60 $t1:a b)" 2 'touch: another job is LOST'
is "$(run release $t1:a 0.001 ran "$failed")" '' 'release with a wait'
until [ "$(redis zcard 'later:{demo}:ready')" = 1 ]; do
    run migrate 500 >"$box/migrated"
done
contains "$(cat "$box/migrated")" '1 ' 'migrate'
is "$(run lapse 0 '')" 0 'lapse: nothing has run out'
contains "$(run reserve $t2 30 10 262144 0)" " $document" 'reserve again'
is "$(run bury $t2:a ran "$failed")" '' 'bury'
contains "$(run show a)" 'dead ' 'show: dead'
contains "$(run show a)" '"attempt":2,"kind":"retry"' 'show: the last error'
is "$(run kick a)" dead 'kick'
score=$(redis zscore 'later:{demo}:ready' a)
run reserve $t3 30 10 262144 0 >/dev/null
is "$(run return $t3:a 0 held)" '' 'return'
is "$(redis zscore 'later:{demo}:ready' a)" "$score" 'return: to its place'
is "$(run override type:none 60000 ann why)" 1 'override'
contains "$(run heed)" '0 type:none ' 'heed'
is "$(run pause)" 1 'pause'
is "$(run reserve $t4 30 10 262144 0 | wc -w)" 1 'reserve from a paused queue: the time alone'
is "$(run resume)" 1 'resume'
run reserve $t4 30 10 262144 0 >/dev/null
is "$(run ack $t4:a)" '' 'ack'
is "$(run ack $t4:a)" 1 'ack again: LOST'
is "$(run ack_all 1)" IDS 'ack_all of a token that holds nothing'
run push 0 new g '' 0 '{}' h '' 0 '{}' >/dev/null
run reserve $t1 30 1 262144 0 >/dev/null
contains "$(run step $t2 30 1 262144 "" "" $t1:g)" ' h ' 'step: one is done, the next handed out'
is "$(run ack $t1:g)" 1 'step: the one is LOST then'
is "$(run step $t3 30 1 262144 "" "" $t2:h | wc -w)" 1 'step: the next is done, and there is none'
contains "$(run size)" '0 0 0 0 0  0 ' 'size: none'
contains "$(run size)" 'done 3' 'size: done'

run push 0 new b '' 0 '{}' c +100 5 '{}' d '' 0 '{}' e '' 0 '{}' >/dev/null
is "$(run cancel c)" delayed 'cancel'
is "$(run purge ready 1)" 1 'purge'
run reserve $t1 30 10 262144 0 >/dev/null
is "$(run expire $t1:d)" '' 'expire'
is "$(run progress $t1:e '"done":1}' '{"page":1}' '')" '' 'progress'
contains "$(run show e)" '"done":1}' 'show: progress'
contains "$(run show e)" 'm={"page":1}' 'show: checkpoint'
is "$(run finish $t1:e unrun "$failed" 60)" '' 'finish'
contains "$(run result e)" 'dead {"state":"dead"' 'result'
is "$(run finish_all 1 60 $t1:e 7 60 '')" 1 'finish_all: LOST'
redis zadd 'later:{demo}:dead' 1 e >/dev/null
is "$(run trim 0 3600 500)" 1 'trim'
redis zadd 'later:{demo}:done' 1 z >/dev/null
redis hset 'later:{demo}:kept' z '{}' >/dev/null
is "$(run trim_done 0 500)" 1 'trim_done'
is "$(run push_now 0 n '{}' 1)" PUSHED 'push_now'
contains "$(run flow_join f '' 0 60 m m '' 'done' '' other)" 'PARK ' 'flow_join'
is "$(run flow_park seek f other m 1 0 '{}')" ABSENT 'flow_park'
is "$(run flow_hear other '1 d demo f m 1')" 1 'flow_hear'
is "$(run flow_seek)" '' 'flow_seek'
is "$(run flow_push f '' 1 60 n s '' 'done' '' 0 '{}')" 'EXISTS ready' 'flow_push'
is "$(run values f n 100)" '' 'values: it has waited for nothing'
is "$(run forget)" 1 'forget: not while it has a job'
is "$(run act cancel ready '' n '')" 1 'act'
is "$(run push_now 0 n '{}' 1)" PUSHED 'push_now again'
run purge ready 1 >/dev/null
is "$(redis hlen 'later:{demo}:jobs')" 0 'nothing is left'

is "$(run forget)" 0 'forget'
is "$(run probe)" '' 'probe: nothing is denied'

plan=$(run reshard '' '2 1')
contains "$plan" ' 2 1' 'reshard'
is "$(run reshard '' '3 2 1')" "$plan" 'reshard: not from what is past'
contains "$(run push 0 "new/${plan%% *}" f '' 0 '{}' 2>&1)" PUSHED 'push by this plan'
contains "$(run push 0 new/1 g '' 0 '{}' 2>&1)" "RESHARD $plan" 'push by an older one'
is "$(run ids jobs 0)" '0 f' 'ids'
run purge ready 1 >/dev/null

redis zadd 'later:{demo}:delayed' 1 z >/dev/null
is "$(run locate z)" '0 1 0 0 0 0' 'locate'
redis hset 'later:{demo}:jobs' z '{}' >/dev/null
is "$(run edit z '{ }' '{"a":1}')" 'changed' 'edit of what has another document by now'
is "$(run edit z '{}' '{"a":1}')" 'delayed' 'edit'
is "$(run reschedule z +60 2)" 'delayed' 'reschedule'
redis del 'later:{demo}:jobs' 'later:{demo}:records' >/dev/null
redis del 'later:{demo}:delayed' >/dev/null

is "$(run permit_take $t1 1 30 '')" '' 'permit_take'
left=$(run permit_take $t2 1 30 '')
runs 'permit_take: none is free for 30 s at most' awk -v s="$left" 'BEGIN { exit !(s > 0 && s <= 30) }'
is "$(run permit_touch 30 $t1 $t2)" 2 'permit_touch'
is "$(run permit_free $t1)" 1 'permit_free'
is "$(run permit_line 1 4000000000 5 'demo w')" '0  demo w 4000000000 5.000000' 'permit_line'
is "$(run lock_line 4000000000 5 'demo w')" '0  demo w 4000000000 5.000000' 'lock_line'
redis zadd 'later:{demo}:delayed' 4000000000 w >/dev/null
is "$(run put_off w 4000000000 4000000100)" 0 'put_off: its record does not say that it is in a line'
is "$(run hasten 4000000000 5 w)" 1 'hasten'
redis del 'later:{demo}:ready' 'later:{demo}:wake' >/dev/null

is "$(run looker web1:1 3 1 | cut -d' ' -f1,3)" '1 0' 'looker'
is "$(run looker web2:1 3 1 | cut -d' ' -f1,3)" '0 1' 'looker: one that waits'

is "$(run stock_set 1)" 1 'stock_set'
is "$(run stock_claim ann)" '1 1' 'stock_claim'
is "$(run stock_claim bob)" '-1 0' 'stock_claim: sold out'
is "$(run stock_show)" '1 1 0' 'stock_show'
is "$(run stock_release ann)" 1 'stock_release'
is "$(run limit_fixed 1 60)" '' 'limit_fixed'
contains "$(run limit_fixed 1 60)" '.' 'limit_fixed: over'
is "$(run limit_sliding 1 60)" '' 'limit_sliding'
contains "$(run limit_sliding 1 60)" '.' 'limit_sliding: over'
contains "$(run limit_take 1 60 fixed 'demo l' 'demo m')" ' -1' 'limit_take'
is "$(run limit_line 1 60 fixed '' 0 '')" '0 0.000000' 'limit_line'
is "$(run limit_begun 1 60 5)" 0 'limit_begun: not its place any more'
is "$(run limit_free fixed 1)" 0 'limit_free: not its window'

is "$(run lock_take $t1 ann 30 '' '')" '1 1' 'lock_take'
contains "$(run lock_take $t2 bob 30 '' '')" '0 2' 'lock_take: another has it'
is "$(run lock_touch $t1 60)" 1 'lock_touch'
contains " $(run lock_wake $t2)" ' 5' 'lock_wake: not yet'
contains "$(run lock_show)" '1 5' 'lock_show'
is "$(run lock_free $t2)" 0 'lock_free: not its own'
is "$(run lock_free $t1)" 1 'lock_free'
is "$(run lock_take $t2 bob 30 '' '')" '1 2' 'lock_take: the number grows'

is "$(run note h:1 five 60000 0)" 1 'note'

schedule='at=0 0 * * *

{"type":"report"}'
contains "$(run cron_put night "$schedule" 4000000000 set)" 'PUT ' 'cron_put'
contains "$(run cron_look 0 10)" ' night 4000000000 ' 'cron_look'
digest=$(printf %s "$schedule" | sha1sum | cut -d' ' -f1)
contains "$(run cron_fire night 1600000000 "$digest" 1600000000 1700000000 0 0)" 'MOVED' 'cron_fire: not its tick'
redis zadd 'later:{demo}:cron' 1700000000 night >/dev/null
contains "$(run cron_fire night 1700000000 "$digest" 1700000000 4000000000 0 0)" \
    'FIRED cron:night:1700000000 ' 'cron_fire'
is "$(run cron_move pause night '')" 1 'cron_move'
run purge ready 1 >/dev/null

is "$(run probe)" '' 'probe'

# The debugger's process is a child of Redis 7, in which an EVAL whose words have 4 KiB or more on
# average has lost its memory: its script would be garbage, now and then.
is_small()
{
    words=$(sed -n 's/^-- KEYS//p; s/^-- ARGV//p' "$scripts/$1.lua" | wc -w)
    [ "$(wc -c <"$scripts/$1.lua")" -lt $((4000 * (words + 3))) ]
}

for script in "$scripts"/*.lua; do
    name=${script##*/}
    runs "$name is not too large for the debugger" is_small "${name%.lua}"
    runs "$name by hand and under the debugger" well "${name%.lua}"
done
finish
