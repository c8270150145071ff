#!/bin/sh
# The image of the Containerfile, made without an engine and a registry, from a Debian tree; and a laterd
# in it that is process 1, not root, on a root file system that cannot be written: start, health, a stop
# with a job running. `make check-container` runs this, by hand and as root, since it compiles and
# downloads.
. "${top_srcdir:=.}/tests/system/daemon.sh"
PATH=$PATH:/usr/sbin:/sbin
needs redis-server redis-cli debootstrap unshare nsenter chroot setpriv python3 git ruby xz
if [ "$(id -u)" -ne 0 ]; then
    echo '1..0 # SKIP only root can make the tree'
    exit 0
fi

# ---- the image

trees=${LATER_TREES:-/var/cache/laterd-trees}
base=$trees/bookworm-bare
mkdir -p "$trees"
if ! [ -d "$base" ]; then
    rm -rf "$base.new"
    if ! debootstrap --variant=minbase bookworm "$base.new" >"$work/debootstrap" 2>&1; then
        tail -n 20 "$work/debootstrap" | sed 's/^/# /'
        echo 'Bail out! debootstrap makes no tree'
        exit 99
    fi
    rm -f "$base.new"/var/cache/apt/archives/*.deb
    mv "$base.new" "$base"
fi
git clone -q "$top_srcdir" "$work/context"
image=$work/image
mkdir "$image"
if ! unshare --mount /usr/bin/python3 "$top_srcdir/tests/system/container/image.py" \
    "$top_srcdir/Containerfile" "$base" "$work/context" "$image" >"$work/made" 2>&1; then
    tail -n 20 "$work/made" | sed 's/^/# /'
    not_ok "the image is made" "$work/made"
    finish
    exit
fi
ok "the image is made"
setting() { sed -n "s/^$1 //p" "$image/settings"; }
user=$(setting USER)

# What it adds to Debian's own, which is there once for all images.
added() { find "$1" -xdev -type f -printf '%P %s\n' | sort; }
added "$base" >"$work/base.files"
added "$image/root" >"$work/image.files"
comm -13 "$work/base.files" "$work/image.files" | cut -d' ' -f1 >"$work/new.files"
tar -C "$image/root" -cf - -T "$work/new.files" | gzip -6 | wc -c >"$work/layer"
at_most "$(($(cat "$work/layer") / 1000000))" 40 "MB that it adds to debian:12-slim, packed"
echo "# $(du -sm "$image/root" | cut -f1) MB in all"

# ---- a container: a user, a root that is read-only, a volume, process 1

start_redis 'appendonly yes'
chmod 755 "$work"
chmod 777 "$redis_socket"
mkdir -p "$image/root/redis"
# The volume is as Kubernetes makes them; its example has the rest, and how a folder in it is made.
example()
{
    ruby -ryaml -e 'config, made = YAML.load_stream(File.read(ARGV[0]))
        puts eval(ARGV[1])' "$top_srcdir/doc/examples/kubernetes.yaml" "$1"
}
volume=$work/volume conf=$work/laterd.conf
mkdir -m 2777 "$volume"
chgrp "${user#*:}" "$volume"
state=$(example 'config["data"]["laterd.conf"][/state_dir = "(.*)"/, 1]')
cat >"$conf" <<CONF
redis = { url = "unix:/redis/redis.sock"; };
state_dir = "$state";
workers = 2;
drain = 1.0;
grace = 1.0;
CONF

# contain COMMAND...: becomes a container that runs it
contain()
{
    exec unshare --mount --pid --fork --kill-child --net --ipc --uts sh -c '
        set -e
        root=$1 user=$2
        hostname container
        mount --bind "$root" "$root"
        mount --bind "$3" "$root/redis"
        mount --bind "$4" "$root/var/lib/laterd"
        mount --bind "$5" "$root/etc/laterd/laterd.conf"
        mount -t tmpfs tmpfs "$root/tmp"
        mount -t proc proc "$root/proc"
        mount -o remount,bind,ro "$root"
        shift 5
        exec chroot "$root" setpriv --reuid "${user%:*}" --regid "${user#*:}" --clear-groups \
            --bounding-set=-all --no-new-privs "$@"' sh "$image/root" "$user" "$work" "$volume" "$conf" \
            "$@" </dev/null
}

# start_container: its process 1, seen from here, is $first.
start_container()
{
    : >"$log"
    # shellcheck disable=SC2046 # words
    contain $(setting ENTRYPOINT) 2>>"$log" >/dev/null &
    container=$!
    own "$container"
    within 20 "laterd starts" logged ' ready: '
    first=$(children "$container" | awk '{ print $1 }')
}

# inside COMMAND...
inside()
{
    nsenter -t "$first" -m -p -u -n -i -r -w setpriv --reuid "${user%:*}" --regid "${user#*:}" --clear-groups \
        "$@"
}

# shellcheck disable=SC2046 # words
(contain $(example 'made["spec"]["template"]["spec"]["initContainers"][0]["command"].join(" ")')) >"$work/init" 2>&1
is "$? $(cat "$work/init")" '0 ' "the example for Kubernetes makes a folder in its volume"
start_container
is "$(inside cat /proc/1/comm)" laterd "it is process 1"
is "$(awk '/^Uid:/ { print $2 } /^CapEff:/ { print $2 } /^NoNewPrivs:/ { print $2 }' "/proc/$first/status" |
    tr '\n' ' ')" "${user%:*} 0000000000000000 1 " "not root, without capabilities"
run inside touch /usr/bin/nothing
like "$err" 'Read-only' "its root cannot be written"
# shellcheck disable=SC2046 # words
healthy() { inside $(setting HEALTHCHECK); }
unhealthy() { ! healthy; }
within 20 "its health check passes" healthy
pause_redis
within 30 "and does not while Redis hangs" unhealthy
resume_redis
within 30 "and passes again" healthy

push_many 200 null '{}' quick-
within 20 "200 jobs are performed" counts 'done' 200
inside later push null --id inside --redis unix:/redis/redis.sock >/dev/null
within 20 "and one that was pushed inside" counts 'done' 201
inside later-web --listen 127.0.0.1:0 >"$work/pages" 2>&1 &
own $!
within 20 "the pages start there, too" grep -q listening "$work/pages"

# ---- it is stopped as engines do, while a job runs

later push sleep '{"seconds":8}' --id long >/dev/null
running() { [ "$(reserved)" = 1 ]; }
within 20 "a job runs" running
stopped=$(present)
kill -"$(setting STOPSIGNAL | sed s/SIG//)" "$first"
wait_until 30 gone "$container"
wait "$container"
is "$?" 0 "it ends with 0"
in_time "$(sum "$(present) - $stopped")" 5 "soon"
is "$(ready) $(attempts_of long)" "1 0" "the job is back, and no attempt is charged"
start_container
within 30 "the next container performs it" counts 'done' 202
is "$(known)" 0 "none is lost"
runs "later check" conserved
kill -KILL "$container"
wait "$container" 2>/dev/null

# ---- the services of the example for Compose, but for where Redis is

composed()
{
    ruby -ryaml -e 'services = YAML.load_file(ARGV[0], aliases: true)["services"]
        puts eval(ARGV[1])' "$top_srcdir/doc/examples/compose.yaml" "$1"
}
is "$(composed '%w[laterd pages].map { |name| services[name]["read_only"] }' | tr '\n' ' ')" 'true true ' \
    "the example for Compose has roots that are read-only"
folder=$(composed 'services["laterd"]["tmpfs"].grep(/laterd/)')
option() { echo "$folder" | sed "s/.*[:,]$1=\([0-9]*\).*/\1/"; }
volume=$work/composed conf=$work/composed.conf
install -d -o "$(option uid)" -g "$(option gid)" -m "$(option mode)" "$volume"
sed 's,redis://redis:6379/0,unix:/redis/redis.sock,' "$top_srcdir/doc/examples/container.conf" >"$conf"
start_container
within 20 "it is healthy" healthy
inside env -u LATER_REDIS_URL later push null >/dev/null # as there, by what laterd.conf says
within 20 "what is pushed inside is performed" counts 'done' 203
# shellcheck disable=SC2046 # words
inside $(composed 'services["pages"]["entrypoint"].join(" ")') >"$work/pages" 2>&1 &
own $!
within 20 "its pages start" grep -q listening "$work/pages"
kill -KILL "$container"
finish
