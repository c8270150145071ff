#!/bin/sh
# Whatever a handler gives back, throws or logs, in each language: its job ends at once, runs once, and
# says why. The cases are "handlers" of tests/clients/conformance.json.
. "${top_srcdir:=.}/tests/system/daemon.sh"
needs node php ruby go
redis_python
start_redis
clients=$(cd "$top_srcdir" && pwd)/clients
here=$(cd "$top_srcdir" && pwd)/tests/clients
mkdir -p "$work/conf.d" "$work/go"
: >"$work/notes"

# The templates for Ruby and Go, with another function in place of their own.
sed '/^def perform/,/^end/d' "$top_srcdir/templates/handler/ruby/handler.rb" >"$work/ruby"
{
    cat "$here/answers_app.rb"
    cat "$work/ruby"
} >"$work/app.rb"
sed '/^func perform/,/^}/d; /^\t"log"$/d' "$top_srcdir/templates/handler/go/handler.go" >"$work/go/handler.go"
cp "$here/answers_app.go" "$work/go/app.go"
if ! (cd "$work/go" && GO111MODULE=off GOFLAGS=-p=2 GOCACHE="$(cd "$top_builddir" && pwd)/build/go" \
    go build -o "$work/app" handler.go app.go) >"$work/go.log" 2>&1; then
    not_ok "go: the template is built with another function" "$work/go.log"
fi

mkdir -p "$work/path/src"
ln -s "$clients/go" "$work/path/src/laterd"
if ! GOPATH=$work/path:/usr/share/gocode GO111MODULE=off GOFLAGS=-p=2 GOCACHE="$(cd "$top_builddir" && pwd)/build/go" \
    go build -o "$work/gopkg" "$here/answers_gopkg.go" "$here/answers_app.go" >"$work/go.log" 2>&1; then
    not_ok "go: a program of the client is built" "$work/go.log"
fi

# program NAME TYPES OPTIONS CLIENT ARGV...: those with `hello` get no job before they have introduced
# themselves.
program()
{
    name=$1 types=$2 options=$3 client=$4
    shift 4
    words=$(printf ', "%s"' "$@")
    echo "$name = { argv = ( ${words#, } ); dir = \"$here\"; types = ( $types ); lines = true; $options"
    echo "    env = { NOTES = \"$work/notes\"; CLIENT = \"$clients/$client\"; PYTHONPATH = \"$clients/python\";"
    echo "            PYTHONDONTWRITEBYTECODE = \"1\"; }; };"
}
{
    echo "plugins = { config = { exec = {"
    program python '"python.thread", "python.async"' 'parallel = 4; hello = true;' python "$python" -m laterd answers_app:app
    program serial '"python.serial"' 'hello = true;' python "$python" -m laterd answers_app:app
    program node '"node.*"' 'parallel = 4; hello = true;' node "$(command -v node)" answers_app.mjs
    program php '"php.*"' 'hello = true;' php "$(command -v php)" answers_app.php
    program ruby '"ruby.*"' '' ruby "$(command -v ruby)" "$work/app.rb"
    program gem '"gem.thread"' 'parallel = 4; hello = true;' ruby "$(command -v ruby)" answers_gem.rb
    program gemserial '"gem.serial"' 'hello = true;' ruby "$(command -v ruby)" answers_gem.rb
    program go '"go.*"' 'parallel = 4;' go "$work/app"
    program gopkg '"gopkg.many"' 'parallel = 4; hello = true;' go "$work/gopkg"
    program goserial '"gopkg.serial"' 'hello = true;' go "$work/gopkg"
    echo "}; }; };"
} >"$work/conf.d/exec.conf"
configure 'workers = 1;' 'log = { level = "info"; };'
start_laterd
"$python" "$here/answers.py" "$here/conformance.json" "$LATER_REDIS_URL" "$work/notes" "$log" \
    python/python.thread python/python.async python/python.serial node/node.any php/php.any ruby/ruby.any \
    gem/gem.thread gem/gem.serial go/go.plain gopkg/gopkg.many gopkg/gopkg.serial \
    >"$work/verdicts" 2>"$work/judge.err"
is $? 0 "all are judged"
[ ! -s "$work/judge.err" ] || sed 's/^/# /' "$work/judge.err"
while IFS= read -r verdict; do
    case $verdict in
    'ok '*) ok "${verdict#ok }" ;;
    'no '*) not_ok "${verdict#no }" ;;
    *) echo "$verdict" ;;
    esac
done <"$work/verdicts"
is "$(grep -c 'refused a line' "$log")" 0 "no line was refused"
stop_laterd
is "$exited" 0 "laterd ends with 0"

# introduces COMMAND...: prints what the program writes when it gets no job.
introduces()
{
    : | (cd "$here" && env LATER_ANSWERS=3 NOTES="$work/notes" PYTHONPATH="$clients/python" \
        PYTHONDONTWRITEBYTECODE=1 "$@" 3>&1 >/dev/null)
}
is "$(introduces "$python" -m laterd answers_app:app)" \
    '{"hello":1,"stopping":true,"types":[{"name":"python.async"},{"name":"python.serial"},{"name":"python.thread"}]}' "python: hello"
is "$(introduces CLIENT="$clients/node" node answers_app.mjs)" '{"hello":1,"stopping":true,"types":[{"name":"node.*"}]}' "node: hello"
is "$(introduces CLIENT="$clients/php" php answers_app.php)" '{"hello":1,"stopping":true,"types":[{"name":"php.*"}]}' "php: hello"
is "$(introduces CLIENT="$clients/ruby" ruby answers_gem.rb)" '{"hello":1,"stopping":true,"types":[{"name":"gem.*"}]}' "ruby: hello"
is "$(introduces "$work/gopkg")" '{"hello":1,"stopping":true,"types":[{"name":"gopkg.*"}]}' "go: hello"
finish
