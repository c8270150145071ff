"""web_search.py WHERE AXE: tests the search of later-web at HOST:PORT in Chromium, by clicks and keys.

AXE is the file axe.min.js, or "-".
"""
import json
import os
import re
import sys
import urllib.parse

from checks import check, run, same, wait_until
from web_client import ask
from webdriver import Browser

where, axe, work = *sys.argv[1:3], os.environ['work']
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

    # one walk: what was counted is what it acts on
    def asks(words):
        return browser.wait('document.querySelector("dialog")?.innerText.startsWith(arguments[0])', words)

    def tasks():
        return api('tasks')[2]['tasks']

    check(counted('queue:mail type:sms.send state:dead', 50), 'fifty are dead', browser.text('main'))
    browser.click('Kick all that match', 'main')
    check(asks('Kick 50 dead jobs of queue mail?'), 'it asks when it has looked', browser.text('dialog'))
    same('no others' in browser.text('dialog'), True, 'and says what it acts on')
    run('kick', 'm0', '-q', 'mail')
    run('push', 'sms.send', '-q', 'mail', '--id', 'late')
    run('bury', 'late', '-q', 'mail')
    number = tasks()[0]['number']
    same(tasks()[0]['progress'], {'searched': 50, 'of': 50, 'found': 50, 'asks': 'Kick 50 dead jobs of queue mail'}, 'its task waits')
    browser.click('Kick', 'dialog')
    check(browser.wait('document.querySelector("#notes").innerText.includes("49 jobs are kicked")'), 'forty-nine are still there', browser.text('#notes'))
    same(json.loads(run('show', 'late', '-q', 'mail', '--json'))['state'], 'dead', 'the one that came later is not touched')
    same(run('search', '--count', '-q', 'mail', '--type', 'sms.send', '--state', 'dead').strip(), '1', 'all others are kicked')
    same((tasks()[0]['answers'], tasks()[0]['command']), ([{'queue': 'mail', 'kicked': 49}], 'later kick --queue=mail --state=dead --type=sms.send'),
         'its task says so')
    same(api('go-on', body={'task': str(number)})[0], 404, 'nothing is asked any longer')

    search('queue:mail type:none')
    browser.click('Bury all that match', 'main')
    check(browser.wait('document.querySelector("#notes").innerText.includes("No job is buried")'), 'of none it asks nothing', browser.text('#notes'))
    search('queue:mail type:sms.send state:dead')
    browser.click('Cancel all that match', 'main')
    check(asks('Cancel 1 dead jobs of queue mail for good?'), 'it asks', browser.text('dialog'))
    browser.click('Leave it', 'dialog')
    check(wait_until(lambda: tasks()[0].get('status') == 75), 'no: the task has ended', tasks()[0])
    same((tasks()[0]['words'], tasks()[0]['answers']), ('later cancel: nothing was done', []), 'and has done nothing')
    browser.click('Cancel all that match', 'main')
    check(asks('Cancel 1 dead'), 'once more', browser.text('dialog'))
    browser.go('about:blank')
    check(wait_until(lambda: tasks()[0].get('status') == 75), 'who leaves has not said yes', tasks()[0])
    browser.enter(where, 'operator')
    search('queue:mail type:sms.send state:dead')
    browser.click('Cancel all that match', 'main')
    check(asks('Cancel 1 dead'), 'another one stops it', browser.text('dialog'))
    same(api('stop', body={'task': str(tasks()[0]['number'])})[0], 200, 'while it asks')
    check(browser.wait('!document.querySelector("dialog")'), 'so the question goes', browser.text('dialog'))
    same(json.loads(run('show', 'late', '-q', 'mail', '--json'))['state'], 'dead', 'after all this nothing was done')

    # download
    def downloaded(name, count):
        """The lines of a file, once it is whole."""
        file = f'{work}/down/{name}'
        check(wait_until(lambda: os.path.exists(file) and open(file, encoding='utf-8').read().count('\n') == count), f'{name} has {count} lines', os.listdir(work))
        with open(file, encoding='utf-8') as text:
            lines = text.read()
        os.unlink(file)
        return lines

    os.mkdir(f'{work}/down')
    browser.command('Browser.setDownloadBehavior', behavior='allow', downloadPath=f'{work}/down')
    search('queue:mail type:mail.*')
    browser.click('Download', 'main')
    browser.click('ready', '.download')
    check(browser.wait('document.querySelector("#search-field").value === "queue:mail type:mail.* state:ready"'), 'a file is of one state', browser.text('main'))
    browser.click('Download', 'main .buttons + .buttons')
    check(browser.wait('document.querySelector("#notes").innerText.includes("100 jobs are in later-mail-ready.ndjson")'), 'a download', browser.text('#notes'))
    same(browser.script('return document.querySelector("#notes .note:last-child code").innerText'), "later export --queue=mail --state=ready '--type=mail.*'", 'its command')
    same(downloaded('later-mail-ready.ndjson', 100), run('export', '-q', 'mail', '--state', 'ready', '--type', 'mail.*'), 'has what later export writes')
    search('state:dead payload.n=none')
    browser.click('Download', 'main .buttons + .buttons')
    check(browser.wait('document.querySelector("#notes").innerText.includes("0 jobs are in later-dead.ndjson")'), 'of nothing it is empty', browser.text('#notes'))
    status, headers, text = api('export-queue?queue=mail&state=dead')
    same((status, headers['content-type'], headers['content-disposition'], headers['later-command']),
         (200, 'application/x-ndjson', 'attachment; filename="later-dead.ndjson"', 'later export --queue=mail --state=dead'), 'a browser saves it')
    same(text.decode(), run('export', '-q', 'mail', '--state', 'dead'), 'as it is')
    status, headers, answer = api('export?glob=none')
    same((status, answer['status'], 'content-disposition' in headers), (400, 64, False), 'what is refused is no file')
    run('push', '--file', '-', input=json.dumps({'queue': 'odd', 'id': 'b64', 'document_base64': 'eyJ0eXBlIjoidCIsCiJwYXlsb2FkIjp7InBhc3N3b3JkIjoiczNjcmV0In19'}))
    same('document_base64' in run('export', '-q', 'odd', '--state', 'ready'), True, 'a document in base64')
    for path, count in (('export?state=ready', 152), ('export-queue?queue=odd&state=ready', 1)):
        text = api(path, 'reader')[2].decode()
        same((len(text.splitlines()), 's3cret' in text, 'czNjcmV0' in text or 'eyJ0eXBl' in text, '***' in text), (count, False, False, True), f'a reader: {path}: masked')
        same([bool(json.loads(line)) for line in text.splitlines()], [True] * count, 'each line is JSON')
    same(api('export?state=ready&where=payload.password=s3cret', 'reader')[0], 403, 'who may not look for it, may not download it')
    big = ''.join(json.dumps({'type': 'big', 'queue': 'big', 'id': f'big{i}', 'payload': 'x' * 900000}) + '\n' for i in range(38))
    run('push', '--file', '-', input=big)
    search('queue:big state:ready limit:1')
    browser.click('Download', 'main .buttons + .buttons')
    check(browser.wait('document.querySelector("#notes").innerText.includes("It broke off")'), 'one that is too large breaks off, and says so', browser.text('#notes'))
    same(os.listdir(f'{work}/down'), ['later-dead.ndjson'], 'and is no file')

    # columns
    def heads():
        return browser.script('return [...document.querySelectorAll("main .jobs thead th")].map((e) => e.innerText)')

    def first(cells):
        """Shows the first row these cells, in its own columns?"""
        return wait_until(lambda: browser.script('return [...(document.querySelector("main .jobs tbody tr")?.querySelectorAll(".own") ?? [])].map((e) => e.innerText)') == cells)

    def choose():
        """Opens the choice of columns. What is counted may come above it and move it away from under a click."""
        for _ in range(5):
            browser.click('Columns', 'main')
            if browser.wait('document.querySelector("main .columns").open', seconds=10):
                return

    search('queue:mail payload.n=7')
    usual = heads()
    same(usual, ['Choose', 'Job', 'State', 'Type', 'When', 'Attempts', 'Error or payload'], 'the usual columns')
    choose()
    browser.script('for (const name of ["type", "group"]) document.querySelector(`.columns [name=${name}]`).click()')
    browser.type('.columns [name=paths]', 'payload.tenant, payload.n\ue007')
    check(first(['mail.send', 'g1', 'tenant 2', '7']), 'others are chosen, of the document, too', browser.text('main'))
    same(heads(), ['Choose', 'Job', 'type', 'group', 'payload.tenant', 'payload.n'], 'with their names')
    browser.script('location.hash = "#/queue?name=slow"')
    check(first(['report', '–', '–', '–']), 'in all lists of jobs', browser.text('main'))
    search('queue:slow columns:priority,payload')
    check(first(['0', HACK]), 'a search has its own; a hostile value is a text', browser.text('main'))
    same(browser.script('return window.hacked ?? null'), None, 'that does not run')
    choose()
    browser.script('document.querySelector(".columns [name=state]").click()')
    browser.click('Show these', 'main')
    check(browser.wait('document.querySelector("#search-field").value === "queue:slow columns:id,state,priority,payload"'), 'which are in its words', browser.script(f'return location.hash'))
    check(first(['● ready', '0', HACK]), 'when others are chosen', browser.text('main'))
    search('queue:slow columns:a,"b"')
    check(browser.wait('document.querySelector("main [role=alert]").innerText.includes("columns: names with commas")'), 'what is no name is told', browser.text('main'))

    # saved searches
    def notes(words):
        return browser.wait('document.querySelector("#notes").innerText.includes(arguments[0])', words)

    def save(q, name):
        search(q)
        browser.type('#save-name', f'{name}\ue007')

    save('queue:mail type:mail.*|sms.* -kind:bad limit:20', 'by tenant')
    check(notes('It is saved as by tenant'), 'a search is saved', browser.text('#notes'))
    same(run('search', '--saved'), 'by tenant\tqueue:mail number:20 columns:id,state,priority,payload type:mail.* type:sms.* not:kind:bad\n', 'with the columns that are shown')
    save('queue:mail "tenant 4" columns:payload.tenant', 'of four')
    check(notes('It is saved as of four'), 'another one', browser.text('#notes'))
    save('queue:mail payload.tenant=x', 'of four')
    browser.click('Leave it', 'dialog')
    same('tenant=x' in run('search', '--saved'), False, 'it asks before it replaces one')
    save('queue:mail state:ready', 'short')
    check(notes('It is saved as short'), 'a third one', browser.text('#notes'))
    browser.click('Saved searches', 'main')
    def listed():
        return browser.script('return [...document.querySelectorAll("[aria-label=\'Saved searches\'] tbody tr")].map((e) => e.innerText.split("\\t").slice(0, 2).map((part) => part.trim()))')
    wanted = [['by tenant', 'queue:mail limit:20 columns:id,state,priority,payload type:mail.*|sms.* -kind:bad'],
              ['of four', 'queue:mail columns:payload.tenant text:"tenant 4"'], ['short', 'queue:mail columns:id,state,priority,payload state:ready']]
    check(wait_until(lambda: listed() == wanted), 'all are listed in the words of the search', listed())
    browser.click('of four', 'main')
    check(first(['tenant 4']), 'and used by a click', browser.text('main'))
    browser.script('location.hash = "#/search"')
    browser.wait('document.querySelector("[aria-label=\'Remove short\']")')
    browser.script('document.querySelector("[aria-label=\'Remove short\']").click()')
    browser.click('Remove', 'dialog')
    check(wait_until(lambda: [one[0] for one in listed()] == ['by tenant', 'of four']), 'one is removed', listed())
    search('queue:mail')
    choose()
    browser.click('The usual ones', 'main')
    check(wait_until(lambda: heads() == usual), 'the usual columns again', heads())

    # completion, by keys
    FIELD = 'document.querySelector("#search-field")'

    def offers():
        """The words that are offered, and which of them is chosen."""
        return browser.script('''const all = [...document.querySelectorAll("#completions li")];
            return [all.map((e) => e.querySelector("b").innerText), all.find((e) => e.getAttribute("aria-selected") === "true")?.querySelector("b").innerText ?? null,
                    document.querySelector("#search-field").getAttribute("aria-expanded")]''')

    def offered(words, chosen=None):
        return wait_until(lambda: offers() == [words, chosen, str(bool(words)).lower()])

    def typed(text):
        browser.script(f'{FIELD}.value = ""; {FIELD}.focus()')
        browser.type('#search-field', text)

    typed('st')
    check(offered(['state:', 'host:']), 'the name of a condition is offered', offers())
    browser.press('ArrowDown')
    check(offered(['state:', 'host:'], 'state:'), 'and chosen by a key', offers())
    same(browser.script(f'return document.getElementById({FIELD}.getAttribute("aria-activedescendant")).innerText.startsWith("state:")'), True, 'which a screen reader is told')
    browser.press('Enter')
    check(offered(['ready', 'delayed', 'reserved', 'dead', 'waiting', 'done']), 'then its values', offers())
    browser.press('d')
    check(offered(['delayed', 'dead', 'done', 'ready', 'reserved']), 'those that begin so come first', offers())
    browser.press('ArrowUp')
    check(offered(['delayed', 'dead', 'done', 'ready', 'reserved'], 'reserved'), 'the last one', offers())
    browser.press('ArrowDown', 'ArrowDown', 'ArrowDown')
    check(offered(['delayed', 'dead', 'done', 'ready', 'reserved'], 'dead'), 'round to the second', offers())
    browser.press('Tab')
    same([browser.script(f'return {FIELD}.value'), *offers()], ['state:dead ', [], None, 'false'], 'is in the field, and nothing is offered any more')
    browser.type('#search-field', '-ki')
    check(offered(['kind:']), 'after a minus, too', offers())
    browser.press('ArrowDown', 'Enter')
    kinds = re.search('is not one of ([a-z, ]+)', api('count?kind=x')[2].decode())[1].split(', ')
    check(wait_until(lambda: sorted(offers()[0]) == sorted(kinds)), 'all kinds of error', (offers(), kinds))
    browser.press('Escape')
    same([offers()[2], browser.script(f'return document.activeElement === {FIELD}')], ['false', True], 'Escape closes the list, and no more')
    browser.press('Escape')
    same(browser.script(f'return document.activeElement === {FIELD}'), False, 'a second one leaves the field')
    typed('-o')
    check(offered(['host:', 'priority:']), 'what cannot be turned round is not offered', offers())
    typed('queue:ma')
    check(offered(['mail']), 'a queue', offers())
    browser.script('document.querySelector("#completions li").dispatchEvent(new MouseEvent("mousedown", { bubbles: true, cancelable: true }))')
    browser.script('document.querySelector("#completions li").click()')
    same(browser.script(f'return [{FIELD}.value, document.activeElement === {FIELD}]'), ['queue:mail ', True], 'by a click, and one stays in the field')
    typed('"type:m')
    same(offers()[0], [], 'nothing within quotes')
    typed('type:mail.send|re')
    run('push', 'report.done', '-q', 'done')
    run('work', 'done', '--until-empty', '--', 'true')  # so that a type has a history
    check(wait_until(lambda: 'report.done' in json.dumps(api('types?since=1d')[2])), 'a type is performed')
    typed('type:mail.send|re')
    check(offered(['report.done']), 'and offered, after a bar, though the page has asked just before', offers())
    typed('kind')
    check(offered(['kind:']), 'what is not chosen', offers())
    browser.press('Enter')
    check(browser.wait('location.hash === "#/search?q=kind"'), 'is not taken: Enter searches', browser.script('return location.hash'))
    same(offers()[0], [], 'and closes the list')
    if axe != '-':
        browser.command('Page.setBypassCSP', enabled=True)
        browser.enter(where, 'operator')
        with open(axe, encoding='utf-8') as file:
            browser.script(file.read())
        for width, dark in ((1280, False), (360, True)):
            browser.look(width, 800, dark)
            counted('queue:mail type:sms.send', 51)
            browser.click('Download', 'main')
            typed('type:mail.send s')
            check(wait_until(lambda: offers()[0][:1] == ['state:']), 'a list is open', offers())
            browser.press('ArrowDown')
            browser.script('document.querySelectorAll("main details").forEach((e) => { e.open = true; })')
            same(browser.axe(), [], f'axe: with all that is open, {width} px')
            check(browser.script('return document.documentElement.scrollWidth') <= width, f'it is no wider than {width} px')
            browser.script('document.querySelector(".columns [name=host]").checked = true; document.querySelector(".columns [type=submit]").click()')
            check(browser.wait('document.querySelector("main .jobs .own")'), 'with columns that were chosen', browser.text('main'))
            same(browser.axe(), [], f'axe: with these, {width} px')
            check(browser.script('return document.documentElement.scrollWidth') <= width, f'and that is no wider than {width} px')
            browser.script('location.hash = "#/search"')
            check(browser.wait('document.querySelector("[aria-label^=Remove]")'), 'the saved ones')
            same(browser.axe(), [], f'axe: the saved ones, {width} px')
            check(browser.script('return document.documentElement.scrollWidth') <= width, f'and they are no wider than {width} px')

    # what a reader does not see
    for facets, status in (('payload.password', 403), ('type,payload.n', 403), ('payload', 403), ('type,kind,group,state,queue,host', 200)):
        same(api(f'count?facets={facets}', 'reader')[0], status, f'a reader counts by {facets}')
    same(b's3cret' in api('count?facets=payload.password')[2], True, 'an operator may')
    for act in ('search-save', 'search-unsave'):
        same(api(act, 'reader', {'search': 'of four'})[0], 403, f'a reader may not {act}')
    same([(one['search'], one.get('looks_inside')) for one in api('searches', 'reader')[2]['answers']], [('by tenant', None), ('of four', '***')], 'nor see what looks into jobs')
    browser.enter(where, 'reader')
    browser.script('location.hash = "#/search"')
    check(browser.wait('document.querySelector("[aria-label=\'Saved searches\'] tbody tr")'), 'the list of a reader', browser.text('main'))
    same(browser.script('return [[...document.querySelectorAll("[aria-label=\'Saved searches\'] tbody a")].map((e) => e.innerText), document.querySelectorAll("main button[aria-label^=Remove]").length]'), [['by tenant'], 0], 'has what a reader may use')
    browser.click('by tenant', 'main')
    check(browser.wait('document.querySelectorAll("main .jobs tbody tr").length === 20'), 'and it is used', browser.text('main'))
    search('queue:mail state:ready limit:1 columns:payload.password,payload.tenant')
    check(wait_until(lambda: browser.script('return document.querySelector("main .jobs tbody .own")?.innerText') == '***'), 'a column of what is masked is masked', browser.text('main'))
finally:
    browser.close()
