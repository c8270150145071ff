# 40_handlers.sh: a handler of each kind, in the sandbox: a C plugin, sh, Python, Node.
# shellcheck shell=sh disable=SC2034,SC2154
begin_section 'handlers'

handlers='exec = {
    archive = { argv = ( "/bin/sh", "'$examples'/archive.sh" ); env = { FOLDER = "'$state'/out"; }; };
    once = { argv = ( "/usr/bin/python3", "'$examples'/receipt_once.py" ); env = { FOLDER = "'$state'/out"; }; };
    python = { argv = ( "/usr/bin/python3", "'$examples'/receipt.py" ); env = { FOLDER = "'$state'/out"; }; lines = true; };
    node = { argv = ( "/usr/bin/node", "'$examples'/receipt.js" ); env = { FOLDER = "'$state'/out"; }; lines = true; };
};'
install -d -o laterd -g laterd "$state/out"
configure 'workers = 2;'
runs "laterd -t" laterd -t
systemctl reload laterd
within 15 "exec is loaded with its programs" logged 'reloaded: '

# handled KIND ORDER
handled()
{
    later push "exec.$1" '{"order":"'"$2"'","items":[{"name":"tea","price":450,"count":2}]}' \
        --id "$2" --max-attempts 5 >/dev/null
    within 20 "$1: its job is done" sh -c "! later show $2 >/dev/null 2>&1"
}

later push note >/dev/null
handled archive A1
handled once A2
handled python A3
is "$(cat "$state/out/A2.receipt" "$state/out/A3.receipt")" "$(printf 'A2 900\nA3 900')" "with their work done"

mark
later push exec.node '{"order":"A4","items":[{"name":"tea","price":450,"count":2}]}' --id A4 \
    --backoff 1 >/dev/null
within 30 "Node dies in the sandbox: said at level error, with the remedy" \
    logged '^error .*MemoryDenyWriteExecute=no in laterd.service: laterd\(8\), SANDBOX'
runs "the journal has its priority" sh -c "journalctl -u laterd -p err -o cat | grep -q MemoryDenyWriteExecute"
mkdir -p /etc/systemd/system/laterd.service.d
printf '[Service]\nMemoryDenyWriteExecute=no\n' >/etc/systemd/system/laterd.service.d/node.conf
systemctl daemon-reload
runs "with the drop-in of the manual" systemctl restart laterd
within 30 "its job is done" sh -c "! later show A4 >/dev/null 2>&1"
is "$(cat "$state/out/A4.receipt" 2>&1)" 'A4 900' "and its work"
handlers=
