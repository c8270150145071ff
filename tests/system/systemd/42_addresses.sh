# 42_addresses.sh: which addresses a handler may send to. All of these lead to this container alone.
# shellcheck shell=sh disable=SC2034,SC2154
begin_section 'addresses'

# Prints each of these to which the system did not let it send a byte.
cat >"$state/addresses.py" <<'PROGRAM'
import os
import socket
import sys


def family(address):
    return socket.AF_INET6 if ':' in address else socket.AF_INET


def datagram(address):
    out = socket.socket(family(address), socket.SOCK_DGRAM)
    out.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
    out.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b'lo')
    if out.family == socket.AF_INET:
        out.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 0)
    out.sendto(b'x', (address, 9))


def stream(address):
    with socket.create_server((address, 0), family=family(address)) as server, \
            socket.create_connection(server.getsockname()[:2], 5) as out:
        out.sendall(b'x')


tried = [(datagram, ('239.255.0.1', '224.0.0.251', '255.255.255.255', '240.0.0.1')),
         (stream, ('127.0.0.1', '127.0.0.2', '10.9.9.9', '192.168.9.9'))]
if os.path.exists('/proc/net/if_inet6'):
    tried += [(datagram, ('ff02::fb', 'ff05::1:3', 'ff0e::101', '4000::9')),
              (stream, ('::1', 'fd00::9', '2001:db8::9'))]
refused = []
for send, addresses in tried:
    for address in addresses:
        try:
            send(address)
        except PermissionError:
            refused.append(address)
with open(sys.argv[1], 'w') as file:
    print(*refused, file=file)
PROGRAM
chmod 644 "$state/addresses.py"

# This machine has these addresses, beside those it had, and a route to all of IPv6: there is no network but
# lo, where one that is not local would discard what is sent before it is filtered. The numbers and structures
# are those of linux/sockios.h, netdevice(7) and linux/ipv6_route.h.
python3 - <<'PROGRAM'
import fcntl
import os
import socket
import struct

SIOCSIFADDR, SIOCADDRT = 0x8916, 0x890B
RTF_UP, RTF_LOCAL = 1, 0x80000000
four = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for name, address in ((b'lo:1', '10.9.9.9'), (b'lo:2', '192.168.9.9')):
    fcntl.ioctl(four, SIOCSIFADDR, struct.pack('16sHH4s8x', name, socket.AF_INET, 0, socket.inet_aton(address)))
if os.path.exists('/proc/net/if_inet6'):
    six = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    lo = socket.if_nametoindex('lo')
    for address in ('fd00::9', '2001:db8::9'):
        fcntl.ioctl(six, SIOCSIFADDR, struct.pack('16sIi', socket.inet_pton(socket.AF_INET6, address), 128, lo))
    fcntl.ioctl(six, SIOCADDRT, struct.pack('48xIHHILIi', 0, 0, 0, 1024, 0, RTF_UP | RTF_LOCAL, lo))
PROGRAM

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
    never='239.255.0.1 224.0.0.251 255.255.255.255 240.0.0.1'
    [ ! -e /proc/net/if_inet6 ] || never="$never ff02::fb ff05::1:3 ff0e::101 4000::9"
    is "$(cat "$state/refused")" "$never" "no multicast, no broadcast and nothing reserved can be, and every other one"
fi
handlers=
