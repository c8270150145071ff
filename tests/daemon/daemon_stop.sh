#!/bin/sh
# TERM: running jobs may finish for `drain` seconds, then get TERM, and KILL after `grace`. What had
# not begun is returned, and so is what was interrupted, but the tenth time in a row it is an
# attempt.
. "${top_srcdir:=.}/tests/system/daemon.sh"
start_redis

# laterd waits a second for Redis to remove it from later:hosts, and then goes. A busy machine may
# take longer, so one success in several stops is enough.
left=no
leave()
{
    [ "$(redis HLEN later:hosts)" -ne 0 ] || left=yes
    redis DEL later:hosts >/dev/null
}

# ---- short jobs finish; what waits goes back

configure 'workers = 2;' 'drain = 60.0;' 'grace = 1.0;'
start_laterd
push_many 300 'do' '{"do":"sleep","for":0.01}' short-
push_many 2 'do' '{"do":"sleep","for":1}' long-
push_many 300 note null rest-
wait_until 10 begun long-1 && wait_until 10 begun long-2
begin=$(present)
stop_laterd
in_time "$(sum "$(present) - $begin")" 3 "s to stop, of 60"
is "$exited" 0 "laterd ends with 0"
is "$(ended long-1 && ended long-2 && echo yes)" yes "the jobs that ran were finished"
is "$(reserved) $(noting a) $(noting e)" "0 0 0" \
    "the others went back without an attempt"
is "$(lines begun) $(counted 'done')" "$(lines ended) $(lines ended)" "what began, ended and was counted"
leave
runs "the sums hold" conserved
start_laterd
within 10 "another laterd does the rest" settled
is "$(cut -d' ' -f1 "$work/begun" | sort | uniq -d | wc -l) $(counted 'done')" "0 602" \
    "all jobs have run once over the restarts"
stop_laterd
leave
rm -f "$work/begun" "$work/ended"

# ---- a job longer than drain gets TERM; one that ignores it gets KILL after grace

configure 'workers = 2;' 'drain = 1.0;' 'grace = 1.5;'
start_laterd
push_do polite '"do":"sleep","for":30'
push_do deaf '"do":"spin"'
wait_until 10 begun deaf && wait_until 10 begun polite
polite=$(pid_of polite) deaf=$(pid_of deaf)
begin=$(present)
kill -TERM "$laterd_pid"
wait_until 10 gone "$polite"
at_least "$(sum "$(present) - $begin")" 0.99 "s until the polite one was ended"
in_time "$(sum "$(present) - $begin")" 1.6 "s until the polite one was ended"
wait_until 10 gone "$deaf"
at_least "$(sum "$(present) - $begin")" 2.49 "s until the deaf one was killed"
await_laterd
in_time "$(sum "$(present) - $begin")" 3.5 "s to stop"
is "$exited" 0 "laterd ends with 0"
is "$(ready) $(reserved) $(attempts_of polite) $(attempts_of deaf)" "2 0 0 0" \
    "both are ready again, without an attempt"
leave
is "$(noted i deaf)" 1 "it counts as interrupted"

# ---- the tenth interruption in a row is an attempt

redis HSET "$(key records)" deaf i=9 polite i=3 >/dev/null
start_laterd
wait_until 10 begun deaf 2 && wait_until 10 begun polite 2
stop_laterd
is "$(attempts_of deaf) $(attempts_of polite)" "1 0" "the tenth interruption is an attempt"
leave
later cancel polite deaf >/dev/null
runs "the sums hold" conserved

# ---- TERM twice, INT, and with nothing to do

configure 'workers = 2;' 'drain = 30.0;'
start_laterd
push_do short '"do":"sleep","for":1'
wait_until 10 begun short
kill -TERM "$laterd_pid"
kill -INT "$laterd_pid"
stop_laterd
is "$exited $(unknown short && echo 'done')" "0 done" "TERM and INT again change nothing"
leave
start_laterd
begin=$(present)
stop_laterd INT
is "$exited" 0 "INT ends laterd, too"
in_time "$(sum "$(present) - $begin")" 1 "s for an idle one to stop"
leave

# ---- QUIT does not wait for what runs

rm -f "$work/begun" "$work/ended"
start_laterd
push_do long '"do":"sleep","until":"go-long"'
wait_until 10 begun long
kill -QUIT "$laterd_pid"
await_laterd
leave
is "$(ready) $(attempts_of long) $(noted i long)" "1 0 1" "QUIT returns what runs, as interrupted"
log_has long 'returned (interrupted): laterd was told to quit'
is "$?" 0 "and the log says so"
later cancel long >/dev/null

# ---- a job that kills its worker while laterd stops is to blame all the same

rm -f "$work/begun" "$work/ended"
start_laterd
push_do dies '"do":"signal","signal":6,"until":"go-dies"'
wait_until 10 begun dies
kill -TERM "$laterd_pid"
wait_until 10 logged 'stopping: '
touch "$work/go-dies"
await_laterd
leave
is "$(attempts_of dies) $(noted c dies) $(noted i dies)" "1 1 " "a crash during a stop is a crash"
later cancel dies >/dev/null

# ---- a reload that cuts a job says so

rm -f "$work/begun" "$work/ended"
configure 'workers = 1;' 'drain = 0.1;' 'grace = 1.0;'
start_laterd
push_do cut '"do":"sleep","until":"go-cut"'
wait_until 10 begun cut
kill -HUP "$laterd_pid"
within 10 "the job that a reload cut begins again" begun cut 2
within 10 "the log says what has cut it" log_has cut 'returned (interrupted): laterd was reloaded'
touch "$work/go-cut"
within 10 "and it is done" unknown cut
stop_laterd
leave

# ---- event jobs get time, then are cancelled by the end of their worker

rm -f "$work/begun" "$work/ended"
configure 'workers = 1;' 'drain = 3.0;' 'grace = 10.0;' # a loop that stands still for `grace` and a second hangs
start_laterd
push_event quick '"for":0.3'
push_event slow '"for":30'
wait_until 10 begun slow && wait_until 10 begun quick
stop_laterd
is "$exited $(ended quick && unknown quick && echo 'done')" "0 done" "a quick event job finishes"
is "$(ready) $(attempts_of slow) $(noted i slow)" "1 0 1" \
    "a slow one is returned as interrupted"
leave
is "$left" yes "laterd takes its leave"

# ---- the embedded Redis is stopped last, and nothing is lost

configure 'workers = 1;' 'drain = 0.5;' 'grace = 0.5;'
start_embedded
later push note --id kept --in 1h >/dev/null
later push 'do' '{"do":"sleep","for":30}' --id cut >/dev/null
within 10 "a job runs with the embedded Redis" begun cut
stop_laterd
is "$exited" 0 "laterd ends with 0"
is "$(redis PING 2>/dev/null)" "" "and its Redis with it"
start_embedded
is "$(later show kept --json | field state)" delayed "a delayed job is kept"
within 10 "the interrupted one begins again" begun cut 2
is "$(attempts_in begun cut | cut -d' ' -f2 | tr '\n' ' ')" "1 1 " "as a first attempt"
stop_laterd
is "$exited" 0 "laterd ends with 0"
finish
