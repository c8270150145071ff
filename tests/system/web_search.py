"""web_search.py WHERE: tests the search of later-web at HOST:PORT in Chromium, by clicks and keys."""
import json
import os
import sys
import urllib.parse

from web_client import ask, check, run, same, wait_until
from webdriver import Browser

where, work = sys.argv[1], os.environ['work']
HACK = '<img src=x onerror="window.hacked=1">'

lines = [{'type': 'mail.send' if i % 3 else 'sms.send', 'queue': 'mail', 'id': f'm{i}', 'group': f'g{i % 2}',
          'payload': {'tenant': f'tenant {i % 5}', 'n': i, 'password': 's3cret'}} for i in range(150)]
lines += [{'type': 'report', 'queue': 'slow', 'id': 'r', 'payload': HACK}]
run('push', '--file', '-', input='\n'.join(map(json.dumps, lines)))
run('bury', *(line['id'] for line in lines if line['type'] == 'sms.send'), '-q', 'mail', '--error', HACK)


def api(path, role='operator', body=None):
    origin = {'Origin': f'http://{where}'} if body else {}
    return ask(where, f'/api/1/{path}', body, headers={'Host': where, 'Authorization': f'Bearer 0123456789abcdef-{role}', **origin})


def search(q):
    """Types it into the field, as a person does."""
    browser.script('document.querySelector("#search-field").value = ""')
    browser.type('#search-field', f'{q}\ue007')
    return browser.wait('document.querySelector("main h1").innerText.includes(arguments[0]) && document.querySelector("main [role=status]").innerText.includes(" found;")', q)


def counts():
    """What is counted, by name: rows of a value and a number."""
    return browser.script('''return Object.fromEntries([...document.querySelectorAll(".facets section")].map((e) =>
        [e.querySelector("h3").innerText, [...e.querySelectorAll("li")].map((row) => [...row.children].map((part) => part.innerText))]))''')


def counted(q, total):
    return search(q) and browser.wait('[...document.querySelectorAll("main [role=status]")].some((e) => e.innerText === arguments[0])',
                                      f'{total} {"job matches" if total == 1 else "jobs match"}.')


browser = Browser(work)
try:
    browser.enter(where, 'operator')

    # counts, and a click that narrows
    check(counted('queue:mail', 150), 'what was found is counted by itself', browser.text('main'))
    found = counts()
    same({name: found.get(name) for name in ('state', 'type', 'group', 'queue')},
         {'state': [['ready', '100'], ['dead', '50']], 'type': [['mail.send', '100'], ['sms.send', '50']],
          'group': [['g0', '75'], ['g1', '75']], 'queue': None}, 'by state, type and group, not by the queue that was asked for')
    same(found['kind'], [['buried', '50'], ['none', '100']], 'by the kind of error')
    same(found['host'], [[os.uname().nodename, '50'], ['none', '100']], 'by the host of the error')
    browser.click('sms.send', '.facets')
    check(browser.wait('location.hash === "#/search?" + new URLSearchParams({ q: "queue:mail type:sms.send" })'), 'a click narrows the search',
          browser.script('return location.hash'))
    check(browser.wait('[...document.querySelectorAll("main [role=status]")].some((e) => e.innerText === "50 jobs match.")'), 'to what was counted', browser.text('main'))
    same(browser.script('return [...document.querySelectorAll(".facets a")].map((e) => e.innerText)'), ['g0', 'g1'], 'what all have is no link')
    browser.type('#facet-path', 'payload.tenant\ue007')
    check(browser.wait('document.querySelector(".facets [aria-label=\'By payload.tenant\'] a")'), 'by a tenant, too', browser.text('main'))
    same(counts()['payload.tenant'], [[f'tenant {i}', '10'] for i in range(5)], 'each value and its jobs')
    browser.click('tenant 3', '.facets')
    check(browser.wait('[...document.querySelectorAll("main [role=status]")].some((e) => e.innerText === "10 jobs match.")'), 'and it narrows to one', browser.text('main'))
    same(browser.script('return document.querySelector("#search-field").value'), 'queue:mail type:sms.send where:"payload.tenant=tenant 3"', 'in the language of the search')
    same(browser.script('return document.querySelectorAll("main .jobs tbody tr").length'), 10, 'those are shown')
    check(browser.wait('[...document.querySelectorAll("main .command code")].some((e) => e.innerText === arguments[0])',
                       "later search --count --queue=mail --by=state,type,kind,host,group --type=sms.send '--where=payload.tenant=tenant 3'"), 'its command', browser.text('main'))
    browser.type('#facet-path', 'a"b\ue007')
    check(browser.wait('document.querySelector("main").innerText.includes("--by: a\\"b is not state")'), 'a path that is none is told', browser.text('main'))
    check(counted('queue:slow', 1), 'one job', browser.text('main'))
    browser.type('#facet-path', 'payload\ue007')
    check(browser.wait('document.querySelector(".facets [aria-label=\'By payload\']")?.innerText.includes("onerror")'), 'a hostile value is a text', browser.text('main'))
    same(browser.script('return window.hacked ?? null'), None, 'and does not run')

    # what a reader does not see
    for facets, status in (('payload.password', 403), ('type,payload.n', 403), ('payload', 403), ('type,kind,group,state,queue,host', 200)):
        same(api(f'count?facets={facets}', 'reader')[0], status, f'a reader counts by {facets}')
    same(b's3cret' in api('count?facets=payload.password')[2], True, 'an operator may')
finally:
    browser.close()
