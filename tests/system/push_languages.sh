#!/bin/sh
# Every program of doc/push.md runs against a laterd that performs what it pushes.
#
# Before each there is a comment `<!-- run: FILE COMMAND -->`, or `<!-- not run: FILE: why -->`. The
# latter are listed here, not passed. If this machine lacks a language's interpreter or client, that
# language is skipped.
. "${top_srcdir:=.}/tests/system/daemon.sh"
needs redis-server redis-cli

install_path=/usr/local/share/laterd/scripts
scripts=$(cd "$top_builddir" && pwd)/scripts/expanded
source=$(cd "$top_srcdir" && pwd)
build=$(cd "$top_builddir" && pwd)
box=$work/box
mkdir "$box" "$work/bin"
cat >"$work/mailer" <<END
#!/bin/sh
cat >>$work/mails
echo >>$work/mails
END
chmod +x "$work/mailer"
start_redis 'appendonly no'
: >"$work/mails"
configure 'workers = 2;'
sed -i "s|config = {|config = { exec = { mail = { argv = ( \"$work/mailer\" ); }; };|" \
    "$work/laterd.conf"
start_laterd

# ---- the programs; type and paths are the test's

awk -v to="$box" -v list="$work/list" '
    /^<!-- run: / { sub(/^<!-- run: /, ""); sub(/ -->$/, ""); print >list; name = $1; next }
    /^<!-- not run: / { sub(/^<!-- /, ""); sub(/ -->$/, ""); print "# " $0; name = "-"; next }
    /^```[a-z]/ {
        if (name == "") print FNR ": no word whether it is run" >(list ".bad")
        else if (name != "-") { out = to "/" name; printf "" >out }
        next
    }
    /^```/ { out = name = ""; next }
    out != "" { print >out }' "$source/doc/push.md"
is "$(cat "$work/list.bad" 2>/dev/null)" "" "of every program it is said how it is run"

# What the document says about a Cluster: the line that connects. Programs without it are left out,
# except the one with liblater.
on_cluster()
{
    awk -v port="${redis_masters%%[!0-9]*}" '
        FNR == 1 { file++ }
        file == 1 && /^[|] push/ {
            split($0, part, "`")
            gsub(/node1/, "127.0.0.1", part[4])
            gsub(/6379/, port, part[4])
            from[$2] = part[2]
            to[$2] = part[4]
        }
        file > 1 {
            name = FILENAME
            sub(/.*\//, "", name)
            if (FNR == 1) printf "" >(FILENAME ".new")
            at = index($0, from[name])
            if (from[name] != "" && at)
                $0 = substr($0, 1, at - 1) to[name] substr($0, at + length(from[name]))
            print >(FILENAME ".new")
        }' "$source/doc/push.md" "$@"
}
list=$work/list
if [ "$redis_kind" = cluster ]; then
    list=$work/list.cluster
    : >"$list"
    while read -r file command; do
        if grep -q "^| $file |" "$source/doc/push.md" || [ "${file%-later.c}" != "$file" ]; then
            echo "$file $command" >>"$list"
        fi
    done <"$work/list"
    on_cluster "$box"/*
    for file in "$box"/*.new; do
        mv "$file" "${file%.new}"
    done
fi
sed -i -e "s|$install_path|$scripts|g" -e "s|/var/lib/laterd/redis.sock|$redis_socket|g" \
    -e 's/mail\.send/exec.mail/g' "$box"/*

# The tree is not installed, so this replaces its pkg-config file.
real=$(command -v pkg-config)
cat >"$work/bin/pkg-config" <<END
#!/bin/sh
[ "\$3" != later ] || exec echo "-I$source/lib -I$build/lib $build/lib/liblater.a \$($real --libs hiredis openssl jansson) -lm"
exec $real "\$@"
END
chmod +x "$work/bin/pkg-config"
# A python3 that has redis-py. Debian's own may be behind another.
for python in python3 /usr/bin/python3; do
    if "$python" -c 'import redis' 2>/dev/null; then
        ln -s "$(command -v "$python")" "$work/bin/python3"
        break
    fi
done
PATH=$work/bin:$PATH

# ---- what this machine has

# has FILE: is what runs it installed?
has()
{
    case $1 in
    *.sh) true ;;
    *.py) python3 -c 'import redis' 2>/dev/null ;;
    *.pl) perl -MRedis -e 1 2>/dev/null ;;
    *.c) command -v cc >/dev/null && [ -n "$real" ] ;;
    *) false ;;
    esac
}

# ---- each runs twice, since the second time the id is known

# said TEXT: how often was this sent to a program?
said()
{
    grep -cF "\"$1\"" "$work/mails"
}
arrived()
{
    [ "$(said "$1")" -ge 1 ]
}

# once FILE COMMAND: prints its output, on a Redis that knows no script.
once()
{
    redis_all script flush >/dev/null
    (cd "$box" && sh -c "$2" 2>"$work/words") </dev/null >"$work/said"
}

# try_program FILE COMMAND NAME: its jobs are named after NAME.
try_program()
{
    later pause default >/dev/null 2>&1
    if once "$1" "$2"; then
        ok "$1 ends well"
    else
        cat "$work/said" "$work/words" >"$work/output"
        not_ok "$1 ends well" "$work/output"
        return
    fi
    contains "$(cat "$work/said")" PUSHED "$1 is told that it has pushed"
    is "$(later show "$3-1" --json | field priority)" 10 "its job has its id and priority"
    like "$(later show "$3-1" --json | field state)" 'delayed|ready' "the job that was pushed waits"
    if ! grep -q "$3-plain" "$box/$1"; then
        : # by the library alone
    elif [ "$(redis zrange "$(key ready)" 0 -1 | grep -c "$3-plain")" -eq 1 ]; then
        ok "its plain job is its own document"
    else
        redis zrange "$(key ready)" 0 -1 >"$work/output"
        not_ok "its plain job is its own document" "$work/output"
    fi
    once "$1" "$2"
    contains "$(cat "$work/said")" EXISTS "$1 again: the id is known"
    later resume default >/dev/null 2>&1
    runs "$3 by script is performed" wait_until 20 arrived "$3-script"
    ! grep -q "$3-plain" "$box/$1" || runs "$3 by ZADD is performed" wait_until 20 arrived "$3-plain"
    is "$(said "$3-script")" 1 "$3 by script: one id, one job"
}

# try_cron FILE COMMAND: it sets a schedule, lists it, and takes it away.
try_cron()
{
    once "$1" "$2" || cat "$work/words" >>"$work/said"
    is "$(cat "$work/said")" 'set: 0 3 * * mon-fri in Europe/Berlin' "$1 sets a schedule, and finds it"
    is "$(redis_all exists 'later:{default}:crontab' | awk '{ sum += $1 } END { print sum + 0 }')" 0 "$1 takes it away"
}

while read -r file command; do
    case $file in
    *.c) name=${file#push-} name=c-${name%.*} ;;
    *) name=$(echo "$file" | sed 's/.*\.//; s/^py$/python/; s/^pl$/perl/') ;;
    esac
    if ! has "$file"; then
        missing "$file" "what runs it is not installed"
    elif [ "$file" = cron-later.c ]; then
        try_cron "$file" "$command"
    else
        try_program "$file" "$command" "$name"
    fi
done <"$list"

is "$(wc -l <"$work/list")" 6 "six programs"
run later check
is "$status" 0 "later check finds nothing"
stop_laterd
is "$exited" 0 "laterd ends with 0"
finish
