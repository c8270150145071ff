#!/bin/sh
# Whatever a handler gives back, throws or logs, in each language: its job ends at once, runs once, and
# says why. The cases are "handlers" of tests/clients/conformance.json.
. "${top_srcdir:=.}/tests/system/daemon.sh"
needs node php ruby go
redis_python
start_redis
. "$top_srcdir/tests/handlers/handler_programs.sh"
mkdir -p "$work/go"

# The templates for Ruby and Go, with another function in place of their own.
sed '/^def perform/,/^end/d' "$top_srcdir/templates/handler/ruby/handler.rb" >"$work/ruby"
{
    cat "$here/answers_app.rb"
    cat "$work/ruby"
} >"$work/app.rb"
sed '/^func perform/,/^}/d; /^\t"log"$/d' "$top_srcdir/templates/handler/go/handler.go" >"$work/go/handler.go"
cp "$here/answers_app.go" "$work/go/app.go"
GO111MODULE=off go_build "$work/go" "$work/app" handler.go app.go ||
    not_ok "go: the template is built with another function" "$work/go.log"
build_gopkg
{
    echo "plugins = { config = { exec = {"
    programs_of_clients
    program ruby '"ruby.*"' '' ruby "$(command -v ruby)" "$work/app.rb"
    program go '"go.*"' 'parallel = 4;' go "$work/app"
    echo "}; }; };"
} >"$work/conf.d/exec.conf"
configure 'workers = 1;' 'log = { level = "info"; };'
start_laterd
"$python" "$here/answers.py" "$here/conformance.json" "$LATER_REDIS_URL" "$work/notes" "$log" \
    python/python.thread python/python.async python/python.serial python/python.plain node/node.any php/php.any \
    ruby/ruby.any gem/gem.thread gem/gem.serial go/go.plain gopkg/gopkg.many gopkg/gopkg.serial \
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

# tried COMMAND...: runs a program without laterd. Prints its status and the first lines of what it says.
tried()
{
    echo '["return",{"json":{"a":"ü/"}}]' | (cd "$here" && env NOTES="$work/notes" "$@" >"$work/out" 2>"$work/err")
    echo "$? $(sed 1q "$work/out")|$(sed 's/ JSON:.*/ JSON/; s/: bury$//; 2q' "$work/err" | paste -sd' ' -)"
}
# by_hand NAME COMMAND...: with a job, for its types, and what cannot be meant.
by_hand()
{
    type=$1.any
    shift
    tried "$@" --help
    tried "$@" --wrok mail
    tried "$@"
    tried "$@" "$type" '{'
    tried "$@" "$type" -
    tried "$@" "$type" '["bury",{"json":"no/way"}]'
    tried "$@" other
}
is_by_hand()
{
    is "$(by_hand "$@" | sed 's/usage: .* \[TYPE/usage: [TYPE/')" "0 usage: [TYPE [PAYLOAD|-]]|
64 |--wrok: no such option; it is --work [Q...], or TYPE [PAYLOAD]
0 $1.*|
64 |PAYLOAD is no JSON
0 {\"a\":\"ü/\"}|
65 |bury: no/way
65 |bury: the program has no handler for type other" "$1: by hand"
}
is_by_hand node CLIENT="$clients/node" node answers_app.mjs
is_by_hand php CLIENT="$clients/php" php answers_app.php
is_by_hand gem CLIENT="$clients/ruby" ruby answers_gem.rb
is_by_hand gopkg "$work/gopkg"
finish
