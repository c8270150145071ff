#!/bin/sh
# laterd -t and laterd itself refuse a wrong configuration or plugin with 78, and name file and
# line, or the path. (tests/unit/lib/test_config_bad tries many more configurations.)
. "${top_srcdir:=.}/tests/system/daemon.sh"

# refused PLACE WORDS NAME: by -t and by a start.
refused()
{
    for how in -t ''; do
        # shellcheck disable=SC2086 # no word if it is empty
        run "$laterd_bin" -c "$work/laterd.conf" $how
        is "$status" 78 "laterd $how: $3: exit 78"
        contains "$err" "$1" "laterd $how: $3: the place"
        contains "$err" "$2" "laterd $how: $3: the reason"
        [ ! -e "$work/state/slots" ] || [ -z "$(ls "$work/state/slots")" ] ||
            not_ok "$3: it had begun: $(ls "$work/state/slots")"
    done
}

# at LINE: the place of a line of our configuration. The options of configure begin on the fourth.
at()
{
    echo "$work/laterd.conf:$1:"
}

configure 'workers = 2;'
run "$laterd_bin" -c "$work/laterd.conf" -t
is "$status $err" "0 " "laterd -t: a good one"

configure 'lease = 30.0;' 'worker = 2;'
refused "$(at 5)" worker "an unknown key"
configure 'workers = "two";'
refused "$(at 4)" workers "a wrong type"
configure 'workers = 3000000000;'
refused "$(at 4)" workers "a number that libconfig wraps"
configure 'lease = 0.0;'
refused "$(at 4)" lease "a number out of range"
configure 'queues = ( { name = "default"; },' '    { name = "de fault"; } );'
refused "$(at 5)" 'queue' "a bad name of a queue"
configure 'lease = ;'
refused "$(at 4)" 'syntax' "no libconfig at all"
configure '@include "more.conf"'
printf '\n\ngrace = -1.0;\n' >"$work/more.conf"
refused "$work/more.conf:3:" grace "a fault in an included file"
mkdir -p "$work/conf.d"
configure ''
echo 'nonsense = 1;' >"$work/conf.d/10-more.conf"
refused "$work/conf.d/10-more.conf:1:" nonsense "a fault in conf.d"
rm -r "$work/conf.d"
configure ''
sed -i "s|$work/state|$work/none/state|" "$work/laterd.conf"
refused "state_dir: $work/none/state" 'No such file or directory; make it' "a state_dir that cannot be made"
: >"$work/none"
refused "state_dir: $work/none/state" 'Not a directory' "a state_dir below a file"
rm "$work/none"
run "$laterd_bin" -c "$work/none.conf"
is "$status" 78 "no such file: exit 78"
contains "$err" "$work/none.conf" "no such file: its path"

# ---- plugins

configure ''
sed -i "s|dir = \"$work/jobs\"|dir = \"$work/no-jobs\"|" "$work/laterd.conf"
refused "$work/no-jobs" 'No such file' "no directory of plugins"
configure ''
sed -i "s|config = |load = ( \"missing\" ); config = |" "$work/laterd.conf"
refused "$work/jobs/missing.so" 'No such file' "a plugin that is not there"

configure ''
sed -i "s|check = { dir|check = { folder|" "$work/laterd.conf"
refused "$(at 3)" 'check knows dir' "an option that the plugin refuses"
sed -i "s|folder = \"$work\"|dir = \"$work/nowhere\"|" "$work/laterd.conf"
run "$laterd_bin" -c "$work/laterd.conf" -t
is "$status" 0 "laterd -t does not start plugins"
contains "$out" "not started" "-t says that plugins were not started"

configure ''
echo 'no library' >"$work/jobs/text.so"
refused "$work/jobs/text.so" 'ELF' "no ELF file"
: >"$work/jobs/text.so"
refused "$work/jobs/text.so" '' "an empty file"
rm "$work/jobs/text.so"

cp "$PLUGIN_TEST_DIR/trouble.so" "$work/jobs"
TROUBLE=api
export TROUBLE
refused "$work/jobs/trouble.so" '7' "another API number"
contains "$err" '1' "both numbers are named"
TROUBLE=twice
refused "$work/jobs/trouble.so" 'trouble' "a type twice"
unset TROUBLE
chmod 666 "$work/jobs/trouble.so"
refused "$work/jobs/trouble.so" 'writ' "a plugin that everyone may write"
chmod 644 "$work/jobs/trouble.so"
if [ "$(id -u)" = 0 ]; then
    chown 12345 "$work/jobs/trouble.so"
    refused "$work/jobs/trouble.so" 'own' "somebody else's plugin"
fi
rm -f "$work/jobs/trouble.so"
chmod 777 "$work/jobs"
refused "$work/jobs" 'writ' "a directory of plugins that everyone may write"
chmod 755 "$work/jobs"

CHECK_LOAD=crash
export CHECK_LOAD
refused '' 'signal 6' "a plugin that crashes while it is loaded"
unset CHECK_LOAD

# ---- the state_dir of another user, as when root starts what is the service's by hand

if [ "$(id -u)" = 0 ]; then
    mkdir -p "$work/theirs/slots"
    chown -R 12345 "$work/theirs"
    echo "state_dir = \"$work/theirs\";" >"$work/theirs.conf"
    run "$laterd_bin" -c "$work/theirs.conf"
    is "$status" 78 "the state_dir of another user: exit 78"
    contains "$err" "$work/theirs/slots: belongs to user 12345, and this laterd runs as user 0; start it as that user" \
        "it says whose it is, and does not ask to remove it"
    is "$(ls "$work/theirs")" slots "nothing is written there"
fi

# ---- usage

run "$laterd_bin" --nonsense
is "$status" 64 "an unknown option: exit 64"
run "$laterd_bin" -c "$work/laterd.conf" extra
like "$status $err" '^64 laterd: extra: a word too many' "an argument too many: exit 64, and which"
run "$laterd_bin" --perform "$work/x.so"
like "$status $err" '^64 laterd: --perform: which TYPE of .*/x\.so' "--perform without a type"
run "$laterd_bin" --version
like "$out" '^laterd [0-9]+\.[0-9]+' "--version prints the version"
configure 'workers = 3;'
run "$laterd_bin" -c "$work/laterd.conf" --print-config
like "$out" 'workers = 3;' "--print-config prints what the file sets"
finish
