"""web_notify.py WEB FILE REDIS_PID: what later-web posts when a trouble begins and ends."""
import json
import os
import signal
import subprocess
import sys

from web_client import check, same, take_posts, wait_until

web, file, redis_pid = sys.argv[1:4]
work = os.environ['work']
posts = []  # what came, in this order
answers = [500, None]  # to the first ones; None: the connection ends without one


def took(path, headers, body):
    posts.append((path, headers['Host'], headers['Content-Type'], body))
    return answers.pop(0) if answers else 204


def redis(*words):
    subprocess.run(['redis-cli', '-s', os.environ['redis_socket'], *words], check=True, stdout=subprocess.DEVNULL)


def later(*words):
    subprocess.run([os.path.join(os.path.dirname(web), '..', 'cli', 'later'), *words], check=True, stdout=subprocess.DEVNULL)


def write_url(url):
    with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), 'w', encoding='ascii') as out:
        print(url, file=out)


def posts_to_ipv6():
    """Another later-web posts that Redis is away, to an address in brackets."""
    came = []
    try:
        port = take_posts(lambda *_: came.append(1) or 204, '::1')
    except OSError:
        return  # no IPv6 here
    write_url(f'http://[::1]:{port}/')
    other = subprocess.Popen([web, '--listen', f'unix:{work}/notify6.sock', '--notify-file', file])
    try:
        check(wait_until(lambda: came), 'a URL with an IPv6 address')
    finally:
        other.terminate()
        other.wait()


where = f'127.0.0.1:{take_posts(took)}'
write_url(f'http://{where}/hook?key=s3cret')
with open(f'{work}/notify.log', 'w', encoding='ascii') as log:
    process = subprocess.Popen([web, '--listen', f'unix:{work}/notify.sock', '--notify-file', file], stderr=log)
try:
    # nobody looks at the pages
    later('push', 'null', '--id', 'waits')
    check(wait_until(lambda: len(posts) >= 3), 'a trouble begins: tried again until it is taken', posts)
    same(len(set(posts)), 1, 'each time the same')
    path, host, kind, body = posts[0]
    same((path, host, kind), ('/hook?key=s3cret', where, 'application/json'), 'where it goes')
    begin = json.loads(body)
    same([begin[name] for name in ('event', 'rule', 'severity', 'queue', 'text')],
         ['begin', 'no_laterd', 'critical', None, 'no laterd is alive, 1 job waits'], 'what is said')
    check(begin['why'] and begin['command'].startswith(('systemctl', 'later')), 'why, and what to do', body)

    later('cancel', 'waits', '-q', 'default')
    later('push', 'null', '-q', 'other', '--id', 'dies')
    redis('HSET', 'later:hosts', 'web1:1', json.dumps({
        'host': 'web1', 'pid': 1, 'version': '0', 'started': 1, 'seen': 9999999999, 'workers': 1, 'running': 0,
        'performed': 0, 'failed': 0, 'rate': 0, 'queues': ['other'], 'patterns': {}, 'runs': {}, 'nodes': {}}))
    later('bury', 'dies', '-q', 'other')
    check(wait_until(lambda: len(posts) >= 5), 'it ends, and another one begins', posts)
    told = [json.loads(post[3]) for post in posts[3:]]
    same(sorted((one['event'], one['rule'], one['queue']) for one in told),
         [('begin', 'dead_growing', 'other'), ('end', 'no_laterd', None)], 'each once')
    ids = {one['rule']: one['id'] for one in told}
    check(ids['no_laterd'] == begin['id'] != ids['dead_growing'], 'begin and end have the same id', (begin, told))

    os.kill(int(redis_pid), signal.SIGKILL)
    check(wait_until(lambda: len(posts) >= 6), 'Redis is away', posts)
    away = json.loads(posts[5][3])
    same((len(posts), away['event'], away['rule'], away['text']), (6, 'begin', 'redis_away', 'Redis cannot be asked'), 'and nothing else is told')
finally:
    process.terminate()
    same(process.wait(), 0, 'TERM ends it')
with open(f'{work}/notify.log', encoding='ascii') as log:
    text = log.read()
check('s3cret' not in text, 'the URL is in no log', text)
same(text.count(f'a trouble could not be posted to {where}'), 2, 'what was not taken is')
check('it answered with status 500' in text and 'there was no answer' in text, 'and why', text)
posts_to_ipv6()
