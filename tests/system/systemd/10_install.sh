# 10_install.sh: from the files to a service that performs jobs, as in README.md.
# shellcheck shell=sh disable=SC2034,SC2154
begin_section 'installed'

cp -a /build/. /
systemctl daemon-reload
runs "systemd-sysusers makes the user" systemd-sysusers
is "$(id -nG laterd)" laterd "and the group"
runs "systemd-tmpfiles" systemd-tmpfiles --create
cp /tools/check.so "$jobs"
configure 'workers = 2;'
runs "systemctl enable --now laterd" systemctl enable --now laterd
is "$(systemctl is-active laterd)" active "it runs"
runs "and is well" later status --local
is "$(stat -c '%U %G %a' "$state/redis.sock")" 'laterd laterd 660' "its socket is the group's"

later push note >/dev/null
within 10 "a job is performed" performed 1
useradd -G laterd member
useradd stranger
runs "who is in the group may push" setpriv --reuid member --regid member --init-groups later push note
within 10 "which is performed" performed 2
if setpriv --reuid stranger --regid stranger --init-groups later push note >/dev/null 2>/root/err; then
    not_ok "who is not in the group may not"
else
    contains "$(cat /root/err)" laterd "who is not in the group may not, and is told how"
fi
is "$(ps -o user= -p "$(main_pid)")" laterd "it runs as its own user"
