#!/bin/sh
# Handlers in Go: how a program of the client reads, ends a job that is asked to stop, and ends itself.
# What its handlers answer is in handlers_answers.sh. It is driven by hand here, without laterd.
. "${top_srcdir:=.}/tests/system/lib.sh"
. "$top_srcdir/tests/handlers/lines_lib.sh"
if ! command -v go >/dev/null || [ ! -d /usr/share/gocode/src/github.com/gomodule/redigo ]; then
    echo '1..0 # SKIP golang-go or golang-github-gomodule-redigo-dev is not installed'
    exit 0
fi
clients=$(cd "$top_srcdir" && pwd)/clients
mkdir -p "$work/path/src" "$work/app" "$work/mail"
ln -s "$clients/go" "$work/path/src/laterd"
cat >"$work/app/app.go" <<'GO'
package main

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strconv"
	"time"

	"laterd"
)

func patient(ctx context.Context, job *laterd.Job) (interface{}, error) {
	var file string
	job.Into(&file)
	os.WriteFile(file, []byte("begun"), 0o600)
	<-ctx.Done()
	return nil, laterd.Return(errors.New("cancelled"), -5*time.Second)
}

func main() {
	app := laterd.Handlers{}
	app.MaxJobs, _ = strconv.Atoi(os.Getenv("MAX_JOBS"))
	app.On("name.*", func(_ context.Context, job *laterd.Job) (interface{}, error) {
		return job.Type + " " + string(job.Payload), nil
	})
	app.On("name.exact", func(context.Context, *laterd.Job) (interface{}, error) { return "exact", nil })
	app.On("panic", func(context.Context, *laterd.Job) (interface{}, error) { panic("oh no") })
	app.On("goexit", func(context.Context, *laterd.Job) (interface{}, error) { runtime.Goexit(); return nil, nil })
	app.On("patient", patient)
	app.Run()
}
GO
awk '/^```/ { if (at) exit } /^package main/ { at = 1 } at' "$clients/go/README.md" >"$work/mail/mail.go"

# builds NAME: the program of this name.
builds()
{
    (cd "$work/$1" && GOPATH=$work/path:/usr/share/gocode GO111MODULE=off GOFLAGS=-p=2 \
        GOCACHE="$(cd "$top_builddir" && pwd)/build/go" go build -o "$work/$1/$1" "$1.go")
}
runs "a program of handlers is built" builds app
runs "the program in the README is built" builds mail

# program [VARIABLE=VALUE]...: performs what it reads, and prints what it writes to descriptor 3.
program()
{
    env LATER_ANSWERS=3 "$@" "$work/app/app" 3>&1 >/dev/null
}

told=$( (job 1 name.a '"<é>"' && job 2 name.exact && job 3 other) | program | sed 's/,"last":true//' | sort)
is "$told" '{"hello":1,"stopping":true,"types":[{"name":"goexit"},{"name":"name.*"},{"name":"name.exact"},{"name":"panic"},{"name":"patient"}]}
{"id":"1","result":"done","value":"name.a \"<é>\""}
{"id":"2","result":"done","value":"exact"}
{"id":"3","result":"bury","error":"the program has no handler for type other"}' "the longest name, else the longest beginning"

told=$( (job 4 panic && job 5 goexit && job 6 name.on) | program)
contains "$told" '{"id":"4","result":"retry","error":"panic: oh no' "a panic ends its job"
contains "$told" '{"id":"5","result":"retry","error":"the handler has ended its goroutine"' "so does Goexit"
contains "$told" '"value":"name.on null"' "and no other"

told=$( (
    job 7 patient "\"$work/seven\""
    begun seven
    printf '{"id":"gone","cancel":true}\n{"id":"7","cancel":true}\n'
) | program)
contains "$told" '{"id":"7","result":"return","error":"cancelled","in":0' "the context of a cancelled job is done"

told=$( (
    printf '%s\n%s\n%s\n%s' "$(job 8 name.eight)" "$(job 9 name.nine)" "$(job 10 name.ten)" '{"id":"11",'
    sleep 0.1 # the piece is read alone, or with the rest: it must be answered in both cases
    printf '"type":"name.eleven","document":{}}\n'
    begun ended # it ends by itself, not with its input
) | (
    program MAX_JOBS=2
    echo over >"$work/ended"
))
is "$(echo "$told" | grep -c '"result":"done"')" 4 "after the last job it answers what it has read, also in part, and ends"

mkfifo "$work/in"
LATER_ANSWERS=3 "$work/app/app" <"$work/in" 3>"$work/told" >/dev/null &
pid=$!
exec 4>"$work/in"
job 12 patient "\"$work/twelve\"" >&4
begun twelve
kill -TERM "$pid"
wait "$pid"
is "$? $(tail -n 1 "$work/told")" '0 {"id":"12","result":"return","error":"cancelled","in":0,"last":true}' \
    "SIGTERM asks its jobs to stop, and ends it"
exec 4>&-

run "$work/mail/mail" mail.send '{"to":"a@b.c"}'
is "$status $out" '0 {"sent":"a@b.c"}' "by hand: done"
run "$work/mail/mail" mail.send '{}'
is "$status $out" '65 ' "by hand: buried"
run "$work/mail/mail" mail.news.1 '{"to":"busy@example.org"}'
is "$status $out" '75 ' "by hand: a retry"
run "$work/mail/mail"
is "$out" 'mail.news.*
mail.send' "by hand: its types"
finish
