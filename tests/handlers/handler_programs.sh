# handler_programs.sh: programs with handlers in each language, which do what their jobs say (tests/clients/answers_*).
# shellcheck shell=sh
# For the tests that source daemon.sh, after redis_python and start_redis. Sets $clients and $here, their
# folders, and makes $work/notes, where a handler writes what it was told to note.
clients=$(cd "$top_srcdir" && pwd)/clients
here=$(cd "$top_srcdir" && pwd)/tests/clients
go_cache=$(cd "$top_builddir" && pwd)/build/go
mkdir -p "$work/conf.d"
: >"$work/notes"

# go_build DIR OUTPUT FILES...: Go's own cache is kept in the built tree.
go_build()
{
    (cd "$1" && shift && GOFLAGS=-p=2 GOCACHE="$go_cache" go build -o "$@") >"$work/go.log" 2>&1
}

# build_gopkg: builds $work/gopkg, a program of the Go client.
build_gopkg()
{
    mkdir -p "$work/path/src"
    ln -s "$clients/go" "$work/path/src/laterd"
    GOPATH=$work/path:/usr/share/gocode GO111MODULE=off \
        go_build "$here" "$work/gopkg" answers_gopkg.go answers_app.go && return
    not_ok "go: a program of the client is built" "$work/go.log"
    return 1
}

# program NAME TYPES OPTIONS CLIENT ARGV...: prints its part of the plugin exec's options. Those with `hello`
# get no job before they have introduced themselves.
program()
{
    name=$1 types=$2 options=$3 client=$4
    shift 4
    words=$(printf ', "%s"' "$@")
    echo "$name = { argv = ( ${words#, } ); dir = \"$here\"; types = ( $types ); lines = true; $options"
    echo "    env = { NOTES = \"$work/notes\"; CLIENT = \"$clients/$client\"; PYTHONPATH = \"$clients/python\";"
    echo "            PYTHONDONTWRITEBYTECODE = \"1\"; }; };"
}

# programs_of_clients: prints the programs of the clients.
programs_of_clients()
{
    program python '"python.thread", "python.async"' 'parallel = 4; hello = true;' python "$python" -m laterd answers_app:app
    program serial '"python.serial"' 'hello = true;' python "$python" -m laterd answers_app:app
    program plain '"python.plain"' 'hello = true;' python "$python" -m laterd answers_app:plain
    program node '"node.*"' 'parallel = 4; hello = true;' node "$(command -v node)" answers_app.mjs
    program php '"php.*"' 'hello = true;' php "$(command -v php)" answers_app.php
    program gem '"gem.thread"' 'parallel = 4; hello = true;' ruby "$(command -v ruby)" answers_gem.rb
    program gemserial '"gem.serial"' 'hello = true;' ruby "$(command -v ruby)" answers_gem.rb
    program gopkg '"gopkg.many"' 'parallel = 4; hello = true;' go "$work/gopkg"
    program goserial '"gopkg.serial"' 'hello = true;' go "$work/gopkg"
}
