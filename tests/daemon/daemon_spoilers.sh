#!/bin/sh
# Handlers that damage their worker without killing it: descriptors, directory, locale, memory; and
# the slot page, which it shares with its supervisor.
. "${top_srcdir:=.}/tests/system/daemon.sh"
start_redis

configure 'workers = 1;' 'recycle = { memory = 40; };' 'lease = 3.0;'
start_laterd
push_do wander '"do":"wander"'
push_do close '"do":"close"' '"max_attempts":2'
push_many 5 note null after-
within 20 "jobs go on after one that closes all descriptors" counts 'done' 7
is "$(attempts_in begun close | wc -l)" 1 "which counts as done, once"
nothing_held() { [ "$(reserved default)" = 0 ]; }
within 10 "nothing is held any more" nothing_held

most=0
push_many 60 'do' '{"do":"leak","bytes":10000000}' leak-
until [ "$(counted 'done')" -ge 67 ]; do
    for worker in $(workers); do
        memory=$(private_memory "$worker" 2>/dev/null)
        [ "${memory:-0}" -le "$most" ] || most=$memory
    done
done
is "$(grep -c '^leak-' "$work/begun") $(noting a)" "60 0" \
    "60 jobs that leak 10 MB are done, each once"
at_least "$(grep '^leak-' "$work/begun" | cut -d' ' -f5 | sort -u | wc -l)" 4 "workers took turns"
at_most "$most" $(((40 + 30) * 1024)) "KiB of a worker's own, limit 40 MiB"
# A limit that even a new worker exceeds: each worker does one job, and the next one comes.
stop_laterd
configure 'workers = 1;' 'recycle = { memory = 1; };' 'lease = 3.0;'
start_laterd
push_do large '"do":"leak","bytes":3000000'
push_many 20 note null small-
within 20 "a limit too small for any worker stops nobody" counts 'done' 88
stop_laterd

# ---- descriptors

configure 'pools = ( { name = "few"; queues = ( { name = "default"; } ); workers = 1; files_max = 40; } );'
start_laterd
is "$(awk '/^Max open files/ { print $4, $5 }' "/proc/$(workers)/limits")" "40 40" \
    "files_max bounds a worker's descriptors"
push_job few '"type":"note"'
within 5 "with which it works" counts 'done' 89
stop_laterd

# ---- the health page is cut short

configure 'workers = 1;'
start_laterd
: >"$work/state/health"
healthy()
{
    later -c "$work/laterd.conf" status --local
}
within 10 "a health page that was cut short is whole again" healthy
runs "laterd lives after its health page was cut short" alive "$laterd_pid"
stop_laterd

# ---- the slot page is overwritten or truncated while its settlements wait for Redis

# spoilt NAME ID PAYLOAD: one worker spoils its page while another has a job.
spoilt()
{
    rm -f "$work/begun" "$work/ended"
    before=$(counted 'done')
    start_laterd
    first=$laterd_pid
    push_do "other-$2" '"do":"sleep","for":8'
    wait_until 5 begun "other-$2"
    printf '{"type":"%s","id":"%s","payload":%s}\n' 'do' "spoil-$2" \
        "{\"do\":\"spoil\",\"upto\":1,\"redis\":$redis_pids,\"for\":3,$3}" \
        note "behind-$2-1" null note "behind-$2-2" null | later push --file - >/dev/null
    within 10 "$1: the job begins" begun "spoil-$2"
    within 40 "$1: all is done in the end" counts 'done' $((before + 4))
    runs "$1: the supervisor lives" alive "$first"
    is "$(attempts_in begun "other-$2" | wc -l)" 1 "$1: the other worker's job runs once"
    stop_laterd
    is "$exited" 0 "$1: laterd ends with 0"
}

configure 'workers = 2;' 'lease = 4.0;'
if applies pages; then
    spoilt "written over" over '"cut":0'
    spoilt "cut short" short '"cut":1'
fi
runs "the sums hold" conserved
finish
