#!/bin/sh
# A job that leaves checkpoints goes on where it was: after a failure, a crash, a stop of laterd, a kick;
# and what it left goes with it when it is done.
. "${top_srcdir:=.}/tests/system/daemon.sh"
start_redis
configure 'workers = 1; lease = 60.0; drain = 60.0; grace = 1.0;' 'retry = { max_attempts = 3; base = 0.0; };' \
    'types = ( { name = "do"; keep = 3600.0; } );'
start_laterd

# steps_of ID: the steps that it has made, in one line. at ID: its checkpoint, as Redis has it.
steps_of() { tr '\n' ' ' <"$work/steps-$1"; }
at() { noted m "$1"; }
is_at() { [ "$(at "$1")" = "$2" ]; }
made() { [ "$(tail -n 1 "$work/steps-$1" 2>/dev/null || echo 0)" -ge "$2" ]; }
no_files() { [ -z "$(find "$work/state/slots" -name '*value*')" ]; }

# ---- failures

push_do fails '"do":"checkpoint","steps":4,"stop":2,"in":0'
wait_until 20 unknown fails
is "$(steps_of fails)" '1 2 3 4 ' "after a failure it goes on behind the last checkpoint"
is "$(attempts_in begun fails | wc -l)" 2 "that was two attempts"
is "$(later show fails --json | grep -c '"checkpoint"')" 0 "and is not among what is kept of a job that is done"
push_do crashes '"do":"checkpoint","steps":4,"stop":3,"kill":9'
wait_until 20 unknown crashes
is "$(steps_of crashes)" '1 2 3 4 ' "after a crash of its worker, too"
push_do goes-dead '"do":"checkpoint","steps":4,"stop":2,"in":0' '"max_attempts":1'
wait_until 20 is_dead goes-dead
is "$(at goes-dead)" 2 "a dead job keeps its checkpoint"
like "$(later show goes-dead --json)" '"checkpoint":2,' "later show has it"
later kick goes-dead >/dev/null
wait_until 20 ended goes-dead 2
is "$(steps_of goes-dead)" '1 2 3 4 ' "kicked, it goes on where it was"
within 20 "their files go" no_files

# ---- while it runs

push_do runs '"do":"checkpoint","steps":2,"stop":1,"until":"go-on"'
within 20 "Redis has it while the job runs" is_at runs 1
touch "$work/go-on"
wait_until 20 unknown runs
push_do anew '"do":"checkpoint","steps":3,"stop":2,"in":3600'
wait_until 20 is_delayed anew
is "$(at anew)" 2 "it waits with its checkpoint"
later push "do" '{"do":"checkpoint","steps":3}' --id anew --replace >/dev/null
wait_until 20 unknown anew
is "$(steps_of anew)" '1 2 1 2 3 ' "one that is replaced begins at its beginning"

# ---- a stop of laterd

push_do long '"do":"checkpoint","steps":4,"stop":2,"until":"never-1"'
wait_until 20 made long 2
stop_laterd
is "$exited" 0 "laterd stops as soon as the job has stopped"
is "$(ready)" 1 "it is ready for another laterd"
is "$(attempts_of long):$(at long)" 0:2 "with its checkpoint, and without an attempt"
start_laterd
wait_until 20 unknown long
is "$(steps_of long)" '1 2 3 4 ' "the next one goes on"
is "$(attempts_in begun long | cut -d' ' -f2 | tr '\n' ' ')" '1 1 ' "in its first attempt"

push_do deaf '"do":"checkpoint","steps":3,"stop":2,"until":"never-2","stay":1'
wait_until 20 made deaf 2
stop_laterd KILL
configure 'workers = 1; lease = 60.0; drain = 0.2; grace = 1.0;' 'retry = { max_attempts = 3; base = 0.0; };'
start_laterd
wait_until 20 unknown deaf
is "$(steps_of deaf)" '1 2 3 ' "laterd is killed: the next one finds the checkpoint on the disk"

push_do stays '"do":"checkpoint","steps":1000,"for":0.05,"stay":1'
wait_until 20 made stays 3
stop_laterd
is "$(ready):$(attempts_of stays)" 1:0 "one that does not stop by itself is interrupted"
at_least "$(at stays)" "$(tail -n 1 "$work/steps-stays")" "and has its last checkpoint all the same"
later cancel stays >/dev/null
start_laterd

# ---- the end

push_do fits '"do":"checkpoint","steps":1' '"max_attempts":1'
wait_until 20 unknown fits
is "$(how_often later_job_checkpoint)" 0 "nothing was refused"
within 20 "no file is left" no_files
is "$(conserved && echo yes)" yes "nothing was lost"
stop_laterd
finish
