#!/bin/sh
# A worker that is idle for long waits long: it costs Redis little, takes a job as soon as it comes, stops at
# once, and makes a new connection when laterd's own was cut.
. "${top_srcdir:=.}/tests/system/daemon.sh"
start_redis
configure 'workers = 1;' 'lease = 1.5;' # a short wait is half a second
start_laterd

waits() { redis_all CLIENT LIST | grep 'flags=[a-zA-Z]*b.* cmd=blpop' | sed 's/^id=\([0-9]*\) .*/\1/'; }
waited() { called blpop; }

# waits_long: has it waited for two seconds without another BLPOP? (Six short ones come first.)
waits_long()
{
    before=$(waited)
    sleep 2
    [ "$(waited)" = "$before" ] && [ -n "$(waits)" ]
}

within 20 "it waits long" waits_long
push_job first '"type":"note"'
within 5 "a job comes to it" ended first
is "$(lines begun)" 1 "once"
within 20 "then it waits for a short time again, and again long" waits_long
id=$(waits)
supervisors() { redis CLIENT LIST | sed -n 's/^id=\([0-9]*\) .* name=laterd-laterd-.*/\1/p'; }
redis CLIENT KILL ID "$(supervisors)" >/dev/null
waits_anew() { [ -n "$(waits)" ] && [ "$(waits)" != "$id" ]; }
within 10 "when laterd's own connection was cut, it waits on a new one" waits_anew
push_job second '"type":"note"'
within 5 "a job comes to that" ended second
within 20 "it waits long again" waits_long
began=$(present)
end_well
in_time "$(sum "$(present) - $began")" 3 "s until it has stopped"
finish
