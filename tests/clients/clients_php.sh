#!/bin/sh
# Handlers with clients/php under the plugin exec. (clients.sh tests pushing.)
. "${top_srcdir:=.}/tests/system/daemon.sh"
needs php
[ "$(php -r 'echo function_exists("pcntl_signal");')" = 1 ] || needs php-pcntl
start_redis
client=$(cd "$top_srcdir" && pwd)/clients/php
here=$(cd "$top_srcdir" && pwd)/tests/clients

mkdir -p "$work/conf.d"
{
    echo 'plugins = { config = { exec = {'
    for name in ok fenced throws retries buries returns exits grows sleeps waits prints; do
        echo "$name = { argv = ( \"$(command -v php)\", \"$here/handlers.php\" ); lines = true;"
        echo "    env = { CLIENT = \"$client\"; NOTES = \"$work\"; JOBS = \"10\"; }; };"
    done
    echo "many = { argv = ( \"$(command -v php)\", \"$here/handlers.php\" ); lines = true; parallel = 20;"
    echo "    types = ( \"many.*\" ); env = { CLIENT = \"$client\"; NOTES = \"$work\"; JOBS = \"10\"; }; };"
    echo '}; }; };'
} >"$work/conf.d/exec.conf"
configure 'workers = 2;' 'grace = 10.0;' 'log = { level = "debug"; };' \
    'retry = { max_attempts = 2; base = 0.1; max = 0.1; jitter = 0.0; };'
start_laterd

# job NAME [MEMBERS]
job()
{
    push_job "$1" "\"type\":\"exec.$1\"${2:+,$2}"
}

# fails NAME TEXT: is the job dead, with this in its error?
fails()
{
    within 20 "$1: dead" is_dead "$1"
    contains "$(error_of "$1")" "$2" "$1: its error says why"
}

job ok '"payload":{"a":[],"b":{},"c":12345678901234567890,"d":"é"}'
within 20 "a job is done" counts 'done' 1
contains "$(cat "$work/ok")" '{"a":[],"b":{}' "its payload came whole"

redis SET 'later:lock:{one}:fence' 41 >/dev/null
job fenced '"lock":"one"'
within 20 "a handler learns which taking of its lock it is" grep -qx 42 "$work/fence"

job throws
job buries
job exits '"max_attempts":1'
job grows '"max_attempts":1'
job sleeps '"max_attempts":1,"timeout":12' # so it has 1.5 s to say where it was when that is over
fails throws 'thing in '
like "$(error_of throws)" '"text":"RuntimeException: bad.{1,6}thing in [^#]*/handlers.php:[0-9]*"' "throws: what, and where, without laterd's own frames"
is "$(attempts_of throws)" 2 "throws: twice"
fails buries 'no such order'
is "$(attempts_of buries)" 1 "buries: at once"
fails exits 'the handler has ended the program'
fails grows 'Allowed memory size of 16777216 bytes exhausted'
# A program that stands still for so long is killed before it can say it: then another one is tried.
for _ in 1 2 3 4 5; do
    wait_until 20 is_dead sleeps
    error_of sleeps | grep -q '"text":"timed out' || break
    later cancel sleeps >/dev/null
    job sleeps '"max_attempts":1,"timeout":12'
done
fails sleeps 'TimeIsUp'
contains "$(error_of sleeps)" '/handlers.php(' "sleeps: with where it was"

job retries
job returns
within 20 "retries: later" is_delayed retries
within 20 "returns: later" is_delayed returns
is "$(attempts_of retries) $(attempts_of returns)" "1 0" "one of them was an attempt"

job prints
within 20 "prints: done" counts 'done' 3
within 5 "what it prints has a level" grep -q ' error .*that was an error' "$log"
within 5 "and what its child does is logged" logged 'a child'

# One that stands still for a second after it was asked is ended, and does not say it: then another one is asked.
is_over() { logged 'gave it up' || [ "$(grep -c 'given up, since\|its reservation was withdrawn' "$log")" -ge "$1" ]; }
for turn in 1 2 3 4 5; do
    rm -f "$work/waits"
    job waits
    wait_until 20 test -e "$work/waits"
    later cancel waits >/dev/null
    wait_until 20 is_over "$turn"
    ! logged 'gave it up' || break
done
within 20 "a running job that is cancelled hears of it, before its worker is ended" logged 'gave it up'
rm "$work/waits"

before=$(counted 'done')
push_many 95 exec.ok '{}' many- >/dev/null
within 30 "a program that ends after ten jobs each" counts 'done' $((before + 95))
is "$(noting c)" 0 "costs no job anything"

# With `parallel` the program reads ahead. What it had read but not begun when it ended costs no
# attempt.
before=$(counted 'done')
push_many 95 many.ok '{}' ahead- >/dev/null
push_job leaves '"type":"many.exits","max_attempts":1'
push_many 95 many.ok '{}' behind- >/dev/null
within 30 "many at once: all are done" counts 'done' $((before + 190))
within 20 "but for the one that ended its program" is_dead leaves
contains "$(error_of leaves)" 'the handler has ended the program' "which says so"
is "$(noting c)" 0 "no other was charged"

run env CLIENT="$client" NOTES="$work" php "$here/handlers.php" exec.buries
is "$status" 65 "tried without laterd it says how it went"
is "$out$err" 'bury: no such order' "and why"
for type in exec.retries exec.throws exec.returns; do
    run env CLIENT="$client" NOTES="$work" php "$here/handlers.php" "$type"
    is "$status" 75 "$type, too: another try may help"
done

tried=
for type in far.near far.off.there far.off.exact far; do
    run env CLIENT="$client" NOTES="$work" php "$here/handlers.php" "$type"
    tried="$tried$status $out$err
"
done
is "$tried" '0 "far.*"
0 "far.off.*"
0 "far.off.exact"
65 bury: the program has no handler for type far
' "a type is found by its name, else by the longest prefix"

for library in phpredis predis; do
    for url in "unix:$work/none.sock" redis://somebody@127.0.0.1:1/2 sentinel://127.0.0.1:1/shop; do
        run php -r "require '$client/autoload.php'; @include_once 'Predis/autoload.php';
            try { Laterd\Client::connect('$url', library: '$library')->push('a'); }
            catch (Laterd\Unreachable \$e) { echo \$e->getMessage(); }"
        like "$out" "$work/none.sock|127.0.0.1:1" "$library: who cannot reach Redis at ${url%%:*}: is told where it looked"
        is "$(printf '%s' "$out" | grep -c somebody)" 0 "$library: ${url%%:*}: without the user"
    done
    redis config set requirepass secret >/dev/null
    run php -r "require '$client/autoload.php'; @include_once 'Predis/autoload.php';
        try { Laterd\Client::connect('unix:$redis_socket', 'wrong', library: '$library')->push('a'); }
        catch (Laterd\Refused \$e) { echo \$e->getMessage(); }"
    like "$out$err" '^WRONGPASS [a-z -]+[a-z.]$' "$library: a wrong password is refused by Redis, not out of reach"
    redis -a secret --no-auth-warning config set requirepass '' >/dev/null
    redis del 'later:{w}:result:a' 'later:{w}:result:b' 'later:{w}:result:c' 'later:{w}:jobs' 'later:{w}:delayed' >/dev/null
    run timeout 600 php "$here/wait.php" "$redis_socket" "$library"
    is "$out$err" '[null,{"width":640},"done","busy",1,null,"gone"]' "results are waited for, by $library"
    run timeout 600 php "$here/late.php" "$redis_socket" "$library"
    is "$out$err" '["unreachable","new","delayed","of the application"]' "$library: an answer that comes too late is nobody else's"
    redis del 'later:{late}:jobs' 'later:{late}:delayed' >/dev/null
done

# ---- by hand: with the lines that laterd would write and read

hello=$(grep -o "handlers->on('[^']*'" "$here/handlers.php" | cut -d"'" -f2 | awk '
    { types = types sep "{\"name\":\"" $0 "\"}"; sep = "," }
    $0 == "exec.prints" { types = types ",{\"name\":\"far.*\"},{\"name\":\"far.off.*\"},{\"name\":\"far.off.exact\"}" }
    END { print "{\"hello\":1,\"stopping\":true,\"types\":[" types "]}" }')
answered=$(
    {
        echo '{"id":"a","type":"exec.waits","document":{}}'
        echo '{"id":"b","type":"exec.buries","document":{}}'
        wait_until 20 test -e "$work/waits"
        echo '{"id":"a","cancel":true}'
    } | CLIENT=$client NOTES=$work LATER_ANSWERS=3 php "$here/handlers.php" 3>&1
)
is "$answered" "$hello"'
{"log":"warn","text":"gave it up","id":"a"}
{"id":"a","result":"done"}
{"id":"b","result":"bury","error":"no such order"}' "a handler hears that its job was cancelled"

cat >"$work/ahead" <<'END'
{"id":"b","type":"exec.buries","document":{}}
{"id":"b","cancel":true}
{"id":"c","type":"many.exits","document":{}}
{"id":"d\"1","type":"many.ok","document":{}}
END
answered=$(CLIENT=$client NOTES=$work LATER_ANSWERS=3 php "$here/handlers.php" 3>&1 <"$work/ahead")
is "$answered" "$hello"'
{"id":"b","result":"return","error":"it had not begun"}
{"id":"c","result":"retry","error":"the handler has ended the program","last":true}
{"id":"d\"1","result":"return","error":"it had not begun"}' "what had not begun goes back: one cancelled, one behind an exit"
end_well
finish
