#!/bin/sh
# `later new handler`: in each language it makes a folder that works at once. Its own test passes,
# and laterd performs a job with it.
. "${top_srcdir:=.}/tests/system/daemon.sh"
needs python3 node php ruby go
start_redis
mkdir -p "$work/conf.d" "$work/jobs" "$work/new"
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE

# new WORD...: runs `later new` in a folder of its own.
new()
{
    (cd "$work/new" && later new "$@")
}

languages='c go node php python ruby sh'
is "$(cd "$top_srcdir/templates/handler" && printf '%s ' * | sed 's/common //;s/ $//')" "$languages" \
    "there are templates for these"
is "$(later help new | sed -n 's/^ *--lang LANG *//p' | tr -d ,)" "c go node php python (default) ruby sh" \
    "and its help names them"

for lang in $languages; do
    name=hello-$lang
    run new handler "$name" --lang "$lang"
    is "$status $out" "0 $work/new/$name" "$lang: a folder"
    # shellcheck disable=SC2016
    is "$(grep -rnE '@[A-Z]+(:[a-z0-9]+)?@|NAME' "$work/new/$name")" "" "$lang: no word of the templates is left"
    at_most "$(wc -l <"$work/new/$name/README.md")" 25 "$lang: lines of its README"
    runs "$lang: its test passes" "$work/new/$name/test.sh"
    cp "$work/new/$name/$name.conf" "$work/conf.d"
done
# What pyenv, nvm and the like put into a home is first in PATH, and the service does not see it.
if [ "$(id -u)" -eq 0 ] && home=$(mktemp -d /root/.later-new.XXXXXX); then
    ln -s "$(command -v sh)" "$home/python3"
    run sh -c "cd $work/new && PATH=$home:\$PATH exec $later_bin new handler hidden"
    like "$err" "the service cannot see $home/python3; hidden/hidden.conf names /[^ ]*/python3 instead" \
        "a program in a home is passed over"
    is "$(grep -c "$home" "$work/new/hidden/hidden.conf")" 0 "and is not in the configuration"
    run sh -c "cd $home && $later_bin new handler unseen --lang sh"
    like "$err" "the service cannot see $home/unseen; move it" "a folder in a home is told of"
    rm -r "$home"
fi
cp "$work/new/hello-c/hello-c.so" "$work/jobs"
sed -i 's/hello, /bye, /; s/{\\"hello\\"/{\\"bye\\"/' "$work"/new/*/handler.*
for lang in c go python; do
    run "$work/new/hello-$lang/test.sh"
    is "$status" 1 "$lang: its test notices a handler that does something else"
    contains "$out" '"bye' "$lang: and says what it gives back"
done
sed -i 's/bye, /hello, /; s/{\\"bye\\"/{\\"hello\\"/' "$work"/new/*/handler.*
runs "go: it is built again" "$work/new/hello-go/test.sh"
conf=$("$laterd_bin" --help | sed -n 's|.*(default \(/.*\)/laterd.conf if it is there)|\1|p')
unset MAKEFLAGS MFLAGS MAKELEVEL # a make around this test has its own to say
for lang in c go; do
    run make -s -C "$work/new/hello-$lang" test
    is "$status $out" "0 $("$work/new/hello-$lang/test.sh")" "$lang: make test"
done
for lang in $languages; do
    is "$(grep -ho '/[^ ]*/conf\.d' "$work/new/hello-$lang/README.md" "$work/new/hello-$lang/hello-$lang.conf" | sort -u)" \
        "$conf/conf.d" "$lang: says where its configuration goes, with this prefix"
done
mkdir "$work/json"
cp "$work/new/hello-c/Makefile" "$work/new/hello-c/handler.c" "$work/json"
echo '#include <later/job_json.h>
json_t *parse(struct later_job *job);
json_t *parse(struct later_job *job) { return later_job_json(job, NULL); }' >>"$work/json/handler.c"
run make -s -C "$work/json" LDFLAGS=-Wl,--as-needed LDLIBS=-ljansson
is "$status" 0 "c: it is built with jansson"
runs "c: and linked with it" grep -q libjansson "$work/json/hello-c.so"

# ---- by laterd

configure 'workers = 1;'
run "$laterd_bin" -t -c "$work/laterd.conf"
is "$status" 0 "their pieces of configuration are good"
start_laterd
for lang in $languages; do
    greeting='{"greeting":"hello, world"}' payload='{"name":"world"}'
    case $lang in
    c) greeting='{"hello":"world"}' payload='"world"' ;;
    sh) greeting=null ;;
    esac
    run later push "hello-$lang" "$payload" --wait 500
    is "$status $out" "0 $greeting" "$lang: laterd performs a job by it"
    run later push "hello-$lang" '[]' --wait 500
    is "$status" 65 "$lang: and buries one that is bad"
done
stop_laterd

# ---- what is refused

run new plugin thing
is "$status $(ls "$work/new/thing")" "0 $(printf 'Makefile\nREADME.md\nhandler.c\ntest.sh\nthing.conf')" \
    "a plugin is a handler in C"
run new handler thing
is "$status" 71 "a folder that is there stays"
contains "$err" "$work/new/thing: exists already" "and it is said"
run new handler other --lang cobol
is "$status" 64 "a language that there is not"
contains "$err" 'no language cobol; there are c, go, node, php, python, ruby, sh' "those that there are"
for lang in '' . .. common ../handler/python; do
    run new handler other --lang "$lang"
    is "$status" 64 "no language: '$lang'"
done
run new plugin other --lang python
is "$status" 64 "a plugin in Python"
for name in '' Upper 1st ../up 'two words' a.b '"' "$(printf 'x%.0s' $(seq 64))"; do
    run new handler "$name"
    is "$status" 64 "no name: '$name'"
done
is "$(cd "$work/new" && echo other*)" 'other*' "nothing was made then"

# ---- installed

runs "make install" make -C "$top_builddir" -s DESTDIR="$work/root" prefix=/usr install-folders
data=$work/root/usr/share/laterd
runs "has the templates" diff -r "$top_srcdir/templates" "$data/templates"
runs "and the clients" diff -r -x '*.pyc' -x __pycache__ "$top_srcdir/clients" "$data/clients"
finish
