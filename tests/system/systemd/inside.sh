#!/bin/sh
# Runs in the container: installs laterd and uses it as an operator would, by the files of a folder.
# shellcheck disable=SC1090,SC1091,SC2034,SC2154
top_srcdir=/
. /tests/tap.sh
. /tools/settings
PATH=$PATH:/usr/local/bin:/usr/local/sbin:$prefix/bin:$prefix/sbin
export PATH
conf=$sysconfdir/laterd/laterd.conf
state=$localstatedir/lib/laterd
jobs=$prefix/lib/laterd/jobs
examples=$prefix/share/doc/laterd/examples
cd /root || exit 1

# wait_until SECONDS COMMAND...: waits at least half a minute, so that only a hang reaches it.
wait_until()
{
    rounds=$(($1 * 20))
    [ "$rounds" -ge 600 ] || rounds=600
    shift
    until "$@" >/dev/null 2>&1; do
        rounds=$((rounds - 1))
        [ "$rounds" -gt 0 ] || return 1
        sleep 0.05
    done
}

# within SECONDS NAME COMMAND...
within()
{
    seconds=$1 name=$2
    shift 2
    if wait_until "$seconds" "$@"; then
        ok "$name"
    else
        log | tail -n 30 >/root/tail
        not_ok "$name" /root/tail
    fi
}

# Prints what laterd and what it has started wrote since mark().
log()
{
    journalctl --no-pager -q -o cat --since "$since" _SYSTEMD_UNIT=laterd.service
}

# What was written until then is in the journal, so that it is not taken for what comes after.
mark()
{
    journalctl --sync
    since=$(date '+%Y-%m-%d %H:%M:%S.%6N')
}

logged()
{
    log | grep -qE -e "$1"
}

# size FIELD [QUEUE]
size()
{
    later size "${2:-default}" --json | sed -n 's/.*"'"$1"'":\([0-9]*\).*/\1/p'
}

stat_of()
{
    value=$(redis-cli -s "$state/redis.sock" HGET "later:{default}:stats" "$1")
    echo "${value:-0}"
}

# performed N: are N jobs done?
performed()
{
    [ "$(stat_of 'done')" -ge "$1" ]
}

# performs: a job that is pushed now gets done.
performs()
{
    before=$(stat_of 'done')
    later push note >/dev/null
    wait_until 10 performed $((before + 1))
}

main_pid()
{
    systemctl show -P MainPID laterd
}

# configure LINE...: sets the service's options. The plugin check keeps its notes in $notes.
notes=$state
configure()
{
    printf '%s\n' "plugins = { config = { $handlers check = { dir = \"$notes\"; }; }; };" "$@" >"$conf"
}
handlers=

begin_section()
{
    echo "# ---- $1"
    mark
}

for part in "/tests/system/$room"/[0-9]*.sh; do
    name=${part##*/}
    case " 10 $parts 90 " in
    *" ${name%%_*} "* | ' 10  90 ') . "$part" ;;
    esac
done
echo '# all of it was run'
