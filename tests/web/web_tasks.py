"""web_tasks.py PROGRAM: tests the page of tasks of later-web in two browsers."""
import json
import os
import subprocess
import sys

from checks import check, redis, run, same, wait_until
from web_client import ask
from webdriver import Browser

program, work = sys.argv[1], os.environ['work']
file = f'{work}/tasks'
HACK = '<img src=x onerror="window.hacked=1">'
MANY = 5000


class Web:
    """A later-web with a token for each role."""

    def __init__(self, *more):
        self.log = open(f'{work}/tasks.log', 'a+', encoding='utf-8')
        from_here = self.log.seek(0, os.SEEK_END)
        self.process = subprocess.Popen([program, '--listen', '127.0.0.1:0', '--tasks-file', file, '--token-file', f'{work}/admin',
                                         '--operator-token-file', f'{work}/operator', '--reader-token-file', f'{work}/reader', *more], stderr=self.log)

        def listens():
            self.log.seek(from_here)
            return [line.split('http://')[1].strip(' /\n') for line in self.log if 'listening on http' in line]
        self.where = wait_until(listens)[0]

    def ask(self, path, body=None, role='operator'):
        origin = {'Origin': f'http://{self.where}'} if body else {}
        return ask(self.where, f'/api/1/{path}', body, headers={'Host': self.where, 'Authorization': f'Bearer 0123456789abcdef-{role}', **origin})

    def tasks(self):
        return self.ask('tasks')[2]['tasks']

    def end(self, kill=False):
        (self.process.kill if kill else self.process.terminate)()
        self.process.wait()
        self.log.close()


def show(browser):
    """Opens the page of tasks as a reload does."""
    address = browser.script('return location.origin')
    browser.go('about:blank')
    browser.go(f'{address}/#/tasks')
    return browser.wait('document.querySelector("main tbody tr")')


def first(browser, words):
    """Waits until the first of the tasks says so."""
    return browser.wait('document.querySelector("main tbody tr").innerText.includes(arguments[0]) && document.querySelector("main tbody tr").innerText', words)


def begin(browser, queue):
    """Kicks the dead as a page does, slowly, and leaves the page that began it."""
    browser.script('''import("./app.js").then(({ $action: { performLong } }) => performLong("kick-queue-matching",
        { queue: arguments[0], state: "dead", glob: "t", most: arguments[1], rate: 20 }, "Kick", document.createElement("p"), () => ""));''', queue, MANY)


def fill(queue):
    lines = [{'type': 't', 'queue': queue, 'id': f't{i}'} for i in range(MANY)]
    lines += [{'type': 'other', 'queue': queue, 'id': f'o{i}'} for i in range(40)]
    run('push', '--file', '-', input='\n'.join(map(json.dumps, lines)))
    run('bury', '-q', queue, '--all', '--yes')
    same(counts(queue), [0, MANY + 40], f'{queue}: all are dead')


def counts(queue):
    """How many are ready and dead, at the same moment."""
    found = redis('EVAL', "return redis.call('ZCARD', KEYS[1]) .. ' ' .. redis.call('ZCARD', KEYS[2])", '2', f'later:{{{queue}}}:ready', f'later:{{{queue}}}:dead')
    return [int(count) for count in found.split()]


def stat(pid):
    """State and parent of a process, None if there is none."""
    try:
        with open(f'/proc/{pid}/stat', encoding='utf-8') as text:
            return text.read().rsplit(')', 1)[1].split()[:2]
    except OSError:
        return None


fill('many')
fill('later')
run('push', 't', '-q', 'mail', '--id', 'm')
web = Web()
browsers = []
try:
    for name in ('operator', 'admin'):
        os.mkdir(f'{work}/{name}-browser')
        browsers.append(Browser(f'{work}/{name}-browser'))
        browsers[-1].enter(web.where, name)
    one, two = browsers

    # one begins, another sees it, through a reload, and stops it
    two.script('location.hash = "#/tasks"')
    check(two.wait('document.querySelector("main .empty").innerText === "Nothing was done here yet."'), 'nothing was done', two.text('main'))
    begin(one, 'many')
    check(first(two, f'of {MANY:,}'), 'another browser sees how far it is', two.text('main'))
    one.go('about:blank')
    check(show(two) and first(two, 'bearer of the operator token'), 'also when it is loaded again, and whoever began it has left', two.text('main'))
    same(two.script('return document.querySelector("main tbody .command code").innerText'), 'later kick --queue=many --number=5000 --rate=20 --state=dead --type=t',
         'its command')
    at = two.script('document.querySelector("main .do button").focus(); return document.querySelector("main progress").value')
    check(two.wait('document.querySelector("main progress").value > arguments[0]', at), 'it goes on', at)
    same(two.script('return document.activeElement.innerText'), 'Stop', 'who is at a button stays there')
    two.click('Stop', 'main')
    check(first(two, 'stopped: '), 'it is stopped', two.text('main'))
    task = web.tasks()[0]
    acted = task['progress']['acted']
    check(0 < acted < MANY, 'in the middle', task)
    same((task['words'], task['status'], task['answers']), (f'later kick: stopped: {acted} of {MANY} kicked', 75, [{'queue': 'many', 'kicked': acted}]), 'it says how far it came')
    same(counts('many'), [acted, MANY + 40 - acted], 'and so does Redis')
    same(run('search', '--count', '-q', 'many', '--type', 'other', '--state', 'dead').strip(), '40', 'the others are as they were')
    same(two.script('return document.querySelectorAll("main button").length - document.querySelectorAll("main .command button").length'), 0,
         'there is nothing to be stopped or undone')
    same(web.ask('stop', {'task': str(task['number'])})[0], 404, 'a second stop')

    # undo
    one.enter(web.where, 'operator')
    one.click('Pause', 'tr:has(a[href*="name=mail"])')
    show(one)
    check(first(one, 'later pause mail'), 'a pause', one.text('main'))
    one.click('Undo', 'main')
    check(first(one, 'later resume mail'), 'is undone', one.text('main'))
    check('no' in run('size', 'mail').split('\t')[5], 'really', run('size', 'mail'))
    one.click('Undo', 'main')
    check(first(one, 'later pause mail'), 'the end of a pause, too', one.text('main'))
    check('yes' in run('size', 'mail').split('\t')[5], 'really', run('size', 'mail'))
    check(one.wait('document.querySelectorAll("main [aria-label^=Undo]").length === 1'), 'only the latest of a queue', one.text('main'))
    run('resume', 'mail')
    check(one.wait('!document.querySelector("main [aria-label^=Undo]")'), 'not what somebody else has undone', one.text('main'))
    run('pause', 'mail')
    web.ask('pause', {'queue': 'mail'})
    check(one.wait('document.querySelectorAll("main tbody tr").length === 5 && !document.querySelector("main [aria-label^=Undo]")'), 'not what changed nothing',
          one.text('main'))
    web.ask('resume', {'queue': 'mail'})
    web.ask('pause', {'queue': 'mail', 'for': '1h'})
    check(one.wait('document.querySelector("main [aria-label^=Undo]")'), 'a pause of an hour', one.text('main'))
    one.click('Undo', 'main')
    check(first(one, 'later resume mail'), 'can be ended', one.text('main'))
    check(one.wait('!document.querySelector("main [aria-label^=Undo]")'), 'and does not come back as it was', one.text('main'))

    # a schedule, a host
    def undoes(words, name):
        check(one.wait('document.querySelectorAll("main [aria-label^=Undo]").length === 1'), f'{name} can be undone', one.text('main'))
        one.click('Undo', 'main')
        check(first(one, words), f'{name} is undone', one.text('main'))

    def schedule():
        return {key: json.loads(run('cron', '--json'))[key] for key in ('at', 'zone', 'state')}

    run('resume', 'mail')
    one.enter(web.where, 'admin')
    run('cron', 'set', 'nightly', '0 3 * * *', 't', '-q', 'mail', '--zone', 'Europe/Berlin')
    show(one)
    same(web.ask('cron-set', {'queue': 'mail', 'name': 'nightly', 'expression': '@every 90s'}, 'admin')[0], 200, 'another time')
    undoes('later cron --queue=mail --zone=Europe/Berlin set nightly', 'another time of a schedule')
    same(schedule(), {'at': '0 3 * * *', 'zone': 'Europe/Berlin', 'state': 'active'}, 'it is as it was')
    web.ask('cron-set', {'queue': 'mail', 'name': 'nightly', 'expression': '@every 80s'}, 'admin')
    run('cron', 'set', 'nightly', '@every 70s', '-q', 'mail')
    check(one.wait('document.querySelector("main tbody").innerText.includes("80s") && !document.querySelector("main [aria-label^=Undo]")'),
          'not if somebody else has set another one', one.text('main'))
    web.ask('cron-pause', {'queue': 'mail', 'name': 'nightly'}, 'admin')
    undoes('later cron --queue=mail resume nightly', 'a pause of a schedule')
    same(schedule()['state'], 'active', 'it goes on')
    run('cron', 'delete', 'nightly', '-q', 'mail')
    check(one.wait('!document.querySelector("main [aria-label^=Undo]")'), 'not of one that is gone', one.text('main'))
    redis('HSET', 'later:hosts', 'web1:7', json.dumps({'host': 'web1', 'pid': 7, 'version': '1', 'seen': 4e9, 'started': 1, 'queues': ['none'], 'quiet': {'since': 1}}))
    web.ask('host-pause', {'host': 'web1'})
    undoes('later resume --host=web1', 'a pause of a host')
    redis('DEL', 'later:hosts')

    # a type
    def held():
        return [(one['type'], one['reason']) for one in json.loads(run('size', 'mail', '--json')).get('paused_types', [])]

    web.ask('type-pause', {'queue': 'mail', 'glob': 't.*', 'reason': 'no <b>relay</b>'})
    undoes("later resume '--type=t.*' mail", 'a pause of a type')
    same(held(), [], 'its jobs begin')
    undoes("later pause '--type=t.*' '--reason=no <b>relay</b>' mail", 'its end')
    same(held(), [('t.*', 'no <b>relay</b>')], 'it is as it was')
    check(one.wait('document.querySelectorAll("main [aria-label^=Undo]").length === 1'), 'and can be ended', one.text('main'))
    run('resume', 'mail', '--type', 't.*')
    check(one.wait('!document.querySelector("main [aria-label^=Undo]")'), 'not what somebody else has ended', one.text('main'))

    # hostile words; readers
    same(web.ask('bury-matching', {'most': '1', 'text': HACK, 'glob': 'none'})[0], 200, 'a hostile condition')
    check(first(one, HACK), 'is shown as a text', one.text('main'))
    same(one.script('return window.hacked ?? null'), None, 'and does not run')
    status, _, answer = web.ask('tasks', role='reader')
    same((status, answer), (403, {'error': 'what was done is not shown to readers'}), 'readers are refused')
    same(one.script('return document.getElementById("tasks").checkVisibility()'), True, 'operators have a link')
    one.enter(web.where, 'reader')
    check(one.wait('document.getElementById("role").innerText === "reader"'), 'a reader', one.text())
    same(one.script('return document.getElementById("tasks").checkVisibility()'), False, 'has none')
    one.script('location.hash = "#/tasks"')
    check(one.wait('document.querySelector("main .empty").innerText === "what was done is not shown to readers"'), 'and is told why', one.text('main'))

    # it is killed in the middle
    before = web.tasks()
    begin(two, 'later')
    check(wait_until(lambda: (web.tasks()[0]['progress'] or {}).get('acted')), 'another one is under way', web.tasks()[0])
    second = subprocess.run([program, '--listen', f'unix:{work}/second.sock', '--tasks-file', file], check=False, capture_output=True, text=True)
    same((second.returncode, 'another later-web has it' in second.stderr), (78, True), 'a second later-web does not get the file')
    helpers = [pid for pid in os.listdir('/proc') if pid.isdigit() and (stat(pid) or ('', ''))[1] == str(web.process.pid)]
    web.end(kill=True)
    check(helpers and wait_until(lambda: all((stat(pid) or 'Z')[0] == 'Z' for pid in helpers)), 'it is killed: its helpers end by themselves', helpers)
    count = counts('later')[0]
    web = Web()
    task, *others = web.tasks()
    same(others, before, 'after a kill all are there')
    same((task['words'], task['ended'], task['who']), ('later-web ended in the middle of it', None, 'bearer of the admin token'), 'also the one that was under way')
    check(0 < task['progress']['acted'] <= count < MANY, 'with what it had told', (task, count))
    same(counts('later'), [count, MANY + 40 - count], 'none is lost')
    two.enter(web.where, 'admin')
    show(two)
    check(first(two, 'later-web ended in the middle of it'), 'the page says so', two.text('main'))
    same(two.script('return document.querySelectorAll("main progress").length'), 0, 'it does not seem to run')

    # the bound
    for i in range(510):
        web.ask('resume', {'queue': 'mail'})
    numbers = [task['number'] for task in web.tasks()]
    same(numbers, list(range(task['number'] + 510, task['number'] + 10, -1)), 'the latest 500')
    web.end()
    with open(file, encoding='utf-8') as rows:
        kept = [json.loads(row) for row in rows]
    same((os.stat(file).st_size, os.stat(file).st_mode & 0o777, len(kept)), (500 * 8192, 0o600, 500), 'the file has no more, and is for nobody else')
    same(sorted(row['number'] for row in kept), sorted(numbers), 'a line each')
    web = Web('--read-only')
    same(web.ask('tasks')[0], 403, 'with --read-only everybody is a reader')
finally:
    for browser in browsers:
        browser.close()
    web.end()
