#!/bin/sh
# Every command and every program of README.md, in order, in a sandbox.
#
# A block that begins with ```sh, ```c or ```python has a comment before it: `<!-- test: NAME -->`
# means that it is run here, and after_NAME below checks the outcome; `<!-- file: NAME -->` means
# that it is saved under that name.
#
# The sandbox is $box, an empty root folder. make installs into it, and in the commands /usr/local,
# /etc/laterd and /var/lib/laterd stand for the folders in it. sudo, systemctl, journalctl, usermod
# and systemd-sysusers are stand-ins that do the same there as far as possible. If root runs the
# test, laterd is another user, and later a third one in laterd's group.
. "${top_srcdir:=.}/tests/system/lib.sh"
needs redis-server redis-cli pkg-config make cc

readme=$(cd "$top_srcdir" && pwd)/README.md
builddir=$(cd "$top_builddir" && pwd)
box=$work/box
log=$work/laterd.log
PATH=$PATH:/usr/sbin:/sbin
unset MAKEFLAGS MFLAGS MAKELEVEL DESTDIR
umask 022
mkdir -p "$box/bin" "$box/etc" "$work/blocks" "$work/here"
cp -r "$(dirname "$readme")/clients" "$work/here" # README assumes a clone
chmod 755 "$work"
service='' member=''
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
    service='setpriv --reuid 65534 --regid 65534 --clear-groups'
    member='setpriv --reuid 65533 --regid 65534 --clear-groups'
fi

# ---- the blocks

awk -v to="$work/blocks" '
    /^<!-- (test|file): [^ ]+ -->$/ { kind = $2; name = $3; sub(":", "", kind); next }
    /^```(sh|c|python)$/ {
        if (name == "") print FNR ": " $0 " is neither tested nor saved"
        else { print kind, name >(to "/list"); out = to "/" name; printf "" >out }
        next
    }
    /^```/ { out = ""; name = ""; next }
    out != "" { print >out }' "$readme" >"$work/unmarked"
is "$(cat "$work/unmarked")" "" "every block is tested or saved"
sed 's/^/# /' "$work/unmarked"
# README's paths become the sandbox's.
for block in "$work"/blocks/*; do
    sed -i -e "s|/usr/local|$box/usr/local|g" -e "s|/etc/laterd|$box/etc/laterd|g" \
        -e "s|/var/lib/laterd|$box/var/lib/laterd|g" "$block"
done

# ---- stand-ins

# stand_in NAME: makes a program of the sandbox from standard input. It knows $box, $work, $log,
# $service, $member, and the real program as $real.
stand_in()
{
    {
        printf '#!/bin/sh\nset -eu\nbox=%s work=%s log=%s real=%s\n' "$box" "$work" "$log" \
            "$(command -v "$1")"
        printf 'service="%s" member="%s"\n' "$service" "$member"
        cat
    } >"$box/bin/$1"
    chmod +x "$box/bin/$1"
}

stand_in sudo <<'EOF'
exec "$@"
EOF
# As in the unit: a user of its own, its state directory, umask and command. systemctl waits for
# READY; the first word about laterd's health comes a second later.
stand_in systemctl <<'EOF'
unit=$box/usr/local/lib/systemd/system/laterd.service
case $* in
'enable --now laterd')
    if [ -n "$real" ] && [ "$(id -u)" -eq 0 ]; then
        "$real" --root="$box" enable laterd
    fi
    grep -qx StateDirectory=laterd "$unit"
    mkdir -p -m 0750 "$box/var/lib/laterd"
    [ -z "$service" ] || chown 65534:65534 "$box/var/lib/laterd"
    umask "$(sed -n 's/^UMask=//p' "$unit")"
    command=$(sed -n "s|^ExecStart=/usr/local\(.*\) -c /etc/|$box/usr/local\1 -c $box/etc/|p" "$unit")
    $service $command </dev/null >"$log" 2>&1 &
    echo $! >"$work/laterd.pid"
    for _ in $(seq 600); do
        ! later status --local >/dev/null 2>&1 || exit 0
        sleep 0.1
    done
    exit 1
    ;;
'reload laterd') kill -HUP "$(cat "$work/laterd.pid")" ;;
*) exit 64 ;;
esac
EOF
stand_in journalctl <<'EOF'
[ "$*" = '-u laterd -n 20 --no-pager' ]
tail -n 20 "$log"
EOF
stand_in systemd-sysusers <<'EOF'
if [ -n "$real" ] && [ "$(id -u)" -eq 0 ]; then
    exec "$real" --root="$box"
fi
EOF
stand_in usermod <<'EOF'
if [ "$(id -u)" -eq 0 ] && grep -qs '^laterd:' "$box/etc/group"; then
    exec "$real" --prefix "$box" "$@"
fi
[ "$*" = "-aG laterd alice" ]
EOF
# The programs have /etc/laterd built in, so they are told the sandbox's.
stand_in later <<'EOF'
exec $member "$box/usr/local/bin/later" -c "$box/etc/laterd/laterd.conf" "$@"
EOF
stand_in laterd <<'EOF'
exec "$box/usr/local/sbin/laterd" -c "$box/etc/laterd/laterd.conf" "$@"
EOF
# A python3 that has redis-py. Debian's own may be behind another.
python=
for candidate in python3 /usr/bin/python3; do
    if [ -z "$python" ] && "$candidate" -c 'import redis' 2>/dev/null; then
        python=$(command -v "$candidate")
    fi
done
[ -z "$python" ] || ln -s "$python" "$box/bin/python3"

USER=alice
PKG_CONFIG_PATH=$box/usr/local/lib/pkgconfig
LATER_REDIS_URL=unix:$box/var/lib/laterd/redis.sock
export USER PKG_CONFIG_PATH LATER_REDIS_URL
echo 'alice:x:1001:1001::/:/bin/sh' >"$box/etc/passwd"

# ---- running

# run_block NAME [FOLDER]: runs its commands in order, until one fails.
run_block()
{
    runs "$1" sh -c 'cd "$1" && PATH=$2/bin:$PATH && exec sh -eux "$3" >"$4" 2>&1 ||
        { cat "$4"; exit 1; }' sh "${2:-$work/here}" "$box" "$work/blocks/$1" "$work/$1.out"
}

# greeted NAME: has the handler greeted it? In Python's JSON there is a space.
greeted()
{
    grep -Eq "hello \{\"name\": ?\"$1\"\}" "$log"
}

greets()
{
    for name in "$@"; do
        if wait_until 10 greeted "$name"; then
            ok "hello $name"
        else
            tail -n 10 "$log" >"$work/tail"
            not_ok "hello $name" "$work/tail"
        fi
    done
}

# ---- each block

test_quickstart()
{
    usage=$(sh "$top_srcdir/quickstart" --help)
    while read -r command; do
        contains "$usage" "${command%%  *}" "quickstart's usage has: ${command%%  *}"
    done <"$work/blocks/quickstart"
}

# A compiler that compiles what has a folder built in, and takes other objects from our own tree, which made them
# from the same files.
cat >"$work/cc" <<EOF
#!/bin/sh
dep=
for word; do
    case \$word in
    *.c) from=\$word ;;
    *.o) object=\$word ;;
    *.Tpo) dep=\$word ;;
    esac
done
if [ -n "\$dep" ] && [ -e "$builddir/\$object" ] && ! grep -q 'LATER_[A-Z]*_DIR' "\$from"; then
    cp "$builddir/\$object" "\$object" && : >"\$dep"
else
    echo "\$from" >>"$work/compiled"
    exec ${CC:-cc} "\$@"
fi
EOF
chmod +x "$work/cc"

# From the files that `make dist` ships, since our own tree is in use.
test_install()
{
    runs "a copy of the source" make -C "$builddir" distdir distdir="$work/source"
    DESTDIR=$box CC=$work/cc CFLAGS=-O0
    export DESTDIR CC CFLAGS
    run_block install "$work/source"
    unset DESTDIR CC CFLAGS
    runs "what has a folder built in is compiled" grep -qx cli/where.c "$work/compiled"
    for file in sbin/laterd bin/later lib/laterd/jobs/null.so share/laterd/scripts/push.lua; do
        runs "it is there: $file" test -e "$box/usr/local/$file"
    done
    sed -i "s|^prefix=.*|prefix=$box/usr/local|" "$PKG_CONFIG_PATH"/*.pc
    runs "and a folder for more of its configuration" test -d "$box/etc/laterd/conf.d"
    cat >"$box/etc/laterd/conf.d/sandbox.conf" <<EOF
state_dir = "$box/var/lib/laterd";
plugins = { dir = "$box/usr/local/lib/laterd/jobs"; };
workers = 2;
EOF
}

after_plugin()
{
    contains "$(cat "$work/plugin.out")" 'hello {"name":"world"}' "it is tried without Redis"
    contains "$(tail -n 3 "$work/plugin.out")" 'done' "--perform prints done"
}

after_service()
{
    own "$(cat "$work/laterd.pid")"
    if [ -e "$box/etc/group" ]; then
        contains "$(cat "$box/etc/group")" laterd "the group is there"
        contains "$(grep '^laterd:' "$box/etc/group")" alice "and has a member"
    fi
}

after_reload()
{
    runs "new workers come" wait_until 20 grep -q ' reloaded: ' "$log"
}

# The job that is pushed twice must not be done in between, however slow the machine.
before_shell()
{
    PATH=$box/bin:$PATH later pause default >/dev/null
}

after_shell()
{
    PATH=$box/bin:$PATH later resume default >/dev/null
    greets shell later once
    contains "$(cat "$work/shell.out")" exists "an id that is known is told"
}

after_zadd()
{
    greets redis-cli due
}

after_python()
{
    is "$(tail -n 1 "$work/python.out" | grep -cE '^[0-9A-Za-z]{14}$')" 1 "push.py prints an id"
    greets python soon many more
}

after_c()
{
    greets C
}

while read -r kind name; do
    if [ "$kind" = file ]; then
        cp "$work/blocks/$name" "$work/here"
    elif [ "$name" = quickstart ] || [ "$name" = install ]; then
        "test_$name"
    elif [ "$name" = python ] && [ -z "$python" ]; then
        missing python "python3-redis is not installed"
    else
        ! command -v "before_$name" >/dev/null || "before_$name"
        run_block "$name"
        ! command -v "after_$name" >/dev/null || "after_$name"
    fi
done <"$work/blocks/list"

is "$(grep -c 'hello {"name":"once"}' "$log")" 1 "one id, one job"
kill -TERM "$(cat "$work/laterd.pid")"
runs "laterd stops" wait_until 30 gone "$(cat "$work/laterd.pid")"
finish
