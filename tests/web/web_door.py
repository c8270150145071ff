"""web_door.py WHERE PID TCP TOKEN REDIS_PID: tests who gets in to later-web, and what is answered.

PID is the process of the later-web at WHERE.
"""
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.parse

from checks import calls, check, performed, redis, run, same, wait_until
from web_client import Connection, ask, events

where, web_pid, tcp, token, redis_pid = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4], int(sys.argv[5])
later = os.environ['later_bin']


def children():
    """The processes that ask Redis for this later-web."""
    with open(f'/proc/{web_pid}/task/{web_pid}/children', encoding='ascii') as file:
        return [int(pid) for pid in file.read().split()]


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
same(ask(where, '/api/1/queues', headers={'Sec-Fetch-Site': 'same-site'})[0], 403,
     'nor does another port of this host')
same(ask(where, '/api/1/queues', headers={'Sec-Fetch-Site': 'none'})[0], 200, 'who types the address does')
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

twice = socket.socket(socket.AF_UNIX)
twice.settimeout(60)
twice.connect(where[5:])
twice.sendall(b'POST /api/1/pause HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\n'
              b'Content-Type: application/json\r\nContent-Length: 16\r\nContent-Length: 2\r\n\r\n{"queue":"mail"}')
got = b''
while True:  # until it is closed
    more = twice.recv(4096)
    if not more:
        break
    got += more
same(got.split(b' ')[1], b'400', 'two lengths of one body are refused')
same(got.count(b'HTTP/1.1'), 1, 'and nothing after them is read')
twice.close()

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

OPEN = 'application/openmetrics-text'
for accept, wanted in ((None, 'text/plain; version=0.0.4'), ('*/*', 'text/plain; version=0.0.4'),
                       (f'{OPEN};version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.2', f'{OPEN}; version=1.0.0'),
                       (f'text/plain;version=0.0.4;q=0.5,{OPEN};version=1.0.0;q=0.4', 'text/plain; version=0.0.4'),
                       (f'{OPEN};q=0', 'text/plain; version=0.0.4')):
    status, headers, text = wait_until(lambda: (lambda answer: answer if b'_up 1' in answer[2] else None)(
        ask(where, '/metrics', headers={'Accept': accept})))
    same((status, headers['Content-Type']), (200, f'{wanted}; charset=utf-8'), f'/metrics, Accept: {accept}')
    same(text.endswith(b'# EOF\n'), wanted.startswith(OPEN), 'and so it is')

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
same(act('cancel-all', queue='mail', state='ready')[2]['answers'], [{'queue': 'mail', 'cancelled': 4}],
     'cancel-all')
status, _, answer = act('push', queue='mail', type='mail.send', payload='{"big": 12345678901234567890}',
                        id='again', **{'in': '1h'})
same(status, 200, 'push')
check('12345678901234567890' in run('show', '--json', 'again'), 'byte for byte')
same(act('push', queue='mail', type='mail.send', payload='1', id='soon', expires_in='1h')[0], 200, 'push one that is not to be late')
ends = json.loads(json.loads(run('show', '--json', 'soon'))['document'])['expires_at'] - float(redis('TIME').split()[0])
check(3500 < ends <= 3601, 'it expires an hour from now', ends)
run('cancel', 'soon', '-q', 'mail')
job = {'queue': 'mail', 'type': 'mail.send', 'id': 'again'}
before = json.loads(run('show', '--json', 'again'))
same(act('replace', **job, payload='{"big": 2.0}', at=str(before['score']), priority='-7', max_attempts='3',
         timeout='1.5', backoff='1,10', expires_at='2036-01-01T00:00:00Z', lock='a"lock"', trace='$(x)',
         result='1h', retry_for='90', on_dead='alert', on_done='tell@q')[0], 200, 'a job is changed where it waits')
after = json.loads(run('show', '--json', 'again'))
same((after['document'], after['state'], after['score']),
     ('{"type":"mail.send","id":"again","priority":-7,"max_attempts":3,"retry_for":90,"timeout":1.5,"backoff":[1,10],'
      '"expires_at":2082758400,"result":3600,"lock":"a\\"lock\\"","trace":"$(x)","on_dead":"alert","on_done":"tell@q","payload":{"big": 2.0}}',
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
left = int(run('search', '--count', '-q', 'many', '--type', 'm.1'))
check(left > 0, 'and left some', left)
same(act('stop', task=1)[0], 404, 'it has ended')
lines, end = act_long('cancel-queue-matching', queue='many', glob='m.1', most=left - 5)
same((lines[-1], end['status']), ({'queue': 'many', 'cancelled': left - 5}, 0), 'no more than were counted')
same(lines[-2], {'acted': left - 5, 'of': left - 5, 'ended': True}, 'with its progress')
same(end['command'], f'later cancel --queue=many --number={left - 5} --type=m.1', 'its command')
same(run('size', 'many').split('\t')[1], str(20005), 'exactly those are gone')
run('cancel', '-q', 'many', '--state', 'ready', '--yes')
run('forget', 'many')

# ---- what a look may cost


def serves():
    """Returns the pids of the `later serve` processes."""
    found = []
    for name in os.listdir('/proc'):
        try:
            with open(f'/proc/{name}/stat') as file:
                if name.isdigit() and int(file.read().rpartition(')')[2].split()[1]) == web_pid:
                    found.append(int(name))
        except OSError:
            pass
    return found


def of_process(pid, file, pattern):
    with open(f'/proc/{pid}/{file}') as opened:
        return int(re.search(pattern, opened.read())[1])


def processor_time(pids):
    """Returns the seconds that these processes have used."""
    return sum(of_process(pid, 'stat', fields) / os.sysconf('SC_CLK_TCK') for pid in pids
               for fields in (r'\) (?:\S+ ){11}(\d+)', r'\) (?:\S+ ){12}(\d+)'))


def count_errors(regex):
    """Returns the end of a count of the dead jobs with such an error."""
    connection = Connection(where)
    connection.request('GET', '/api/1/count-queue?' + urllib.parse.urlencode(
        {'queue': 'errors', 'state': 'dead', 'error': regex}), headers={'Host': 'localhost'})
    text = connection.getresponse().read().decode()
    connection.close()
    return json.loads(text.rpartition('data: ')[2])


choice = random.Random(1)
texts = [''.join(choice.choices('ab', k=900)) for i in range(40)]
for text in texts:
    run('push', 't', '-q', 'errors')
    taken = json.loads(run('reserve', 'errors', '--json'))
    run('bury', taken['id'], '--token', taken['token'], '-q', 'errors', '--error', text)
HOSTILE = ['(a{1,32767})', '(a{0,32767}){0,32767}', 'a{256}', '((a{9}){9}){9}', '(a)\\1', '((x){1,255}){1,255}',
           f'(({"x" * 100}){{1,255}}){{1,255}}', f'((({"(a|b)" * 30}){{1,255}}){{1,255}}', '(((a*)*)*x?){1,200}', 'a{,99999999}z',
           '.*a.{200}z', '.*a.{100}z', '.*a.{60}z', '.*a.{30}z', f'.*a{"." * 240}z', f'.*a{"." * 100}z', f'.*[ab]?a{"." * 200}z',
           '(a|b)*a(a|b){20}z', '(a|b)*a(a|b){60}z', '(a|b)*a(a|b){110}z', '([a-f]|b)*a([a-f]|[a-c]){60}z',
           '(.|a)*a(.|b){100}z', f'(a|b)*a{"(a|b)" * 40}z', '(a|b|ab|ba|aa|bb){1,55}z', '(.*a){110}z', '((a|b|ab|ba){1,10}x?){1,9}z',
           '((a*)*)*z', f'{"(a|b)*" * 40}z', f'{"(" * 80}a*{")*" * 80}z', '(a|aa)+$z']
same(count_errors('^[ab]{3}.*[ab]$')['status'], 0, 'a regular expression')
refused, most = 0, 0
for regex in HOSTILE:
    before = processor_time(serves())
    end = count_errors(regex)
    most = max(most, processor_time(serves()) - before)
    refused += end['status'] == 64 and ('too costly' in end['words'] or 'takes too long' in end['words'])
    if end['status'] not in (0, 64):
        check(False, f'{regex[:40]} is counted or refused', end)
check(refused >= 20, '30 hostile ones: those that cost are refused in words', refused)
check(most <= 1, 'each takes at most a second of processor time', most)
high = max(of_process(pid, 'status', r'VmHWM:\s+(\d+)') for pid in serves())
check(high <= 65536, 'and 64 MiB', high)
for pid in serves():
    same(of_process(pid, 'limits', r'Max address space\s+(\d+)'), 256 << 20, 'each process may have 256 MiB')
    check(of_process(pid, 'limits', r'Max cpu time\s+(\d+)') - processor_time([pid]) <= 302, 'and 300 s of processor time for an order')

lines = [json.dumps({'type': 'large' if i == 1 else 't', 'payload': 'x' * (500000 if i == 1 else 10), 'id': f'l{i}'}) for i in range(3)]
subprocess.run([later, 'push', '--file', '-', '-q', 'large'], input='\n'.join(lines), check=True, capture_output=True, text=True)
found = [(name, data) for name, data in events(where, '/api/1/search-queue?queue=large&text=x', 9) if name or 'id' in data]
same([data.get('id') for _, data in found], ['l2', 'l1', 'l0', None], 'a search shows a large document, and what is after it')
same(found[-1][0], 'end', 'and ends')
documents = '\n'.join(json.dumps({'type': 't', 'payload': 'x' * 250000}) for i in range(40))
subprocess.run([later, 'push', '--file', '-', '-q', 'big'], input=documents, check=True, capture_output=True, text=True)
slow, answers = [], []


def begin_to_read():
    reader = socket.socket(socket.AF_UNIX)
    reader.settimeout(60)
    reader.connect(where[5:])
    reader.sendall(b'GET /api/1/jobs?queue=big&number=40 HTTP/1.1\r\nHost: localhost\r\n\r\n')
    slow.append(reader)


def hear():  # only the beginning is read
    for reader in slow[len(answers):]:
        try:
            answers.append(reader.recv(12, socket.MSG_WAITALL).decode()[9:])
        except ConnectionError:
            answers.append('')


for i in range(20):  # a busy machine may not answer the first in time
    if '200' not in answers:
        begin_to_read()
        hear()
for i in range(60):
    begin_to_read()
hear()
check('200' in answers and '503' in answers and set(answers) <= {'200', '503', ''},
      '60 readers that read no further: those for whom there is no room are refused', answers)
high = of_process(web_pid, 'status', r'VmHWM:\s+(\d+)')
check(high <= 131072, 'and later-web has at most 128 MiB', high)
for reader in slow:
    reader.close()
check(wait_until(lambda: ask(where, '/api/1/jobs?queue=big&number=40')[0] == 200), 'then there is room again')
for name in ('big', 'large'):
    run('cancel', '-q', name, '--state', 'ready', '--yes')
    run('forget', name)

run('kick', '-q', 'errors', '--state', 'dead', '--yes')
lines, end = act_long('bury-queue-matching', queue='errors', error='^a')
same((end['status'], end['command']), (0, "later bury --queue=errors '--error=^a'"), 'an error is a condition of bury, too')
same([line['buried'] for line in lines if 'buried' in line], [sum(text[0] == 'a' for text in texts)], 'and chooses the jobs')
run('cancel', '-q', 'errors', '--state', 'ready', '--yes')
run('cancel', '-q', 'errors', '--state', 'dead', '--yes')
run('forget', 'errors')

# ---- live


class Stream:
    """Puts together what a page hears, as web/pages/merge.js does."""

    def __init__(self):
        self.connection = Connection(where)
        self.connection.request('GET', '/api/1/live', headers={'Host': 'localhost'})
        self.answer = self.connection.getresponse()
        self.queues, self.events, self.bytes, self.troubles = {}, [], 0, None

    def read(self):
        line = b''
        while not line.startswith(b'data: '):
            line = self.answer.readline()
            if not line:
                raise EOFError('the stream has ended')
        event = json.loads(line[6:])
        self.queues = {} if event['whole'] else self.queues
        self.troubles = event.get('troubles', self.troubles)
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


def rules(troubles):
    """Returns the rules of which there is trouble; None if it is not known."""
    return [trouble['rule'] for trouble in troubles['list']] if troubles and troubles['known'] and not troubles['away'] else None


def put_host(name):
    redis('HSET', 'later:hosts', f'{name}:1', json.dumps({'host': name, 'pid': 1, 'version': '1', 'seen': time.time() + 3600, 'started': 1,
                                                          'workers': 1, 'running': 0, 'performed': 0, 'failed': 0, 'rate': 0, 'queues': ['*']}))


redis('DEL', 'later:hosts')
check(wait_until(lambda: first.read() and rules(first.troubles) == ['no_laterd']), 'live: what is wrong', first.troubles)
same(first.troubles['list'], [json.loads(run('status', '--trouble', '--json'))], 'in the words of later status --trouble')
put_host('alive')
check(wait_until(lambda: first.read() and rules(first.troubles) == []), 'and when it is right again', first.troubles)
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
before = calls()
run('status', '--trouble', '--json')
each = sum(performed(before, calls()).values())  # what it costs to ask for troubles
beats, before = len(streams[0].events), calls()
run('push', 't', '-q', 'q77', '--id', 'news')
check(wait_until(lambda: streams[0].read() and streams[0].queues['q77']['ready'] == 2, 40),
      'one of them changes')
news = streams[0].events[beats:]
same({queue['queue'] for event in news for queue in event['queues']}, {'q77'}, 'only it is told')
now = calls()
used = sum(performed(before, now).values())
anew = now['client|setname'] - before['client|setname'] - 1  # connections besides that of the push: all is asked anew
# What was sent until then has been told when a later change is.
run('push', 't', '-q', 'q78', '--id', 'more')
wait_until(lambda: streams[0].read() and streams[0].queues['q78']['ready'] == 2)
news = streams[0].events[beats:]
same([event['whole'] for event in news if event['whole']], [], 'no more')
troubled = sum('troubles' in event for event in news) + 1  # the last may have no answer yet
check(used <= 30 * (len(news) + 1) + each * troubled + 2500 * anew + 60,  # the push, and the INFO of this test
      'at most 30 commands for each of them, besides troubles', (used, len(news), each, troubled, anew))
heard = []
for turn in range(5):  # the best of some: what comes while we wait for a processor is heard too
    wanted = not streams[0].queues['q150']['paused']
    streams[0].catch_up()
    act('pause' if wanted else 'resume', queue='q150')
    told = len(streams[0].events)
    wait_until(lambda: streams[0].read() and streams[0].queues['q150']['paused'] == wanted)
    heard.append(sum('troubles' not in event for event in streams[0].events[told:]))
    if heard[-1] <= 3:
        break
check(min(heard) <= 3, 'what is done here is looked at first', heard)
for stream in streams:
    stream.close()
check(wait_until(lambda: ask(where, '/api/1/overview')[0] == 200), 'they are let go')


def rests():
    """Is Redis asked nothing for three seconds? On a busy machine it may be for once: so twice."""
    def asked():
        return {name: number for name, number in calls().items() if name in ('hgetall', 'exists', 'zcard', 'smembers', 'evalsha')}
    for turn in range(2):
        before = asked()
        time.sleep(3)
        if asked() != before:
            return False
    return True


check(wait_until(rests), 'without a reader, Redis is not asked')
for name, look in (('overview', lambda: ask(where, '/api/1/overview')[2]), ('live', lambda: events(where, '/api/1/live', 1)[0][1])):
    run('push', 't', '-q', f'after-{name}')
    for _ in range(10):
        first_seen = look()
        if not first_seen['away']:  # on a very busy machine it may say first that Redis does not answer
            break
        wait_until(rests)
    check(f'after-{name}' in [queue['queue'] for queue in first_seen['queues']] and first_seen['whole'],
          f'who comes after a while sees what is now: {name}', first_seen['age'])
    wait_until(rests)

for number, child in enumerate(children()):  # one asks for numbers, one for troubles: each may be the later one
    for _ in range(10):
        run('push', 't', '-q', f'frozen-{number}')
        act('pause', queue='mail'), act('resume', queue='mail')  # so that there is a question for troubles, too
        wait_until(rests)
        os.kill(child, signal.SIGSTOP)
        threading.Timer(1, os.kill, (child, signal.SIGCONT)).start()
        first_seen = ask(where, '/api/1/overview')[2]
        if not first_seen['away']:
            break
        wait_until(rests)
    check(f'frozen-{number}' in [queue['queue'] for queue in first_seen['queues']],
          f'also if a question takes a second: {number}', first_seen['age'])

redis('DEL', 'later:hosts')
check(wait_until(lambda: 'no_laterd' in (rules(ask(where, '/api/1/troubles')[2]) or [])), 'troubles alone, without a reader of numbers')
put_host('alive')
check(wait_until(lambda: rules(ask(where, '/api/1/troubles')[2]) == []), 'are asked for again when they are old', ask(where, '/api/1/troubles')[2])
check(wait_until(rests), 'and nothing else is asked')

# ---- Redis hangs; is away; is back

os.kill(redis_pid, signal.SIGSTOP)
same(ask(where, '/')[0], 200, 'Redis hangs: pages are there')
away = wait_until(lambda: (lambda text: text if text['away'] else None)(
    ask(where, '/api/1/overview')[2]))
check(away and away['known'] and away['age'] > 0 and away['queues'],
      'the overview says so, and how old its numbers are', away)
same(ask(where, '/api/1/job?id=x')[0], 503, 'a question ends')
times = []
for accept in (None, OPEN, None) * 5:  # the best of some, at least three
    if len(times) > 2 and min(times) <= 2:
        break
    began = time.monotonic()
    status, _, text = ask(where, '/metrics', headers={'Accept': accept})
    times.append(time.monotonic() - began)
    same((status, re.findall(rb'^laterd\S+ .*$', text, re.M), text.endswith(b'# EOF\n')), (200, [b'laterd_redis_up 0'], accept == OPEN),
         'metrics say that Redis is away')
check(min(times) <= 2, 'within two seconds, at the best of some', times)
os.kill(redis_pid, signal.SIGCONT)
check(wait_until(lambda: not ask(where, '/api/1/overview')[2]['away']), 'and is right again')

# ---- slowloris: 500 connections that never send a whole request

times = []
for turn in range(10):
    if turn > 2 and min(times) < 5:
        break
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
check(min(times) < 5, 'the page comes soon, at its best of some', times)

# ---- TCP: the token

bearer = {'Authorization': f'Bearer {token}'}
same(ask(tcp, '/')[0], 200, 'TCP: the page is open')
same(ask(tcp, '/api/1/queues')[0], 401, 'nothing else is')
same(ask(tcp, '/api/1/live')[0], 401, 'nor the stream')
for shown in ('', token[:-1], token + 'x', token.upper() + 'X'):
    status, headers, text = ask(tcp, '/api/1/queues', headers={'Authorization': f'Bearer {shown}'})
    same((status, 'not valid' in text['error']), (401, True), 'a wrong token')
same(ask(tcp, '/api/1/queues', headers={'Cookie': f'later={token}'})[0], 401, 'a cookie does not count: every port of a host gets it')
same(ask(tcp, '/api/1/login', {'token': token})[0], 401, 'nor is there one to be had')
status, headers, _ = ask(tcp, '/api/1/queues', headers=bearer)
same((status, headers['Set-Cookie']), (200, None), 'Bearer')
same(ask(tcp, '/api/1/me', headers=bearer)[2]['role'], 'reader', '--read-only')
for path in ('pause', 'push', 'replace'):
    same(ask(tcp, f'/api/1/{path}', {'queue': 'mail', 'id': 'x', 'type': 't', 'payload': '1'}, headers=bearer)[0], 403,
         f'and no {path}')
