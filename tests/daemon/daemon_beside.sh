#!/bin/sh
# daemon_beside.sh: the program of one queue's jobs has as many as it takes, and the worker has room for others. Those
# of the pool's other queues begin meanwhile, in strict order and by weight, also where the supervisor waits for wakes.
. "${top_srcdir:=.}/tests/system/daemon.sh"
start_redis

cat >"$work/slow.sh" <<'END'
while read -r line; do
    id=${line#*'"id":"'}
    echo "${id%%'"'*}" >>"$NOTES/slow"
    until [ -e "$NOTES/end" ]; do sleep 0.1; done
    echo "{\"id\":\"${id%%'"'*}\",\"result\":\"done\"}" >&3
done
END

slow="types = ( \"slow\" ); env = { NOTES = \"$work\"; }; lines = true; parallel = 1;"
nobody_waits() { blocks 0; }
# beside NAME QUEUES: one worker for the queues full, first of the list or last, and free, and others.
beside()
{
    rm -f "$work/slow" "$work/end" "$work/begun" "$work/ended"
    configure 'workers = 1;' 'events = 10;' "queues = ( $2 );"
    sed -i "s|config = {|& exec = { slow = { argv = ( \"/bin/sh\", \"$work/slow.sh\" ); $slow }; };|" "$work/laterd.conf"
    start_laterd
    for i in 1 2 3; do
        later push slow -q full --id "${1%% *}-$i" >/dev/null
    done
    within 20 "$1: one job has the only place of its program" reached slow 1
    within 30 "the worker waits for no wakes" nobody_waits
    later push event -q free --id single >/dev/null
    within 5 "another queue's job begins" begun single
    seq 30 | sed 's/.*/{"type":"event","id":"many-&"}/' | later push -q free --file - >/dev/null
    within 5 "and thirty more" reached ended 31
    is "$(lines slow):$(later size full | cut -f2,4)" "1:2	1" "the other two wait still"
    touch "$work/end"
    within 20 "when it ends, they follow" settled full
    is "$(lines slow)" 3 "each once"
    stop_laterd
    is "$exited" 0 "laterd ends with 0"
}

beside strict '{ name = "full"; }, { name = "free"; }'
beside weighted '{ name = "full"; weight = 1; }, { name = "free"; weight = 1; }'
beside 'large pool' "{ name = \"full\"; }, $(printf '{ name = "q%s"; }, ' $(seq 70)){ name = \"free\"; }"
runs "the sums hold" conserved free
finish
