#!/usr/bin/env python3
"""growth.py [ROUNDS]: what each thing costs Redis, and whether these costs predict what a mix of them takes.

Measures the CPU time of a redis-server of its own, in µs for each thing, with real laterds, `later push --file` and
liblater (pacer.c): a push, a job taken by an idle worker, from a backlog, in batches, and what a result, a delay, a
group, more queues and larger documents add; and in µs a second what idle hosts, workers and queues cost (fleet.py).
What comes by itself finds Redis asleep and its caches cold. So single things are measured at 200, 2,000 and 8,000 a
second. From these costs alone it predicts MIXES, and runs them. All this ROUNDS times (4) in turn; figures are
medians, those of idle hosts of the first round. Prints the costs, the mixes, and what one Redis carries.

REDIS_OPTIONS='--appendonly yes' in the environment: options for redis-server.
From the build tree, after `make tests/bench/pacer tests/system/check.so`: python3 tests/bench/growth.py"""
import math, os, re, shutil, signal, socket, statistics, subprocess, sys, tempfile, time

TOP = os.path.abspath(os.environ.get('top_builddir', '.'))
FLEET = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'fleet.py')
SIZES = (100, 4096, 65536)     # bytes of a document
LOADS = (200, 2000, 8000)      # single things a second: a push is one, and so is a job that is taken by itself
LASTS = 0.01                   # seconds, of jobs that are not taken in batches
LOOKS = 7                      # a worker looks at so many queues besides
SECONDS = 5                    # of the single pushes of a mix

# None of these is used to find the costs. single: a second, bytes, result, delay. bulk: files, jobs in each, bytes, and
# whether they are taken in batches; two files a second. fleet: idle hosts besides, their workers, their queues.
MIXES = {
    'shop': dict(workers=25, single=[(600, 1500, 60, 0), (150, 300, 0, 1.5)]),
    'import': dict(hosts=2, workers=2, queues=6, groups=120, bulk=(8, 10000, 3200, True)),
    'fleet': dict(hosts=6, workers=10, queues=8, single=[(1100, 500, 0, 0)], fleet=(94, 10, 10)),
    'backlog': dict(workers=50, bulk=(1, 12000, 700, False)),
}

COUNTED = ['b%d' % i for i in range(10)] + ['first', 'last']
folder = tempfile.mkdtemp(prefix='growth')
path = folder + '/redis'
owned = []


def start(*words, **more):
    owned.append(subprocess.Popen(words, **{'stdout': subprocess.DEVNULL, **more}))
    return owned[-1]


def stop(process):
    process.terminate()
    process.wait()
    owned.remove(process)


# ---- Redis

class Redis:
    def __init__(self):
        self.process = start('redis-server', '--port', '0', '--unixsocket', path, '--save', '', '--dir', folder,
                             '--maxclients', '19000', *os.environ.get('REDIS_OPTIONS', '').split())
        while not os.path.exists(path):
            time.sleep(0.01)
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.answers = self.socket.makefile('rb')

    def ask(self, *words):
        """The answer as text; nothing is ''."""
        parts = [str(word).encode() for word in words]
        self.socket.sendall(b'*%d\r\n' % len(parts) + b''.join(b'$%d\r\n%s\r\n' % (len(p), p) for p in parts))
        line = self.answers.readline()
        if line[:1] != b'$':
            return line[1:].decode().strip()
        return self.answers.read(int(line[1:]) + 2).decode().strip() if line[1:2] != b'-' else ''

    def cpu(self):
        """Microseconds so far, of all its threads."""
        tasks = '/proc/%d/task' % self.process.pid
        return sum(int(open('%s/%s/schedstat' % (tasks, task)).read().split()[0]) for task in os.listdir(tasks)) / 1e3

    def memory(self):
        return int(re.search(r'used_memory:(\d+)', self.ask('INFO', 'memory'))[1])

    def done(self):
        return sum(int(self.ask('HGET', key('stats', queue), 'done') or 0) for queue in COUNTED)

    def hold(self, forget=True):
        """Nothing is handed out of the first queue until drained()."""
        if forget:
            self.ask('FLUSHALL')
        self.ask('SET', key('paused'), 1)


def key(name, queue='b0'):
    return 'later:{%s}:%s' % (queue, name)


class Spent:
    """Redis's CPU time meanwhile; without what it takes anyway, in us a second."""

    def __init__(self, anyway=0):
        self.anyway = anyway

    def __enter__(self):
        self.cpu, self.since = redis.cpu(), time.monotonic()
        return self

    def __exit__(self, *_):
        self.seconds = time.monotonic() - self.since
        self.cpu = redis.cpu() - self.cpu - self.anyway * self.seconds


def still(seconds):
    """Microseconds a second while nothing is asked of it."""
    time.sleep(1)
    with Spent() as spent:
        time.sleep(seconds)
    return spent.cpu / spent.seconds


# ---- laterd and its jobs

def laterd(workers, queues=1, names=None):
    home = tempfile.mkdtemp(dir=folder)
    names = ', '.join('{ name = "%s"; }' % name for name in names or ['b%d' % i for i in range(queues)])
    with open(home + '/conf', 'w') as file:
        file.write('redis = { url = "unix:%s"; };\nstate_dir = "%s/state";\nworkers = %d;\nqueues = ( %s );\n'
                   'plugins = { dir = "%s/jobs"; config = { check = { dir = "%s"; }; }; };\n'
                   % (path, home, workers, names, folder, home))
    process = start(TOP + '/daemon/laterd', '-c', home + '/conf', stderr=open(home + '/log', 'w'))
    while ' ready: ' not in open(home + '/log').read():
        if process.poll() is not None:
            sys.exit(open(home + '/log').read())
        time.sleep(0.05)
    return process


def fleet(hosts, workers, queues):
    process = start(sys.executable, FLEET, str(hosts), str(queues), str(workers), env={**os.environ, 'REDIS': path},
                    stdout=subprocess.PIPE)
    process.stdout.readline()
    return process


def job(size, lasts):
    """Type and payload of a document of so many bytes."""
    head = '{"do":"sleep","for":%g,"x":"' % lasts
    return 'do' if lasts else 'null', head + 'x' * max(0, size - len(head) - 41) + '"}'


def bulk(count, size=100, lasts=0, result=0, groups=0, queues=1):
    with open(folder + '/lines', 'w') as file:
        for i in range(count):
            file.write('{"type":"%s","payload":%s,"queue":"b%d"' % (*job(size, lasts), i % queues) +
                       (',"result":%d' % result if result else '') +
                       (',"group":"g%d"' % (i % groups) if groups else '') + '}\n')
    return [TOP + '/cli/later', '--redis', 'unix:' + path, 'push', '--file', folder + '/lines']


def single(count, rate, size=100, lasts=LASTS, result=0, delay=0, queues=1):
    return [TOP + '/tests/bench/pacer', 'unix:' + path, str(queues), str(count), str(rate), str(result), str(delay),
            *job(size, lasts)]


def pushed(commands, jobs=0, anyway=0):
    """Runs these, and waits until so many jobs more are done."""
    before = redis.done()
    with Spent(anyway) as spent:
        for process in [start(*command) for command in commands]:
            if process.wait():
                sys.exit('a push failed')
            owned.remove(process)
        while redis.done() < before + jobs:
            time.sleep(0.05)
    return spent


def drained(jobs, anyway=0):
    """What each of the jobs costs that wait in the first queue."""
    before = redis.done()
    with Spent(anyway) as spent:
        redis.ask('DEL', key('paused'))
        redis.ask('LPUSH', key('wake'), 1)
        while redis.done() < before + jobs:
            time.sleep(0.05)
    redis.hold(forget=False)
    return spent.cpu / jobs


# ---- what each thing costs

found = {}     # name: the figures of the rounds


def note(name, value):
    found.setdefault(name, []).append(value)


def of(name):
    return statistics.median(found[name])


def at_load(name, load, anyway, taken=True, **more):
    """Pushes by themselves, which an idle worker takes if there is one."""
    rate, processes = load / 2 if taken else load, max(load // 4000, 1)
    count = int(rate * (2 if load < 1000 else 0.8) / processes)
    spent = pushed([single(count, rate / processes, **more)] * processes, count * processes * taken, anyway)
    note(name, spent.cpu / count / processes)


def measure_pushes():
    for load in LOADS:
        redis.hold()
        at_load('push %d' % load, load, of('redis'), taken=False)
    for size in SIZES:
        redis.hold()
        at_load('push size %d' % size, LOADS[1], of('redis'), taken=False, size=size)


def measure_batches():
    daemon = laterd(2)
    kinds = [('size %d' % size, int(4e6 / (size + 2000)) * 20, {'size': size}) for size in SIZES]
    for name, count, more in 2 * kinds:
        redis.hold()
        command, before = bulk(count, **more), redis.memory()
        note('bulk ' + name, pushed([command]).cpu / count)
        note('bytes ' + name, (redis.memory() - before) / count)
        note('drain ' + name, drained(count))
    for name, count, more in 2 * (kinds + [('result', 40000, {'result': 60}), ('group', 40000, {'groups': 100})]):
        redis.ask('FLUSHALL')
        command, before = bulk(count, **more), redis.memory()
        note('batch ' + name, pushed([command], count).cpu / count)
        note('left ' + name, (redis.memory() - before) / count)
    stop(daemon)


def measure_singles():
    daemons = [laterd(100)]
    note('laterd', still(1) - of('redis'))
    daemons.append(laterd(100, names=['first'] + ['c%d' % i for i in range(LOOKS - 1)] + ['last']))
    anyway = still(1)
    for load in LOADS:
        at_load('job %d' % load, load, anyway)
        if load > LOADS[0]:
            at_load('job result %d' % load, load, anyway, result=60)
            at_load('job first %d' % load, load, anyway, queues='first')
            at_load('job last %d' % load, load, anyway, queues='last')
            at_load('job delay %d' % load, load, anyway, delay=0.5)
    for size in SIZES:
        at_load('job size %d' % size, LOADS[1], anyway, size=size)
    for daemon in daemons:
        stop(daemon)


def measure_steps():
    for load in LOADS:
        workers = load // 90
        daemon = laterd(workers)
        kinds = [('step %d' % load, {})]
        if load == LOADS[1]:
            kinds += [('step result', {'result': 60})] + [('step size %d' % size, {'size': size}) for size in SIZES]
        for name, more in kinds:
            redis.hold()
            pushed([bulk(workers * 80, lasts=LASTS, **more)])
            note(name, drained(workers * 80, of('redis')))
        stop(daemon)


def measure_idle():
    for queues in 1, 1000:
        daemon = laterd(2, queues)
        note('queues %d' % queues, still(4))
        stop(daemon)
    for name, hosts, workers in ('hosts', 200, 2), ('workers', 20, 202):
        crowd = fleet(hosts, workers, 1)
        note(name, still(5))
        stop(crowd)


# ---- the model

class Cost:
    """Of one thing: at each of LOADS, and a KiB of its document, up to 4 KiB and beyond."""

    def __init__(self, name, without='', sizes='', share=1):
        def at(load):
            plus, minus = (found.get(text % load if '%' in text else text) for text in (name, without))
            return statistics.median(a - b for a, b in zip(plus, minus or [0] * len(plus))) / share
        # What something adds is not measured at the lowest load: there it is less than the figures vary.
        self.loads = [at(load) for load in (LOADS[1:2] if without else LOADS[:1]) + LOADS[1:]]
        sized = [of(sizes % size) if sizes else 0 for size in SIZES]
        self.kib = [(sized[i + 1] - sized[i]) / (SIZES[i + 1] - SIZES[i]) * 1024 for i in (0, 1)]

    def at(self, load, size=SIZES[0]):
        """Between two loads by their logarithm."""
        load = min(max(load, LOADS[0]), LOADS[-1])
        i = 1 if load > LOADS[1] else 0
        way = math.log(load / LOADS[i]) / math.log(LOADS[i + 1] / LOADS[i])
        return (self.loads[i] + way * (self.loads[i + 1] - self.loads[i]) +
                (self.kib[0] * (min(size, SIZES[1]) - SIZES[0]) + self.kib[1] * max(size - SIZES[1], 0)) / 1024)


def looks(queues):
    """Queues that a worker looks at before the one that has a job, in the mean."""
    return statistics.mean(min(i, LOOKS) for i in range(queues))


def costs():
    return {
        'pushed by itself': Cost('push %d', sizes='push size %d'),
        'pushed by itself, taken by an idle worker, done': Cost('job %d', sizes='job size %d'),
        '+ result': Cost('job result %d', 'job %d'),
        '+ delay': Cost('job delay %d', 'job %d'),
        '+ several queues': Cost('job first %d', 'job %d'),
        '+ queue before': Cost('job last %d', 'job first %d', share=LOOKS),
        'taken from a backlog, done': Cost('step %d', sizes='step size %d'),
        '+ result, backlog': Cost('step result', 'step size 100'),
        'pushed in bulk, waits': Cost('bulk size 100', sizes='bulk size %d'),
        'taken in batches, done': Cost('drain size 100', sizes='drain size %d'),
        'pushed in bulk, taken in batches as they come, done': Cost('batch size 100', sizes='batch size %d'),
        '+ result, batches': Cost('batch result', 'batch size 100'),
        '+ group, batches': Cost('batch group', 'batch size 100'),
    }


def fixed():
    """Microseconds a second: Redis, the first host, each other one, each worker of it, each queue."""
    few, many = of('hosts') - of('redis'), of('workers') - of('redis')   # 200 x 2, 20 x 202 workers
    worker = (10 * many - few) / 40000
    return (of('redis'), of('laterd'), few / 200 - 2 * worker, worker, (of('queues 1000') - of('queues 1')) / 999)


def predicted(mix, seconds):
    """Microseconds of Redis for all of it."""
    each, (bare, first, host, worker, queue) = costs(), fixed()
    queues, (idle, idle_workers, idle_queues) = mix.get('queues', 1), mix.get('fleet', (0, 0, 0))
    total = seconds * (bare + first + (mix.get('hosts', 1) - 1 + idle) * host + idle * idle_workers * worker +
                       (queues + idle_queues) * queue)
    files, count, bulk_size, batches = mix.get('bulk', (0, 0, SIZES[0], True))
    load = (sum(2 * rate for rate, *_ in mix.get('single', [])) * SECONDS + files * count * (not batches)) / seconds
    for rate, size, result, delay in mix.get('single', []):
        one = each['pushed by itself, taken by an idle worker, done'].at(load, size)
        one += each['+ result'].at(load) * (result > 0) + each['+ delay'].at(load) * (delay > 0)
        one += (each['+ several queues'].at(load) + looks(queues) * each['+ queue before'].at(load)) * (queues > 1)
        total += rate * SECONDS * one
    if batches:
        one = each['pushed in bulk, taken in batches as they come, done'].at(load, bulk_size)
    else:
        one = each['pushed in bulk, waits'].at(load, bulk_size) + each['taken from a backlog, done'].at(load, bulk_size)
    one += each['+ group, batches'].at(load) * ('groups' in mix)
    return total + files * count * one


def run(mix):
    queues, groups, (files, count, size, batches) = (mix.get('queues', 1), mix.get('groups', 0),
                                                     mix.get('bulk', (0, 0, 0, 0)))
    crowd = [laterd(mix['workers'], queues) for _ in range(mix.get('hosts', 1))]
    crowd += [fleet(*mix['fleet'])] if 'fleet' in mix else []
    commands = [single(rate * SECONDS, rate, size_, LASTS, result, delay, queues)
                for rate, size_, result, delay in mix.get('single', [])]
    jobs = sum(rate * SECONDS for rate, *_ in mix.get('single', [])) + files * count
    if files:
        push = bulk(count, size, 0 if batches else LASTS, 0, groups, queues)
        commands.append(['sh', '-ec', 'for i in $(seq %d); do "$@" & sleep 0.5; wait $!; done' % files, 'sh', *push])
    time.sleep(1)
    spent = pushed(commands, jobs)
    for process in crowd:
        stop(process)
    return spent


# ---- what is told

def tell():
    each, (bare, first, host, worker, queue) = costs(), fixed()
    print('\nus for each, at %s a second; a KiB up to 4 KiB, beyond' % ', '.join(map(str, LOADS)))
    for name, cost in each.items():
        print('| %s | %s |' % (name, ' | '.join('%.1f' % value for value in cost.loads + cost.kib)))
    print('us a second: Redis %.0f, the first host %.0f, another %.0f, its worker %.2f, a queue %.1f'
          % (bare, first, host, worker, queue))
    print('bytes: %s' % ', '.join('%s %.0f' % (name, of(name)) for name in found if name[:4] in ('byte', 'left')))
    print('\n| mix | predicted | measured | ratio | ratios of the rounds')
    for name in MIXES:
        pairs = [(predicted(MIXES[name], seconds) / seconds / 1e4, cpu / seconds / 1e4) for cpu, seconds in ran[name]]
        told, was = (statistics.median(values) for values in zip(*pairs))
        print('| %s | %.1f %% | %.1f %% | %.2f | %s' % (name, told, was, was / told,
                                                        ' '.join('%.2f' % (b / a) for a, b in pairs)))
    print('\njobs a second at 70 % of a core, of 100 B, 4 KiB, 64 KiB')
    for name, ways in {'in bulk, in batches, as they come': ('pushed in bulk, taken in batches as they come, done',),
                       'in bulk, in batches, later': ('pushed in bulk, waits', 'taken in batches, done'),
                       'in bulk, one at a time': ('pushed in bulk, waits', 'taken from a backlog, done'),
                       'each by itself, to idle workers': ('pushed by itself, taken by an idle worker, done',),
                       'each by itself, taken from a backlog': ('pushed by itself', 'taken from a backlog, done')}.items():
        print('| %s | %s |' % (name, ' | '.join('%.0f' % (7e5 / sum(each[way].at(LOADS[-1], size) for way in ways))
                                                for size in SIZES)))
    print('\nfigures of the rounds')
    for name, values in found.items():
        print('%-20s %s' % (name, ' '.join('%.2f' % value for value in values)))


if __name__ == '__main__':
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 4
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    ran = {name: [] for name in MIXES}
    try:
        os.mkdir(folder + '/jobs')
        for plugin in ('jobs/null.so', 'tests/system/check.so'):
            shutil.copy(TOP + '/' + plugin, folder + '/jobs')
        redis = Redis()
        for i in range(rounds):
            measures = [measure_pushes, measure_batches, measure_singles, measure_steps]
            for measure, name in zip(measures, MIXES):
                redis.ask('FLUSHALL')
                note('redis', still(1))
                measure()
                redis.ask('FLUSHALL')
                spent = run(MIXES[name])
                ran[name].append((spent.cpu, spent.seconds))
            if i == 0:
                measure_idle()
            print('round %d of %d, load %.1f' % (i + 1, rounds, os.getloadavg()[0]), file=sys.stderr)
        tell()
    finally:
        for process in owned[::-1]:
            process.terminate()
            process.wait()
        shutil.rmtree(folder)
