#!/bin/sh
# Handlers in each language that leave a checkpoint when laterd stops go on where they were in the next one, and
# have not used up an attempt.
. "${top_srcdir:=.}/tests/system/daemon.sh"
needs node php ruby go
redis_python
start_redis
clients=$(cd "$top_srcdir" && pwd)/clients
here=$(cd "$top_srcdir" && pwd)/tests/clients
mkdir -p "$work/conf.d" "$work/path/src"
: >"$work/notes"
ln -s "$clients/go" "$work/path/src/laterd"
if ! GOPATH=$work/path:/usr/share/gocode GO111MODULE=off GOFLAGS=-p=2 GOCACHE="$(cd "$top_builddir" && pwd)/build/go" \
    go build -o "$work/gopkg" "$here/answers_gopkg.go" "$here/answers_app.go" >"$work/go.log" 2>&1; then
    not_ok "go: a program of the client is built" "$work/go.log"
    finish
    exit
fi

# program NAME TYPES OPTIONS CLIENT ARGV...
program()
{
    name=$1 types=$2 options=$3 client=$4
    shift 4
    words=$(printf ', "%s"' "$@")
    echo "$name = { argv = ( ${words#, } ); dir = \"$here\"; types = ( $types ); lines = true; hello = true; $options"
    echo "    env = { NOTES = \"$work/notes\"; CLIENT = \"$clients/$client\"; PYTHONPATH = \"$clients/python\";"
    echo "            PYTHONDONTWRITEBYTECODE = \"1\"; }; };"
}
{
    echo "plugins = { config = { exec = {"
    program python '"python.thread", "python.async"' 'parallel = 4;' python "$python" -m laterd answers_app:app
    program serial '"python.serial"' '' python "$python" -m laterd answers_app:app
    program node '"node.any"' 'parallel = 4;' node "$(command -v node)" answers_app.mjs
    program php '"php.any"' '' php "$(command -v php)" answers_app.php
    program ruby '"gem.thread"' 'parallel = 4;' ruby "$(command -v ruby)" answers_gem.rb
    program rubyserial '"gem.serial"' '' ruby "$(command -v ruby)" answers_gem.rb
    program go '"gopkg.many"' 'parallel = 4;' go "$work/gopkg"
    echo "}; }; };"
} >"$work/conf.d/exec.conf"
kinds='python.thread python.async python.serial node.any php.any gem.thread gem.serial gopkg.many'

# A worker for each job, since those of event types do not run beside the others.
configure 'workers = 8;' 'drain = 600.0;'
start_laterd
for kind in $kinds; do
    push_job "$kind.0" "\"type\":\"$kind\",\"payload\":[\"stop\",{\"json\":{\"at\":\"$kind\"}}],\"result\":3600,\"timeout\":7200,\"max_attempts\":1"
done
all_left() { for kind in $kinds; do [ -n "$(noted m "$kind.0")" ] || return 1; done; }
within 60 "each leaves its checkpoint" all_left
stop_laterd
is "$exited:$(ready)" 0:8 "they all stop"
is "$(for kind in $kinds; do attempts_of "$kind.0"; done | sort -u)" 0 "and have not used up an attempt"
start_laterd
for kind in $kinds; do
    run later wait "$kind.0" --timeout 600
    is "$status:$out" "0:{\"at\":\"$kind\"}" "$kind: it goes on where it was"
done
is "$(wc -l <"$work/notes")" 15 "each was begun twice, one of them without a note"
end_well
finish
