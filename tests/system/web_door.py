"""web_door.py WHERE TCP TOKEN REDIS_PID: tests who gets in to later-web, and what is answered."""
import json
import os
import signal
import socket
import subprocess
import sys
import time

from web_client import Connection, ask, check, same, wait_until

where, tcp, token, redis_pid = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
later = os.environ['later_bin']


def run(*words):
    return subprocess.run([later, *words], check=False, capture_output=True, text=True).stdout


def act(path, **body):
    return ask(where, f'/api/1/{path}', body)


# ---- pages

status, headers, page = ask(where, '/')
same(status, 200, 'the first page')
same(headers['X-Content-Type-Options'], 'nosniff', 'it is what it says')
policy = headers['Content-Security-Policy']
check("default-src 'none'" in policy and "require-trusted-types-for 'script'" in policy
      and 'unsafe' not in policy, 'nothing else may be loaded or run', policy)
same(ask(where, '/', headers={'If-None-Match': headers['ETag']})[0], 304, 'it is not sent twice')
same(ask(where, '/', headers={'Accept-Encoding': 'gzip'})[1]['Content-Encoding'], 'gzip', 'packed')
same(ask(where, '/', method='HEAD')[0::2], (200, b''), 'HEAD')
for path in ('/../etc/passwd', '/%2e%2e/etc/passwd', '/index.html/', '//', '/api/1/nothing'):
    same(ask(where, path)[0], 404, f'nothing at {path}')
for method in ('PUT', 'DELETE', 'TRACE'):
    check(ask(where, '/', method=method)[0] in (400, 405, 501), f'{method} is refused')

# ---- names and origins

for host in ('localhost', 'localhost:7420', '127.0.0.1', '[::1]:80', 'LOCALHOST', 'ours.example'):
    same(ask(where, '/api/1/me', headers={'Host': host})[0], 200, f'Host: {host}')
for host in ('evil.test', 'localhost.evil.test', 'evil.test:7420', '', '127.0.0.1.evil.test',
             'ours.example.evil.test', '[::1', None):
    check(ask(where, '/api/1/me', headers={'Host': host})[0] in (400, 421), f'no Host: {host}')
same(ask(where, '/', headers={'Host': 'evil.test'})[0], 421, 'not even a page')
run('push', 't', '--queue=mail', '--id', 'kept')
kept = {'queue': 'mail', 'id': 'kept'}
for name, headers, wanted in (
        ('another site', {'Origin': 'http://evil.test'}, 403),
        ('no word of where it comes from', {'Origin': None}, 403),
        ('a sandboxed page', {'Origin': 'null'}, 403),
        ('another port of this host', {'Origin': 'http://localhost:81'}, 403),
        ('a browser that says so', {'Sec-Fetch-Site': 'cross-site'}, 403),
        ('another part of this site', {'Sec-Fetch-Site': 'same-site'}, 403),
        ('a form', {'Content-Type': 'application/x-www-form-urlencoded'}, 415),
        ('a form in disguise', {'Content-Type': 'text/plain'}, 415)):
    same(ask(where, '/api/1/cancel', kept, headers=headers)[0], wanted, f'POST from {name}')
same(ask(where, '/api/1/cancel?queue=mail&id=kept')[0], 405, 'GET changes nothing')
same(ask(where, '/api/1/queues', headers={'Sec-Fetch-Site': 'cross-site'})[0], 403,
     'another site does not read')
check('"kept"' in run('show', '--json', 'kept'), 'the job is still there')
same(ask(where, '/api/1/cancel', kept, headers={'Origin': None, 'Sec-Fetch-Site': 'same-origin'})[0],
     200, 'a page of ours')

# ---- sizes and shapes

same(ask(where, '/api/1/me', headers={'X': 'a' * 9000})[0], 400, 'a head of 9,000 bytes')
check(ask(where, '/api/1/cancel', b'"' + b'a' * 70000 + b'"')[0] in (400, 413), 'a large body')
for body in (b'', b'[', b'[]', b'{"id":{}}', b'{"id":"a","id":"b"}', b'{"id":"a\\u0000"}', b'\xff'):
    same(ask(where, '/api/1/cancel', body)[0], 400, f'a body {body!r}')
for query in ('queue=%', 'queue=%zz', 'queue=%00', 'queue=a%0ab', 'queue=' + 'a' * 100, '',
              'queue=mail&number=0', 'queue=mail&number=201', 'queue=mail&number=-1',
              'queue=mail&offset=1e9', 'queue=mail&state=all',
              'queue=mail&' + '&'.join(f'a{i}=1' for i in range(30))):
    check(ask(where, f'/api/1/jobs?{query}')[0] in (400, 404), f'jobs?{query[:30]}')
same(ask(where, '/api/1/jobs?queue=--help')[2]['command'], 'later peek -- --help', 'a name is no option')
same(ask(where, '/api/1/job?id=a%20b')[0], 400, 'an id with a blank')

# ---- the answer is what `later --json` prints, with its command

run('push', 'mail.send', '{"n": 12345678901234567890, "x": "</script>\\u0007"}', '-q', 'mail', '--id', '-x')
printed = run('show', '--json', '--queue=mail', '--', '-x').strip()
connection = Connection(where)
connection.request('GET', '/api/1/job?queue=mail&id=-x', headers={'Host': 'localhost'})
got = connection.getresponse().read().decode()
same(got, '{"command":"later show --queue=mail -- -x","answers":[' + printed
     + '],"status":0,"words":""}', 'a job')
same(ask(where, '/api/1/job?id=none')[0], 404, 'no such job')
same(ask(where, '/api/1/queue?queue=none')[2]['words'], 'later size: no queue none', 'its words')
status, _, answer = ask(where, '/api/1/jobs?queue=mail&state=ready&number=5&offset=0')
same([job['id'] for job in answer['answers']], ['-x'], 'jobs')
same(answer['command'], 'later peek --state=ready --number=5 --offset=0 mail', 'their command')

status, headers, text = ask(where, '/metrics')
same(status, 200, '/metrics')
check(headers['Content-Type'].startswith('application/openmetrics-text; version=1.0.0'), 'OpenMetrics')
check(text.endswith(b'# EOF\n') and b'\nlaterd_redis_up 1\n' in text, 'whole', text[-200:])

# ---- actions

def state(job):
    shown = ask(where, f'/api/1/job?id={job}')[2]['answers']
    return shown[0]['state'] if shown else 'gone'


same(act('pause', queue='mail')[2]['answers'], [{'queue': 'mail', 'paused': True, 'changed': True}],
     'pause')
same(act('pause', queue='mail', **{'for': '1h'})[2]['command'], 'later pause --for=1h mail', 'for')
same(act('resume', queue='mail')[2]['answers'][0]['paused'], False, 'resume')
run('push', 't', '-q', 'mail', '--id', 'd1', '--in', '1h')
same(act('kick', queue='mail', id='d1')[2]['answers'][0]['state'], 'delayed', 'kick')
same(state('d1'), 'ready', 'it is ready')
same(act('kick', queue='mail', id='d1')[0], 404, 'once')
same(act('cancel', queue='mail', id='d1')[0], 200, 'cancel')
same(state('d1'), 'gone', 'it is gone')
for i in range(3):
    run('push', 't', '-q', 'mail', '--id', f'd{i}', '--in', '1h')
same(act('kick-all', queue='mail', state='delayed')[2]['answers'], [{'queue': 'mail', 'kicked': 3}],
     'kick all')
same(act('purge', queue='mail', state='ready')[2]['answers'], [{'queue': 'mail', 'purged': 4}],
     'purge')
status, _, answer = act('push', queue='mail', type='mail.send', payload='{"big": 12345678901234567890}',
                        id='again', **{'in': '1h'})
same(status, 200, 'push')
check('12345678901234567890' in run('show', '--json', 'again'), 'byte for byte')
job = {'queue': 'mail', 'type': 'mail.send', 'id': 'again'}
before = json.loads(run('show', '--json', 'again'))
same(act('replace', **job, payload='{"big": 2.0}', at=str(before['score']), priority='-7', max_attempts='3',
         timeout='1.5', backoff='1,10', expires_at='2096-01-01T00:00:00Z', lock='a"lock"', trace='$(x)',
         result='1h')[0], 200, 'a job is changed where it waits')
after = json.loads(run('show', '--json', 'again'))
same((after['document'], after['state'], after['score']),
     ('{"type":"mail.send","id":"again","trace":"$(x)","lock":"a\\"lock\\"","priority":-7,"max_attempts":3,'
      '"timeout":1.5,"expires_at":3976214400,"result":3600,"backoff":[1,10],"payload":{"big": 2.0}}',
      'delayed', before['score']), 'with all that it is given, and keeps its time')
same(act('replace', queue='mail', type='t', payload='1')[0], 400, 'none without its id')
for name, wrong in (('priority', 'high'), ('timeout', 'x'), ('max_attempts', '-1'), ('result', '1y'),
                    ('lock', 'a\x07'), ('id', 'a b')):
    answer = act('replace', **{**job, 'payload': '1', name: wrong})
    same((answer[0], answer[2]['error'].split(':')[0]), (400, name), f'a wrong {name} is named')
for name, wrong in (('priority', '101'), ('max_attempts', '0'), ('backoff', 'x'), ('expires_at', 'x'), ('payload', '{'),
                    ('lock', 'a{b')):
    answer = act('replace', **{**job, 'payload': '1', name: wrong})
    check(answer[0] in (400, 422) and name in answer[2]['words'].replace('-', '_'), f'by later, too: {name}', answer)
for headers in ({'Origin': 'http://evil.test'}, {'Origin': None}, {'Sec-Fetch-Site': 'cross-site'}):
    same(ask(where, '/api/1/replace', {**job, 'payload': '1'}, headers=headers)[0], 403, f'nor from {headers}')
same(ask(where, '/api/1/replace?queue=mail&id=again&type=t&payload=1')[0], 405, 'nor by GET')
same(json.loads(run('show', '--json', 'again'))['document'], after['document'], 'none of these has changed it')
same(act('push', queue='mail', type='t', payload='{')[0], 422, 'no JSON')
same(act('push', queue='mail', type='t', payload='-')[0], 400, 'not from standard input')

# ---- actions on all that match: progress, and stopping


def act_long(path, take=lambda name, data: None, **body):
    """Returns the lines of the answer, and its end."""
    connection = Connection(where)
    connection.request('POST', f'/api/1/{path}', json.dumps(body), {
        'Host': 'localhost', 'Content-Type': 'application/json', 'Origin': 'http://localhost'})
    answer, name, lines = connection.getresponse(), '', []
    while True:
        line = answer.readline().decode()
        if not line:
            raise EOFError(f'{path}: {answer.status}, it ended after {lines[-3:]}')
        line = line.rstrip('\n')
        if line.startswith('event: '):
            name = line[7:]
        elif line.startswith('data: '):
            data = json.loads(line[6:])
            if name == 'end':
                connection.close()
                return lines, data
            take(name, data)
            lines.append(data)
            name = ''


stopped = []
many = ''.join(f'{{"type":"m.{i % 3}","id":"m{i}"}}\n' for i in range(30000))
for turn in range(5):  # it may have ended before it is stopped: then everything once more
    stopped.clear()
    subprocess.run([later, 'push', '--file', '-', '-q', 'many'], input=many, check=True, capture_output=True, text=True)
    lines, end = act_long('cancel-queue-matching',
                          lambda name, data: name == 'task' and stopped.append(act('stop', task=data['task'])[0]),
                          queue='many', glob='m.1')
    if end['status'] != 0:
        break
same((stopped, end['status']), ([200], 75), 'a cancellation that is stopped')
check('stopped' in end['words'], 'says how far it came', end)
left = int(run('count', 'many', '--type', 'm.1'))
check(left > 0, 'and left some', left)
same(act('stop', task=1)[0], 404, 'it has ended')
lines, end = act_long('cancel-queue-matching', queue='many', glob='m.1', most=left - 5)
same((lines[-1], end['status']), ({'queue': 'many', 'cancelled': left - 5}, 0), 'no more than were counted')
same(lines[-2], {'acted': left - 5, 'of': left - 5, 'ended': True}, 'with its progress')
same(end['command'], f'later cancel --queue=many --limit={left - 5} --type=m.1', 'its command')
same(run('size', 'many').split('\t')[1], str(20005), 'exactly those are gone')
run('purge', 'many', '--state', 'ready', '--yes')
run('forget', 'many')

# ---- live


def calls():
    info = subprocess.run(['redis-cli', '-s', os.environ['redis_socket'], 'INFO', 'commandstats'],
                          check=True, capture_output=True, text=True).stdout
    return {line.split(':')[0][8:]: int(line.split('calls=')[1].split(',')[0])
            for line in info.splitlines() if 'calls=' in line}


def sent(before, now):
    """Returns how many commands were sent meanwhile. Those within the script size are not
    counted: one TIME, HGETALL and GET, and an HGET for the record of an oldest job."""
    number = {name: now[name] - before.get(name, 0) for name in now}
    scripts = number.get('evalsha', 0)
    return scripts + sum(number.get(name, 0) for name in ('smembers', 'get', 'hgetall', 'time')) \
        - 3 * scripts


class Stream:
    """Puts together what a page hears, as web/pages/merge.js does."""

    def __init__(self):
        self.connection = Connection(where)
        self.connection.request('GET', '/api/1/live', headers={'Host': 'localhost'})
        self.answer = self.connection.getresponse()
        self.queues, self.events, self.bytes = {}, [], 0

    def read(self):
        line = b''
        while not line.startswith(b'data: '):
            line = self.answer.readline()
            if not line:
                raise EOFError('the stream has ended')
        event = json.loads(line[6:])
        self.queues = {} if event['whole'] else self.queues
        self.queues.update((queue['queue'], queue) for queue in event['queues'])
        for name in event.get('gone', []):
            self.queues.pop(name, None)
        self.events.append(event)
        self.bytes += len(line)
        return event

    def catch_up(self):
        """Reads until only what is sent from now on is left."""
        began = time.monotonic()
        while self.read() and time.monotonic() - began < 0.1:
            began = time.monotonic()

    def close(self):
        self.answer.close()
        self.connection.close()


first = Stream()
check(first.read()['whole'], 'live: all that is known comes first')
wait_until(lambda: first.read()['known'])
same(list(first.queues), ['mail'], 'live: queues')
same(first.queues['mail']['delayed'], 1, 'with their sizes')
run('push', 't', '-q', 'other')
check(wait_until(lambda: first.read() and 'other' in first.queues), 'a new queue', first.events[-1])
run('cancel', '-q', 'other', run('peek', 'other').split('\t')[0])
run('forget', 'other')
check(wait_until(lambda: first.read() and 'other' not in first.queues), 'and it is gone',
      first.events[-1])
first.close()

# 200 queues: an update about one has only that one, and all together cost as much as a few.
lines = ''.join(f'["push","t","-q","q{i}"]\n' for i in range(200))
subprocess.run([later, 'serve'], input=lines, check=True, capture_output=True, text=True)
streams = [Stream() for _ in range(64)]
same(ask(where, '/api/1/live')[0], 503, 'the 65th stream is refused')
# Each with its job. A queue that was looked at before its push is sent again.
check(wait_until(lambda: streams[0].read() and len(streams[0].queues) == 201
                 and all(queue['ready'] for name, queue in streams[0].queues.items() if name[0] == 'q')),
      '200 queues', len(streams[0].queues))
beats, before = len(streams[0].events), calls()
run('push', 't', '-q', 'q77', '--id', 'news')
check(wait_until(lambda: streams[0].read() and streams[0].queues['q77']['ready'] == 2, 40),
      'one of them changes')
used = sent(before, calls())
streams[0].catch_up()
news = streams[0].events[beats:]
same({queue['queue'] for event in news for queue in event['queues']}, {'q77'}, 'only it is told')
same([event['whole'] for event in news if event['whole']], [], 'no more')
check(used <= 16 * (len(news) + 1) + 30,  # the push, and the INFO of this test
      'at most 16 commands for each of them', (used, len(news)))
heard = []
for turn in range(5):  # the best of some: what comes while we wait for a processor is heard too
    wanted = not streams[0].queues['q150']['paused']
    streams[0].catch_up()
    act('pause' if wanted else 'resume', queue='q150')
    heard.append(next(i for i in range(1, 200)
                      if streams[0].read() and streams[0].queues['q150']['paused'] == wanted))
    if heard[-1] <= 3:
        break
check(min(heard) <= 3, 'what is done here is looked at first', heard)
for stream in streams:
    stream.close()
check(wait_until(lambda: ask(where, '/api/1/overview')[0] == 200), 'they are let go')

# ---- Redis hangs; is away; is back

os.kill(redis_pid, signal.SIGSTOP)
same(ask(where, '/')[0], 200, 'Redis hangs: pages are there')
away = wait_until(lambda: (lambda text: text if text['away'] else None)(
    ask(where, '/api/1/overview')[2]))
check(away and away['known'] and away['age'] > 0 and away['queues'],
      'the overview says so, and how old its numbers are', away)
same(ask(where, '/api/1/job?id=x')[0], 503, 'a question ends')
os.kill(redis_pid, signal.SIGCONT)
check(wait_until(lambda: not ask(where, '/api/1/overview')[2]['away']), 'and is right again')

# ---- slowloris: 500 connections that never send a whole request

times = []
for turn in range(3):
    slow = []
    for i in range(500):
        drip = socket.socket(socket.AF_UNIX)
        drip.connect(where[5:])
        drip.sendall(b'GET / HTTP/1.1\r\nHost: localhost\r\nX')
        slow.append(drip)
    began = time.monotonic()
    same(ask(where, '/')[0], 200, '500 slow connections: a page')
    times.append(time.monotonic() - began)
    same(ask(where, '/api/1/queues')[0], 200, 'and an answer')
    for drip in slow:
        drip.close()
check(min(times) < 5, 'the page comes soon, at its best of three', times)

# ---- TCP: the token

cookie = {'Cookie': f'a=b; later={token}'}
same(ask(tcp, '/')[0], 200, 'TCP: the page is open')
same(ask(tcp, '/api/1/queues')[0], 401, 'nothing else is')
same(ask(tcp, '/api/1/live')[0], 401, 'nor the stream')
for shown in ('', token[:-1], token + 'x', token.upper() + 'X'):
    same(ask(tcp, '/api/1/queues', headers={'Cookie': f'later={shown}'})[0], 401, 'a wrong cookie')
same(ask(tcp, '/api/1/queues', headers={'Authorization': f'Bearer {token}'})[0], 200, 'Bearer')
same(ask(tcp, '/api/1/login', {'token': 'wrong'})[0], 401, 'a wrong token')
status, headers, _ = ask(tcp, '/api/1/login', {'token': token})
same(headers['Set-Cookie'], f'later={token}; HttpOnly; SameSite=Strict; Path=/', 'the cookie')
same(ask(tcp, '/api/1/queues', headers=cookie)[0], 200, 'with which it goes')
same(ask(tcp, '/api/1/me', headers=cookie)[2]['may_act'], False, '--read-only')
for path in ('pause', 'push', 'replace'):
    same(ask(tcp, f'/api/1/{path}', {'queue': 'mail', 'id': 'x', 'type': 't', 'payload': '1'}, headers=cookie)[0], 403,
         f'and no {path}')
