#!/bin/sh
# Values go along the edges of a flow: what a step gave back is there for those that have waited for it, in
# a plugin, in a line for a program and in the handlers of each language; in each attempt, whoever was
# killed. Who waits for all others gets their counts.
. "${top_srcdir:=.}/tests/system/daemon.sh"
start_redis
clients=$(cd "$top_srcdir" && pwd)/clients
mkdir -p "$work/conf.d" "$work/path/src" "$work/go"

# ---- a program in each language that has its interpreter here: NAME.give gives back its payload, NAME.take
# what it was given

cat >"$work/lines.sh" <<'SH'
while read -r line; do
    id=${line#*'"id":"'} id=${id%%'"'*}
    given=${line#*'"token":"'} given=${given#*,} given=${given%%,'"document"'*}
    case $line in
    *'"type":"lines.give"'*) value=${line#*'"payload":'} value=${value%\}\}} ;;
    *) value="{$given}" ;;
    esac
    printf '{"id":"%s","result":"done","value":%s}\n' "$id" "$value" >&3
done
SH
cat >"$work/app.py" <<'PY'
import laterd

app = laterd.Handlers()
app.on("python.give")(lambda job: job.payload)
app.on("python.take")(lambda job: {"values": job.values, **({"flow": job.flow} if job.flow else {})})
PY
cat >"$work/app.mjs" <<'JS'
const { Handlers } = await import(`${process.env.CLIENTS}/node/index.js`);
await new Handlers().on("node.give", (job) => job.payload)
    .on("node.take", ({ values, flow }) => (flow ? { values, flow } : { values })).run();
JS
cat >"$work/app.php" <<'PHP'
<?php
require $_SERVER['CLIENTS'] . '/php/autoload.php';
$app = new Laterd\Handlers();
$app->on('php.give', fn ($job) => $job->payload);
$app->on('php.take', fn ($job) => ['values' => (object) $job->values] + ($job->flow ? ['flow' => $job->flow] : []));
$app->run();
PHP
cat >"$work/app.rb" <<'RB'
require "laterd"
app = Laterd::Handlers.new
app.on("ruby.give") { |job| job.payload }
app.on("ruby.take") { |job| { values: job.values, flow: job.flow }.compact }
app.run
RB
cat >"$work/go/app.go" <<'GO'
package main

import (
	"context"

	"laterd"
)

func main() {
	app := laterd.Handlers{}
	app.On("go.give", func(_ context.Context, job *laterd.Job) (interface{}, error) { return job.Payload, nil })
	app.On("go.take", func(_ context.Context, job *laterd.Job) (interface{}, error) {
		told := map[string]interface{}{"values": map[string]string{}}
		if job.Values != nil {
			told["values"] = job.Values
		}
		if job.Flow != nil {
			told["flow"] = job.Flow
		}
		return told, nil
	})
	app.Run()
}
GO
ln -s "$clients/go" "$work/path/src/laterd"

languages=lines
# program NAME ARGV...: is one, if its command is there.
program()
{
    name=$1
    shift
    command -v "$1" >/dev/null || return 0
    words=$(printf ', "%s"' "$@")
    echo "$name = { argv = ( ${words#, } ); types = ( \"$name.*\" ); lines = true;"
    echo "    env = { CLIENTS = \"$clients\"; PYTHONPATH = \"$clients/python:$work\"; PYTHONDONTWRITEBYTECODE = \"1\"; }; };"
}
there() { command -v "$1" >/dev/null && languages="$languages $2"; }
redis_python
there "$python" python
there node node
there php php
there ruby ruby
if [ -d /usr/share/gocode/src/github.com/gomodule/redigo ] &&
    GOPATH=$work/path:/usr/share/gocode GO111MODULE=off GOFLAGS=-p=2 GOCACHE="$(cd "$top_builddir" && pwd)/build/go" \
        go build -o "$work/goapp" "$work/go/app.go" 2>"$work/go.log"; then
    languages="$languages go"
fi
{
    echo "plugins = { config = { exec = {"
    program lines /bin/sh "$work/lines.sh"
    program python "$python" -m laterd app:app
    program node "$(command -v node || echo node)" "$work/app.mjs"
    program php "$(command -v php || echo php)" "$work/app.php"
    program ruby "$(command -v ruby || echo ruby)" -I "$clients/ruby/lib" "$work/app.rb"
    program go "$work/goapp"
    echo "}; }; };"
} >"$work/conf.d/exec.conf"
configure 'workers = 2; lease = 5.0; crash_max = 1000;' 'retry = { base = 0.0; };'
start_laterd

# same NAME GOT WANTED: as JSON.
same()
{
    is "$("$python" -c 'import json, sys; print(json.dumps(json.loads(sys.argv[1]), sort_keys=True))' "$2" 2>&1)" \
        "$("$python" -c 'import json, sys; print(json.dumps(json.loads(sys.argv[1]), sort_keys=True))' "$3")" "$1"
}

for language in $languages; do
    printf '%s\n' "{\"type\":\"$language.take\",\"step\":\"end\",\"after\":[\"a\",\"b\",\"none\"],\"result\":600}" \
        "{\"type\":\"$language.take\",\"step\":\"all\",\"after\":[\"*\"],\"when\":\"ended\",\"result\":600}" \
        "{\"type\":\"$language.give\",\"step\":\"a\",\"payload\":{\"n\":[1,\"é\\n\"]}}" \
        "{\"type\":\"$language.give\",\"step\":\"b\",\"payload\":2.5}" \
        '{"type":"note","step":"none"}' '{"type":"do","step":"fails","payload":{"do":"bury"}}' |
        later push --flow "$language" --file - >/dev/null
    run later wait "$language.end" --timeout 60s
    same "$language: what the steps gave back" "$out" '{"values":{"a":{"n":[1,"é\n"]},"b":2.5,"none":null}}'
    run later wait "$language.all" --timeout 60s
    wanted="\"flow\":{\"name\":\"$language\",\"total\":5,\"open\":0,\"waiting\":0,\"done\":4,\"dead\":1,\"gone\":0,\"skipped\":0,\"failed\":[\"$language.fails\"]}"
    [ "$language" = lines ] || wanted="\"values\":{},$wanted"
    same "$language: the counts, and who failed" "$out" "{$wanted}"
done

# ---- a plugin; an attempt that fails; a worker that is killed in it

given() { sed -n "$2p" "$work/values-$1" 2>/dev/null; }
push_flow()
{
    later push --flow "$1" --file - >/dev/null
}
printf '%s\n' '{"type":"do","step":"b","after":["a"],"payload":{"do":"values","in":0,"upto":1}}' \
    '{"type":"do","step":"c","after":["b","a"],"payload":{"do":"values","until":"go_on"}}' \
    '{"type":"do","step":"a","payload":{"do":"value","value":{"n":1}}}' | push_flow plug
awaited 20 "plug.c begins" begun plug.c
is "$(given plug.b 1)$(given plug.b 2)" '{"n":1}{"a":{"n":1}}' "a plugin: one value, and all"
is "$(attempts_in ended plug.b | wc -l)" 2 "it has had two attempts"
wait_until 10 test -s "$work/values-plug.c"
is "$(given plug.c 2)" '{"b":null,"a":{"n":1}}' "a step that gave nothing has null"
rm "$work/values-plug.c"
kill -KILL "$(pid_of plug.c)"
awaited 20 "plug.c begins again" begun plug.c 2
wait_until 10 test -s "$work/values-plug.c"
is "$(given plug.c 2)" '{"b":null,"a":{"n":1}}' "the same after its worker was killed"
is "$(given plug.c 3)" "" "counts are only for those that wait for all others"
touch "$work/go_on"
within 20 "the flow ends" later flow wait plug --timeout 20s

# ---- killed between the end of the step and its settlement

printf '%s\n' '{"type":"do","step":"b","after":["a"],"payload":{"do":"values"}}' \
    '{"type":"do","step":"a","payload":{"do":"value","value":[7],"for":0.3}}' | push_flow kill
awaited 20 "kill.a begins" begun kill.a
pause_redis
wait_until 20 handed_in kill.a
kill -KILL "$(pid_of kill.a)"
resume_redis
within 20 "the flow goes on" later flow wait kill --timeout 20s
is "$(attempts_in ended kill.a | wc -l):$(given kill.b 1)" '1:[7]' "the value outlives the worker that had it"

# ---- large ones: 64 KiB each, 1 MiB together; those that nobody waits for

{
    echo "{\"type\":\"do\",\"step\":\"end\",\"after\":[$(seq -s, 17 | sed 's/[0-9][0-9]*/"s&"/g')],\"payload\":{\"do\":\"values\"}}"
    for i in $(seq 17); do
        echo "{\"type\":\"do\",\"step\":\"s$i\",\"payload\":{\"do\":\"value\",\"bytes\":65536}}"
    done
    echo '{"type":"do","step":"alone","payload":{"do":"value","value":1}}'
    echo '{"type":"do","payload":{"do":"value","value":1},"id":"nameless"}'
} | push_flow large
within 30 "the flow ends" later flow wait large --timeout 30s
is "$(given large.end 2 | wc -c)" "$((16 * 65536 + 16 * 5 + 7 * 1 + 2 + 15 + 1))" "1 MiB of values"
is "$(given large.end 2 | grep -c s17)" 0 "what is beyond that is left out"
within 10 "and said" log_has large.end 'the value of step s17 is left out, since all together are over 1048576 bytes'
is "$(redis HLEN "$(key flow:large:values)")" 17 "what nobody waits for is not kept"
is "$(cat "$work/value-large.alone") $(cat "$work/value-nameless")" "0 2" "and only a step is asked for one"

# ---- Redis is away when they are asked for

printf '%s\n' '{"type":"do","step":"b","after":["a"],"payload":{"do":"values"}}' \
    '{"type":"do","step":"a","payload":{"do":"value","value":[8],"until":"away"}}' | push_flow away
redis ZADD "$(key flows)" 1 large >/dev/null
awaited 20 "away.a begins" begun away.a
touch "$work/away"
within 20 "the flow ends" later flow wait away --timeout 20s
is "$(given away.b 1)" '[8]' "they are asked for again"
gone_with_it() { [ "$(redis EXISTS "$(key flow:large)")$(redis EXISTS "$(key flow:large:values)")" = 00 ]; }
within 20 "with a flow its values go" gone_with_it
end_well
finish
