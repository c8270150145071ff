"""web_jobs.py LINK: a job's page that follows, a new job, a pause for a time, the marks of the overview."""
import json
import os
import sys
import time

from web_client import check, redis, run, same, wait_until
from webdriver import Browser

link, work = sys.argv[1], os.environ['work']
base = link.split('#')[0]


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
    check(browser.wait('document.querySelector("main").innerText.includes("There is no such job")'), 'it is gone', browser.text('main'))

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

    browser.go('about:blank')
    browser.go(base)
    check(wait_until(lambda: marks() == [['down', 'pause']] * 2), 'a queue is paused, no laterd is alive', marks())
    tell_host('1', 1000)
    check(browser.wait('document.querySelector(".tiles").innerText.includes("on 1 host")'), 'one comes', browser.text('.tiles'))
    check(wait_until(lambda: marks() == [['down', 'pause', 'start']] * 2), 'it has started', marks())
    tell_host('2', 2000)
    check(wait_until(lambda: marks() == [['down', 'pause', 'start', 'start']] * 2), 'and once more', marks())
    run('resume', 'reports')
    run('pause', 'mail')
    check(wait_until(lambda: marks() == [['down', 'pause', 'pause', 'start', 'start']] * 2), 'another queue is paused', (marks(), browser.text('.queues'), run('size')))
    same([one for one in browser.complaints() if '404' not in one['message']], [], 'nothing is complained of')
finally:
    browser.close()
