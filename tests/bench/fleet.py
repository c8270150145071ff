#!/usr/bin/env python3
"""fleet.py HOSTS QUEUES [WORKERS [SECONDS]]: what a fleet of idle hosts costs its Redis.

Starts a redis-server of its own, and makes the connections of HOSTS laterds with WORKERS (10) workers each, which
serve QUEUES queues. They send what idle laterds send, with the real scripts, as often as these do. Prints how
busy Redis is over SECONDS (40), as percent of a core: with the connections only, and with the commands. If more
descriptors were needed than a process may have, fewer hosts are made, and the figures are extrapolated. With
BEFORE=1 in the environment: as when each host looked for itself, each worker asked every five seconds, and none
slept; with REDIS=SOCKET: only makes the fleet, at a Redis that is there, says so, and goes on until it is ended
(growth.py).
Run it from the build tree, after `make`: python3 tests/bench/fleet.py 1000 1"""
import heapq, math, os, random, re, resource, selectors, shutil, socket, subprocess, sys, tempfile, time

HOSTS, QUEUES = int(sys.argv[1]), int(sys.argv[2])
WORKERS = int(sys.argv[3]) if len(sys.argv) > 3 else 10
SECONDS = float(sys.argv[4]) if len(sys.argv) > 4 else 40
BEFORE = bool(os.environ.get('BEFORE'))


def constant(file, name):
    with open(os.path.join(os.path.dirname(__file__), '../..', file)) as text:
        return int(float(re.search(r'#define %s +([\d.]+)' % name, text.read()).group(1)))


def tells():
    """Each how many seconds a host tells of itself."""
    least, most, together = (constant('daemon/queues/announce.c', 'EVERY_' + name)
                             for name in ('LEAST', 'MOST', 'TOGETHER'))
    return least if BEFORE else min(max(OTHERS // together, least), most)


OTHERS = HOSTS - constant('lib/queue/looker.h', 'LATER_LOOKERS')
WAIT = constant('daemon/worker/intake_wake.c', 'WAIT_SECONDS' if BEFORE else 'WAIT_LONG')
AWAKE = 1 if OTHERS > constant('daemon/supervisor/sleepers.h', 'SLEEPERS_HOSTS') and not BEFORE else WORKERS
EVERY = tells()
SCRIPTS = os.path.join(os.environ.get('top_builddir', '.'), 'scripts/expanded')
LINE = '{"host":"web","pid":1,"version":"0.1.0"' + ',"fact":12345' * 60 + '}'  # in later:hosts
QUEUE = ['q%d' % i for i in range(QUEUES)]

random.seed(7)
most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
hosts = min(HOSTS, (most - 200) // (2 * AWAKE + 2))
path = os.environ.get('REDIS')
if not path:
    folder = tempfile.mkdtemp(prefix='fleet')
    path = folder + '/redis'
    server = subprocess.Popen(['redis-server', '--port', '0', '--unixsocket', path, '--save', '', '--appendonly', 'yes',
                               '--dir', folder, '--maxclients', str(most - 100)], stdout=subprocess.DEVNULL)
poll, timers = selectors.DefaultSelector(), []


def key(name, queue='q0'):
    return 'later:{%s}:%s' % (queue, name)


def command(*words):
    parts = [str(word).encode() for word in words]
    return b'*%d\r\n' % len(parts) + b''.join(b'$%d\r\n%s\r\n' % (len(part), part) for part in parts)


class Connection:
    """Counts lines of answers; `done` is called when as many have come as were expected."""

    def __init__(self, done=None):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.done, self.lines = done, 0
        poll.register(self.socket, selectors.EVENT_READ, self)

    def send(self, data, lines=0):
        self.lines = lines
        self.socket.sendall(data)

    def read(self):
        self.answer = self.socket.recv(65536)
        self.lines -= self.answer.count(b'\n')
        if self.done and self.lines <= 0:
            self.done()


def turn(until):
    while (now := time.monotonic()) < until:
        while timers and timers[0][0] <= now:
            heapq.heappop(timers)[2]()
        wait = min(until, timers[0][0] if timers else until) - time.monotonic()
        for ready, _ in poll.select(max(0, wait)):
            ready.data.read()


def after(seconds, what):
    heapq.heappush(timers, (time.monotonic() + seconds, random.random(), what))


def every(seconds, what):
    """From a random moment on."""
    def again():
        after(seconds, again)
        what()
    after(random.random() * seconds, again)


def call(script, keys, *arguments):
    return command('EVALSHA', sha[script], len(keys), *keys, *arguments)


def worker():
    main, wait = Connection(), Connection()
    waits = command('BLPOP', *[key('wake', queue) for queue in QUEUE], WAIT)
    behind = b''
    if BEFORE and QUEUES == 1:
        names = ['ready', 'delayed', 'reserved', 'reserved:tokentokentoken7', 'dead', 'jobs', 'records', 'wake', 'paused', 'stats']
        behind = call('reserve', [key(name) for name in names], 'tokentokentoken7', 60, 16, 262144, 1e10)
    wait.done = lambda: wait.send(waits + behind, 4 if behind else 1)
    after(random.random() * WAIT, wait.done)
    return main


def looker(connection, name):
    """Asks for a post; as lookers.c."""
    def heard():
        mine = connection.answer.find(b'*3\r\n:')  # beside answers to what the host says of itself
        if mine < 0:
            return
        words = connection.answer[mine:].split(b'\r\n')
        has_post, others = words[1] == b':1', int(words[4][1:])
        wait = 1 if has_post else (0.5 + random.random()) * min(max(others / 10, 1), 60)
        connection.asks = time.monotonic() + wait if wait >= 10 else math.inf
        if wait < 10:
            after(wait, ask)

    def ask():
        connection.send(looks, 5)

    looks = call('looker', ['later:lookers:{fleet}'], name, 3, 3)
    connection.done = heard
    after(random.random() * 5, ask)
    return looks


def host(number):
    link, hears = Connection(), Connection()
    for queue in QUEUE:
        hears.send(command('SUBSCRIBE', *[key(channel, queue) for channel in ('due', 'cancelled', 'overrides')]))
    name = 'web%d:1' % number
    registry = command('SET', 'later:protocol', 2, 'NX') + command('SADD', 'later:queues', *QUEUE)
    says = command('HSET', 'later:hosts', name, LINE)
    quiet = command('GET', key('paused', 'host:web%d' % number))
    plans = command('MGET', *[key('shards', queue) for queue in QUEUE])
    told = random.randrange(60) // EVERY * EVERY

    def tell():  # in one write
        nonlocal told
        told += EVERY
        link.send((plans if EVERY >= 10 or told % 10 == 0 else b'') + says +
                  (registry + quiet if BEFORE or told % 60 < EVERY else b'') +
                  (asks if link.asks <= time.monotonic() else b''))

    asks, link.asks = b'', math.inf
    every(EVERY, tell)
    if BEFORE:
        names = 'ready delayed reserved jobs records unique wake paused stats cron news away'.split()
        rest = [key(k, queue) for queue in QUEUE for k in ('ready', 'delayed', 'reserved', 'unique', 'cron', 'news', 'away')]
        look = call('migrate', [key(k) for k in names], 500) + command('EXISTS', *rest)
        every(0.8, lambda: link.send(look))
        every(5, lambda: link.send(command('HGETALL', key('stats'))))
    else:
        asks = looker(link, name)
    return [worker() for _ in range(AWAKE)]


def counters():
    """The CPU seconds that Redis has used, and the commands that it was sent."""
    lines = subprocess.run(['redis-cli', '-s', path, 'INFO', 'everything'], capture_output=True, text=True).stdout
    number = lambda name: float(lines.split(name + ':')[1].split()[0])
    return number('used_cpu_sys') + number('used_cpu_user'), number('total_commands_processed')


def busy(seconds):
    """How busy Redis is meanwhile, in percent of a core, and commands a second: of all HOSTS."""
    before, since = counters(), time.monotonic()
    turn(since + seconds)
    share = HOSTS / hosts / (time.monotonic() - since)
    cpu, commands = (now - then for now, then in zip(counters(), before))
    return 100 * cpu * share, commands * share


try:
    while subprocess.run(['redis-cli', '-s', path, 'PING'], capture_output=True, text=True).stdout != 'PONG\n':
        time.sleep(0.05)
    sha = {}
    for script in ('looker', 'migrate', 'reserve'):
        with open('%s/%s.lua' % (SCRIPTS, script)) as text:
            sha[script] = subprocess.run(['redis-cli', '-s', path, '-x', 'SCRIPT', 'LOAD'], stdin=text,
                                         capture_output=True, text=True).stdout.strip()
    crowd = [host(i) for i in range(hosts)]
    if 'REDIS' in os.environ:
        print('ready', flush=True)
        turn(math.inf)
    held, timers = timers, []
    idle = busy(10)
    late = time.monotonic()
    timers = [(late + random.random() * 5, chance, what) for _, chance, what in held]
    heapq.heapify(timers)
    turn(late + 2 * WAIT)
    print('%d hosts x %d workers, %d queues%s: connections %.2f %% of a core; with what they send %.2f %%, %.0f commands'
          ' a second (%d hosts made)' % (HOSTS, WORKERS, QUEUES, ', as before' if BEFORE else '', idle[0],
                                         *busy(SECONDS), hosts))
finally:
    if 'REDIS' not in os.environ:
        server.terminate()
        server.wait()
        shutil.rmtree(folder)
