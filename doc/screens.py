"""screens.py: of screens.sh: work for a laterd, a handler that does it, and pictures of its pages."""
import json
import os
import random
import subprocess
import sys
import threading
import time


def handle():
    """The handler, as the plugin exec has it: a line for each job, several at once."""
    answers, lock = os.fdopen(3, 'w', buffering=1), threading.Lock()

    def encode(job):
        for frame in range(0, 9000, 25):
            with lock:
                answers.write(json.dumps({'id': job['id'], 'progress': {
                    'done': frame, 'total': 9000, 'text': f'frame {frame}, first pass'}}) + '\n')
            time.sleep(1)

    def perform(job):
        if job['type'] == 'video.encode':
            encode(job)
        time.sleep(random.lognormvariate(-2.6, 0.6))
        answer, dice = {'id': job['id'], 'result': 'done'}, random.random()
        if job['type'] == 'mail.send' and dice < 0.03:
            answer.update(result='retry', error='smtp: 450 4.2.0 greylisted, try again later')
        elif job['type'] == 'thumbnail.make' and dice < 0.04:
            answer.update(result='bury', error='not an image: unexpected end of file at byte 4096')
        elif job['type'] == 'order.charge' and dice < 0.03:
            answer.update(result='retry', error='payment gateway: connection refused')
        elif job['type'] == 'hook.post' and dice < 0.8:
            answer.update(result='retry', error='HTTP 503 from https://hooks.example.com/v1/events' if dice < 0.6 else
                          'connect: timed out after 10 s\n  at hook.js:21:7\n  at socket.js:311:13')
        with lock:
            answers.write(json.dumps(answer) + '\n')

    for line in sys.stdin:
        threading.Thread(target=perform, args=(json.loads(line),), daemon=True).start()


def work(rounds):
    """Some jobs of everything, as lines for `later push --file`."""
    random.seed(rounds)
    for i in range(rounds):
        user = f'user{random.randrange(5000)}@example.com'
        yield {'type': 'mail.send', 'queue': 'mail',
               'payload': {'to': user, 'template': random.choice(['welcome', 'receipt', 'digest'])}}
        if i % 3 == 0:
            yield {'type': 'order.charge', 'queue': 'orders',
                   'payload': {'order': 100000 + i, 'amount': random.randrange(500, 90000), 'currency': 'EUR'}}
        if i % 4 == 0:
            yield {'type': 'thumbnail.make', 'queue': 'thumbnails',
                   'payload': {'file': f's3://media/{i:06}.jpg', 'sizes': [160, 480, 1200]}}
        if i % 9 == 0:
            yield {'type': 'index.document', 'queue': 'search-index', 'payload': {'document': i}}
        if i % 60 == 0:
            yield {'type': 'hook.post', 'queue': 'webhooks',
                   'payload': {'url': 'https://hooks.example.com/v1/events', 'event': {'id': i, 'kind': 'invoice.paid'}}}
        if i % 40 == 0:
            yield {'type': 'report.daily', 'queue': 'reports', 'in': 3600 + i, 'payload': {'day': i}}


def take(link, folder, later, to):
    from webdriver import Browser

    def run(*words, **options):
        return subprocess.run([later, '-c', f'{folder}/laterd.conf', *words], check=False, text=True,
                              capture_output=True, **options).stdout

    def push(rounds):
        run('push', '--file', '-', input='\n'.join(json.dumps(job) for job in work(rounds)))

    browser = Browser(folder)
    base = link.split('#')[0]

    def shot(name, page, width=1280, height=800, dark=False):
        browser.look(width, height, dark)
        browser.script('location.hash = arguments[0]', f'#/{page}')
        time.sleep(1.5)
        browser.script('document.activeElement.blur()')
        browser.picture(f'{to}/{name}.png')

    try:
        browser.look(1280, 800, False)
        browser.go(link)
        run('push', 'video.encode', '{"file": "s3://media/film.mov"}', '-q', 'thumbnails', '--id', 'film-7')
        push(4000)
        for i in range(45):  # work comes in waves, so that the curves have something to tell
            push(80 + int(60 * random.random()) + (200 if i % 11 == 7 else 0))
            time.sleep(1)
        run('pause', 'reports')
        shot('pages-overview', '', height=1020)
        dead = json.loads(run('peek', 'webhooks', '--state', 'dead', '-n', '1', '--json').splitlines()[0])
        shot('pages-job', f'job?id={dead["id"]}&queue=webhooks', height=1000)
        shot('pages-search', 'search?q=state%3Adead+attempts%3A%3E1', height=820, dark=True)
        shot('pages-phone', '', 360, 760, True)
    finally:
        browser.close()


if sys.argv[1] == 'handle':
    handle()
else:
    take(*sys.argv[1:])
