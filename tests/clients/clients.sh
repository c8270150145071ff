#!/bin/sh
# Every client, and `later` for C, does what tests/clients/conformance.json says, and with scripts that say words
# that it does not know, what strange.json says. CLIENTS='python c' tries only those.
. "${top_srcdir:=.}/tests/system/lib.sh"
. "$top_srcdir/tests/clients/drivers.sh"
redis_python

clients=$(cd "$top_srcdir" && pwd)/tests/clients
file=conformance

start_redis 'appendonly no'

# Behind Sentinels a client sends what it sends to one server, over a connection that its Redis library has
# found. So there are the steps that open, lose and share connections, or wait.
if [ "$redis_kind" = sentinel ]; then
    : "${CONFORMANCE_ONLY=^a payload$|connection was|were forgotten|^wait(_many)?:|^call:|1,200|^many: over|^a chain|^events}"
    export CONFORMANCE_ONLY
fi

# conforms DRIVER [ARGUMENT...]: one result for each step of $file. Of a fake, once for all kinds of Redis.
conforms()
{
    url=$LATER_REDIS_URL
    case $file/$client in
    strange/c | strange/*-fake) return 0 ;; # C has the scripts in its program; fakes have none
    *-fake)
        [ "${LATER_TEST_REDIS:-single}" = single ] || return 0
        url=fake
        ;;
    esac
    judge "$python" "$clients/judge.py" "$clients/$file.json" "$url" -- "$@"
}

# judge COMMAND...: reads results from its lines.
judge()
{
    "$@" >"$work/verdicts" 2>"$work/judge.err" </dev/null
    judged=$?
    while IFS= read -r verdict; do
        case $verdict in
        'ok '*) ok "$client: ${verdict#ok }" ;;
        'no '*) not_ok "$client: ${verdict#no }" ;;
        *) echo "$verdict" ;;
        esac
    done <"$work/verdicts"
    [ "$judged" -eq 0 ] || not_ok "$client: the judge comes to an end" "$work/judge.err"
}

each_driver conforms
is "$(PYTHONPATH=$clients/../../clients/python "$python" -c '
import datetime, laterd, laterd.document
print(laterd.document.prepare(laterd.NewJob("t", expires_at=datetime.timedelta(minutes=10))).when)')" '!600' \
    "python: expires_at, a timedelta, is from now"
client=python
judge "$python" "$clients/wait.py" "$LATER_REDIS_URL"
if [ "${LATER_TEST_REDIS:-single}" = cluster ] && node_modules; then
    client=node-ioredis
    judge node "$clients/replica.mjs" "$node_modules" "$LATER_REDIS_URL"
fi
if ruby -e 'require "redis"' 2>/dev/null && [ "${LATER_TEST_REDIS:-single}" = single ]; then
    client=ruby
    judge ruby "$clients/wait.rb" "$redis_socket"
fi

# What a client makes of a word is the same, however it came.
if [ "$redis_kind" != single ]; then
    finish
    exit
fi

# estrange SCRIPT: in a queue that is called as the script, it says NOVEL for each of its words.
estrange()
{
    name=$(basename "$1" .lua)
    cp "$1" "$work/script"
    {
        echo "local novel = string.find(KEYS[1], '{$name}', 1, true)"
        sed -e "s/'\(PUSHED\|REPLACED\|AGAIN\|WAITING\|CLOSED\)'/(novel and 'NOVEL' or '\1')/g" \
            -e "s/'\(EXISTS\|PARK\) '/(novel and 'NOVEL ' or '\1 ')/g" "$work/script"
    } >"$1"
}

mkdir -p "$work/strange/tests"
cp -R "$clients" "$work/strange/tests/clients"
cp -R "$clients/../../clients" "$work/strange/clients"
chmod -R u+w "$work/strange" # make distcheck takes that from the sources
find "$work/strange" -name 'push.lua' -o -name 'push_now.lua' -o -name 'flow_push.lua' -o -name 'flow_join.lua' \
    -o -name 'flow_park.lua' >"$work/scripts"
while IFS= read -r script; do
    estrange "$script"
done <"$work/scripts"
"$python" - "$work/strange/clients/node/scripts" <<'BUNDLE' # which carry.sh makes of them
import json, pathlib, sys
folder = pathlib.Path(sys.argv[1])
(folder / "scripts.json").write_text(json.dumps({script.stem: script.read_text() for script in folder.glob("*.lua")}))
BUNDLE
clients=$work/strange/tests/clients file=strange
each_driver conforms
finish
