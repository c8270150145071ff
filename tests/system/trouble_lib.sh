# trouble_lib.sh: provokes each trouble, one at a time and three at once, and mends it. On top of daemon.sh.
# The one who looks has these functions:
#
#     rules                               prints the names of all troubles, sorted, with spaces
#     shows RULES NAME                    these are the troubles, soon
#     in_order                            the same, the worst first
#     looks RULE PATTERN NAME             the only trouble looks so; its JSON line is put into $work/line.
#                                         $work/lines has what later says
#     looks_well NAME                     there is none
# shellcheck shell=sh

# are RULES: are these the troubles now?
are()
{
    [ "$(rules)" = "$1" ]
}

# seen RULE QUEUE PATTERN NAME: it is the only trouble, is of this queue, and is shown so.
seen()
{
    shows "$1" "$4: named"
    later status --trouble --json >"$work/lines"
    is "$(later metrics | grep '^laterd_trouble{' | sort)" "$(as_metrics <"$work/lines")" "$4: the metric for alerts"
    looks "$1" "$3" "$4"
    is "$(field queue <"$work/line")" "$2" "$4: its queue"
    like "$(field command <"$work/line")" '^(later|redis-cli|systemctl) ' "$4: what to do"
}

# well NAME: there is no trouble any more.
well()
{
    shows '' "$1: gone when it is mended"
    looks_well "$1"
}

# From lines of JSON: subjects_of, RULE:QUEUE:HOST:TYPE of each; as_metrics, what is to be said of them there.
subjects_of()
{
    sed -E 's/^\{"rule":"([^"]*)".*"queue":([^,]*),"host":([^,]*),"type":([^,]*),"since".*$/\1:\2:\3:\4/; s/null|"//g' |
        sort | paste -s -d ' ' -
}
as_metrics()
{
    sed -E 's/^\{("rule":"[^"]*").*("queue":[^,]*,"host":[^,]*,"type":[^,]*),"since".*$/laterd_trouble{\1,\2} 1/
        s/:null/:""/g; s/"(rule|queue|host|type)":/\1=/g' | sort -u
}

# host NAME QUEUE [MEMBERS]: a daemon that is alive all the time.
host()
{
    redis HSET later:hosts "$1:1" '{"host":"'"$1"'","pid":1,"version":"0","started":1,"seen":'$(($(redis TIME | head -n 1) + ${4:-1000000}))',"workers":2,"running":3,"performed":0,"failed":0,"rate":0,"queues":["'"$2"'"],"patterns":{},"runs":{},"nodes":{}'"${3-}"'}' >/dev/null
}

# turn SECONDS: turns Redis's clock on, by 6 or more. Till laterd has said again that it is there, it is right to say that it
# is not.
turn()
{
    advance_redis "$1"
    awaited 10 "laterd says again that it is there" all_said_so
}
all_said_so()
{
    [ "$(redis HVALS later:hosts | sed 's/.*"seen":\([0-9]*\).*/\1/' | sort -n | head -n 1)" -gt $(($(redis TIME | head -n 1) - 5)) ]
}

# nobody_has_it: pushes a job whose type nobody has. It is asked for again four times a second, and is
# no trouble while it is; when nobody has had the type for 400 s, once a minute or less.
nobody_has_it()
{
    later push nobody.has.it --id nobodys >/dev/null
    awaited 10 "nobody has its type" is_unknown
    turn 400
    awaited 10 "it rests" rests
}
is_known()
{
    [ "$(redis HLEN later:hosts)" -ge 1 ]
}
is_unknown()
{
    noted e nobodys | grep -q '"kind":"unknown"'
}
rests()
{
    [ $(($(redis ZSCORE 'later:{default}:delayed' nobodys | cut -d . -f 1) - $(redis TIME | head -n 1))) -gt 30 ]
}

# ---- daemons

later push null >/dev/null
seen no_laterd null 'no laterd is alive, 1 job waits' "nobody is alive"
host web1 default
well "nobody is alive"
host web2 default '' -100
seen host_lost null 'web2 vanished (1[0-9][0-9] s|[2-9]\.[0-9] min) ago, with 3 running jobs' "a host is lost"
is "$(field host <"$work/line")" web2 "which host"
host web2 default
well "a host is lost"
host web2 default ',"fault":"2 of 2 workers do not answer"'
seen host_fault null 'the laterd of web2 has a fault' "a host says that something is wrong"
is "$(field host <"$work/line") $(field why <"$work/line")" 'web2 2 of 2 workers do not answer' "which, and what"
host web2 default
well "a host says that something is wrong"
redis HDEL later:hosts web2:1 >/dev/null
later cancel -q default --all --yes >/dev/null

# ---- queues

later push null -q nobodys --id n >/dev/null
advance_redis 6
seen queue_unserved nobodys 'nobody serves nobodys, 1 job is ready' "a queue that nobody serves"
like "$(field since <"$work/line")" '^[0-9]{10}' "since when"
host web2 nobodys
well "a queue that nobody serves"
printf '%s\n' '{"type":"null","step":"a","queue":"default"}' | later push -q homeless --flow f --file - >/dev/null
advance_redis 6
seen queue_unserved default 'nobody serves homeless, and flows in default stand still' "a flow whose queue nobody serves"
later cancel -q default --all --yes >/dev/null
redis DEL 'later:{default}:news' >/dev/null
redis SREM later:queues homeless >/dev/null
well "a flow whose queue nobody serves"
advance_redis 301
seen behind nobodys 'nobodys is (5\.[0-9]|6|[0-9]+) (min|s) behind, 1 ready.*none has run in the last minutes' "a queue falls behind"
later pause nobodys --by ann >/dev/null
shows '' "a paused one is not behind"
advance_redis 901
seen paused_long nobodys 'nobodys is paused for 1[5-9] min, 1 waits.*ann has paused it.*later resume nobodys' \
    "a queue is paused for long"
later resume nobodys >/dev/null 2>&1
later cancel n -q nobodys >/dev/null
well "a queue is paused for long"
for i in 1 2 3; do later push null --id "d-$i" >/dev/null; done
later bury d-1 d-2 d-3 -q default >/dev/null
seen dead_growing default '3 jobs died in default' "jobs die"
is "$(field count <"$work/line")" 3 "how many"
later kick d-1 d-2 d-3 -q default >/dev/null
well "jobs die"
later cancel -q default --all --yes >/dev/null

line=$(later push null -q default >/dev/null && later reserve default --lease 1)
advance_redis 40
seen over_time default '1 reservation of default is over' "a lease is over, and nobody returns its job"
later ack "$(echo "$line" | cut -f 1)" --token "$(echo "$line" | cut -f 2)" -q default >/dev/null
well "a lease is over, and nobody returns its job"

later cron set tick 'every 10s' null -q default >/dev/null 2>&1 || later cron set tick '* * * * *' null -q default >/dev/null
advance_redis 200
seen schedule_missed default 'tick of default is [0-9.]+ (s|min) late' "a schedule is missed"
due=$(redis ZSCORE 'later:{default}:cron' tick)
redis HSET 'later:{default}:crontab' tick:state "held=$due" >/dev/null
redis ZADD 'later:{default}:cron' $(($(redis TIME | head -n 1) + 5)) tick >/dev/null
seen schedule_missed default 'tick of default is [0-9.]+ (s|min) late' "also if it is held, since no laterd can read it"
later cron delete tick -q default >/dev/null
well "a schedule is missed"

cat >"$work/flow" <<'END'
{"type":"null","step":"a"}
{"type":"null","step":"b","after":["a"]}
END
later push --flow f --file "$work/flow" -q default >/dev/null
later bury f.a -q default >/dev/null
shows 'dead_growing flow_blocked' "a flow is blocked, since a job died"
advance_redis 700
seen flow_blocked default 'flow f of default is blocked' "a flow is blocked"
later kick f.a -q default >/dev/null
well "a flow is blocked"
later cancel f.a f.b -q default >/dev/null

# ---- Redis

used=$(redis INFO memory | tr -d '\r' | sed -n 's/^used_memory://p')
# What it uses comes and goes with its connections: it may be a tenth less when asked, or more.
redis CONFIG SET maxmemory "$used" >/dev/null
seen redis_full null 'Redis uses (9[0-9]|1[0-9][0-9]) % of its memory' "Redis is nearly full"
redis CONFIG SET maxmemory 0 >/dev/null
well "Redis is nearly full"
redis HSET later:lost default "pushed 10 5 $(redis TIME | head -n 1).0 web1" >/dev/null
seen writes_lost default 'Redis has lost writes of 1 queue, of default last' "Redis has lost writes"
later check --acknowledge >/dev/null 2>&1
well "Redis has lost writes"

# ---- a laterd

redis DEL later:hosts >/dev/null
configure 'workers = 2;'
start_laterd
awaited 10 "it says that it is there" is_known
well "a laterd runs"
nobody_has_it
seen type_unknown default 'nobody has the type nobody.has.it of default' "a type that nobody has"
is "$(field type <"$work/line")" nobody.has.it "which type"
later push nor.this --id neither --in 1h >/dev/null
redis HSET 'later:{default}:records' neither "$(printf 'e={"at":%s.000000,"attempt":0,"kind":"unknown","text":"","host":""}' \
    "$(($(redis TIME | head -n 1) - 60))")" >/dev/null
seen type_unknown default 'nobody has the types nobody.has.it, nor.this of default' "two types that nobody has"
later cancel neither -q default >/dev/null
host web2 default ',"jobs":[{"id":"j","queue":"default","type":"nobody.has.it","since":'"$(redis TIME | head -n 1)"',"timeout":0,"attempt":1,"worker":1}]'
seen type_elsewhere default 'hosts of default without the type nobody.has.it hand its jobs round' "a type that one of two hosts has"
is "$(field type <"$work/line") $(field severity <"$work/line")" "nobody.has.it info" "which type; it is but a hint"
like "$(later show nobodys --json)" '"reason":"type_elsewhere","text":"a host without the type nobody.has.it gave it back, another one has that; asked again in ' \
    "later show says so, too"
later cancel nobodys -q default >/dev/null
redis HDEL later:hosts web2:1 >/dev/null
well "a type that nobody has"
"$tools/push" "$LATER_REDIS_URL" default many 200 'do' '{"do":"done"}' good-
"$tools/push" "$LATER_REDIS_URL" default many 60 'do' '{"do":"retry","upto":1}' bad-
# all_counted: none is to come that would fail after the clock was turned.
all_counted()
{
    later status --trouble | grep -q 'do in default: 19 % of 320 attempts fail'
}
within 20 "a type fails: every attempt counts" all_counted
# Who looks reads the minutes again when a queue has changed.
later push null --id soon --in 1h -q default >/dev/null
later cancel soon -q default >/dev/null
seen failing default 'do in default: 19 % of 320 attempts fail' "a type fails"
turn 250
well "a type fails"

now=$(redis TIME | head -n 1)
redis HSET later:hosts slow:1 "{\"host\":\"slow\",\"pid\":1,\"version\":\"1\",\"started\":1,\"seen\":$((now + 3600)),\"workers\":1,\
\"running\":2,\"performed\":0,\"failed\":0,\"rate\":0,\"queues\":[\"default\"],\"jobs\":[\
{\"id\":\"fine\",\"queue\":\"default\",\"type\":\"new\",\"since\":$((now - 900)),\"timeout\":0,\"attempt\":1,\"worker\":1},\
{\"id\":\"stuck\",\"queue\":\"default\",\"type\":\"do\",\"since\":$((now - 300)),\"timeout\":10,\"attempt\":1,\"worker\":2}]}" >/dev/null
seen over_time default 'stuck runs for [0-9.]+ min on slow' "a job runs for too long"
redis HDEL later:hosts slow:1 >/dev/null
well "a job runs for too long"

# ---- three at once; Redis is away

nobody_has_it
later push null -q elsewhere --id dies >/dev/null
later bury dies -q elsewhere >/dev/null
later push null -q elsewhere >/dev/null
turn 6
shows 'dead_growing queue_unserved type_unknown' "three at once"
is "$(in_order)" 'queue_unserved type_unknown dead_growing' "the worst first"
