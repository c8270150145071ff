#!/bin/sh
# While a client waits for a job's end, or a flow's, Redis goes away and comes back: the wait goes on, in every language
# alike. It gives up with the error of the connection, not as if the time were up, and at once if Redis refuses a
# password. CLIENTS='python ruby' tries only those.
. "${top_srcdir:=.}/tests/system/lib.sh"
. "$top_srcdir/tests/clients/drivers.sh"
redis_python

clients=$(cd "$top_srcdir" && pwd)/tests/clients
PYTHONPATH=$PYTHONPATH:$clients
mkfifo "$work/calls"

# ---- a driver

# ask CALL: hands it to the driver, which may have died. hear: sets $said to its answer.
ask()
{
    asked=$((asked + 1))
    (trap '' PIPE && printf '%s\n' "$1" >&9 2>/dev/null)
}

has_answered()
{
    [ "$(wc -l <"$work/answers")" -ge "$asked" ] || gone "$driver"
}

hear()
{
    wait_until 60 has_answered
    said=$(sed -n "${asked}{s/\([:,]\) /\1/g;p;}" "$work/answers")
    [ -n "$said" ] || said=$(tail -n 3 "$work/driver.err")
}

# seen NAME COMMAND...: waits until the command succeeds, or the client has given up.
seen()
{
    name=$1
    shift
    wait_until 60 or_answers "$@"
    ! has_answered || not_ok "$name" "$work/answers"
}

or_answers()
{
    "$@" || has_answered
}

# begin COMMAND...: starts a driver. drop: ends it.
begin()
{
    asked=0
    : >"$work/answers"
    "$@" <"$work/calls" >>"$work/answers" 2>"$work/driver.err" &
    driver=$!
    own "$driver"
    exec 9>"$work/calls"
}

drop()
{
    exec 9>&-
    kill "$driver" 2>/dev/null
    wait "$driver" 2>/dev/null
}

# place MEMBERS: the call that opens a client of our Redis, with these further members.
place()
{
    "$python" -c 'import json, sys, judge
print(json.dumps({"open": {**judge.place_of(sys.argv[1]), **json.loads(sys.argv[2])}}))' "$LATER_REDIS_URL" "$1"
}

opens()
{
    ask "$(place "$1")"
    hear
    [ "$said" = '{}' ] || not_ok "$client: it is opened: $said"
}

# ---- a job, and a Redis

# runs_job ID: a job that is reserved: it is known, and in no set. ends_job ID: as laterd ends it.
runs_job()
{
    redis HSET 'later:{w}:jobs' "$1" '{"type":"a","result":60}' >/dev/null
}

ends_job()
{
    # At once: a look between the two would see a job that is gone.
    redis EVAL 'redis.call("HDEL", KEYS[1], ARGV[1]) return redis.call("RPUSH", KEYS[2], ARGV[2])' \
        2 'later:{w}:jobs' "later:{w}:result:$1" "$1" \
        "$(printf '{"state":"done","attempt":1,"at":1}\n{"width":640}')" >/dev/null
}

waits()
{
    [ "$(redis_all INFO clients | tr -d '\r' | awk -F: '$1 == "blocked_clients" { sum += $2 } END { print sum }')" -ge 1 ]
}

# looks TIMES COMMAND: has the client looked so often, since Redis began to count? errors PATTERN: prints how often Redis
# has answered such an error since then. told PATTERN TIMES: so often? counts_anew: from now on.
looks()
{
    [ "$(called "$2")" -ge "$1" ]
}

errors()
{
    redis INFO errorstats | tr -d '\r' | awk -F'[=,]' -v pattern="$1" '$0 ~ pattern { sum += $2 } END { print sum + 0 }'
}

told()
{
    [ "$(errors "$1")" -ge "$2" ]
}

counts_anew()
{
    redis_all CONFIG RESETSTAT >/dev/null
}

# waits_for ID SECONDS: the client waits for a job that runs, and is blocked in Redis.
waits_for()
{
    runs_job "$1"
    ask "{\"wait\":\"$1\",\"queue\":\"w\",\"timeout\":$2}"
    is_waiting "$client waits for $1"
}

is_waiting()
{
    seen "$1" waits
}

# In a set it is killed: a replica that writes its first append-only file does not end by TERM. One server is not, since
# it may be connected to while it dies: see turns_away.
goes_away()
{
    case $redis_kind in
    single) stop_redis TERM ;;
    *) stop_redis KILL ;;
    esac
}

comes_back()
{
    start_redis 'appendonly yes' 'appendfsync always'
}

# is_replaced N [HOW]: somebody else stands where the server was, until he has turned away so many. He is there before, and the
# server lives on, on another socket: a wait goes on for half a minute only, in which a busy machine starts neither.
# is_back: the server is where it was.
is_replaced()
{
    : >"$work/turned"
    how=${2:-}
    # node-redis 5.9 takes a connection that is closed in its handshake for ready, and never makes another.
    [ "$client" != node-redis ] || how=${how:-loading}
    # shellcheck disable=SC2086 # a word or none
    "$python" "$clients/outage.py" "$work/away" "$work/turned" $how 2>"$work/outage.err" &
    outage=$!
    own "$outage"
    wait_until 60 [ -S "$work/away" ]
    mv "$redis_socket" "$work/hidden"
    use_socket "$work/hidden"
    mv "$work/away" "$work/redis.sock"
    hangs_up
    seen "$client: it asks again" has_turned "$1"
}

# hangs_up: Redis lets all go that are connected.
hangs_up()
{
    redis CLIENT KILL TYPE normal SKIPME yes >/dev/null
}

has_turned()
{
    [ "$(wc -l <"$work/turned")" -ge "$1" ]
}

is_back()
{
    mv "$work/hidden" "$work/redis.sock"
    use_socket "$work/redis.sock"
    kill "$outage"
    wait "$outage" 2>/dev/null
}

# ---- what is tried

# loses_it: an outage. One server is seen in it by those who ask, and a set is started again.
loses_it()
{
    if [ "$redis_kind" = single ]; then
        is_replaced 5
        counts_anew
        is_back
    else
        goes_away
        comes_back
    fi
}

outlasts()
{
    waits_for one 600
    loses_it
    is_waiting "$client: it waits again"
    ends_job one
    hear
    is "$said" "$value" "$client: a wait outlasts an outage"

    waits_for two 600
    goes_away
    comes_back
    ends_job two
    hear
    is "$said" "$value" "$client: what ended before the client was back is found"
}

outlasts_in_flow()
{
    redis HSET 'later:{w}:flow:f' closed 1 made 1 total 1 open 1 >/dev/null
    ask '{"wait_flow":"f","queue":"w","timeout":600}'
    seen "$client waits for a flow" looks 2 hmget # later gives up if its first has no answer
    loses_it
    seen "$client looks at the flow again" looks 1 hmget
    redis HSET 'later:{w}:flow:f' open 0 'done' 1 >/dev/null
    hear
    contains "$(echo "$said" | field state)" 'done' "$client: the wait for a flow outlasts an outage"
}

# A master that another one follows: it lets those go who wait in it, and then refuses to let them wait.
outlasts_failover()
{
    waits_for six 600
    redis REPLICAOF 127.0.0.1 1 >/dev/null
    seen "$client: it asks a replica" told READONLY 1
    redis REPLICAOF NO ONE >/dev/null
    is_waiting "$client: it waits again"
    ends_job six
    hear
    is "$said" "$value" "$client: a wait outlasts a failover"
}

# A new master that no replica follows yet lets nobody wait, if it is to keep what it has.
outlasts_alone()
{
    runs_job seven
    redis CONFIG SET min-replicas-to-write 1 >/dev/null
    ask '{"wait":"seven","queue":"w","timeout":600}'
    seen "$client: it asks a master that is alone" told NOREPLICAS 3
    redis CONFIG SET min-replicas-to-write 0 >/dev/null
    is_waiting "$client: it waits again"
    ends_job seven
    hear
    is "$said" "$value" "$client: a wait outlasts the time until a replica follows"
}

# Its connection breaks while Redis stays there. A repeated call would wait for its whole time once more.
looks_again()
{
    waits_for eight 600
    counts_anew
    # shellcheck disable=SC2046 # one id
    redis CLIENT KILL ID $(redis CLIENT LIST | sed -n 's/^id=\([0-9]*\) .* cmd=blmove .*/\1/p') >/dev/null
    is_waiting "$client: its connection breaks, and it waits again"
    is "$(($(called lindex) > 0))" 1 "$client: whose connection breaks looks before it waits again"
    ends_job eight
    hear
    is "$said" "$value" "$client: a wait outlasts a connection that breaks"
}

# fails NAME: it has ended with an error of Redis, or of the connection.
fails()
{
    is "$(echo "$said" | field error)" redis "$1"
}

# The time of a wait is up while Redis is away.
ends_away()
{
    runs_job three
    goes_away
    ask '{"wait":"three","queue":"w","timeout":1}'
    hear
    fails "$client: a wait that ends while Redis is away says so"
    comes_back
}

# It asks twice a second; its library may try some times for each of these.
gives_up()
{
    opens '{"patience":2}'
    waits_for four 600
    is_replaced 0 # those two seconds may be over at once
    hear
    fails "$client: a wait gives Redis up"
    turned=$(wc -l <"$work/turned")
    is "$((turned < 200))" 1 "$client: it asks about twice a second ($turned in 2 s)"
    is_back
}

ends_refused()
{
    redis CONFIG SET requirepass old >/dev/null
    REDISCLI_AUTH=old
    export REDISCLI_AUTH
    opens '{"password":"old"}'
    waits_for five 600
    redis CONFIG SET requirepass new >/dev/null
    REDISCLI_AUTH=new
    counts_anew
    hangs_up
    hear
    fails "$client: a refused password ends a wait"
    like "$said" 'WRONGPASS|NOAUTH|password|Authentication' "$client: and its error says so"
    turned=$(errors 'NOAUTH|WRONGPASS')
    is "$((turned < 10))" 1 "$client: it is not tried again and again ($turned times)"
    redis CONFIG SET requirepass '' >/dev/null
    unset REDISCLI_AUTH
}

# By somebody who hangs up on whom he refuses: a connection that was refused is not there any more.
ends_refused_and_closed()
{
    redis CONFIG SET requirepass old >/dev/null
    REDISCLI_AUTH=old
    export REDISCLI_AUTH
    opens '{"password":"old"}'
    waits_for nine 600
    is_replaced 0 refused # it may be told at once
    hear
    fails "$client: a password that is refused by a proxy ends a wait"
    like "$said" 'WRONGPASS|password' "$client: and its error says so"
    turned=$(wc -l <"$work/turned")
    is "$((turned < 10))" 1 "$client: it is not tried again and again ($turned times)"
    is_back
    redis CONFIG SET requirepass '' >/dev/null
    unset REDISCLI_AUTH
}

# tries DRIVER [ARGUMENT...]: all of that, for one client. A fake has no Redis that could go away.
tries()
{
    case $client in
    *-fake) return 0 ;;
    esac
    # shellcheck disable=SC2119
    applies "$client" || return 0
    redis_all FLUSHALL >/dev/null
    begin "$@"
    opens '{"patience":600}' # a set may take its time; gives_up has how long a wait goes on
    outlasts
    outlasts_in_flow
    ends_away
    if [ "$redis_kind" = single ]; then
        outlasts_failover
        outlasts_alone
        looks_again
        [ "$client" = c ] || { ends_refused; ends_refused_and_closed; } # test_outage.c has that
        case $client in
        c | go | php-*) ;; # test_outage.c, away_test.go and testing.php have that
        *) gives_up ;;
        esac
    fi
    drop
}

value='{"value":{"width":640}}'
comes_back
each_driver tries
finish
