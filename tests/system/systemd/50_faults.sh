# 50_faults.sh: a watchdog that fires, a laterd that is killed, a full disk; the log in JSON.
# shellcheck shell=sh disable=SC2034,SC2154
begin_section 'faults'

is_another()
{
    [ "$(main_pid)" != "$pid" ] && [ "$(main_pid)" != 0 ] && later status --local
}

mkdir -p /etc/systemd/system/laterd.service.d
printf '[Service]\nWatchdogSec=3\n' >/etc/systemd/system/laterd.service.d/watchdog.conf
systemctl daemon-reload
systemctl stop laterd
mark # what follows is in JSON
configure 'workers = 2;' 'log = { format = "json"; };'
systemctl start laterd
pid=$(main_pid)
kill -STOP "$pid"
within 30 "a supervisor that hangs: the watchdog has it started again" is_another
runs "it performs jobs" performs
pid=$(main_pid)
kill -KILL "$pid"
within 30 "one that is killed is started again" is_another
runs "it performs jobs" performs
rm /etc/systemd/system/laterd.service.d/watchdog.conf
systemctl daemon-reload

# ---- a disk of 24 MiB, full

systemctl stop laterd
log >/root/log
is "$(grep -vc '^{"time":".*}$' /root/log)" 0 "every line of the log is JSON"
is "$(grep -c overcommit /root/log)" "$(grep -c 'starts, pid' /root/log)" "overcommit: told once at each start"
mount -t tmpfs -o size=24m,mode=750,uid="$(id -u laterd)",gid="$(id -g laterd)" none "$state"
configure 'workers = 2;'
mark
systemctl start laterd
runs "a new state directory: jobs are performed" performs
head -c 30000000 /dev/zero >"$state/filler" 2>/dev/null
for round in 1 2 3 4 5 6 7 8; do
    later push note --in 1h >/dev/null 2>/root/err || break
    sleep 1
done
contains "$(cat /root/err)" MISCONF "a full disk: pushes are refused"
is_unwell()
{
    ! later status --local >/dev/null 2>/root/err
}
within 15 "laterd is not well" is_unwell
contains "$(cat /root/err)" 'MISCONF' "for that reason"
sleep 5 # lines that repeat would
refusals=$(log | grep -c 'laterd: redis refuses writes')
is "$refusals" 1 "told in one line"
rm "$state/filler"
within 30 "there is room again: laterd is well" later status --local
within 10 "that it is over is told" logged 'over after .*redis refuses writes'
runs "jobs are performed" performs
