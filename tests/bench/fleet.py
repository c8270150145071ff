"""fleet.py [HOSTS [WORKERS [QUEUES [SECONDS]]]]: what an idle fleet costs Redis. By hand, from the build tree. If
`ulimit -n` does not allow all connections of the fleet, those that send nothing are left out, which is said.

Four real laterds ($LATERD or daemon/laterd) run on a private redis-server, with so many others in
`later:hosts` that they behave as in the whole fleet. What the last one sends is recorded, connection by connection
(MONITOR), and sent again by the connections of all other hosts, each from its own moment on and under its own name. So
no timer of laterd is written here a second time.

It prints Redis's CPU in percent of a core (TAB-separated: what, commands a second, percent): with the connections of
the fleet alone, with everything, and by kind: with the commands of one kind only, less what the connections take."""
import os
import random
import re
import resource
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

hosts, workers, queues, seconds = [int(word) for word in (sys.argv[1:] + ["1000", "10", "1", "20"][len(sys.argv) - 1:])]
REAL = 4
SETTLED = 20  # seconds: their first looks are over
RECORDED = 40  # seconds
TOGETHER = 0.02  # seconds: what a connection sends in this time goes in one write, as it came
laterd, top = os.environ.get("LATERD", "daemon/laterd"), tempfile.mkdtemp(prefix="later-fleet-")
started = []


def names_of_scripts():
    with open("lib/script_text.c", encoding="utf-8") as file:
        return {sha: name for name, sha in re.findall(r'\{ "([a-z_]+)", text_.*?"([0-9a-f]{40})"', file.read())}


def spawn(*words, log="log"):
    with open("%s/%s" % (top, log), "ab") as out:
        started.append(subprocess.Popen(words, stdout=out, stderr=out, stdin=subprocess.DEVNULL))
    return started[-1]


def end():
    for process in reversed(started):
        process.send_signal(signal.SIGTERM)
    for process in started:
        process.wait()
    shutil.rmtree(top)


# ---- Redis

def packed(words):
    parts = [b"*%d\r\n" % len(words)]
    for word in words:
        parts.append(b"$%d\r\n%b\r\n" % (len(word), word))
    return b"".join(parts)


def connect():
    sock = socket.create_connection(("127.0.0.1", port))
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sock


def ask(*words):
    done = subprocess.run(["redis-cli", "-p", str(port), *words], capture_output=True, text=True, check=True)
    return done.stdout


def start_redis():
    server = spawn("redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", top,
                   "--maxclients", "100000", log="redis")
    while subprocess.run(["redis-cli", "-p", str(port), "ping"], capture_output=True, text=True,
                         check=False).stdout.strip() != "PONG":
        time.sleep(0.05)
    return server


def cpu():
    total = 0
    for task in os.listdir("/proc/%d/task" % redis.pid):
        with open("/proc/%d/task/%s/schedstat" % (redis.pid, task), encoding="ascii") as file:
            total += int(file.read().split()[0])
    return total / 1e9


def free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


# ---- the real ones

def peers():
    return set(re.findall(r" addr=([0-9.:]+)", ask("client", "list")))


def start_host(n):
    with open("%s/%d.conf" % (top, n), "w", encoding="ascii") as file:
        file.write('redis = { url = "redis://127.0.0.1:%d"; }; state_dir = "%s/state%d"; workers = %d;\n'
                   'plugins = { dir = "%s/jobs"; };\nqueues = ( %s );\n'
                   % (port, top, n, workers, top, ", ".join('{ name = "q%d"; }' % q for q in range(queues))))
    os.makedirs("%s/state%d" % (top, n))
    spawn(laterd, "-c", "%s/%d.conf" % (top, n), log="%d.log" % n)
    while "ready: " not in open("%s/%d.log" % (top, n), encoding="utf-8").read():
        time.sleep(0.05)


def unquoted(text):
    """One argument as MONITOR shows it."""
    if "\\" not in text:
        return text.encode("latin-1")
    return re.sub(rb"\\(x[0-9a-f]{2}|.)", lambda found: {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"a": b"\a", b"b": b"\b"}.get(
        found[1], bytes([int(found[1][1:], 16)]) if len(found[1]) == 3 else found[1]), text.encode("latin-1"))


def record(mine, hears):
    """Returns for each connection its commands, (seconds since the start, words), and its channels."""
    sent = {peer: [] for peer in mine}
    sock = connect()
    sock.sendall(b"MONITOR\r\n")
    reader, start = sock.makefile("r", encoding="latin-1", newline="\n"), time.time()
    for line in reader:
        found = re.match(r"\+([0-9.]+) \[\d+ ([^ \]]+)\] (.*)", line.rstrip("\r\n"))
        if found and found[2] in sent:
            sent[found[2]].append((float(found[1]) - start,
                                   [unquoted(word) for word in re.findall(r'"((?:[^"\\]|\\.)*)"', found[3])]))
        if time.time() - start > RECORDED:
            break
    sock.close()
    return [([(at, words) for at, words in sent[peer] if 0 <= at < RECORDED], hears.get(peer, [])) for peer in sent]


def kind(words):
    name = words[0].decode().upper()
    if name == "EVALSHA":
        return scripts.get(words[1].decode(), "script " + words[1].decode()[:7])
    return name + (" " + words[1].decode() if name in ("HSET", "SADD", "SET") else "")


# ---- the others

class Host:
    """One host: its connections, and what it sends at which moment of a round."""

    def __init__(self, number):
        self.shift = random.random() * RECORDED
        self.number = number
        self.socks = [connect() for _ in recorded]
        for sock, (_, channels) in zip(self.socks, recorded):
            for channel in channels:
                sock.sendall(packed([b"SUBSCRIBE", channel]))
            sock.setblocking(False)

    def own(self, words):
        """As this host would say it: its field of `later:hosts`, its identity, and a deadline that is not over."""
        words = [word.replace(field, field + b"%d" % self.number) for word in words]
        if kind(words) == "reserve":
            words[-1] = b"9999999999"
        if b":lookers:{" in b"".join(words[3:4]):
            words[-4] = words[-4][:30] + b"%d" % self.number
        return packed(words)

    def moments(self, wanted):
        """(moment of the round, connection, bytes, commands), sorted by whoever takes them."""
        for sock, (commands, _) in zip(self.socks, recorded):
            together = []
            for at, words in commands + [(RECORDED + 1, [])]:
                if together and at - together[0][0] > TOGETHER:
                    # what waits comes last, else all the others would wait behind it
                    together.sort(key=lambda one: one[1][0].upper() == b"BLPOP")
                    yield ((together[0][0] + self.shift) % RECORDED, sock, b"".join(self.own(one) for _, one in together),
                           len(together))
                    together = []
                if words and (wanted is None or kind(words) == wanted):
                    together.append((at, words))


def play(wanted, most):
    """Lets all hosts send for so long; returns commands a second and Redis's CPU in percent."""
    moments = sorted((moment for host in fleet for moment in host.moments(wanted)), key=lambda moment: moment[0])
    poller, by_number, count, at = select.epoll(), {}, 0, 0
    for host in fleet:
        for sock in host.socks:
            by_number[sock.fileno()] = sock
            poller.register(sock.fileno(), select.EPOLLIN)
    start, used = time.monotonic(), cpu()
    while time.monotonic() - start < most:
        now = time.monotonic() - start
        while at < len(moments) and moments[at][0] <= now:
            moments[at][1].sendall(moments[at][2])
            count += moments[at][3]
            at += 1
        pause = min(0.05, moments[at][0] - now) if at < len(moments) else 0.05
        for number, _ in poller.poll(max(0, pause), 1000):
            by_number[number].recv(65536)
    used, spent = cpu() - used, time.monotonic() - start
    poller.close()
    return count / spent, used / spent * 100


def tell(what, rate, percent):
    print("%s\t%.1f\t%.2f" % (what, rate, percent), flush=True)


def subscribed():
    """The channels that a connection hears, if it hears any: those of all queues."""
    hearing = [line for line in ask("client", "list").splitlines() if not re.search(r" sub=0 ", line)]
    channels = ask("pubsub", "channels").encode().split()
    return {re.search(r" addr=([0-9.:]+)", line)[1]: channels for line in hearing}


def fitting():
    """What was recorded, without connections that only lie there if there are too many for us and for Redis."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 500
    silent = sum(not commands and not channels for commands, channels in recorded)
    print("# a host has %d connections, %d of which send and hear nothing" % (len(recorded), silent), file=sys.stderr)
    if len(recorded) * hosts <= most:
        return recorded
    print("# those are left out: %d connections are too many here" % (len(recorded) * hosts), file=sys.stderr)
    return [one for one in recorded if one[0] or one[1]]


def fill_hosts():
    with connect() as sock:
        for number in range(hosts - REAL):
            sock.sendall(packed([b"HSET", b"later:hosts", b"h:%d" % number,
                                 b'{"host":"h","pid":%d,"seen":%.3f}' % (number, time.time())]))
            sock.recv(100)


def measure():
    tell("four real hosts", *play(None, seconds))
    fleet.extend(Host(number) for number in range(hosts - REAL + 1))
    base = play("", seconds)
    tell("connections alone", *base)
    tell("all", *play(None, seconds))
    for each in sorted({kind(words) for commands, _ in recorded for _, words in commands}):
        rate, percent = play(each, seconds)
        tell(each, rate, percent - base[1])


port, scripts, fleet = free_port(), names_of_scripts(), []
try:
    redis = start_redis()
    fill_hosts()
    os.makedirs(top + "/jobs")
    shutil.copy("jobs/null.so", top + "/jobs")
    for nth in range(REAL):
        before = peers()
        start_host(nth)
    time.sleep(SETTLED)
    mine_now = peers() - before
    recorded = record(mine_now, subscribed())
    field = ("%s:%d" % (socket.gethostname(), started[-1].pid)).encode()
    started[-1].send_signal(signal.SIGTERM)
    started.pop().wait()
    recorded = fitting()
    measure()
finally:
    end()
