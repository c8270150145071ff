#!/bin/sh
# The clients have types that a user's program can rely on, and their languages' own tools have no
# warning.
. "${top_srcdir:=.}/tests/system/lib.sh"

clients=$(cd "$top_srcdir" && pwd)/clients
typed=$(cd "$top_srcdir" && pwd)/tests/clients

# clean NAME COMMAND...: passes if it exits with 0, otherwise shows its output.
clean()
{
    what=$1
    shift
    if "$@" >"$work/said" 2>&1; then
        ok "$what"
    else
        not_ok "$what" "$work/said"
    fi
}

strictly()
{
    (cd "$clients/python" && mypy --strict --cache-dir "$work/mypy" laterd "$typed/typed.py")
}
if ! command -v mypy >/dev/null; then
    missing python "mypy is not installed"
elif ! mypy --cache-dir "$work/mypy" -c 'import redis' >/dev/null; then
    missing python "the types of redis are not installed: python3-typeshed"
else
    clean "python: mypy --strict has nothing to say" strictly
fi

# As an editor has it, which looks at the program alone.
in_editor()
{
    mkdir -p "$work/editor"
    cp "$typed/typed.py" "$work/editor"
    echo "{ \"extraPaths\": [\"$clients/python\"], \"typeCheckingMode\": \"strict\" }" >"$work/editor/pyrightconfig.json"
    (cd "$work/editor" && node "$node_modules/node_modules/pyright/index.js" --pythonpath /usr/bin/python3 typed.py)
}
if node_modules && /usr/bin/python3 -c 'import redis' 2>/dev/null; then
    clean "python: pyright in its strict mode has nothing to say" in_editor
else
    missing pyright "node, npm or python3-redis is not installed, or npm cannot install pyright"
fi

# A package is looked for beside the program.
compiles()
{
    mkdir -p "$work/ts/node_modules"
    ln -s "$clients/node" "$work/ts/node_modules/laterd"
    cp "$typed/typed.ts" "$work/ts/typed.mts"
    node "$node_modules/node_modules/typescript/bin/tsc" --noEmit --strict --module nodenext --target es2022 \
        "$work/ts/typed.mts"
}
# As Nest 11 and most of Express have it: import is written, and require() is what becomes of it.
requires()
{
    cat >"$work/ts/required.cts" <<'TS'
import { Handlers, Laterd, type Pushed } from "laterd";
import { Fake, perform } from "laterd/testing";
export const push = (queues: Laterd): Promise<Pushed> => queues.push("a", { to: 1 });
export const done = async (): Promise<boolean> => (await perform(new Handlers(), "a")).result === "done";
export const fake = new Fake();
TS
    node "$node_modules/node_modules/typescript/bin/tsc" --noEmit --strict --module node16 --target es2022 "$work/ts/required.cts"
}
if node_modules; then
    clean "node: its types, by tsc --strict" compiles
    clean "node: its types in a program of CommonJS" requires
else
    missing node "node or npm is not installed, or npm cannot install typescript"
fi

vets()
{
    mkdir -p "$work/go/src"
    ln -s "$clients/go" "$work/go/src/laterd"
    GOPATH=$work/go:/usr/share/gocode GO111MODULE=off GOFLAGS=-p=2 \
        GOCACHE="$(cd "$top_builddir" && pwd)/build/go" go vet laterd && test -z "$(gofmt -l "$clients/go")"
}
if command -v go >/dev/null && [ -d /usr/share/gocode/src/github.com/gomodule/redigo ]; then
    clean "go: go vet and gofmt have nothing to say" vets
else
    missing go "golang-go or golang-github-gomodule-redigo-dev is not installed"
fi

# each NAME ENDING COMMAND OPTION USUAL: what the command says about the client's files, except
# USUAL.
each()
{
    find "$clients/$1" -name "*.$2" | while IFS= read -r file; do
        "$3" "$4" "$file" 2>&1 | sed "s|^|$file: |"
    done | grep -v -e "$5" || :
}
if command -v ruby >/dev/null; then
    is "$(each ruby rb ruby -wc 'Syntax OK$')" '' "ruby: no warning"
else
    missing ruby "ruby is not installed"
fi
if command -v php >/dev/null; then
    is "$(each php php php -l 'No syntax errors detected\|: $')" '' "php: no warning"
else
    missing php "php-cli is not installed"
fi
finish
