"""cli_lately.py KIND: what is seen of queues that were looked at before is what is there."""
import json
import os
import random
import subprocess
import sys
import time

from checks import calls, check, performed, same, wait_until

later = os.environ['later_bin']
single = sys.argv[1] == 'single'
LOOKS = 16  # after which everything is seen, whatever the time between them


def run(*words):
    """Returns what later prints. That there is nothing to be done is no error here."""
    return subprocess.run([later, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False).stdout


def redis(*words):
    return subprocess.run(['redis-cli', '-s', os.environ['redis_socket'], *words], stdout=subprocess.PIPE, text=True, check=True).stdout


class Serve:
    """A later serve."""

    def __init__(self):
        self.process = subprocess.Popen([later, 'serve'], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, *words):
        self.process.stdin.write(json.dumps(words) + '\n')
        self.process.stdin.flush()
        lines = []
        while True:
            line = self.process.stdout.readline()
            if line.startswith('\x1e'):
                return lines, json.loads(line[1:])
            lines.append(json.loads(line))

    def look(self, *queues):
        """Returns what is seen lately: queue → its line."""
        lines, _ = self.ask('status', '--json', '--lately', '--', *queues)
        return {line['queue']: line for line in lines if 'queue' in line}

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def part(line):
    """What does not go by time."""
    known = {name: line.get(name) for name in ('ready', 'delayed', 'reserved', 'dead', 'waiting', 'paused', 'shards', 'counts')}
    return {**known, 'waits': line['oldest_ready'] is not None}


def exact(*queues):
    """The same by the script, which sees one moment."""
    return {line['queue']: part(line) for line in map(json.loads, run('size', '--json', *queues).splitlines())}


def seen(serve, wanted):
    """Are they seen within some looks?"""
    for _ in range(LOOKS):
        now = {queue: part(line) for queue, line in serve.look(*wanted).items()}
        if now == wanted:
            return True
    print('# seen', now, 'is', wanted)
    return False


serve = Serve()

# Whatever is done to a queue is seen.
held, number = {}, 0
QUEUES = ('one', 'two', 'three')


def push(queue, *words):
    global number
    number += 1
    run('push', 't', '-q', queue, '--id', f'j{number}', *words)


def take(queue):
    if not run('size', queue).startswith(f'{queue}\t0') and 'yes' not in run('size', queue).split('\t')[5]:
        job = json.loads(run('reserve', queue, '--json', '--lease', '1h'))
        held.setdefault(queue, []).append(job)


def settle(queue, verb, *words):
    if held.get(queue):
        job = held[queue].pop()
        run(verb, job['id'], '--token', job['token'], '-q', queue, *words)


ACTS = {
    'push': push,
    'push for later': lambda queue: push(queue, '--in', '1h'),
    'push with a priority': lambda queue: push(queue, '--priority', '7'),
    'reserve': take,
    'ack': lambda queue: settle(queue, 'ack'),
    'release': lambda queue: settle(queue, 'release', '--in', '1h'),
    'release at once': lambda queue: settle(queue, 'release'),
    'bury': lambda queue: settle(queue, 'bury'),
    'kick': lambda queue: run('kick', '-q', queue, '--state', 'dead', '--yes'),
    'kick delayed': lambda queue: run('kick', '-q', queue, '--state', 'delayed', '--yes', '-n', '1'),
    'cancel': lambda queue: run('cancel', '-q', queue, '--state', 'ready', '--yes', '-n', '1'),
    'cancel dead': lambda queue: run('cancel', '-q', queue, '--state', 'dead', '--yes', '-n', '1'),
    'pause': lambda queue: run('pause', queue),
    'resume': lambda queue: run('resume', queue),
    'flow': lambda queue: run('push', 't', '-q', queue, '--id', f'f{number}', '--flow', f'flow{number}', '--after', 'never', '--open'),
}
for queue in QUEUES:
    push(queue)
same(sorted(serve.look(*QUEUES)), sorted(QUEUES), 'queues')
seed = random.SystemRandom().randrange(1 << 30)
chance = random.Random(seed)
order = [*ACTS] + chance.choices([*ACTS], k=25)
print(f'# seed {seed}')
wrong = []
for name in order:
    queue = chance.choice(QUEUES)
    ACTS[name](queue)
    if not seen(serve, exact(*QUEUES)):
        wrong.append((name, queue))
same(wrong, [], 'all that is done to them is seen')

# What somebody puts there by hand, too.
for queue in QUEUES:
    run('resume', queue)
if single:
    redis('ZADD', 'later:{two}:ready', '5', '{"type":"t","id":"by hand"}')
    redis('ZADD', 'later:{three}:delayed', str(time.time() + 3600), '{"type":"t","id":"by hand"}')
check(seen(serve, exact(*QUEUES)), 'jobs put there by hand')
push('late')
serve.look('late')
run('reserve', 'late', '--lease', '1')
check(wait_until(lambda: serve.look('late')['late']['overdue'] == 1), 'a lease that has run out', serve.look('late'))
same(serve.ask('size', 'late', '--lately')[1]['status'], 64, 'other commands do not know the option')

# What it costs.
if single:
    for queue in [f'q{i}' for i in range(15)]:
        push(queue)
        push(queue, '--in', '1h')
        run('bury', f'j{number}', '-q', queue)
    for some in (2, 5, 15):
        queues = [f'q{i}' for i in range(some)]
        watch = Serve()
        watch.look(*queues)
        before = calls()
        for _ in range(10):
            watch.look(*queues)
        cost = sum(performed(before, calls()).values()) / 10
        check(cost <= 20, f'{some} queues in which nothing happens cost at most 20 commands a look', cost)
        watch.ask('status', '--trouble', '--json', '--lately', *queues)
        before = calls()
        watch.ask('status', '--trouble', '--json', '--lately', *queues)
        cost = sum(performed(before, calls()).values())
        check(cost <= 8 * some + 10, f'and a look for troubles in {some} of them eight for each', cost)
        watch.end()
serve.end()
