#!/bin/sh
# daemon_password.sh: the password of a user is changed, as an operator does it: a second one is added, the file gets
# it, the first one is removed. Whoever connects anew reads the file: laterd, the calls of its plugins, later serve,
# and who holds a lock.
. "${top_srcdir:=.}/tests/system/daemon.sh"
start_redis

# password WORD: in the file of laterd and later from now on.
password()
{
    echo "$1" >"$work/password.new"
    chmod 600 "$work/password.new"
    mv "$work/password.new" "$work/password"
}
# rights WORD...: for the user as whom all come. In a set the default user is also that of replicas and Sentinels.
user=default
[ "$redis_kind" = single ] || user=shop
rights() { redis_all ACL SETUSER "$user" "$@" >/dev/null; }
if [ "$user" = shop ]; then
    rights on '~*' '&*' +@all
    LATER_REDIS_URL=$(echo "$LATER_REDIS_URL" | sed 's|//|//shop@|')
fi
password first
rights resetpass '>first'
[ "$user" = shop ] || export REDISCLI_AUTH=first
LATER_REDIS_PASSWORD_FILE=$work/password
export LATER_REDIS_URL LATER_REDIS_PASSWORD_FILE
configure 'workers = 1;' 'lease = 30.0;'
sed -i "1s|; };|; password_file = \"$work/password\"; };|" "$work/laterd.conf"
start_laterd

# ask: one more question to `later serve`. answers N: has it answered N with 0?
mkfifo "$work/questions"
later serve <"$work/questions" >"$work/answers" 2>&1 &
own $!
exec 3>"$work/questions"
ask() { echo '["size"]' >&3; }
answers() { [ "$(grep -c '"status":0' "$work/answers")" -ge "$1" ]; }
ask
within 20 "later serve answers" answers 1

hold="touch '$work/locked'; until [ -e '$work/unlock' ]; do sleep 0.1; done"
later lock nightly -- sh -c "$hold" 2>"$work/lock.err" &
locker=$!
own "$locker"
within 20 "a program has a lock" test -e "$work/locked"
push_do before '"do":"claim","item":"phone","who":"ann","die":0'
within 20 "a plugin asks Redis" unknown before

rights '>second'
password second
[ "$user" = shop ] || REDISCLI_AUTH=second
rights '<first'
redis_all CLIENT KILL USER "$user" >/dev/null
ask
within 20 "later serve answers again, with the new password" answers 2
push_do after '"do":"claim","item":"phone","who":"ann","die":0'
within 20 "so does a plugin's call" unknown after
is "$(cat "$work"/claim-after-*)" "$(cat "$work"/claim-before-*)" "with an answer"
touch "$work/unlock"
wait "$locker"
is "$? $(cat "$work/lock.err")" "0 " "and the lock is given back"
exec 3>&-
stop_laterd
finish
