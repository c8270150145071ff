#!/bin/sh
# What laterd writes about itself to later:hosts, and how it removes those that are gone.
. "${top_srcdir:=.}/tests/system/daemon.sh"
needs redis-server redis-cli

# entry ID SEEN: writes a daemon as it announces itself.
entry()
{
    redis hset later:hosts "$1" "{\"host\":\"$1\",\"pid\":1,\"version\":\"0.1\",\"started\":1,\
\"seen\":$2,\"workers\":1,\"running\":0,\"performed\":0,\"failed\":0,\"queues\":[]}" >/dev/null
}
# hosts: their names; ours TEXT: is it in our line of `later status`?
hosts() { redis hkeys later:hosts | sed "s/^$(hostname):.*/ours/" | sort | tr '\n' ' '; }
are() { [ "$(hosts)" = "$1" ]; }
ours() { later status | awk -F '\t' -v host="$(hostname)" '$1 == host' | grep -qE "$1"; }

start_redis
now=$(date +%s)
entry yesterday $((now - 90000))
entry today $((now - 3600))
redis hset later:hosts broken nonsense >/dev/null
configure 'workers = 2;' 'types = ( { name = "pdf.*"; exclusive = "type"; } );
    groups = ( { queue = "default"; group = "heavy"; max_running = 3; } );
    limits = ( { type = "mail.*"; member = "to"; max = 1; per = 60.0; } );'
start_laterd
within 10 "who was not seen for a day is forgotten, nobody else" are 'broken ours today '

push_do one '"do":"sleep","until":"go-one"'
wait_until 5 begun one
within 8 "later status tells what runs" ours '	default:1	'
# job TEXT: is it in what our field says of the first job that runs?
job() { redis hvals later:hosts | sed -n 's/.*"jobs":\[\([^]]*\)\].*/\1/p' | grep -q "$1"; }
within 12 "and for how long" job '^{"id":"[^"]*","queue":"default","type":"do","since":[0-9.]*,"timeout":[0-9.]*,"attempt":1,"worker":[12]}$'
# fact RE: does our field say so?
fact() { redis hvals later:hosts | grep -qE "$1"; }
within 12 "how busy it is" fact '"busy":\[([01]|0\.[0-9]+)(,([01]|0\.[0-9]+|null))*\]'
within 12 "how much memory it has: more than a mebibyte" fact '"crashes":0,"memory":[0-9]{7,},'
within 12 "its pools" fact '"pools":\[\{"name":"default","workers":2\}\]'
within 12 "which locks are needed there" fact '"needs":\[\{"kind":"lock","name":"type:","type":"pdf\.\*"\},'
within 12 "which permits, by group" \
    fact '\{"kind":"permit","name":"group:default:","queue":"default","by":"group","group":"heavy","max":3\}'
within 12 "which limits" \
    fact '\{"kind":"limit","name":"type:mail\.\*:to=","type":"mail\.\*","member":"to","max":1,"per":60\.000,"window":"sliding"\}'
within 12 "later status tells them, too" ours '	[01]\.[0-9]	[0-9]{7,}	0	default:2$'
touch "$work/go-one"
push_many 1000 'do' '{"do":"done"}' many-
over() { ! redis hvals later:hosts | grep -q '"jobs"'; }
within 12 "until it has ended" over
within 12 "and how many a second" ours '[1-9][0-9]*\.[0-9].default'
# Without its connections laterd could not say that it leaves: they are all there again first.
named() { redis client list type normal | grep -c ' name=[^ ]'; }
before=$(named)
mended() { [ "$(named)" -ge "$before" ]; }
redis client kill type normal >/dev/null
within 10 "its connections come back" mended
push_do crash '"do":"signal","signal":11,"upto":1'
within 12 "a worker that crashed is counted" fact '"crashes":1,'
end_well
is "$(hosts)" "broken today " "who stops takes its leave"
finish
