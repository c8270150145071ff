# 45_web.sh: the pages: their socket, their service when somebody comes, and what that may do.
# shellcheck shell=sh disable=SC2034,SC2154
begin_section 'pages'

# page PATH: its status, over the socket.
cat >/root/page.py <<'PAGE'
import socket
import sys
import time

asking = socket.socket(socket.AF_UNIX)
asking.settimeout(20)
asking.connect('/run/laterd/web.sock')
asking.sendall(f'GET {sys.argv[1]} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'.encode())
answer = b''
while True:
    more = asking.recv(65536)
    if not more:
        break
    answer += more
print(answer.split()[1].decode(), answer.split(b'\r\n\r\n')[-1].decode() if len(sys.argv) > 2 else '')
PAGE
chmod 644 /root/page.py
chmod 711 /root
as()
{
    user=$1
    shift
    setpriv --reuid "$user" --regid "$user" --init-groups python3 /root/page.py "$@" 2>&1
}
web_pid()
{
    systemctl show -P MainPID laterd-web
}
sees_queues()
{
    as member /api/1/queues body | grep -q '"queue":"default"'
}

runs "systemctl enable --now laterd-web.socket" systemctl enable --now laterd-web.socket
is "$(stat -c '%U %G %a' /run/laterd/web.sock)" 'laterd laterd 660' "the group may come"
is "$(systemctl is-active laterd-web)" inactive "nobody has come yet"
is "$(as member / | tr -d ' ')" 200 "who is in the group gets a page"
is "$(systemctl is-active laterd-web)" active "which has started the service"
within 10 "and sees the queues" sees_queues
contains "$(as stranger /)" PermissionError "who is not does not"
is "$(ps -o user= -p "$(web_pid)")" laterd "it runs as its own user"
runs "its exposure is at most 1.0" \
    systemd-analyze security --threshold=10 --no-pager laterd-web.service
first=$(web_pid)
kill -KILL "$first"
within 10 "killed: the next page comes" sees_queues
runs "from another process" test "$(web_pid)" != "$first"
runs "systemctl stop" systemctl stop laterd-web.service laterd-web.socket
is "$(systemctl show -P Result laterd-web)" success "with success"
