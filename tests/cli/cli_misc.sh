#!/bin/sh
# later: help, options, where Redis is, and what happens if Redis is missing or goes away.
. "${top_srcdir:=.}/tests/system/lib.sh"

# ---- messages

run later
is "$status $out" "64 " "later without a command: status 64"
like "$err" '^usage: later COMMAND' "later without a command prints the usage"
run later --help
is "$status $err" "0 " "later --help: status 0"
commands=$(printf '%s\n' "$out" | sed '/^Options of every/,$d' | sed -n 's/^  \([a-z]*\)  *[A-Z].*/\1/p')
for command in $commands; do
    is "$(later help "$command")" "$(later "$command" --help)" "help $command is $command --help"
    like "$(later help "$command" | head -n 1)" "^usage: later $command" "it begins with the usage"
    is "$(later help "$command" | awk 'length > 115')" "" "it fits into a terminal"
    like "$(later help "$command" | sed -n '/^Example/,$p')" "^  (.* )?later $command" "and has an example"
done
# ---- the manual has all commands and options

# section COMMAND: what later(1) says about it.
section()
{
    awk -v name="$1" '/^\.It Cm / { within = $3 == name } /^\.S[hs] / { within = 0 } within' \
        "$top_srcdir/doc/later.1"
}
for command in $commands; do
    missing=
    section "$command" >"$work/section"
    test -s "$work/section" || missing=all
    for option in $(later help "$command" | sed '/^Options of every/,$d' |
        sed -n 's/^  \(-., \|    \)--\([a-z-]*\).*/\2/p'); do
        grep -Eq -e "-$option( |\$)" "$work/section" || missing="$missing --$option"
    done
    is "$missing" "" "later(1) has $command and its options"
done
# Groups and their commands, in their order.
is "$(later help | sed -n '/^Options/q; s/:$//p; s/^  \([a-z]*\) .*/\1/p')" "$(awk '
    /^\.Sh / { within = $2 == "COMMANDS" }
    !within { next }
    sub(/^\.Ss /, "") { print }
    /^\.Bl/ { level++ }
    /^\.El/ { level-- }
    level == 1 && /^\.It Cm / && !told[$3]++ { print $3 }' "$top_srcdir/doc/later.1")" \
    "help has the groups of later(1)"
of_all=$(later help size | sed -n '1,/^Options of every/d; s/^  \(-., \|    \)--\([a-z-]*\).*/\2/p')
contains " $(echo "$of_all" | paste -sd ' ') " " json " "there are options of every command"
for option in $of_all; do
    grep -Eq "^\.It .*-$option( |\$)" "$top_srcdir/doc/later.1" && continue
    not_ok "later(1) has --$option: no item of that name in doc/later.1"
done

run later --version
like "$status $out" '^0 later [0-9]+\.[0-9]' "later --version prints the version"
run later psuh
is "$status" 64 "a command that there is not: status 64"
like "$err" 'did you mean push\?' "the nearest is named"
run later xyzzy
like "$err" 'later help' "an unknown command without a near one names later help"
run later help psuh
is "$status" 64 "help for what there is not"
run later size --jsn
like "$status $err" '^64 .*did you mean --json\?' "an option that there is not"
like "$err" '^usage: later size' "the usage of the command"
for words in 'size -q mail' 'size -qmail' 'peek --queue=mail' 'pause -q mail --for 1h'; do
    # shellcheck disable=SC2086 # words
    run later $words
    like "$status $err" '^64 later [a-z]*: no option -q: here the queue is a word of its own' "later $words"
done
run later metrics -q mail
is "$status $(printf '%s\n' "$err" | sed 1q)" '64 later metrics: no option -q' "but not where no queue is named"
run later --jsn size
is "$status" 64 "before the command, too"
run later size -z
is "$status" 64 "a letter that there is not"
run later forget
like "$status $err" '^64 later forget: Q\.\.\. is missing' "a word is missing, and named"
run later new handler
like "$status $err" '^64 later new: NAME is missing' "the second one, too"
run later push t --retries 3
like "$status $err" '^64 .*did you mean --max-attempts\?' "an option that is called so elsewhere"

# ---- Redis is not there

LATER_REDIS_URL=unix:$redis_socket
export LATER_REDIS_URL
number=0
for command in 'push t' 'push -f /dev/null' 'size q' 'size --names' 'peek q' 'show i' 'export -q q --state ready' \
    'kick i' 'cancel i' 'pause q' 'reserve q --wait 30' 'ack i --token 0123456789abcdef' 'work q -- true' \
    'stock show i' 'lock l -- true' 'lock l --show' 'limit l --max 1 --per 1' status check; do
    number=$((number + 1))
    # shellcheck disable=SC2086
    later $command </dev/null >"$work/trial.$number" 2>&1 &
    echo "$! $number $command" >>"$work/trials"
    own $!
done
# Each of them waits a moment, since Redis may be starting.
while read -r pid number command; do
    wait "$pid"
    is "$?" 69 "later $command: status 69"
    like "$(cat "$work/trial.$number")" 'cannot reach Redis at unix:.*redis.sock: .*No such file' \
        "and says where and why"
done <"$work/trials"
run later --redis redis://127.0.0.1:1 size q
like "$status $err" '^69 .*redis://127.0.0.1:1: .*refused' "no Redis over TCP: status 69, and it is named"
run later --redis redis://user:secret@host size q
is "$status" 64 "no password in a URL"
is "$(printf '%s' "$err" | grep -c secret)" 0 "and it is not repeated"
run later --redis nonsense size q
like "$status $err" '^64 .*: --redis: .*cluster://' "a URL that is none: status 64, where it is from, and what there is"
LATER_REDIS_URL=redis:/x run later size q
like "$status $err" '^64 .*: \$LATER_REDIS_URL: ' "the same in the environment"

# ---- where Redis is

start_redis 'appendonly no'
unset LATER_REDIS_URL
mkdir "$work/state"
is "$(later --redis "unix:$redis_socket" push t --id r)" r "--redis says where Redis is"
is "$(LATER_REDIS_URL=unix:$redis_socket && export LATER_REDIS_URL && later push t --id e)" e "\$LATER_REDIS_URL"
echo "redis = { url = \"unix:$redis_socket\"; prefix = \"mine\"; };" >"$work/client.conf"
is "$(later -c "$work/client.conf" push t --id c)" c "-c FILE says where Redis is"
is "$(redis HEXISTS 'mine:{default}:jobs' c)" 1 "the prefix of -c FILE is used"
is "$(later -c "$work/client.conf" --prefix yours push t --id p)" p "--prefix beside -c FILE"
is "$(redis HEXISTS 'yours:{default}:jobs' p)" 1 "--prefix overrides the one of the file"
run later --redis "unix:$redis_socket" --prefix 'a{b' size q
is "$status" 64 "a bad prefix"
is "$(LATER_REDIS_URL=unix:/none && export LATER_REDIS_URL && later -c "$work/client.conf" push t --id c2)" c2 \
    "-c goes before the environment"
is "$(later -c "$work/client.conf" --redis "unix:$redis_socket" push t --id c3)" c3 "--redis before -c"
# A mistake in the daemon's own part keeps nobody from looking; one that could lead elsewhere does.
{
    cat "$work/client.conf"
    echo "state_dir = \"$work/nowhere\"; leas = 3; queues = 7;"
} >"$work/mistake.conf"
run later -c "$work/mistake.conf" size default
is "$status $err" "0 " "a mistake elsewhere in the configuration does not matter to later"
run later status --local -C "$work/mistake.conf"
is "$status" 69 "nor to status --local"
contains "$err" "$work/nowhere" "which looks into state_dir"
run later -c "$work/mistake.conf" work default -- true
is "$status" 78 "but later work, which has its options from there, says so"
for word in 'redsi = { url = "unix:/none"; };' 'redis = { urll = "unix:/none"; };' 'state_dri = "/none";' 'redis = 3;'; do
    echo "$word" >"$work/mistake.conf"
    run later -c "$work/mistake.conf" size default
    like "$status $err" '^78 .*mistake.conf:1: ' "$word"
done
# What comes after a mistake in the syntax may mean anything.
{
    cat "$work/client.conf"
    echo 'queues = ( { name = '
} >"$work/mistake.conf"
run later -c "$work/mistake.conf" size default
like "$status $err" '^78 .*mistake.conf:[0-9]+: syntax error; ' "a mistake in the syntax: status 78, file, line and remedy"
run later -C "$work/mistake.conf" size default
like "$status $err" '^78 .*mistake.conf:[0-9]+: syntax error; ' "the same in the daemon's configuration"
run later -C "$work/mistake.conf" --redis "unix:$redis_socket" size default
is "$status $err" "0 " "who says where Redis is needs no file"
run later -c "$work/mistake.conf" cron next @daily
is "$status $err" "0 " "nor who does not ask Redis"
echo "state_dir = \"$work/state\";" >"$work/daemon.conf"
ln -s "$redis_socket" "$work/state/redis.sock"
is "$(later -C "$work/daemon.conf" push t --id d)" d "the daemon's configuration: the embedded server's socket"
run later -c "$work/none.conf" size q
is "$status" 78 "a configuration that is not there: status 78"
echo 'redis = { url = 5; };' >"$work/bad.conf"
run later -c "$work/bad.conf" size q
like "$status $err" '^78 .*bad.conf:1: ' "a bad one: file and line"
run later status --local -C "$work/daemon.conf"
is "$status" 69 "status --local: no laterd here"
LATER_REDIS_URL=unix:$redis_socket
export LATER_REDIS_URL

# ---- status

redis HSET later:hosts a:1 "{\"host\":\"alpha\",\"pid\":1,\"version\":\"0.1\",\"started\":$(($(redis TIME | head -n 1) - 100)),\"seen\":$(($(redis TIME | head -n 1) + 3600)).5,\"workers\":4,\"running\":2,\"performed\":500,\"failed\":3,\"queues\":[\"q\",\"r\"],\"runs\":{\"q\":2}}" \
    b:2 '{"host":"beta","pid":2,"version":"0.1","started":1000,"seen":2000,"workers":1,"running":0,"performed":0,"failed":0,"queues":[]}' \
    c:3 nonsense >/dev/null
for seen in 500 700; do
    redis HSET later:hosts "rare:$seen" "{\"host\":\"rare$seen\",\"every\":200,\"seen\":$(($(redis TIME | head -n 1) - seen)),\"workers\":1,\"queues\":[]}" >/dev/null
done
run later status
is "$status" 0 "later status: status 0"
is "$(printf '%s\n' "$out" | awk -F '\t' '$1 == "alpha" { print $2, $4, $7, $8, $9, $10, $12, $13 }')" \
    "1 alive 4 2 500 3 q,r q:2" "status shows what a daemon has announced"
is "$(printf '%s\n' "$out" | awk -F '\t' '$1 == "beta" { print $4 }')" gone "one that was not seen for long"
is "$(printf '%s\n' "$out" | awk -F '\t' '$1 ~ /^rare/ { print $1, $4 }' | sort | paste -sd ' ' -)" "rare500 alive rare700 gone" \
    "one that tells of itself every 200 seconds may be silent for three times that"
redis HDEL later:hosts rare:500 rare:700 >/dev/null
like "$err" 'c:3' "an entry that is none is told"
is "$(printf '%s\n' "$out" | awk -F '\t' '$1 == "default" { print $2 }')" 3 "status shows the queues"
like "$(later status --json 2>/dev/null)" '^\{"host":"alpha",.*"id":"a:1","gone":false' \
    "status --json prints a daemon as an object"

# ---- a password, a user

redis CONFIG SET requirepass hidden >/dev/null
run later size q
is "$status" 77 "no password: status 77"
like "$err" 'NOAUTH' "without a password Redis's words are shown"
printf 'hidden\nsecond line\n' >"$work/password"
chmod 600 "$work/password"
chmod 644 "$work/password"
run env LATER_REDIS_PASSWORD_FILE="$work/password" "$later_bin" size default
is "$status" 64 "a password file that others may read is refused"
like "$err" 'others may read or change it \(mode 0644\); chmod o-rwx it' \
    "a readable password file is refused with a remedy"
chmod 600 "$work/password"
is "$(env LATER_REDIS_PASSWORD_FILE="$work/password" "$later_bin" size default | cut -f 2)" 3 \
    "\$LATER_REDIS_PASSWORD_FILE"
echo "redis = { url = \"unix:$redis_socket\"; password_file = \"$work/password\"; };" >"$work/client.conf"
is "$(later -c "$work/client.conf" size default | cut -f 2)" 3 "the password file of -c FILE is used"
echo wrong >"$work/wrong"
chmod 600 "$work/wrong"
run env LATER_REDIS_PASSWORD_FILE="$work/wrong" "$later_bin" size q
is "$status" 77 "a wrong one: status 77"
like "$err" 'WRONGPASS' "with a wrong password Redis's words are shown"
run env LATER_REDIS_PASSWORD_FILE="$work/missing" "$later_bin" size q
is "$status" 64 "a password file that does not exist: status 64"
redis -a hidden --no-auth-warning CONFIG SET requirepass '' >/dev/null

# A user with few rights.
redis ACL SETUSER pusher on '>hidden' resetkeys '~later:*' '&later:*' -@all +@read +@write +@scripting \
    +ping +publish +time -smembers -zrem >/dev/null
export LATER_REDIS_PASSWORD_FILE="$work/password"
# Not where the servers of a set have theirs (ports.c), nor where Linux has those of outgoing connections.
port=$((30300 + $$ % 2400))
until redis CONFIG SET port "$port" 2>&1 | grep -q OK; do port=$((port + 1)); done
user=redis://pusher@127.0.0.1:$port
is "$(later --redis "$user" push t --id acl)" acl "a user with few rights pushes"
run later --redis "$user" size --names
is "$status" 77 "what it may not: status 77"
like "$err" 'NOPERM' "without the right Redis's words are shown"
run later --redis "$user" --prefix other push t
is "$status" 77 "nor other keys"
run later --redis "$user" push t --id acl --replace
is "$status" 77 "nor what is refused in the middle of a script"
unset LATER_REDIS_PASSWORD_FILE

redis CONFIG SET maxmemory 1 >/dev/null
run later push t
is "$status" 69 "a full Redis: status 69"
like "$err" 'OOM' "with a full Redis its words are shown"
awk 'BEGIN { for (i = 0; i < 2000; i++) print "{\"type\":\"t\"}" }' >"$work/lines"
run later push -f "$work/lines"
is "$status" 69 "a file into a full Redis: status 69"
is "$(printf '%s\n' "$err" | wc -l)" 2 "said once, not for each line"
redis CONFIG SET maxmemory 0 >/dev/null

# ---- a queue that Redis does not know: as if it were empty, but it is said

later push t -q known --id other >/dev/null
while read -r words; do
    for queue in knwon known; do
        # shellcheck disable=SC2086 # several words
        run later $words "$queue" </dev/null
        [ "$queue" = known ] || { wrong="$status $(printf '%s' "$out" | sed "s/knwon/known/g")" && said=$err; }
    done
    is "$(printf '%s\n' "$said" | grep -c "^later ${words%% *}: no queue knwon; did you mean known?$")" 1 "$words: it is said"
    is "$(printf '%s\n' "$err" | grep -c 'no queue')" 0 "$words: not of one that is there"
    is "$wrong" "$status $out" "$words: the status and the lines are those of an empty one"
done <<'END'
kick --state dead --yes -q
cancel --state dead --yes -q
bury --state delayed --yes -q
move elsewhere --state dead --yes -q
search --state dead -q
search --state dead --count -q
export --state dead -q
kick none -q
bury none -q
cancel none -q
move none elsewhere -q
show none -q
wait none -q
edit none -q
edit none --in 5 -q
peek --state dead
history
cron -q
cron pause none -q
flow -q
flow close none -q
END
run later check knwon
like "$status $err" '^0 later check: no queue knwon; did you mean known\?$' "check: it is said"
run later check known
is "$status $err" "0 " "check: not of one that is there"

# ---- pipes

is "$({ later peek default -n 10 2>"$work/err"; echo "$?" >"$work/status"; } | head -n 1 | wc -l)" 1 \
    "a reader that closes the pipe ends later"
for i in $(seq 300); do echo "{\"type\":\"t\",\"payload\":\"$(printf '%0400d' "$i")\"}"; done |
    later push -f - -q wide >/dev/null
{
    later peek wide -n 300 --json 2>"$work/err"
    echo $? >"$work/status"
} | head -n 1 >/dev/null
is "$(cat "$work/status") $(cat "$work/err")" "141 " "who stops reading ends it without a word"
later size >/dev/full 2>"$work/err"
is $? 71 "a full disk is no success"
like "$(cat "$work/err")" 'No space left' "a full disk is named"

# ---- without standard output: what is printed must not go to Redis, whose connection would have its number

redis RPUSH 'later:{default}:result:printed' "$(printf '{"state":"done","attempt":1,"at":1}\n"FLUSHALL"')" >/dev/null
keys=$(redis DBSIZE)
later wait printed -q default >&- 2>"$work/err"
is $? 71 "a closed standard output is no success"
like "$(cat "$work/err")" 'standard output: Bad file descriptor' "and is named"
is "$(redis DBSIZE)" "$keys" "and a result of \"FLUSHALL\" is no command"
later push t -q closed <&- >&- 2>&-
is "$(later size closed | cut -f 2)" 1 "all three are closed: the job is pushed"

# ---- the progress bar

screen=$(on_terminal "$later_bin push -f $work/lines -q bar")
is $? 0 "push --file on a terminal"
like "$screen" '2000 pushed, 0 replaced, 0 existed, 0 refused' "push --file on a terminal prints the sum"
is "$(printf '%s\n' "$screen" | grep -cE '^[0-9A-Za-z]{14}[[:space:]]*$')" 0 "no ids among it"
awk 'BEGIN { for (i = 0; i < 60000; i++) print "{\"type\":\"t\",\"payload\":\"some words to make it longer\"}" }' \
    >"$work/lines"
screen=$(on_terminal "$later_bin push -f $work/lines -q bar" | tr '\033' '\n')
like "$screen" '\[#* *\] +[0-9]+ %  [0-9.]+ [KM]iB of 3\.[0-9] MiB  [0-9]+ jobs  [0-9]+/s' \
    "bar, bytes of bytes, jobs, rate"
screen=$(on_terminal "cat $work/lines | $later_bin push -f - -q bar" | tr '\033' '\n')
like "$screen" '^[^[]*[0-9.]+ [KM]iB  [0-9]+ jobs  [0-9]+/s' "of a pipe: without an end to see"
run later push -f "$work/lines" -q bar
is "$status $err" "0 " "no bar and no words elsewhere"
finish
