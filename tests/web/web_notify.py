"""web_notify.py WEB REDIS_PID: what later-web posts when a trouble begins and ends."""
import json
import os
import re
import signal
import ssl
import subprocess
import sys

from checks import check, same, wait_until
from web_client import take_posts

web, redis_pid = sys.argv[1:3]
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


def start(name, url):
    """A later-web that posts to this URL; its log is NAME.log."""
    file = f'{work}/{name}.url'
    with open(os.open(file, os.O_WRONLY | os.O_CREAT, 0o600), 'w', encoding='ascii') as out:
        print(url, file=out)
    with open(f'{work}/{name}.log', 'w', encoding='ascii') as log:
        return subprocess.Popen([web, '--listen', f'unix:{work}/{name}.sock', '--notify-file', file], stderr=log)


def read_log(name):
    with open(f'{work}/{name}.log', encoding='ascii') as log:
        return log.read()


def secure(name):
    """What a server needs that has this certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(f'{work}/{name}.crt', f'{work}/{name}.key')
    return context


def take_here(**options):
    """Returns a port, and how often something was posted there."""
    came = []
    return take_posts(lambda *_: came.append(1) or 204, **options), came


def posts_elsewhere():
    """Others post that Redis is away: each where it can, or says why it cannot."""
    rows, others = [], []
    try:
        port, came = take_here(address='::1')
        rows.append(('to an IPv6 address', f'http://[::1]:{port}/', came, None))
    except OSError:
        pass  # no IPv6 here
    port, came = take_here()
    rows.append(('to a name', f'http://localhost:{port}/', came, None))
    rows.append(('without TLS there', f'https://127.0.0.1:{port}/', None, 'the other side does not speak it'))
    port, came = take_here(context=secure('here'))
    rows.append(('to another name', f'https://localhost:{port}/ ca={work}/ours.crt&name=127.0.0.1', came, None))
    rows.append(('an unknown authority', f'https://127.0.0.1:{port}/', None, 'from an unknown authority: ours, .*: name its file by ca='))
    rows.append(('a wrong name', f'https://localhost:{port}/ ca={work}/ours.crt', None, 'it is for 127.0.0.1, not for localhost'))
    port, came = take_here(context=secure('late'))
    rows.append(('an old certificate', f'https://127.0.0.1:{port}/ ca={work}/ours.crt', None, 'the certificate of the server has expired on 20'))
    try:
        for nth, row in enumerate(rows):
            others.append(start(f'other{nth}', row[1]))
        for nth, (name, _, came, words) in enumerate(rows):
            if words:
                words = f'a trouble could not be posted to [a-z0-9.]+:[0-9]+: TLS: .*{words}'
                check(wait_until(lambda: re.search(words, read_log(f'other{nth}'))), name, read_log(f'other{nth}'))
            else:
                check(wait_until(lambda: came), name, read_log(f'other{nth}'))
    finally:
        for other in others:
            other.terminate()
        for other in others:
            other.wait()


where = f'127.0.0.1:{take_posts(took, context=secure("here"))}'
process = start('notify', f'https://{where}/hook?key=s3cret ca={work}/ours.crt')
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
    same([one['text'] for one in told if one['event'] == 'end'], [f'over: {begin["text"]}'], 'the text says that it is over')
    ids = {one['rule']: one['id'] for one in told}
    check(ids['no_laterd'] == begin['id'] != ids['dead_growing'], 'begin and end have the same id', (begin, told))

    os.kill(int(redis_pid), signal.SIGKILL)
    check(wait_until(lambda: len(posts) >= 6), 'Redis is away', posts)
    away = json.loads(posts[5][3])
    same((len(posts), away['event'], away['rule'], away['text']), (6, 'begin', 'redis_away', 'Redis cannot be asked'), 'and nothing else is told')
finally:
    process.terminate()
    same(process.wait(), 0, 'TERM ends it')
text = read_log('notify')
check('s3cret' not in text, 'the URL is in no log', text)
same(text.count(f'a trouble could not be posted to {where}'), 2, 'what was not taken is')
check('it answered with status 500' in text and 'there was no answer' in text, 'and why', text)
posts_elsewhere()
