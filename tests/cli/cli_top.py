"""cli_top.py REDIS_PID: later top in a terminal of 80 x 24."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios

from checks import check, same, wait_until

redis_pids = [int(pid) for pid in sys.argv[1].split()]
later = os.environ['later_bin']


class Terminal:
    def __init__(self, *words, rows=24, columns=80):
        self.out = b''
        # before the fork, since later top changes the settings as soon as it runs
        self.fd, inside = pty.openpty()
        self.resize(rows, columns)
        self.before = termios.tcgetattr(self.fd)
        self.pid = os.fork()
        if self.pid == 0:
            os.login_tty(inside)
            os.environ.update({'TERM': 'xterm', 'LANG': 'C.UTF-8', 'LC_ALL': 'C.UTF-8'})
            os.execv(later, [later, *words])
        os.close(inside)

    def resize(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))

    def read(self):
        while select.select([self.fd], [], [], 0.05)[0]:
            try:
                self.out += os.read(self.fd, 65536)
            except OSError:
                return

    def lines(self):
        """Returns the last whole picture."""
        self.read()
        pictures = self.out.split(b'\033[H')
        whole = [one for one in pictures[1:] if b'q quit' in one]
        text = whole[-1].decode() if whole else ''
        return re.sub(r'\033\[[0-9;?]*[A-Za-z]', '', text).split('\r\n')

    def shows(self, pattern):
        return wait_until(lambda: re.search(pattern, '\n'.join(self.lines()), re.MULTILINE))

    def press(self, keys):
        os.write(self.fd, keys)

    def ended(self, flags=0):
        def look():
            self.read()
            pid, status = os.waitpid(self.pid, os.WNOHANG | flags)
            if pid:
                self.read() # what it wrote between the two lines above
            return [status] if pid else None
        return (wait_until(look) or [None])[0]


top = Terminal('top', '--interval', '0.2')
check(top.shows('^q33 +2 '), 'it shows', top.lines())
check(b'\033[?1049h' in top.out, 'on a screen of its own')
check(termios.tcgetattr(top.fd)[3] & termios.ECHO == 0, 'keys are not echoed')
same((len(top.lines()) <= 24, max(len(line) for line in top.lines()) <= 80), (True, True), f'in 80 x 24: {max(top.lines(), key=len)!r}')
check(top.shows('^1-[0-9]+ of 41 .*q quit'), 'some of 41, and the keys', top.lines()[-1])
check(top.shows('^in/s 0.0 +done/s 0.0'), 'rates from the second look on', top.lines())
top.press(b'\033[6~')
check(top.shows('^(?!1-)[0-9]+-[0-9]+ of 41'), 'a page down', top.lines()[-1])
top.press(b'\033[F')
check(top.shows('^[0-9]+-41 of 41'), 'to the end', top.lines()[-1])
top.press(b'\033[Hjjk')
check(top.shows('^2-[0-9]+ of 41'), 'to the beginning, down, down, up', top.lines()[-1])
top.press(b'\033[D')
check(top.shows('^vQUEUE'), 'left: sorted by name')
check(top.shows('^a-name-that-is…'), 'from its beginning')
top.press(b'r')
check(top.shows(r'^\^QUEUE') and top.shows('^q49 '), 'r: the other way round')
top.press(b' ')
check(top.shows('held'), 'space: held', top.lines()[0])
subprocess.run([later, 'push', 't', '-q', 'q49'], check=True, capture_output=True)
top.press(b' ')
check(top.shows('^q49 +2 '), 'and not', top.lines())
top.resize(12, 60)
os.kill(top.pid, signal.SIGWINCH)
check(wait_until(lambda: len(top.lines()) == 12 and max(map(len, top.lines())) <= 60), '60 x 12', top.lines())
os.kill(top.pid, signal.SIGTSTP)
check(os.WIFSTOPPED(top.ended(os.WUNTRACED) or 0), '^Z stops it')
same(termios.tcgetattr(top.fd)[3], top.before[3], 'with the terminal as it was')
top.out = b''
os.kill(top.pid, signal.SIGCONT)
check(top.shows('^q49 '), 'it goes on')
for pid in redis_pids:
    os.kill(pid, signal.SIGSTOP)
check(top.shows('numbers from .* old'), 'Redis hangs: it says how old its numbers are', top.lines())
for pid in redis_pids:
    os.kill(pid, signal.SIGCONT)
check(wait_until(lambda: 'numbers from' not in '\n'.join(top.lines())), 'and goes on')
top.press(b'q')
same(top.ended(), 0, 'q ends it')
check(top.out.endswith(b'\033[?25h\033[?1049l'), 'with the screen as it was', top.out[-40:])
top = Terminal('top')
check(top.shows('^q33 '), 'another one')
os.kill(top.pid, signal.SIGTERM)
same(top.ended(), 0, 'TERM ends it')
same(termios.tcgetattr(top.fd)[3], top.before[3], 'with the terminal as it was')
