# 30_reload.sh: a reload that goes well, one whose configuration is bad, one whose plugin does not
# start in the sandbox.
# shellcheck shell=sh disable=SC2034,SC2154
begin_section 'reloaded'

# workers: the pids of laterd's workers.
workers()
{
    ps --ppid "$(main_pid)" -o pid=,comm= | awk '$2 == "worker" { print $1 }'
}

# A worker of a reload that was refused ends a moment later.
old_workers_only() { [ "$(workers)" = "$pids" ]; }

configure 'workers = 3;'
runs "a good reload" systemctl reload laterd
within 15 "is told" logged 'reloaded: 3 new workers'
within 15 "three workers" sh -c "[ \"\$(ps --ppid $(main_pid) -o comm= | grep -c '^worker')\" = 3 ]"
runs "a job is performed" performs
pids=$(workers)

mark
configure 'workers = 2;' 'nonsense = 1;'
runs "systemctl reload fails for a bad configuration" sh -c '! timeout 60 systemctl reload laterd'
within 15 "and says file and line" logged "$conf:3: nonsense"
within 15 "the old workers are there, and no others" old_workers_only
kill -HUP "$(main_pid)"
within 15 "a HUP is refused, by file and line" logged "reload refused: $conf:3: nonsense"
runs "laterd -t finds the same" sh -c "! laterd -t 2>/root/err && grep -q '$conf:3: nonsense' /root/err"

mark
notes=/srv
configure 'workers = 2;'
runs "laterd -t is content with a plugin that it does not start" laterd -t
begun=$(date +%s)
runs "systemctl reload comes back" timeout 60 systemctl reload laterd
within 15 "a plugin whose start fails: the reload is refused" logged 'reload refused: '
took=$(($(date +%s) - begun))
read -r load _ </proc/loadavg
most=$((15 * (1 + ${load%.*} / $(nproc))))
if [ "$took" -le "$most" ]; then ok "within 15 s: $took s"; else not_ok "within 15 s, or $most s: $took s"; fi
line=$(log | grep 'reload refused: ')
contains "$line" "$conf:1: plugin check: check.dir: /srv: Read-only file system" "with file and reason"
contains "$line" 'laterd(8), SANDBOX' "and what the sandbox allows"
is "$(log | grep -c 'Read-only file system')" 1 "in one line"
within 15 "the old workers are there, and no others" old_workers_only
runs "and perform jobs" performs
contains "$(later status --local 2>&1)" 'the last reload was refused: ' "later status --local shows it"
within 10 "later status shows it" sh -c "later status 2>&1 | grep -q 'the last reload was refused'"
is "$(systemctl show -P SubState laterd)" running "the unit is not reloading any more"

notes=$state
configure 'workers = 2;'
systemctl reload laterd
within 15 "mended, the reload goes well" logged 'reloaded: 2 new workers'
is "$(later status --local 2>&1 >/dev/null)" '' "and nothing is shown any more"
