#!/bin/sh
# The examples of doc/protocol.md answer what stands behind them, and its ACL lines are enough.
. "${top_srcdir:=.}/tests/system/lib.sh"
needs redis-server redis-cli

protocol=$top_srcdir/doc/protocol.md
scripts=$(cd "$top_builddir" && pwd)/scripts/expanded
start_redis 'appendonly yes'

# ---- the examples

# redis-cli of the examples is one on our server; the scripts are those of the build.
mkdir "$work/bin"
printf '#!/bin/sh\nexec %s -s %s "$@"\n' "$(command -v redis-cli)" "$redis_socket" \
    >"$work/bin/redis-cli"
chmod +x "$work/bin/redis-cli"
PATH=$work/bin:$PATH
sed -n '/^## Scripts/,/^## The least/p' "$protocol" | sed -n '/^```sh$/,/^```$/p' | grep -v '^```' |
    sed "s|/usr/local/share/laterd/scripts|$scripts|" >"$work/examples"
sed '/^}/q' "$work/examples" >"$work/run.sh"

# pattern ANSWER: as `case` wants it: … is anything, all else is meant as it stands.
pattern()
{
    printf '%s' "$1" | sed -e 's/[][*?\\]/\\&/g' -e 's/…/*/g' -e 's/^(nothing)$//'
}

grep '  # ' "$work/examples" >"$work/lines"
while IFS= read -r line; do
    command=${line%%  #*}
    answer=$(pattern "${line##*  # }")
    got=$(sh -c '. "$1"; eval "$2"' sh "$work/run.sh" "$command" 2>&1 | grep -v '^$' |
        tr '\n' ' ' | sed 's/ $//')
    # shellcheck disable=SC2254 # it is a pattern
    case $got in
    $answer) ok "${command%%  *}" ;;
    *)
        not_ok "${command%%  *}"
        printf 'got:    %s\nwanted: %s\n' "$got" "$answer" | sed 's/^/# /'
        ;;
    esac
done <"$work/lines"
is "$(sed -n 's/^run \([a-z_]*\) .*/\1/p; s/.*scripts\/\([a-z_]*\)\.lua.*/\1/p' "$work/lines" | sort -u)" \
    "$(cd "$scripts" && for script in *.lua; do echo "${script%.lua}"; done)" \
    "every script has an example"

# ---- the counters

sed -n '/^## Counters/,/^## /s/^| \(`.*`\) |.*/\1/p' "$protocol" | tr -d '`,' | tr ' ' '\n' |
    sort >"$work/told"
redis --raw hkeys 'later:{default}:stats' | sort >"$work/found"
is "$(comm -13 "$work/told" "$work/found")" '' "every counter is in the table"

later queues >/dev/null 2>&1 && later push null -q default --in 1h >/dev/null
sum=$(redis --raw --eval "$scripts/size.lua" 'later:{default}:ready' 'later:{default}:delayed' \
    'later:{default}:reserved' 'later:{default}:dead' 'later:{default}:jobs' \
    'later:{default}:records' 'later:{default}:paused' 'later:{default}:stats' , | awk '
    NR <= 4 { in_sets += $1 }
    NR == 7 { jobs = $1; equal = in_sets == jobs }
    NR > 7 && NR % 2 == 0 { name = $1 }
    NR > 7 && NR % 2 == 1 { n[name] = $1 }
    END {
        came = n["pushed"] + n["adopted"]
        went = n["done"] + n["expired"] + n["cancelled"] + n["purged"] + n["trimmed"]
        print (equal && came > 4 && came == went + jobs) ? "equal" : "differ: " came " " went " " jobs
    }')
is "$sum" equal "the two sums hold after the examples"

# ---- plain ZADDs

redis zadd 'later:{plain}:ready' 5 '{"type":"null"}' >/dev/null
redis zadd 'later:{plain}:delayed' 6 '{"type":"null","n":2}' >/dev/null
redis --eval "$scripts/migrate.lua" 'later:{plain}:ready' 'later:{plain}:delayed' \
    'later:{plain}:reserved' 'later:{plain}:jobs' 'later:{plain}:records' \
    'later:{plain}:unique' 'later:{plain}:wake' 'later:{plain}:paused' 'later:{plain}:stats' , 500 1 '' >/dev/null
is "$(later reserve plain -n 2 | cut -f 1,4 | tr '\n' ' ')" \
    "$(for document in '{"type":"null"}' '{"type":"null","n":2}'; do
        printf '%s\t%s ' "$(printf %s "$document" | sha1sum | cut -d ' ' -f 1)" "$document"
    done)" "a plain member gets the SHA-1 of its bytes as id"

# ---- the least rights

# acl NAME: the words of the line after that mark.
acl()
{
    awk -v mark="<!-- acl: $1 -->" '
        $0 == mark { found = 1; next }
        found && /^```/ { if (++fences == 2) exit; next }
        found { print }' "$protocol" | tr -s '\n ' ' '
}

# A free port: redis:// is the form of URL that has a user.
port=$(($$ % 20000 + 20000))
until [ "$(redis config set port "$port")" = OK ]; do
    port=$((port + 1))
done
echo PASSWORD >"$work/password"
chmod 600 "$work/password"
LATER_REDIS_PASSWORD_FILE=$work/password

# become NAME: the user of that mark, instead of the default user.
become()
{
    words=$(acl "$1" | sed 's/^ *user //; s/ on / reset on /')
    user=${words%% *}
    # shellcheck disable=SC2086 # words
    is "$(redis acl setuser $words)" OK "Redis takes the line \"$1\""
    redis acl log reset >/dev/null
    LATER_REDIS_URL=redis://$user@127.0.0.1:$port
    export LATER_REDIS_PASSWORD_FILE
}

# denied NAME: what Redis has denied since, in the words of its log.
denied()
{
    redis acl log >"$work/denied"
    is "$(awk '/^object$/ { getline; print }' "$work/denied" | sort -u | tr '\n' ' ')" '' \
        "nothing is denied: $1"
}

as_user()
{
    redis --user "$user" --pass PASSWORD --no-auth-warning "$@" 2>&1
}

become zadd
is "$(as_user zadd 'later:{default}:ready' 1 '{"type":"null"}')" 1 "it may ZADD"
is "$(as_user lpush 'later:{default}:wake' 1)" 1 "it may leave a wake"
contains "$(as_user zadd 'later:{other}:ready' 1 x)" NOPERM "not into another queue"
contains "$(as_user zrange 'later:{default}:ready' 0 -1)" NOPERM "and it may not read"

become push
{
    later push null --id a
    later push null --id a
    later push null --id a --replace
    later push null --in 30 --priority 7
    printf '{"type":"null"}\n{"type":"null","in":5}\n' | later push --file -
} >/dev/null 2>&1
is "$?" 0 "it may push"
denied push
contains "$(later peek default 2>&1)" 'Redis denies' "it may not look"
redis del 'later:{default}:wake' >/dev/null

# laterd, through all that makes it talk to Redis: a tour of one job of each kind, a worker that is
# killed, a reload, a pause, a stop.
become laterd
mkdir "$work/plugins"
cp "$top_builddir"/jobs/*.so "$work/plugins"
cat >"$work/laterd.conf" <<EOF
redis = { url = "$LATER_REDIS_URL/0"; password_file = "$work/password"; };
state_dir = "$work/state";
workers = 2;
queues = ( { name = "default"; }, { name = "more"; } );
retry = { base = 0.05; };
plugins = { dir = "$work/plugins"; config = { exec = { slow = { argv = ( "/bin/sleep", "60" ); };
    bad = { argv = ( "/bin/false" ); }; }; }; };
limits = ( { type = "null"; max = 100; per = 1.0; window = "fixed"; },
           { type = "sleep"; max = 100; per = 1.0; } );
dead = { max = 1; };
EOF
spawn "$laterd_bin" -c "$work/laterd.conf"
laterd=$spawned
for document in '{"type":"null"}' '{"type":"sleep","payload":{"seconds":0.1}}' 'no JSON' 'nor this' \
    '{"type":"exec.bad","max_attempts":2}' '{"type":"null","expires_at":5}' '{"type":"nobody"}'; do
    redis zadd 'later:{more}:ready' 0 "$document" >/dev/null
done
redis zadd 'later:{more}:delayed' "$(date +%s)" '{"type":"null","n":2}' >/dev/null

# counted QUEUE FIELD N
counted()
{
    [ "$(redis hget "later:{$1}:stats" "$2")" -ge "$3" ]
}
# The worker that runs exec.slow is the one with a child.
busy_worker()
{
    for worker in $(ps -o pid= --ppid "$laterd"); do
        [ -z "$(ps -o pid= --ppid "$worker")" ] || echo "$worker"
    done
}
is_busy()
{
    [ -n "$(busy_worker)" ]
}
if wait_until 20 counted more 'done' 3 && wait_until 10 counted more buried 3; then
    ok "laterd works"
else
    not_ok "laterd works" "$work/spawned.err"
fi
redis zadd 'later:{default}:ready' 0 '{"type":"exec.slow","timeout":600,"max_attempts":9}' >/dev/null
wait_until 10 is_busy
kill -KILL "$(busy_worker)"
wait_until 10 counted default released 1
kill -HUP "$laterd"
wait_until 10 grep -q reloaded "$work/spawned.err"
wait_until 10 is_busy
kill -TSTP "$laterd"
kill -CONT "$laterd"
kill -TERM "$laterd"
wait_until 5 grep -q stopping "$work/spawned.err"
for worker in $(ps -o pid= --ppid "$laterd"); do
    kill -KILL "$worker"
done
wait_until 20 gone "$laterd" || not_ok "laterd stops"
denied laterd
outer='evalsha script|load sadd client|setname client|id ping select info subscribe blpop client|unblock'
is "$(acl laterd | tr ' ' '\n' | sed -n 's/^+//p' | grep -vxF "$(echo "$outer" | tr ' ' '\n')" | sort |
    tr '\n' ' ')" \
    "$(grep -ohE "call\('[A-Z]+'" "$scripts"/*.lua | sed "s/.*'\(.*\)'/\1/" | tr '[:upper:]' '[:lower:]' | sort -u |
        tr '\n' ' ')" "laterd's line has the commands of the scripts and no others"

# later, every command: laterd's line and a few more.
redis del 'later:{default}:wake' >/dev/null
redis sadd later:queues events events/3 plain >/dev/null # what was pushed by hand has been named by nobody
words=$(echo "$(acl laterd) $(acl later)" | sed 's/^ *user //; s/ on / reset on /')
# shellcheck disable=SC2086 # words
is "$(redis acl setuser $words)" OK "Redis takes that of laterd and later"
redis acl log reset >/dev/null
{
    later push null -q tour --id t1
    later push null -q tour --id t2 --in 60
    later queues
    later size
    later peek tour
    later show t1 -q tour
    later kick t2 -q tour
    later kick --all tour --yes
    later pause tour
    later resume tour
    for verb in ack release return bury touch; do
        later push null -q "by-$verb" --id "$verb"
        token=$(later reserve "by-$verb" --wait 1 | cut -f 2)
        later "$verb" "by-$verb" "$verb" "$token"
    done
    later cancel touch -q by-touch
    later work tour --count 1 -- true
    later purge tour --state ready --yes
    later stock set thing 1
    later stock claim thing me
    later stock show thing
    later stock release thing me
    later status
    later check
} >"$work/tour" 2>&1
status=$?
if [ "$status" -eq 0 ] && ! grep -q NOPERM "$work/tour"; then
    ok "later works"
else
    not_ok "later works" "$work/tour"
fi
denied later
finish
