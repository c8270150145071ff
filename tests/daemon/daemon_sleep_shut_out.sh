#!/bin/sh
# daemon_sleep_shut_out.sh: Redis gets another password while all but one of a pool's workers sleep. It lets what is
# connected live, so laterd itself sees nothing of that; but the workers that are roused are not let in. That is
# said, also by `later status`, and they come as soon as the password file has the new one.
. "${top_srcdir:=.}/tests/system/daemon.sh"
. "$top_srcdir/tests/daemon/fleet_lib.sh"
start_redis 'requirepass first'

# password WORD: in the file of laterd and later from now on.
password()
{
    echo "$1" >"$work/password.new"
    chmod 600 "$work/password.new"
    mv "$work/password.new" "$work/password"
}
password first
LATER_REDIS_PASSWORD_FILE=$work/password
REDISCLI_AUTH=first
export LATER_REDIS_PASSWORD_FILE REDISCLI_AUTH

configure 'workers = 4;' 'lease = 1.0;' 'log = { level = "debug"; };' # a short wait is a third of a second
sed -i "1s|; };|; password_file = \"$work/password\"; };|" "$work/laterd.conf"
status_says()
{
    run later status
    case $err in
    *"$1"*) return 0 ;;
    *) return 1 ;;
    esac
}
silent() { status_says '' && [ -z "$err" ]; }

start_laterd
fleet 31
within 30 "among many, all but one sleep" asleep 3
is "$(how_often 'do not reach Redis')" 0 "nothing is wrong"

# laterd's own later finds the new password elsewhere; laterd's file has the old one still
redis CONFIG SET requirepass second >/dev/null
REDISCLI_AUTH=second
for i in 1 2 3 4; do
    push_do "job-$i" '"do":"sleep","until":"end"'
done
within 5 "the one that waited begins a job" reached begun 1
within 30 "those that were roused are not let in, which is said" \
    logged 'of 4 workers do not reach Redis, although laterd does: WRONGPASS'
echo second >"$work/other"
chmod 600 "$work/other"
LATER_REDIS_PASSWORD_FILE=$work/other
within 30 "and by later status" status_says 'of 4 workers do not reach Redis, although laterd does: WRONGPASS'
is "$(lines begun)" 1 "three jobs wait"

password second
within 20 "the file has the new password: all four begin" reached begun 4
within 20 "the fault is over" logged 'over after '
within 20 "later status says nothing of it any more" silent
touch "$work/end"
within 20 "the jobs end" settled
end_well
finish
