"""web_jobs.py LINK: a job's page that follows, a new job, a pause for a time, of a type, why a job does not run, the marks of the overview."""
import json
import os
import re
import sys
import time

from checks import check, redis, run, same, wait_until
from webdriver import Browser

link, work = sys.argv[1], os.environ['work']
base = link.split('#')[0]
REASON = 'no <img src=x onerror="window.hacked=1">'


def reserve(queue):
    return json.loads(run('reserve', queue, '--lease', '1h', '--json'))


def heading():
    return browser.text('main h1')


def tell_host(version, started):
    redis('HSET', 'later:hosts', 'web1:1', json.dumps({
        'host': 'web1', 'pid': 1, 'version': version, 'seen': time.time() + 3600, 'started': started, 'workers': 2, 'running': 0,
        'performed': 0, 'failed': 0, 'rate': 0, 'queues': ['mail']}))


run('push', 'mail.send', '{"to":"ann"}', '-q', 'mail', '--id', 'one', '--description', 'To <b>Ann</b>')
browser = Browser(work)
try:
    # a job's page follows it, and leaves alone whoever is there by keyboard or writes
    browser.go(link)
    browser.wait('document.querySelector("#connection.live")')
    browser.go(f'{base}#/job?id=one&queue=mail')
    check(browser.wait('document.querySelector("h1 .state.ready")'), 'a job that waits', heading())
    same(browser.script('return document.querySelector("dl.facts").innerText.includes("mail.send")'), True, 'its facts')
    check('To <b>Ann</b>' in browser.text('dl.facts'), 'and its description', browser.text('dl.facts'))
    browser.script('[...document.querySelectorAll("main button")].find((e) => e.innerText === "as it was pushed").click();'
                   'document.querySelector("pre.document").focus()')
    held = reserve('mail')
    check(browser.wait('document.querySelector("h1 .state.reserved")'), 'it is taken: the page says so by itself', heading())
    same(browser.script('return [document.activeElement.className, document.activeElement.innerText]'),
         ['document', '{"type":"mail.send","id":"one","description":"To <b>Ann</b>","payload":{"to":"ann"}}'], 'who reads its document stays there')
    browser.click('Edit and push again', 'main')
    browser.script('const e = document.querySelector(".edit [name=payload]"); e.value = "typed"; e.focus()')
    run('bury', 'one', '--token', held['token'], '-q', 'mail', '--error', 'no such <b>address</b>')
    check(browser.wait('document.querySelector("h1 .state.dead")'), 'it dies', heading())
    same(browser.text('p.error.lead').split(': ', 1)[-1], 'no such <b>address</b>', 'and why')
    check('Attempt 1: buried' in browser.text('.timeline'), 'and what happened', browser.text('.timeline'))
    same(browser.script('return [document.activeElement.name, document.activeElement.value]'), ['payload', 'typed'], 'who writes goes on')
    same(browser.script('return [...document.querySelectorAll("main > *")].map((e) => e.tagName + (e.className && "." + e.className))'),
         ['H1.id', 'P.error lead', 'DL.facts', 'P.buttons', 'SECTION', 'SECTION', 'DETAILS.edit-box', 'P.command'], 'each part once, in its order')
    lines = [{'at': 1764000000.5, 'attempt': 1, 'level': 'warn', 'text': 'to <b>ann</b>'}]
    redis('HSET', 'later:{mail}:records', 'one', 'a=1\no=' + json.dumps({'dropped': 2, 'lines': lines}) + '\n')
    check(browser.wait('document.querySelector("pre.log")'), 'what it has logged', browser.text('main'))
    check(browser.text('pre.log').endswith(' warn: to <b>ann</b>'), 'as it was said', browser.text('pre.log'))
    check('2 earlier lines are not kept' in browser.text('main'), 'and how much is not there', browser.text('main'))
    browser.click('Kick', 'main')
    check(browser.wait('document.querySelector("h1 .state.ready")'), 'kick', heading())
    run('cancel', 'one', '-q', 'mail')
    check(browser.wait('document.querySelector("main").innerText.includes("no job one in queue mail")'), 'it is gone', browser.text('main'))
    check('It was ready at ' in browser.text('main'), 'as it was seen last', browser.text('main'))
    check('later wait --queue=mail one' in browser.text('main'), 'how to ask for its result', browser.text('main'))
    browser.script('location.hash = "#/job?id=never&queue=mail"')
    check(browser.wait('document.querySelector("main").innerText.includes("no job never in queue mail: it has ended or been cancelled, or never existed")'), 'of another nothing is known', browser.text('main'))
    check('types.keep' in browser.text('main'), 'and what would keep it', browser.text('main'))

    # what a done job that is kept has given back
    value, ended = '{"n":12345678901234567890,"x":"</pre><img src=x onerror=\\"window.hacked=1\\">"}', f'{time.time():.6f}'
    redis('ZADD', 'later:{mail}:done', str(time.time() + 86400), 'gave')
    redis('HSET', 'later:{mail}:kept', 'gave', f'k={{"at":{ended},"attempt":1,"ms":12.5,"host":"one"}}\n\n{{"type":"mail.send","id":"gave","payload":1}}')
    redis('LPUSH', 'later:{mail}:result:gave', f'{{"state":"done","attempt":1,"at":{ended}}}\n{value}')
    browser.go(f'{base}#/job?id=gave&queue=mail')
    check(browser.wait('document.querySelector("pre.result")'), 'a done job that is kept: what it has given back', browser.text('main'))
    same(browser.text('pre.result'), '{\n  "n": 12345678901234567890,\n  "x": "</pre><img src=x onerror=\\"window.hacked=1\\">"\n}', 'each digit, and as a text')
    browser.click('as it was given back', 'main')
    same(browser.text('pre.result'), value, 'byte for byte')
    same(browser.script('return [window.hacked ?? null, document.querySelectorAll("main img").length]'), [None, 0], 'which does not run')
    redis('DEL', 'later:{mail}:result:gave')
    check(browser.wait('!document.querySelector("pre.result")'), 'its time is over', browser.text('main'))

    # a new job from nothing; a list shows a description in the place of the payload
    run('push', 'mail.send', '7', '-q', 'mail', '--id', 'two', '--description', 'To <b>Bo</b>')
    browser.go(f'{base}#/queue?name=mail')
    check(browser.wait('[...document.querySelectorAll("td.words")].some((e) => e.innerText === "To <b>Bo</b>")'), 'a list has descriptions',
          browser.text('main'))
    run('cancel', 'two', '-q', 'mail')
    browser.click('New job', 'main')
    check(browser.wait('document.querySelector("#new-queue")?.value === "mail"'), 'a form for a new job of this queue', browser.text('main'))
    browser.click('Push a new job', 'main')
    check(browser.wait('document.querySelector("#edit-type-wrong").innerText === "a job has one"'), 'a job needs a type', browser.text('main'))
    for name, text in (('type', 'report.make'), ('payload', '{"n": 12345678901234567890}'), ('in', '1h')):
        browser.script('document.querySelector(`.edit [name=${arguments[0]}]`).value = arguments[1]', name, text)
    browser.script('const e = document.querySelector("#new-queue"); e.value = "reports"; e.dispatchEvent(new Event("input"))')
    browser.click('Push a new job', 'main')
    check(browser.wait('document.querySelector("h1 .state.delayed") && location.hash.includes("queue=reports")'), 'its page', browser.text('main'))
    check('{"n": 12345678901234567890}' in run('peek', 'reports', '--state', 'delayed', '--json').replace('\\"', '"'), 'it is there as it was typed',
          run('peek', 'reports', '--state', 'delayed', '--json'))

    # a pause for a time
    browser.go(f'{base}#/queue?name=reports')
    browser.wait('document.querySelector("[aria-label=\\"Pause for how long\\"]")')
    browser.script('document.querySelector("[aria-label=\\"Pause for how long\\"]").value = "15m"')
    browser.click('Pause', 'main')
    check(browser.wait('document.querySelector("#notes").innerText.includes("later pause --for=15m reports")'), 'a pause for a time', browser.text('#notes'))
    check(wait_until(lambda: 0 < int(redis('TTL', 'later:{reports}:paused') or 0) <= 900), 'which ends by itself', redis('TTL', 'later:{reports}:paused'))
    check(browser.wait('[...document.querySelectorAll("main button")].some((e) => e.innerText === "Resume") &&'
                       ' !document.querySelector("[aria-label=\\"Pause for how long\\"]").checkVisibility()'), 'the page follows', browser.text('main'))

    # a pause of a type, by keyboard
    def held():
        return json.loads(run('size', 'mail', '--json')).get('paused_types', [])

    for kind, name, more in (('mail.bulk', 'bulk', ()), ('report', 'both', ('--lock', 'door', '--in', '1h')), ('mail.bulk', 'planned', ('--in', '1h'))):
        run('push', kind, '-q', 'mail', '--id', name, *more)
    browser.go(f'{base}#/queue?name=mail')
    browser.wait('[...document.querySelectorAll("main button")].find((e) => e.innerText === "Pause a type")?.focus() ?? document.activeElement.innerText === "Pause a type"')
    browser.press('Enter')
    check(browser.wait('document.activeElement.id === "pause-glob"'), 'which type is asked', browser.text())
    browser.type('#pause-glob', 'mail?')
    browser.press('Enter')
    check(browser.wait('document.querySelector("dialog .error").innerText.startsWith("type: a type, or how types begin")'), 'what is wrong is told there', browser.text('dialog'))
    browser.script('document.querySelector("#pause-glob").value = "mail.bulk"; document.querySelector("#pause-for").value = "8h"')
    browser.type('#pause-reason', f'{REASON}\ue007')
    check(browser.wait('document.querySelector("#notes").innerText.includes(arguments[0])', f"later pause --type=mail.bulk --for=8h '--reason={REASON}' mail"),
          'its command is shown', browser.text('#notes'))
    check(wait_until(held), 'it is paused', run('size', 'mail', '--json'))
    [one] = held()
    same((one['type'], one['reason'], round((one['until'] - one['since']) / 3600)), ('mail.bulk', REASON, 8), 'for a time, with a reason')
    cells = 'Object.fromEntries([...document.querySelector("[aria-label=\\"Paused types\\"] tbody tr").cells].map((e) => [e.dataset.head, e.innerText]))'
    check(browser.wait(f'{cells}.Type === "❚❚ mail.bulk"'), 'the page of the queue says so', browser.text('main'))
    told = browser.script(f'return {cells}')
    same([told['By'], told['Reason'], told['Since'] != told['Until']], [one['by'], REASON, True], 'by whom, why')
    same(browser.script('return [...arguments].map((at) => new Date(at * 1000).toTimeString().slice(0, 8))', one['since'], one['until']),
         [told[name][-8:] for name in ('Since', 'Until')], 'since when, until when')

    # a job's page has every reason that later show has
    def plain(text):
        return re.sub(r'[0-9.]+ (ms|s|min|h|d)\b', 'a time', text)

    def whys(name):
        why = json.loads(run('show', name, '-q', 'mail', '--json'))['why']
        return [why, *why['also']]

    run('pause', 'mail', '--by', 'ann')
    run('push', '--flow', 'books', '--file', '-', '-q', 'mail', input='\n'.join(json.dumps(step) for step in [
        {'type': 'note', 'step': 'a'}, {'type': 'note', 'step': 'b', 'after': ['a']}]))
    redis('HSET', 'later:lock:{door}', 'token', 't', 'owner', 'web1 mail other', 'since', f'{time.time() - 7200:.6f}', 'ttl', '30')
    redis('PEXPIRE', 'later:lock:{door}', '36000000')
    redis('ZADD', 'later:lock:{door}:waiting', '1', 'mail both')
    found = set()
    for name in ('bulk', 'both', 'planned', 'books.b'):
        browser.go(f'{base}#/job?id={name}&queue=mail')
        want = [plain(why['text']) for why in whys(name)]
        found.update(why['reason'] for why in whys(name))
        check(len(want) > 1 and browser.wait('document.querySelector("p.why")'), f'{name}: it has reasons', (want, browser.text('main')))
        same(plain(browser.text('p.why')), f'Why it does not run: {"; ".join(want)}', f'{name}: all of them')
    check(found >= {'paused', 'type_paused', 'lock', 'no_laterd', 'due', 'flow'}, 'of different kinds', found)
    redis('DEL', 'later:lock:{door}', 'later:lock:{door}:waiting')
    for name in ('books.b', 'books.a', 'both', 'planned'):
        run('cancel', name, '-q', 'mail')
    run('resume', 'mail')

    # on the overview; it is ended by Enter
    browser.go(f'{base}#/')
    check(browser.wait('[...document.querySelectorAll(".queues tr")].find((e) => e.innerText.startsWith("mail"))?.querySelector(".paused")?.innerText.trim() === "❚❚ mail.bulk"'),
          'the overview says which type', browser.text('.queues'))
    check(REASON in browser.script('return document.querySelector(".queues .paused[title]").title'), 'and why')
    browser.go(f'{base}#/queue?name=mail')
    browser.wait('document.querySelector("[aria-label=\\"Resume mail.bulk\\"]")')
    browser.script('document.querySelector("[aria-label=\\"Resume mail.bulk\\"]").focus()')
    browser.press('Enter')
    check(wait_until(lambda: not held()), 'it is resumed', held())
    check(browser.wait('!document.querySelector("[aria-label=\\"Paused types\\"]").checkVisibility()'), 'the page shows it', browser.text('main'))
    same(browser.script('return [window.hacked ?? null, document.querySelectorAll("main img").length]'), [None, 0], 'and no reason runs')
    run('cancel', 'bulk', '-q', 'mail')

    # what has failed and will be tried again, of all queues
    held = [reserve(run('push', 't', '-q', queue, '--id', f'again-{queue}') and queue) for queue in ('red', 'blue')]
    for one, queue in zip(held, ('red', 'blue')):
        run('release', one['id'], '--token', one['token'], '-q', queue, '--in', '1h')
    browser.go(f'{base}#/dead')
    browser.click('Retrying', 'main')
    check(browser.wait('document.querySelector("main .facts")?.innerText.includes("that is all") && document.querySelectorAll("main .jobs tbody tr").length === 2'),
          'what is tried again', browser.text('main'))
    same(browser.script('return [...document.querySelectorAll("main .jobs tbody th")].map((e) => e.innerText).sort()'), ['again-blue', 'again-red'], 'of all queues')

    # what happened, on the overview's curves
    def marks():
        return browser.script('return [...document.querySelectorAll(".plot")].map((plot) => [...plot.querySelectorAll(".mark")].map((e) => e.className.split(" ")[1]).sort())')

    def number_lasts():
        """Until where the first curve's mark of it goes, in percent: 100 is now."""
        return browser.script('const { left, width } = document.querySelector(".plot .mark.set").style; return parseFloat(left) + parseFloat(width)')

    def note(what, words):
        """As later set and later unset note it, which need a laterd."""
        now = time.time()
        redis('ZADD', 'later:marks', f'{now:.3f}', f'{what} {1000 * now:.0f} {words}')

    browser.go('about:blank')
    redis('DEL', 'later:marks')
    note('set', '0 max_running type:bulk')
    run('pause', 'mail', '--type', 'bulk.*')
    browser.go(base)
    check(wait_until(lambda: marks() == [['down', 'pause', 'pause', 'set']] * 2), 'a queue and a type are paused, a number is set, no laterd is alive', marks())
    tell_host('1', 1000)
    check(browser.wait('document.querySelector(".tiles").innerText.includes("on 1 host")'), 'one comes', browser.text('.tiles'))
    check(wait_until(lambda: marks() == [['down', 'pause', 'pause', 'set', 'start']] * 2), 'it has started', marks())
    tell_host('2', 2000)
    check(wait_until(lambda: marks() == [['down', 'pause', 'pause', 'set', 'start', 'start']] * 2), 'and once more', marks())
    run('resume', 'reports')
    run('pause', 'mail')
    check(wait_until(lambda: marks() == [['down', 'pause', 'pause', 'pause', 'set', 'start', 'start']] * 2), 'another queue is paused', (marks(), browser.text('.queues'), run('size')))
    check(number_lasts() > 99.9, 'the number is still set', number_lasts())
    note('unset', 'max_running type:bulk')
    check(wait_until(lambda: number_lasts() < 99.9), 'it is not any longer', number_lasts())
    same([one for one in browser.complaints() if '404' not in one['message'] and 'type-pause' not in one['message']], [], 'nothing is complained of')
finally:
    browser.close()
