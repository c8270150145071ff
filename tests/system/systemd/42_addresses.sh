# 42_addresses.sh: which addresses a handler may send to. All of these lead to this container alone.
# shellcheck shell=sh disable=SC2034,SC2154
begin_section 'addresses'

# Prints each of these in which the system did not let it send a byte.
cat >"$state/addresses.py" <<'PROGRAM'
import contextlib
import socket
import sys


def datagram(address):
    out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    out.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
    out.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b'lo')
    out.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 0)
    out.sendto(b'x', (address, 9))


def stream(address):
    with socket.create_server((address, 0)) as server, socket.create_connection(server.getsockname(), 5) as out:
        out.sendall(b'x')


refused = []
for send, addresses in ((datagram, ('239.255.0.1', '224.0.0.251', '255.255.255.255', '240.0.0.1')),
                        (stream, ('127.0.0.1', '127.0.0.2', '10.9.9.9', '192.168.9.9'))):
    for address in addresses:
        try:
            send(address)
        except PermissionError:
            refused.append(address)
with open(sys.argv[1], 'w') as file:
    print(*refused, file=file)
PROGRAM
chmod 644 "$state/addresses.py"

# add_address NUMBER ADDRESS: this machine has it, beside those it had.
add_address()
{
    python3 - "lo:$1" "$2" <<'PROGRAM'
import fcntl
import socket
import struct
import sys

SIOCSIFADDR = 0x8916
request = struct.pack('16sHH4s8x', sys.argv[1].encode(), socket.AF_INET, 0, socket.inet_aton(sys.argv[2]))
fcntl.ioctl(socket.socket(socket.AF_INET, socket.SOCK_DGRAM), SIOCSIFADDR, request)
PROGRAM
}
add_address 1 10.9.9.9
add_address 2 192.168.9.9

runs "without the unit" python3 "$state/addresses.py" /root/refused
is "$(cat /root/refused)" '' "all addresses can be sent to"
handlers='exec = { send = { argv = ( "/usr/bin/python3", "'$state'/addresses.py", "'$state'/refused" ); }; };'
configure 'workers = 2;'
mark
runs "systemctl reload" systemctl reload laterd
within 15 "exec is loaded with its program" logged 'reloaded: '
later push exec.send --id send >/dev/null
within 20 "in the unit" sh -c "! later show send >/dev/null 2>&1"
if journalctl -q -o cat | grep -q 'local system does not support BPF'; then
    echo '# this system filters no addresses: it has no BPF'
else
    is "$(cat "$state/refused")" '239.255.0.1 224.0.0.251 255.255.255.255 240.0.0.1' \
        "no multicast, no broadcast and nothing reserved can be, and every other one"
fi
handlers=
