#!/bin/sh
# screens.sh: the pictures of later-web's pages in doc/, from a laterd at work. From the top of a
# built tree; needs chromium, chromedriver, python3:
#
#     doc/screens.sh [FOLDER]
set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
to=${1:-$top/doc}
work=$(mktemp -d)
pids=
clean_up()
{
    # shellcheck disable=SC2086 # words
    [ -z "$pids" ] || kill $pids 2>/dev/null || true
    wait
    rm -rf "$work"
}
trap clean_up EXIT

mkdir "$work/jobs"
cp "$top"/jobs/exec.so "$work/jobs"
cat >"$work/laterd.conf" <<CONF
state_dir = "$work/state";
workers = 2;
retry = { max_attempts = 5; base = 0.5; max = 20.0; };
queues = ( { name = "mail"; weight = 6; }, { name = "orders"; weight = 3; },
           { name = "thumbnails"; weight = 2; }, { name = "reports"; weight = 1; },
           { name = "webhooks"; weight = 1; }, { name = "search-index"; weight = 1; } );
plugins = { dir = "$work/jobs"; config = { exec = { demo = {
    argv = ( "/usr/bin/python3", "$top/doc/screens.py", "handle" );
    types = ( "mail.*", "order.*", "thumbnail.*", "report.*", "hook.*", "index.*", "video.*" );
    lines = true; parallel = 12;
}; }; }; };
CONF
"$top/daemon/laterd" -c "$work/laterd.conf" 2>"$work/laterd.log" &
pids=$!
tries=0
until "$top/cli/later" -c "$work/laterd.conf" status --local >/dev/null 2>&1; do
    tries=$((tries + 1))
    if [ "$tries" -gt 100 ]; then
        cat "$work/laterd.log"
        exit 1
    fi
    sleep 0.1
done
"$top/web/later-web" --listen 127.0.0.1:0 -c "$work/laterd.conf" 2>"$work/web.log" &
pids="$pids $!"
until grep -q listening "$work/web.log"; do sleep 0.1; done
link=$(sed -n 's/.*listening: //p' "$work/web.log")
PYTHONPATH=$top/tests/web:$top/tests/support PYTHONDONTWRITEBYTECODE=1 \
    python3 "$top/doc/screens.py" "$link" "$work" "$top/cli/later" "$to"
