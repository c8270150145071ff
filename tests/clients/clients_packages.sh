#!/bin/sh
# Each client installs from its folder of a fresh clone by its language's own tool, and what was installed
# pushes a job. Nothing comes from a registry.
. "${top_srcdir:=.}/tests/system/lib.sh"
redis_python
needs npm gem ruby composer php go
here=$(cd "$top_srcdir" && pwd)
HOME=$work/home
export HOME
mkdir -p "$HOME"
start_redis 'appendonly no'

# A clone has no copies of the scripts.
tree=$work/tree
mkdir -p "$tree"
cp -R "$here/clients" "$here/scripts" "$tree"
for header in "$here"/lib/*/*.h; do # with the keys and bounds
    folder=$tree/lib/$(basename "$(dirname "$header")")
    mkdir -p "$folder" && cp "$header" "$folder"
done
cp "$here/README.md" "$here/LICENSE" "$here/NEWS" "$tree"
find "$tree/clients" -name '*.lua' -exec rm {} +
is "$(find "$tree/clients" -name '*.lua')" '' "the clone has no Lua in clients/"

# builds NAME COMMAND…: runs it in the folder of the package; its output is shown if it fails.
builds()
{
    name=$1
    shift
    cd "$tree/clients/$name" || return 1
    runs "$name: $1 makes the package" "$@"
    cd "$here" || exit 99
}

# pushes NAME COMMAND…: the program pushes a job of the type NAME.
pushes()
{
    name=$1
    shift
    if "$@" >"$work/out" 2>&1; then :; else sed 's/^/# /' "$work/out"; fi
    is "$(later show "id-$name" --json 2>/dev/null | field type)" "$name" "$name: the installed package pushes a job"
}

# carries NAME FOLDER: the scripts that were installed are those of the tree.
carries()
{
    copies=$(find "$2" -name '*.lua')
    differing=$(for copy in $copies; do
        cmp "$copy" "$top_builddir/scripts/expanded/${copy##*/}" 2>&1
    done)
    is "$(echo "$copies" | grep -c 'push_now.lua$') $differing" '1 ' "$1: the package has its scripts"
    is "$(has "$2" LICENSE "$here/LICENSE") $(has "$2" CHANGELOG "$here/NEWS")" "yes yes" \
        "$1: the package has the licence and what is new"
}

# has FOLDER NAME FILE: prints yes if a file of that name is there once, and is that file.
has()
{
    found=$(find "$1" -name "$2")
    if [ -n "$found" ] && cmp -s "$found" "$3"; then echo yes; else echo "no: $found"; fi
}

# ---- Python
builds python "$python" -m pip wheel -q --no-build-isolation --no-index --no-deps -w "$work/wheels" .
"$python" -m pip install -q --no-index --no-deps --target "$work/python" "$work"/wheels/*.whl >"$work/pip.log" 2>&1 ||
    sed 's/^/# /' "$work/pip.log"
carries python "$work/python"
cat >"$work/push.py" <<PY
import laterd, redis
laterd.Client(redis.Redis(unix_socket_path="$redis_socket")).push("python", 1, id="id-python")
PY
pushes python env PYTHONPATH="$work/python" "$python" "$work/push.py"

# ---- Node
mkdir -p "$work/js"
builds node npm pack --silent --offline --pack-destination "$work/js"
cd "$work/js" || exit 99
npm install --silent --offline --no-audit --no-fund --legacy-peer-deps ./laterd-*.tgz >"$work/npm.out" 2>&1 || sed 's/^/# /' "$work/npm.out"
cd "$here" || exit 99
carries node "$work/js/node_modules/laterd"
# No library is needed to see that the package is whole: a Redis of few lines.
cat >"$work/js/push.mjs" <<JS
import { execFileSync } from "node:child_process";
import { Laterd } from "laterd";
if (typeof Laterd !== "function") throw new Error("no Laterd");
JS
if node_modules; then
    ln -s "$node_modules/node_modules/ioredis" "$work/js/node_modules/ioredis"
    cat >"$work/js/push.mjs" <<JS
import { Redis } from "ioredis";
import { Laterd } from "laterd";
const redis = new Redis("$redis_socket");
await new Laterd(redis).push("node", 1, { id: "id-node" });
redis.disconnect();
JS
    pushes node node "$work/js/push.mjs"
    # One file, which is elsewhere than the package when it runs: for a function in a cloud, or of Next.
    bundled()
    {
        cd "$work/js" && "$node_modules/node_modules/.bin/esbuild" push.mjs --bundle \
            --platform=node --format=esm --outfile="$work/bundled.mjs" --log-level=warning \
            --banner:js='import { createRequire } from "node:module"; const require = createRequire(import.meta.url);'
    }
    later cancel id-node >/dev/null
    runs "node: a bundler makes one file of a program" bundled
    cd "$here" || exit 99
    pushes node node "$work/bundled.mjs"
else
    runs "node: the installed package is loaded" node "$work/js/push.mjs"
fi
# As Node 18 loads it, and Jest, whose files are CommonJS.
old=--no-experimental-require-module
node "$old" -e 0 2>/dev/null || old=
cat >"$work/js/required.cjs" <<'JS'
const { Laterd } = require("laterd"), { Fake } = require("laterd/testing");
new Fake().push("a").then(() => process.exit(typeof Laterd === "function" ? 0 : 1));
JS
# shellcheck disable=SC2086 # no word, if there is none
runs "node: a program loads it by require()" node $old "$work/js/required.cjs"

# ---- Ruby
builds ruby gem build -q -o "$work/laterd.gem" laterd.gemspec
gem install -q --local --ignore-dependencies --no-document -i "$work/gems" "$work/laterd.gem" >"$work/gem.log" 2>&1 || sed 's/^/# /' "$work/gem.log"
carries ruby "$work/gems"
cp -R "$top_srcdir/clients/ruby" "$work/alone"
rm -f "$work/alone/LICENSE" "$work/alone/CHANGELOG"
runs "ruby: a folder that was copied after make" sh -c "cd '$work/alone' && gem build -q laterd.gemspec"
rm -r "$work/alone/lib/laterd/scripts"
run sh -c "cd '$work/alone' && gem build -q laterd.gemspec"
contains "$err" 'scripts is missing: copy the folder after clients/carry.sh ruby' "ruby: one that was copied before"
cat >"$work/push.rb" <<RB
gem "laterd"
require "laterd"
require "redis"
Laterd::Client.new(Redis.new(path: "$redis_socket")).push("ruby", 1, id: "id-ruby")
RB
pushes ruby env GEM_PATH="$work/gems:$(gem env path)" ruby "$work/push.rb"

# ---- PHP
builds php composer archive -q --no-interaction --format=tar --dir="$work/php" --file=laterd
mkdir -p "$work/php/package" "$work/php/app"
tar -xf "$work/php/laterd.tar" -C "$work/php/package"
carries php "$work/php/package"
cat >"$work/php/app/composer.json" <<JSON
{ "repositories": [ { "packagist.org": false },
    { "type": "path", "url": "$work/php/package", "options": { "symlink": false } } ],
  "require": { "laterd/laterd": "@dev" } }
JSON
cd "$work/php/app" || exit 99
runs "php: composer installs the package" composer install -q --no-interaction
cd "$here" || exit 99
cat >"$work/php/app/push.php" <<PHP
<?php
require __DIR__ . '/vendor/autoload.php';
\$redis = new Redis();
\$redis->connect('$redis_socket');
(new Laterd\Client(\$redis))->push('php', 1, id: 'id-php');
PHP
pushes php php "$work/php/app/push.php"

# ---- Go
mkdir -p "$work/go"
builds go go generate
cat >"$work/go/go.mod" <<MOD
module push

go 1.18

require (
	github.com/gomodule/redigo v1.8.3
	laterd v0.1.0
)

replace laterd => $tree/clients/go

replace github.com/gomodule/redigo => /usr/share/gocode/src/github.com/gomodule/redigo
MOD
cat >"$work/go/main.go" <<GO
package main

import (
	"github.com/gomodule/redigo/redis"
	"laterd"
)

func main() {
	pool := &redis.Pool{Dial: func() (redis.Conn, error) { return redis.Dial("unix", "$redis_socket") }}
	if _, err := laterd.New(pool.Get).Push("default", laterd.NewJob{Type: "go", ID: "id-go", Payload: 1}); err != nil {
		panic(err)
	}
}
GO
cd "$work/go" || exit 99
GOCACHE=$(cd "$top_builddir" && pwd)/build/go
GOFLAGS='-mod=mod -p=2' GOPROXY=off GONOSUMDB='*' GOPATH=$work/gopath
export GOCACHE GOFLAGS GOPROXY GONOSUMDB GOPATH
runs "go: a program is built with the package" go build -o "$work/push" .
cd "$here" || exit 99
carries go "$tree/clients/go"
pushes go "$work/push"
finish
