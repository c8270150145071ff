# 90_stop.sh: nothing stays behind.
# shellcheck shell=sh disable=SC2034,SC2154
begin_section 'stopped'

runs "systemctl stop" systemctl stop laterd
is "$(systemctl show -P Result laterd)" success "with success"
is "$(ps -u laterd -o pid= | wc -l)" 0 "no process of its user is left"
