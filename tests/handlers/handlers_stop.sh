#!/bin/sh
# Handlers in each language that leave a checkpoint when laterd stops go on where they were in the next one, and
# have not used up an attempt.
. "${top_srcdir:=.}/tests/system/daemon.sh"
needs node php ruby go
redis_python
start_redis
. "$top_srcdir/tests/handlers/handler_programs.sh"
build_gopkg || {
    finish
    exit
}
{
    echo "plugins = { config = { exec = {"
    programs_of_clients
    echo "}; }; };"
} >"$work/conf.d/exec.conf"
kinds='python.thread python.async python.serial python.plain node.any php.any gem.thread gem.serial gopkg.many'

# A worker for each job, since those of event types do not run beside the others.
configure 'workers = 9;' 'drain = 600.0;'
start_laterd
for kind in $kinds; do
    push_job "$kind.0" "\"type\":\"$kind\",\"payload\":[\"stop\",{\"json\":{\"at\":\"$kind\"}}],\"result\":3600,\"timeout\":7200,\"max_attempts\":1"
done
all_left() { for kind in $kinds; do [ -n "$(noted m "$kind.0")" ] || return 1; done; }
within 60 "each leaves its checkpoint" all_left
stop_laterd
is "$exited:$(ready)" 0:9 "they all stop"
is "$(for kind in $kinds; do attempts_of "$kind.0"; done | sort -u)" 0 "and have not used up an attempt"
start_laterd
for kind in $kinds; do
    run later wait "$kind.0" --timeout 600
    is "$status:$out" "0:{\"at\":\"$kind\"}" "$kind: it goes on where it was"
done
is "$(wc -l <"$work/notes")" 17 "each was begun twice, one of them without a note"
end_well
finish
