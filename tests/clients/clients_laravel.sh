#!/bin/sh
# Laravel's jobs in laterd: pushed by the connector, performed by laterd:perform under the plugin
# exec, popped as from Laravel's own Redis queue, and moved from Laravel's own keys.
. "${top_srcdir:=.}/tests/system/daemon.sh"
needs php
if ! php -r 'exit(extension_loaded("redis") && stream_resolve_include_path("Illuminate/Foundation/Application.php") ? 0 : 1);'; then
    echo "1..0 # SKIP php-redis or php-laravel-framework is not installed"
    exit 0
fi
start_redis
CLIENT=$(cd "$top_srcdir" && pwd)/clients/php
NOTES=$work
SOCKET=$redis_socket
export CLIENT NOTES SOCKET
app=$work/app
cp -R "$top_srcdir/tests/clients/laravel" "$app"
chmod -R u+w "$app"
mkdir -p "$app/bootstrap/cache" "$app/storage/framework/cache" "$work/conf.d"
: >"$work/notes"

# dispatch CLASS...
dispatch()
{
    php "$app/push.php" "$@"
}

# told LINE: has a job noted it? often LINE: how often?
told() { grep -qx "$1" "$work/notes"; }
often() { grep -cx "$1" "$work/notes"; }

# ---- performed under laterd

cat >"$work/conf.d/exec.conf" <<CONF
plugins = { config = { exec = { laravel = {
    argv = ( "$(command -v php)", "$app/artisan", "laterd:perform", "--max-jobs=50" );
    dir = "$app"; env = { CLIENT = "$CLIENT"; NOTES = "$work"; SOCKET = "$SOCKET"; }; lines = true;
}; }; }; };
CONF
configure 'workers = 2;' 'grace = 10.0;' \
    'retry = { max_attempts = 2; base = 0.1; max = 0.1; jitter = 0.0; };'
start_laterd
dispatch Noted Throwing Releasing Failing BackingOff Sleeping Killed Exiting
within 15 "a job is performed" told 'noted handle 1'
within 15 "one that throws has failed" told 'throwing failed RuntimeException'
is "$(often 'throwing handle [0-9]')" 2 "after its tries"
within 15 "one that releases itself runs again" told 'releasing handle 2'
within 15 "one that fails itself" told 'failing failed RuntimeException'
within 15 "backoff: the second attempt" told 'backingoff handle 2'
within 15 "one whose time is up" told 'sleeping failed Laterd\\TimeIsUp'
# If a worker or the program is stuck when its time is over, it is ended: then there is one attempt more, also if
# the first has noted that it failed.
set_ended() { ended=$(grep -c 'over its time: its worker is ended\|failed, .*: timed out' "$log"); }
begun=$(often 'sleeping handle [0-9]')
set_ended
at_most "$begun" $((1 + ended)) "fails at once where it says so"
within 15 "one that kills its program" told 'killed failed Illuminate\\Queue\\MaxAttemptsExceededException'
is "$(often 'killed handle [0-9]')" 2 "fails after its tries"
within 15 "one that ends it" told 'exiting failed Illuminate\\Queue\\MaxAttemptsExceededException'
within 15 "what has failed is dead" counts buried 5
is "$(sort -u "$work/failed_jobs" | tr '\n' ';')" "laterd default Exiting Illuminate\Queue\MaxAttemptsExceededException;\
laterd default Failing RuntimeException;laterd default Killed Illuminate\Queue\MaxAttemptsExceededException;\
laterd default Sleeping Laterd\TimeIsUp;laterd default Throwing RuntimeException;" "and among Laravel's failed jobs"
is "$(grep -vc Sleeping "$work/failed_jobs")" 4 "once"
begun=$(grep -c Sleeping "$work/failed_jobs")
set_ended
at_most "$begun" $((1 + ended)) "also that one, for each time that it was ended"
within 15 "one waits as long as it says" eval '[ "$(dead) $(delayed) $(known)" = "5 1 6" ]'
contains "$(later peek default --state dead --json)" 'it throws in ' "the trace is in laterd's error"
is "$(redis --scan --pattern 'shop_database_*later*' | wc -l)" 0 "no key has the prefix of Laravel's"

# ---- down for maintenance, restarted

php "$app/artisan" down >/dev/null
before=$(counted returned)
dispatch Noted
within 15 "down for maintenance: a job is given back" counts returned $((before + 1))
php "$app/artisan" up >/dev/null
php "$app/artisan" queue:restart >/dev/null
later kick -q default --all --yes >/dev/null 2>&1
within 15 "and performed afterwards" sh -c "[ \$(grep -cx 'noted handle 1' $work/notes) = 2 ]"

# ---- paused by queue:pause, as of Laravel 12

before=$(counted returned)
: >"$work/paused-laterd-default"
dispatch Noted
within 15 "paused: a job is given back" counts returned $((before + 1))
rm "$work/paused-laterd-default"
later kick -q default --all --yes >/dev/null 2>&1
within 15 "and performed when it goes on" sh -c "[ \$(grep -cx 'noted handle 1' $work/notes) = 3 ]"
end_well

# ---- moved from Laravel's own keys, while a worker of Laravel's performs jobs from there

redis flushall >/dev/null
: >"$work/notes"
php "$app/move.php" 300
spawn php "$app/artisan" queue:work redis --stop-when-empty --sleep=0 --timeout=600
worker=$spawned
wait_until 20 test -s "$work/notes" # it goes on when the move has begun
php "$app/artisan" laterd:move >"$work/moved" &
mover=$!
own "$mover"
begins_to_move() { [ "$(known)" -gt 0 ] || gone "$mover"; }
wait_until 30 begins_to_move
touch "$work/go_on"
wait "$mover"
like "$(cat "$work/moved")" '^[0-9]+ jobs moved$' "jobs are moved"
wait_until 30 gone "$worker"
moved=$(known)
at_least "$moved" 1 "moved"
at_least "$(lines notes)" 1 "performed by Laravel's worker"
is "$((moved + $(lines notes)))" 301 "each is here or was performed there"
is "$(redis --scan --pattern 'shop_database_queues*' | wc -l)" 0 "nothing is left there"
start_laterd
within 30 "what was moved is performed" settled
is "$(sort -u "$work/notes" | wc -l) $(lines notes)" "301 301" "each once"
runs "with the attempts that it had" told 'moved-tried handle 4'
end_well

# ---- without any file, by later work

redis flushall >/dev/null
: >"$work/notes"
dispatch Noted
runs "later work" timeout 300 "$later_bin" work default --lines --type exec.laravel -n 1 -- php "$app/artisan" laterd:perform
is "$(lines notes) $(known)" "1 0" "performs Laravel's jobs, too"

# ---- what Laravel's own tests expect of its Redis queue

timeout 600 php "$app/scenarios.php" >"$work/verdicts"
while IFS= read -r verdict; do
    case $verdict in
    'ok '*) ok "${verdict#ok }" ;;
    'differs '*) ok "documented: ${verdict#differs }" ;;
    *) not_ok "$verdict" ;;
    esac
done <"$work/verdicts"
is "$(grep -c '^ok' "$work/verdicts") $(grep -c '^differs' "$work/verdicts")" "27 2" "27 of 29 scenarios"

# ---- in a newer Laravel: by stand-ins, since Debian has none

for version in 10 11 13; do
    php "$app/newer.php" $version 2>&1
done >"$work/verdicts"
while IFS= read -r verdict; do
    case $verdict in
    'ok '*) ok "${verdict#ok }" ;;
    *) not_ok "$verdict" ;;
    esac
done <"$work/verdicts"
is "$(grep -c '^ok' "$work/verdicts")" 14 "14 scenarios of newer ones"
finish
