# 20_upgrade.sh: to a newer version and back, while jobs run.
# shellcheck shell=sh disable=SC2154
begin_section 'upgraded under jobs'

plugins=$(dirname "$(dpkg -L laterd | grep '/null\.so$')")
cp /tools/check.so "$plugins"
# The limit stretches them over the upgrade.
configure 'workers = 2;' 'limits = ( { type = "note"; max = 2000; per = 1.0; } );'
runs "systemctl reload" systemctl reload laterd
cp "$conf" /root/conf
awk 'BEGIN { for (i = 0; i < 20000; i++) print "{\"type\":\"note\"}" }' >/root/jobs
before=$(stat_of 'done')
runs "20,000 jobs" sh -c 'later push --file /root/jobs >/root/out'
within 30 "some of them are done" performed $((before + 1000))
old=$(main_pid)
runs "apt-get install of the newer packages" apt_get install /build/new/*.deb
runs "which was under jobs" test "$(stat_of 'done')" -lt $((before + 20000))
runs "the daemon is the new one" test "$(main_pid)" != "$old"
runs "the configuration is as the operator left it" cmp "$conf" /root/conf
runs "and the plugin is there" test -e "$plugins/check.so"
within 60 "all jobs are done" performed $((before + 20000))
is "$(cut -d' ' -f1 "$notes/ended" | sort | uniq -d | wc -l)" 0 "none of them twice"
is "$(cut -d' ' -f1 "$notes/ended" | sort -u | wc -l)" 20000 "none is lost"
runs "later check" later check

if apt_get install /build/old/*.deb; then
    not_ok "apt-get does not go back unasked"
else
    contains "$(cat /root/apt)" 'downgrade' "apt-get does not go back unasked, and says why"
fi
runs "it does when asked" apt_get install --allow-downgrades /build/old/*.deb
later push note >/dev/null
within 10 "and the older one performs jobs" performed $((before + 20001))
