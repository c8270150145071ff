"""web_stock.py: something for each page: jobs in all states, a flow, schedules, locks, numbers that are set. A laterd as
in web_access.sh is to run."""
import json
import time

from checks import check, redis, run, wait_until

LONG = json.dumps({'do': 'progress', 'until': 'end', 'for': 3600, 'text': 'page 3'})
PAGES = ['', 'running', 'dead', 'hosts', 'redis', 'locks', 'tasks', 'cron', 'history', 'history?since=24h&queue=mail',
         'queue?name=mail', 'queue?name=mail&state=delayed', 'queue?name=mail&state=dead', 'queue?name=mail&state=reserved', 'queue?name=mail&state=done',
         'queue?name=night', 'queue?name=nobody', 'job?id=long&queue=mail', 'job?id=dead0&queue=mail', 'job?id=failed&queue=mail', 'job?id=kept&queue=mail',
         'job?id=none&queue=mail', 'push?queue=mail', 'search', 'search?q=queue%3Amail+state%3Adead', 'search?q=typ%3Ax', 'flows',
         'flow?name=books&queue=steps', 'nothing']


def rests():
    """Has laterd done what it can, and counted it?"""
    history = [json.loads(line) for line in run('history', 'mail', '--json').splitlines()]
    return run('size', 'mail').split('\t')[4] == '3' and 'blocked' in run('flow') and sum(one['attempts'] for one in history) >= 24 and 'books' in run('lock')


def fill():
    jobs = [{'type': 'note', 'id': f'n{i}'} for i in range(20)] + [{'type': 'note', 'id': f'p{i}', 'in': 3600} for i in range(120)]
    jobs += [{'type': 'do', 'id': f'dead{i}', 'payload': {'do': 'bury'}} for i in range(3)]
    jobs += [{'type': 'do', 'id': 'failed', 'payload': {'do': 'retry', 'upto': 9}}]
    run('push', '--file', '-', '-q', 'mail', input='\n'.join(map(json.dumps, jobs)))
    run('push', '--flow', 'books', '--file', '-', '-q', 'steps', input='\n'.join(json.dumps(step) for step in [
        {'type': 'note', 'step': 'a'}, {'type': 'do', 'step': 'b', 'payload': {'do': 'bury'}}, {'type': 'note', 'step': 'c', 'after': ['a', 'b']}]))
    for name in ('long', 'held'):
        run('push', 'do', LONG, '-q', 'mail', '--id', name, '--lock', 'books', '--timeout', '1h')
    run('push', 'note', '-q', 'nobody', '--id', 'unserved')
    run('pause', 'night')
    run('push', 'note', '-q', 'night', '--id', 'paused')
    run('cron', 'set', 'report', '0 3 * * mon-fri', 'note', '-q', 'mail')
    run('cron', 'set', 'other', '@every 90s', 'note', '-q', 'night')
    run('search', '--save', 'failed today', '--state', 'dead', '--newer', '1d')
    now = time.time()
    run('pause', 'mail', '--type', 'bulk.*', '--reason', 'the relay is slow')
    check(wait_until(lambda: run('set', 'max_running', 'type:bulk', '--max', '2') == '' and run('set')), 'a number that is set', run('set'))
    redis('ZADD', 'later:{mail}:done', str(now + 86400), 'kept')
    redis('LPUSH', 'later:{mail}:result:kept', f'{{"state":"done","attempt":1,"at":{now:.6f}}}\n{{"width":640}}')
    redis('HSET', 'later:{mail}:kept', 'kept', f'k={{"at":{now:.6f},"attempt":1,"ms":12.5,"host":"one"}}\n\n{{"type":"note","id":"kept"}}')
    check(wait_until(rests, 120), 'something for each page', (run('size'), run('flow'), run('history'), run('lock')))
