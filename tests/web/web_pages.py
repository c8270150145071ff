"""web_pages.py LINK AXE: tests later-web's pages in Chromium, with normal and with hostile data.

LINK is what later-web printed, with the token. AXE is the file axe.min.js, or "-".
"""
import http.server
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.parse

from checks import check, redis, run, same, wait_until
from webdriver import Browser

link, axe = sys.argv[1], sys.argv[2]
base = link.split('#')[0]
work = os.environ['work']
soak = bool(os.environ.get('LATER_SOAK'))

# ---- hostile data: each piece would set window.hacked, or break the page

HACK = 'window.hacked=1'
hostile = [
    f'<script>{HACK}</script>', f'</script><script>{HACK}</script>', f'"><script>{HACK}</script>',
    f"'><img src=x onerror='{HACK}'>", f'<img src=x onerror="{HACK}">', f'<svg onload="{HACK}">',
    f'<svg><script>{HACK}</script></svg>', f'<iframe srcdoc="<script>parent.hacked=1</script>">',
    f'<a href="javascript:{HACK}">x</a>', f'javascript:{HACK}', f'<body onload={HACK}>',
    f'<details open ontoggle={HACK}>', f'<input autofocus onfocus={HACK}>',
    f'<math><mtext><table><mglyph><style><img src=x onerror={HACK}>', f'<style>*{{display:none}}</style>',
    '<link rel=stylesheet href=//evil.test/x.css>', '<base href=//evil.test/>',
    '<meta http-equiv=refresh content="0;url=//evil.test/">', '<form action=//evil.test><button>x',
    '<object data=//evil.test>', '<embed src=//evil.test>', '<template><script>1</script></template>',
    '<!--', '-->', ']]>', '<![CDATA[', '&lt;script&gt;', '&#x3c;script&#x3e;', '{{7*7}}', '${7*7}',
    '`${window.hacked=1}`', '__proto__', 'constructor', '\u202etxt.exe', '\u2066\u2069\u200f', '\u0000\u0007\u001b[2J',
    'Z\u0351\u0352\u0353' * 50, '\ud83d\ude00\u200d\u2764', '\ufeff', '\u2028\u2029', 'a' * 100000, ' ' * 1000,
    '\n' * 1000, '\\', '"', "'", '%s%n%x', '../../../etc/passwd', "'; DROP TABLE jobs; --",
]
hostile = [text.replace('\ud83d\ude00', '😀') for text in hostile]

for i in range(4):
    run('push', 'mail.send', f'{{"to":"a{i}@b.c","n":12345678901234567890}}', '-q', 'mail', '--id', f'job-{i:03}')
lines = [json.dumps({'type': 'mail.send', 'queue': 'mail', 'id': f'job-{i:03}', 'payload': {'to': f'a{i}@b.c'}})
         for i in range(4, 120)]
lines += [json.dumps({'type': 'hostile', 'queue': 'hostile', 'id': f'h{i}', 'payload': {'v': text} if '\0' in text else {text: text}})
          for i, text in enumerate(hostile)]
run('push', '--file', '-', input='\n'.join(lines))
run('push', 'report', '-q', 'slow', '--id', 'due', '--in', '1h')
run('cron', 'set', 'far', '*/15 9-17 * * mon-fri', 'report', '-q', 'slow', '--from', '2100-01-01T00:00:00Z')
for i, error in enumerate(hostile[:12]):  # none of these contains a NUL
    run('push', 't', '-q', 'dead', '--id', f'dead{i}')
    taken = json.loads(run('reserve', 'dead', '--json'))
    run('bury', taken['id'], '--token', taken['token'], '-q', 'dead', '--error', error)
# A job that failed five times and was kicked before the last of them.
run('push', 't', '-q', 'failing', '--id', 'failing')
taken = json.loads(run('reserve', 'failing', '--json'))
run('bury', 'failing', '--token', taken['token'], '-q', 'failing')
then = time.time() - 1000
last = {'at': then + 63, 'attempt': 1, 'kind': 'buried', 'text': 'no such address', 'host': 'two'}
redis('ZADD', 'later:{failing}:dead', f'{then + 64:.6f}', 'failing')
redis('HSET', 'later:{failing}:records', 'failing', f'a=1\ne={json.dumps(last)}\nh=' + json.dumps([
    {'at': then + 30, 'attempt': 5, 'kind': 'retry', 'text': hostile[4], 'host': 'two'},
    {'at': then + 10, 'attempt': 4, 'ms': 500},
    {'at': then - 0.5, 'attempt': 3, 'kind': 'timeout', 'text': 'over its time', 'host': 'one', 'ms': 5000}]) + '\n')
run('push', 't', '-q', 'held', '--id', 'held')
run('reserve', 'held', '--lease', '1h')
redis('ZADD', 'later:{hostile}:ready', '5', '{\x01\xff not even JSON <script>window.hacked=1</script>')
now = time.time()
for i, name in enumerate(['one', hostile[4], hostile[33]]):
    redis('HSET', 'later:hosts', f'{name}:{i}', json.dumps({
        'host': name, 'pid': i, 'version': hostile[0], 'seen': now + 3600, 'started': now - 90, 'workers': 2,
        'running': 1, 'performed': 10, 'failed': 1, 'rate': 1.5, 'queues': [hostile[0], 'mail'],
        'fault': hostile[4] if i else None}))

# ---- a page of another site, whose name leads here

heard = []  # what browsers tell it


class Evil(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        heard.append(str(self.headers))
        self.send_response(200)
        self.send_header('Content-Type', 'text/html')
        self.end_headers()
        self.wfile.write(f'''<title>evil</title><form id=f method=post enctype=text/plain target=t
            action="{base}api/1/pause"><input name='{{"queue":"mail","x":"' value='"}}'></form>
            <iframe name=t></iframe><iframe id=i src="{base}"></iframe>
            <script>document.getElementById("f").submit();
            const to = (type) => fetch("{base}api/1/pause", {{method: "POST", mode: type ? "cors" :
                "no-cors", credentials: "include", headers: type ? {{"Content-Type": type}} : {{}},
                body: '{{"queue":"mail"}}'}}).then((a) => a.status, (e) => "refused");
            Promise.all([to(null), to("application/json"), fetch("{base}api/1/queues",
                {{credentials: "include"}}).then((a) => a.text(), () => "unread")])
                .then((all) => {{ document.title = JSON.stringify(all); }});</script>'''.encode())

    def log_message(self, *_):
        pass


evil = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Evil)
threading.Thread(target=evil.serve_forever, daemon=True).start()

# ---- the browser

browser = Browser(work, options=['--host-resolver-rules=MAP evil.test 127.0.0.1'])
browser.command('Page.enable')
browser.command('Page.addScriptToEvaluateOnNewDocument', source='''
    window.violations = [];
    addEventListener('securitypolicyviolation', (e) => violations.push(e.violatedDirective + ' ' +
        e.blockedURI + ' ' + e.sourceFile));''')
PAGES = ['', 'running', 'dead', 'hosts', 'redis', 'locks', 'tasks', 'cron', 'history', 'history?since=7d&queue=mail',
         'queue?name=mail', 'queue?name=hostile', 'queue?name=dead&state=dead',
         'job?id=job-000&queue=mail', 'job?id=dead4&queue=dead', 'job?id=failing&queue=failing',
         'job?id=kept&queue=mail', 'search?q=type%3Ahostile', 'flows', 'flow?name=night&queue=steps', 'nothing']


def settled():
    return browser.wait('document.querySelector("main h1") && document.querySelector("#connection.live") &&'
                        ' document.querySelector("main").getAttribute("aria-busy") === "false"')


def go(page):
    if browser.script('return location.href').startswith(base):
        browser.script("""document.querySelector("main").replaceChildren();
            if (location.hash === arguments[0]) dispatchEvent(new Event("hashchange"));
            else location.hash = arguments[0];""", f'#/{page}')
    else:
        browser.go(f'{base}#/{page}')
    return settled()


def row(name):
    return browser.script('return [...document.querySelectorAll("tr")].find((r) =>'
                          ' r.querySelector("th")?.textContent.startsWith(arguments[0]))?.innerText', name)


def document(name, queue):
    shown = run('show', name, '-q', queue, '--json')
    return json.loads(shown)['document'] if shown else ''


def fill(name, text):
    browser.script('document.querySelector(`.edit [name=${arguments[0]}]`).value = arguments[1]', name, text)


def wrong(name):
    return browser.wait('(e => !e.hidden && e.innerText)(document.getElementById(`edit-${arguments[0]}-wrong`))', name)


def wait_row(name, part, seconds=20):
    return wait_until(lambda: part in (row(name) or '').split(), seconds)


try:
    # first visit
    browser.go(link)
    check(settled(), 'the first page', browser.text())
    same(browser.script('return location.hash'), '', 'the token leaves the address')
    check(wait_row('mail', '120'), 'the queues', row('mail'))
    loaded = browser.script('''return performance.getEntriesByType("resource").concat(
        performance.getEntriesByType("navigation")).map((e) => [e.name, e.transferSize])''')
    size = sum(entry[1] for entry in loaded)
    check(all(entry[0].startswith(base) for entry in loaded), 'nothing is loaded from elsewhere', loaded)
    check(size <= 36864, 'the first page has at most 36 KB', size)
    paint = browser.script('return performance.getEntriesByName("first-contentful-paint")[0]?.startTime')
    print(f'# {len(loaded)} requests, {size} bytes, first paint after {paint} ms')

    # its token
    token = link.split('token=')[1]
    same(browser.call('GET', 'cookie'), [], 'it is no cookie')
    browser.go(f'http://127.0.0.1:{evil.server_port}/')
    same((token in ''.join(heard), browser.script('return JSON.stringify(localStorage)')), (False, '{}'), 'and another port of this host does not get it')
    browser.go(base)
    check(settled(), 'without the link this browser is let in, too', browser.text())

    # the token is wrong, or of yesterday; a link is pasted into the open tab
    browser.script('localStorage.setItem(Object.keys(localStorage)[0], "0123456789abcdef0123456789abcdef")')
    browser.go('about:blank')
    browser.go(f'{base}#/dead')
    check(browser.wait('document.querySelector("#connection.away")?.textContent.includes("token is not valid")'), 'a token that is no longer valid is told',
          browser.text('#connection'))
    check(browser.wait('document.querySelector("main .empty")?.textContent.includes("token is not valid")'), 'on the page, too', browser.text('main'))
    check('Nothing is dead' not in browser.text('main'), 'it does not say that nothing is dead', browser.text('main'))
    browser.script('location.hash = arguments[0]', link.split('#')[1])
    check(settled() and browser.wait('document.querySelectorAll("main .jobs tbody tr").length === 13'), 'a link that is pasted into this tab lets in',
          browser.text())
    same(browser.script('return location.hash'), '#/dead', 'and leads back to the page')
    check('sample' not in browser.text('main h2'), 'all of them are counted', browser.text('main'))
    browser.complaints()  # of all that was refused
    go('')

    # live
    run('push', 'mail.send', '-q', 'mail', '--id', 'new')
    check(wait_row('mail', '121'), 'a push is seen without a reload')
    check(browser.wait('document.querySelectorAll(".plot path")[1].getAttribute("d")?.length > 20'),
          'the charts move')

    # what is wrong, above every page
    run('push', 't', '-q', 'ill', '--id', 'ill')
    taken = json.loads(run('reserve', 'ill', '--json'))
    run('bury', 'ill', '--token', taken['token'], '-q', 'ill', '--error', 'no')
    ill = '[...document.querySelectorAll("#trouble li")].find((e) => e.textContent.includes("1 job died in ill"))'
    check(browser.wait(f'{ill}.checkVisibility()'), 'a trouble, on the overview', browser.text('#trouble'))
    told = json.loads(next(line for line in run('status', '--trouble', '--json').splitlines() if '"queue":"ill"' in line))
    same(browser.script(f'return [{ill}.querySelector(".because").innerText, {ill}.querySelector("code").innerText, {ill}.className]'),
         [told['why'], told['command'], told['severity']], 'why, and what helps')
    at = time.strftime('%H:%M:%S', time.localtime(told['since']))
    check(f'dead_growing · since {at}, for ' in browser.script(f'return {ill}.querySelector("small").innerText'), 'since when', browser.text('#trouble'))
    check(browser.wait('/^[✕!]\\d+ Overview/.test(document.title) && document.querySelector("link[rel=icon]").getAttribute("href") ==='
                       ' "icon-trouble.svg"'), 'the title and the icon tell it', browser.script('return document.title'))
    check('trouble' in browser.text('#connection'), 'and beside the numbers', browser.text('#connection'))
    go('cron')
    check(browser.wait('document.querySelector("#trouble summary").checkVisibility()') and not browser.script(f'return {ill}.checkVisibility()'),
          'other pages fold them', browser.text('#trouble'))
    browser.click('', '#trouble')
    check(browser.wait(f'{ill}.checkVisibility()'), 'a click shows them')
    run('cancel', 'ill', '-q', 'ill')
    run('forget', 'ill')
    check(browser.wait(f'!({ill})'), 'it is mended: it is gone', browser.text('#trouble'))

    # the script of all other pages is loaded when one of them is opened
    browser.go('about:blank')
    browser.go(base)
    check(settled(), 'the first page, anew', browser.text())
    same(browser.script('return performance.getEntriesByType("resource").filter((e) => e.name.endsWith("more.js")).length'), 0, 'needs no script but its own')
    browser.command('Network.enable')
    network = {'latency': 0, 'downloadThroughput': -1, 'uploadThroughput': -1}
    browser.command('Network.emulateNetworkConditions', offline=True, **network)
    browser.script('location.hash = "#/flows"')
    check(browser.wait('document.querySelector("main .empty").innerText.startsWith("later-web does not answer")'), 'a page whose script does not come',
          browser.text('main'))
    browser.command('Network.emulateNetworkConditions', offline=False, **network)
    browser.click('Try again', 'main')
    check(browser.wait('document.querySelector("main h1").innerText === "Flows" && !document.querySelector("main .empty")?.innerText.includes("answer")'),
          'is asked for again', browser.text('main'))
    browser.script('''location.hash = "#/history"; dispatchEvent(new Event("hashchange")); location.hash = "#/job?id=job-001&queue=mail";''')
    check(browser.wait('document.querySelector("pre.document")'), 'a job', browser.text('main'))
    same(browser.script('return [...document.querySelectorAll("h1")].map((e) => e.textContent)'), ['Job job-001 ● ready'],
         'a page that is left as it is opened writes nothing into the next one')
    browser.complaints()
    for back, title in ((-1, 'History'), (1, 'Job'), (-2, 'Flows')):
        browser.script('history.go(arguments[0])', back)
        check(browser.wait('document.querySelector("h1")?.textContent.startsWith(arguments[0])', title), f'{back} leads to {title}', browser.text('main'))
    go('')

    # the queues as later top knows them
    def cell(name, heading):
        return browser.script('return [...document.querySelectorAll("tr")].find((r) => r.querySelector("th")?.textContent.startsWith(arguments[0]))'
                              '?.querySelector(`[data-head="${arguments[1]}"]`)?.innerText', name, heading)

    def queues():
        return browser.script('return [...document.querySelectorAll(".queues tbody th a")].map((e) => e.innerText)')

    run('push', '--file', '-', input='\n'.join(json.dumps({'type': 't', 'queue': 'busy', 'id': f'b{i}'}) for i in range(40)))
    check(wait_row('busy', '40'), 'a busy queue', queues())
    began, turn, share = time.monotonic(), 0, ''
    while time.monotonic() - began < 60 and not re.fullmatch(r'[1-9]\d? %|100 %', share):
        taken = json.loads(run('reserve', 'busy', '--json'))
        if turn % 4:
            run('ack', taken['id'], '--token', taken['token'], '-q', 'busy')
        else:
            run('release', taken['id'], '--token', taken['token'], '-q', 'busy', '--in', '1h')
        run('push', 't', '-q', 'busy', '--id', f'more{turn}')
        turn += 1
        share = cell('busy', 'Failing') or ''
    check(re.fullmatch(r'[1-9]\d? %|100 %', share), 'how many fail', (turn, share, row('busy')))
    check(browser.wait('parseFloat([...document.querySelectorAll("tr")].find((r) => r.querySelector("th")?.textContent.startsWith("busy"))'
                       '.querySelector(`[data-head="In a second"]`).innerText) >= 0'), 'how many come in a second', row('busy'))
    check(wait_until(lambda: (cell('busy', 'In a second'), cell('busy', 'Done a second'), cell('busy', 'Failing')) == ('0.0', '0.0', '–')), 'and when nothing happens',
          row('busy'))
    for i in range(3):
        run('push', 't', '-q', f'quiet-{i}', '--id', 'q')
        run('cancel', 'q', '-q', f'quiet-{i}')
    check(browser.wait('/^Show \\d+ quiet queues$/.test(document.querySelector(".above button").innerText)'), 'quiet ones are folded', queues())
    check(wait_until(lambda: 'quiet-1' not in queues() and 'busy' in queues()), 'those with jobs are not', queues())
    def marked():
        """Returns the queues at this moment, and those with the mark of a trouble."""
        return browser.script('const all = [...document.querySelectorAll(".queues tbody tr")].map((r) => [r.querySelector("th a").innerText,'
                              ' r.querySelector(".mark").innerText]); return [all.map((r) => r[0]), all.filter((r) => r[1]).map((r) => r[0])];')

    check(wait_until(lambda: 'dead' in marked()[1]), 'a queue in which jobs died is in trouble', marked())
    shown, ill = marked()
    same(shown[:len(ill)], ill, 'those in trouble come first')
    same(browser.script('return [...document.querySelectorAll("#trouble .mark, .queues .mark")].filter((e) => e.getBoundingClientRect().height > 40).length'),
         0, 'and each mark stays in its row')
    browser.click('Show', '.above')
    check(wait_until(lambda: 'quiet-1' in queues()), 'a click shows the quiet ones', queues())
    browser.click('Ready', '.queues thead')
    check(wait_until(lambda: queues()[:2] == ['mail', 'hostile']), 'a heading sorts', queues())
    same(browser.script('return [...document.querySelectorAll("[aria-sort]")].map((e) => e.innerText + e.ariaSort)'), ['Readydescending'], 'and says so')
    browser.click('Queue', '.queues thead')
    check(wait_until(lambda: queues() == sorted(queues()) and 'busy' in queues()), 'by name', queues())
    browser.click('Queue', '.queues thead')
    check(wait_until(lambda: queues() == sorted(queues(), reverse=True)), 'the other way round', queues())
    browser.click('Queue', '.queues thead')
    browser.press('f')
    same(browser.script('return document.activeElement.id'), 'filter', 'f filters')
    browser.type('#filter', 'QUIET-')
    check(wait_until(lambda: queues() == ['quiet-0', 'quiet-1', 'quiet-2']), 'by name', queues())
    browser.script('const e = document.querySelector("#filter"); e.value = ""; e.dispatchEvent(new Event("input"));')
    browser.press('Escape')
    browser.click('Fold', '.above')
    check(wait_until(lambda: 'quiet-1' not in queues()), 'they are folded again', queues())
    run('cancel', '-q', 'busy', '--all', '--yes')
    run('forget', 'busy')

    # actions
    browser.click('Pause', 'tr:has(a[href*="name=mail"])')
    check(browser.wait('document.querySelector("#notes").innerText.includes("later pause mail")'),
          'its command is shown', browser.text('#notes'))
    check(wait_row('mail', 'paused'), 'pause')
    browser.click('×', '#notes')  # it may lie over the next button
    browser.click('Resume', 'tr:has(a[href*="name=mail"])')
    check(wait_until(lambda: 'paused' not in (row('mail') or 'paused')), 'resume')
    # what the states are, and what a name is that no queue has
    for state, meaning in (('ready', 'wait for a free worker'), ('reserved', 'workers hold'), ('delayed', 'due later'),
                           ('waiting', 'other jobs of their flow'), ('dead', 'failed for good'), ('done', 'types.keep')):
        go(f'queue?name=mail&state={state}')
        check(browser.wait('document.querySelector("main").innerText.includes(arguments[0])', meaning), f'a queue says what is {state}',
              browser.text('main'))
    told = subprocess.run([os.environ['later_bin'], 'peek', 'mail', '--state', 'none'], capture_output=True, text=True).stderr
    same(sorted(browser.script('return [...document.querySelectorAll("main .tabs span")].map((e) => e.innerText)')),
         sorted(told.splitlines()[0].split('not one of ')[-1].split(', ')), 'a queue has a tab for each state that later peek knows')
    run('push', '--flow', 'wait', '-q', 'waits', '--file', '-', input='{"type":"t","step":"a"}\n{"type":"t","step":"b","after":["a"]}\n')
    go('queue?name=waits&state=waiting')
    check(browser.wait('document.querySelectorAll("tbody tr").length === 1 && document.querySelector(".tabs a[aria-current] b").textContent === "1"'),
          'a job that waits for another, and how many do', browser.text('main'))
    run('flow', 'cancel', 'wait', '-q', 'waits')
    run('forget', 'waits')
    go('queue?name=nowhere')
    check(browser.wait('document.querySelector("main .facts").innerText === "There is no queue nowhere. The first push makes one."'),
          'a name that no queue has', browser.text('main'))
    go('job?id=due&queue=slow')
    check(browser.script('return [...document.querySelectorAll("main button")].find((b) => b.innerText === "Kick")?.title') ==
          'It is ready at once, with all its attempts.', 'a kick says what it does')
    check(browser.wait('document.querySelector("p.why")?.innerText.includes("Why it does not run: due in ")'),
          'a job says why it does not run', browser.text('main'))
    browser.click('Kick', 'main')
    check(wait_until(lambda: '"state":"ready"' in run('show', 'due', '--json')), 'kick')
    check(browser.wait('document.querySelector("h1 .state.ready")'), 'the page shows it')
    browser.click('Cancel', 'main')
    browser.click('Leave it', 'dialog')
    check(browser.wait('!document.querySelector("dialog")'), 'the question is gone')
    check('"state":"ready"' in run('show', 'due', '--json'), 'a question that is answered by no')
    browser.click('Cancel', 'main')
    browser.click('Cancel it', 'dialog')
    check(browser.wait('document.querySelector("main").innerText.includes("no job due in queue slow")'), 'cancel')
    same(run('show', 'due', '--json'), '', 'it is gone')
    go('job?id=job-000&queue=mail')
    check('12345678901234567890' in browser.text('pre.document'), 'each digit of a payload is shown')
    browser.click('Edit and push again', 'main')
    same(browser.script('return document.querySelector("textarea").value'),
         '{\n  "to": "a0@b.c",\n  "n": 12345678901234567890\n}', 'the payload to be edited')
    browser.click('Push a new job', 'main')
    check(browser.wait('document.querySelector("h1").innerText.match(/\\b[0-9A-Za-z]{14}\\b/)'), 'push again', browser.text('h1'))
    check(wait_until(lambda: run('size', 'mail').split('\t')[1] == '122'), 'it is there')

    # a mistake is shown at its field; a waiting job is changed in place
    go('job?id=job-000&queue=mail')
    browser.click('Edit and push again', 'main')
    fill('priority', 'high')
    browser.click('Change this job', 'main')
    check(wrong('priority') == 'a whole number', 'a wrong priority is told at its field', browser.text('.edit'))
    same(browser.script('return document.activeElement.name'), 'priority', 'which has the focus')
    fill('priority', '7')
    fill('payload', '{"to": "x", "n": 12345678901234567890,}')
    browser.click('Change this job', 'main')
    check('not JSON' in (wrong('payload') or ''), 'what later says of the payload is told there', browser.text('.edit'))
    check(browser.wait('document.getElementById("edit-priority-wrong").hidden'), 'what is right now is told no more')
    fill('payload', '{"to": "changed", "n": 12345678901234567890}')
    fill('timeout', '1m')
    fill('lock', 'account<b>7</b>')
    browser.click('Change this job', 'main')
    check(browser.wait('document.querySelector("pre.document")?.innerText.includes("changed")'), 'a job is changed')
    same(document('job-000', 'mail'), '{"type":"mail.send","id":"job-000","priority":7,"timeout":60,'
         '"lock":"account<b>7</b>","payload":{"to": "changed", "n": 12345678901234567890}}', 'to what was typed')
    check(browser.wait('document.querySelector("#notes").innerText.includes("later push --replace")'),
          'its command is shown', browser.text('#notes'))
    run('cancel', 'job-000', '-q', 'mail')
    run('push', 'mail.send', '-q', 'mail', '--id', 'job-000')
    run('push', 'report', '{"a":1}', '-q', 'slow', '--id', 'edited', '--in', '1h', '--max-attempts', '3')
    score = json.loads(run('show', 'edited', '-q', 'slow', '--json'))['score']
    go('job?id=edited&queue=slow')
    for _ in range(60):  # with keys only
        if browser.script('return document.activeElement.tagName') == 'SUMMARY':
            break
        browser.press('Tab')
    browser.press('Enter')
    for _ in range(60):
        if browser.script('return document.activeElement.name') == 'max_attempts':
            break
        browser.press('Tab')
    same(browser.script('return document.activeElement.value'), '3', 'Tab leads to each field')
    browser.press('5', 'Enter')
    check(wait_until(lambda: '"max_attempts":5' in document('edited', 'slow')), 'Enter changes the job',
          browser.text('main'))
    same(json.loads(run('show', 'edited', '-q', 'slow', '--json'))['score'], score, 'its time is as it was')
    go('job?id=edited&queue=slow')
    browser.click('Edit and push again', 'main')
    run('kick', 'edited', '-q', 'slow')
    held = json.loads(run('reserve', 'slow', '--lease', '1h', '--json'))
    browser.click('Change this job', 'main')
    check(browser.wait('document.querySelector("#notes").innerText.includes("reserved by now")'),
          'a job that runs by now is left as it is', browser.text('#notes'))
    run('ack', 'edited', '--token', held['token'], '-q', 'slow')
    go('job?id=dead3&queue=dead')
    browser.click('Edit and push again', 'main')
    fill('id', 'dead3')
    browser.click('Push a new job', 'main')
    check('dead' in (wrong('id') or ''), 'a dead job is still known by its id', browser.text('.edit'))
    fill('id', 'risen')
    browser.click('Push in its place', 'main')
    check(browser.wait('location.hash.includes("id=risen")'), 'a new one in its place', browser.text('#notes'))
    check(wait_until(lambda: document('risen', 'dead') and not run('show', 'dead3', '-q', 'dead', '--json')),
          'and the dead one is gone')
    run('cancel', 'risen', '-q', 'dead')
    run('push', 't', '-q', 'dead', '--id', 'dead3')
    held = json.loads(run('reserve', 'dead', '--json'))
    run('bury', held['id'], '--token', held['token'], '-q', 'dead', '--error', hostile[3])
    kept = '{"type":"mail.send","id":"kept","payload":[1.0],"other":7}'
    redis('ZADD', 'later:{mail}:done', str(now + 86400), 'kept')
    redis('HSET', 'later:{mail}:kept', 'kept', f'k={{"at":{now:.6f},"attempt":1,"ms":12.5,"host":"one"}}\n\n{kept}')
    go('job?id=kept&queue=mail')
    browser.click('Edit and push again', 'main')
    check('Not pushed again: other' in browser.text('.edit'), 'what a form cannot say is told', browser.text('.edit'))
    fill('id', 'kept-again')
    browser.click('Push a new job', 'main')
    check(browser.wait('location.hash.includes("id=kept-again")'), 'a done job again', browser.text('#notes'))
    same(document('kept-again', 'mail'), '{"type":"mail.send","id":"kept-again","payload":[\n  1.0\n]}', 'as it was typed')
    run('cancel', 'kept-again', '-q', 'mail')

    # all attempts that are known
    go('job?id=failing&queue=failing')
    check(browser.wait('document.querySelectorAll(".timeline li").length === 7'), 'a time line', browser.text('main'))
    same(browser.script('return [...document.querySelectorAll(".timeline b")].map((e) => e.innerText)'),
         ['Attempt 3: took too long', 'Attempt 4: failed', 'Attempt 5: failed', 'Attempt 1: buried', 'Dead'],
         'each attempt in its order')
    same(browser.script('return [...document.querySelectorAll(".timeline .soft, .timeline .more")].map((e) => e.innerText)'
                        '.filter((text) => text)'),
         ['Attempts 1 to 2 are no longer known', 'ran 5.0 s · on one', 'waited 10 s · ran 500 ms · on two',
          'waited 20 s · on two · the same error', 'Kicked: its attempts start afresh', 'waited 33 s · on two',
          '1.0 s later'], 'with its wait, its run and its host')
    same(browser.script('return [...document.querySelectorAll(".timeline pre")].map((e) => e.innerText)'),
         ['over its time', hostile[4], 'no such address'], 'and its error')
    go('job?id=kept&queue=mail')
    check(browser.wait('document.querySelector(".timeline")?.innerText.includes("Attempt 1: done")'), 'how a job ended',
          browser.text('main'))
    check('ran 13 ms · on one' in browser.text('.timeline'), 'and where', browser.text('.timeline'))
    same(browser.script('return [...document.querySelectorAll("main > .buttons button")].map((e) => e.innerText)'),
         ['Edit'], 'there is nothing to be kicked or cancelled')
    go('queue?name=mail&state=done')
    check(browser.wait('document.querySelector("tbody tr")?.innerText.includes("kept")'), 'done jobs that are kept',
          browser.text('main'))
    same(browser.script('return document.querySelector("tbody tr td.n").innerText'), '1', 'with the attempt that did it')
    go('queue?name=mail&offset=100')
    check(browser.wait('document.querySelectorAll("tbody tr").length === 22'), 'the last page of a queue')
    browser.script('document.querySelectorAll("tbody input").forEach((e, i) => i < 2 && e.click())')
    browser.click('Cancel', '.chosen')
    browser.click('Cancel', 'dialog')
    check(wait_until(lambda: run('size', 'mail').split('\t')[1] == '120'), 'cancel what was chosen')
    check(browser.wait('document.querySelector(".tabs b").textContent === "120"'), 'the page follows')
    browser.click('Drop all ready', 'main')
    check(browser.wait('document.querySelector("dialog button.danger").disabled'), '120 jobs: their number is asked')
    browser.type('dialog input', '120\ue007')
    check(wait_until(lambda: run('size', 'mail').split('\t')[1] == '0'), 'purge, by Enter', browser.text('dialog'))
    go('queue?name=dead&state=dead')
    check(browser.wait('document.querySelectorAll("tbody tr").length === 12'), 'dead jobs of a queue')
    browser.wait('document.querySelector(".tabs a[aria-current] b").textContent === "12"')
    browser.click('Kick all dead', 'main')
    browser.click('Kick all', 'dialog')
    check(wait_until(lambda: run('size', 'dead').split('\t')[1] == '12'), 'kick all')
    for i in range(12):
        taken = json.loads(run('reserve', 'dead', '--json'))
        run('bury', taken['id'], '--token', taken['token'], '-q', 'dead', '--error', hostile[i])

    # search, and all that match
    run('push', '--file', '-', input='\n'.join(json.dumps(
        {'type': 'found' if i % 3 else 'other', 'queue': 'many', 'id': f'm{i}', 'payload': {'n': i, 'of': 'needle 7'}})
        for i in range(600)))
    go('search?' + urllib.parse.urlencode({'q': 'payload.n=598 "needle 7"'}))
    check(browser.wait('document.querySelectorAll("tbody tr").length === 1'), 'search', browser.text('main'))
    check(browser.wait('[...document.querySelectorAll("main .command")].some((e) => e.innerText.includes('
                       '"later search --all-queues --where=payload.n=598 \'--text=needle 7\'"))'),
          'its command', browser.text('main'))
    check(browser.wait('document.querySelector("main").innerText.includes("that is all")'), 'and its end')
    run('push', '--file', '-', input='\n'.join(json.dumps({'type': kind, 'queue': 'turned', 'id': f'{kind}-{to}', 'payload': {'to': to}})
                                              for kind in ('sms', 'mail', 'fax') for to in ('you', 'me', 'us')))
    go('search?' + urllib.parse.urlencode({'q': 'queue:turned type:sms|ma* -payload.to=you -text:"us"'}))
    check(browser.wait('document.querySelectorAll("tbody tr").length === 2 && document.querySelector("main").innerText.includes("that is all")'),
          'one type or another, and what is not', browser.text('main'))
    check(all(one in browser.text('tbody') for one in ('sms-me', 'mail-me')), 'are found', browser.text('tbody'))
    go('search?q=type%3Afound+queue%3Amany')
    check(browser.wait('document.querySelectorAll("tbody tr").length === 100'), 'a hundred hits')
    check(browser.wait('document.querySelector("main").innerText.includes("Go on from here") &&'
                       ' location.hash.includes("after=")'),
          'and from where to go on, in the address too', browser.text('main'))
    browser.click('Go on from here', 'main')
    check(browser.wait('document.querySelectorAll("tbody tr").length === 200'), 'the next hundred')
    browser.go('about:blank')
    browser.go(f'{base}#/search?q=type%3Afound+queue%3Amany+limit%3A200')
    check(browser.wait('document.querySelectorAll("tbody tr").length === 200'), 'two hundred at once')
    browser.click('Cancel all that match', 'main')
    check(browser.wait('document.querySelector("dialog")?.innerText.includes("Cancel 400 ready jobs of queue many for good?")'),
          'how many it would be', browser.text('dialog'))
    browser.type('dialog input', '400')
    browser.click('Cancel', 'dialog')
    check(wait_until(lambda: run('size', 'many').split('\t')[1] == '200'), 'exactly those are gone')
    same(run('search', '--count', '-q', 'many', '--type', 'found').strip(), '0', 'none is left')
    browser.go(f'{base}#/')
    browser.type('#search-field', 'm0\ue007')
    check(browser.wait('location.hash.startsWith("#/job?id=m0&")'), 'an id leads to its job')
    for q, words in (('attempts:many', 'attempts: a number'), ('state:retrying', 'state: ready, delayed'),
                     ('typ:mail.*', 'did you mean type:?'), ('state:dead OR state:ready', 'OR: all conditions'),
                     ('state:dead state:ready', 'only once'), ('-older:1h', 'cannot be turned round'), ('type:a|b|c|d|e|f|g|h|i', 'at most 8'), ('type:a|', 'missing beside |')):
        go('search?' + urllib.parse.urlencode({'q': q}))
        check(browser.wait('document.querySelector("main [role=alert]").innerText.includes(arguments[0])', words),
              f'a mistake is told: {q}', browser.text('main'))
        same(browser.script('return [...document.querySelectorAll("main table, main button:not(.small)")].filter((e) => e.checkVisibility()).length'),
             0, 'and nothing can be done to what it might have found')
    go('search?q=%22typ%3Amail%22+http%3A%2F%2Fx')
    check(browser.wait('document.querySelector("main .facts")?.innerText.includes("that is all")'), 'in quotes it is a text', browser.text('main'))
    browser.go('about:blank')
    browser.go(f'{base}#/search?q=queue%3Adead+error%3Ascript')
    browser.click('Search', 'main')
    check(browser.wait('document.querySelectorAll("tbody tr").length === arguments[0]', sum('script' in text for text in hostile[:12])),
          'a regular expression from an address waits for a click', browser.text('main'))
    browser.script('document.querySelector("#search-field").value = ""')
    browser.type('#search-field', 'queue:dead error:iframe\ue007')
    check(browser.wait('document.querySelectorAll("tbody tr").length === arguments[0]', sum('iframe' in text for text in hostile[:12])),
          'one that is typed does not', browser.text('main'))

    # a history of two minutes
    browser.script("""window.sent = window.fetch;
        const row = { queue: 'new', type: 't', seconds: 3600, attempts: 9335, failed: 0, wait: {}, run: {} }, at = Date.now() / 1000;
        const answers = { history: [{ ...row, from: at - 1800, attempts: 0 }, { ...row, from: at - 120, seconds: 120 }], types: [row] };
        window.fetch = (where, options) => {
            const [, name] = /^api.1.(history|types)/.exec(where) || [];
            return name ? Promise.resolve(new Response(JSON.stringify({ command: '', answers: answers[name] }))) : sent(where, options);
        };""")
    go('history')
    pace = browser.wait('document.querySelectorAll("tbody tr td.n")[1].innerText')
    check(70 <= float(pace or 0) <= 78, 'attempts a second: since the first of them', browser.text('tbody'))
    browser.script('window.fetch = sent')

    # a server that does not answer is asked once
    browser.script("""window.every = window.setInterval; window.asked = window.looks = 0;
        window.setInterval = (look) => every(() => { look(); looks++; }, 50);
        window.fetch = (where, { signal, ...options }) => !/^api.1.locks/.test(where) ? sent(where, { signal, ...options })
            : new Promise((_, fail) => { asked++; signal.addEventListener('abort', () => fail(signal.reason)); });""")
    go('locks')
    check(browser.wait('looks >= 5'), 'it is time for other looks', browser.script('return looks'))
    same(browser.script('return asked'), 1, 'while one has no answer no other is sent')
    browser.script('window.fetch = sent; window.setInterval = every')

    # marks: on the curves, and in words
    run('pause', 'slow')
    run('resume', 'slow')
    go('history')
    check(browser.wait('document.querySelector(".marks li.pause b")?.innerText === "pause slow"'), 'a pause is listed', browser.text('main'))
    check(browser.wait('document.querySelector(".plot .mark.pause")?.style.left.endsWith("%")'), 'and drawn on the curve', browser.text('main'))
    go('history?queue=mail')
    check(browser.wait('document.querySelectorAll(".chart").length === 3') and 'pause slow' not in browser.text('main'),
          'not with the curves of another queue', browser.text('main'))

    # the hour before that one: the curve, and by type what has changed
    browser.script("""const at = Math.floor(Date.now() / 60000) * 60 - 1800;
        const row = { queue: 'new', type: 't', from: at, seconds: 60, attempts: 120, failed: 6, wait: {}, run: {} };
        const one = { ...row, seconds: 3600, run: { p95: 2 } };
        const answers = { history: [{ ...row, from: at - 3600, attempts: 60 }, row], types: [one],
                          before: [{ ...one, attempts: 80, failed: 2, run: { p95: 1 } }, { ...one, type: 'gone' }],
                          marks: [{ mark: 'deploy', words: 'w', version: '2', from: at, to: at, open: false }] };
        window.asked = [];
        window.fetch = (where, options) => {
            const [, name] = /^api.1.(history|types|marks)/.exec(where) || [];
            if (name === 'types') asked.push(where);
            return name ? Promise.resolve(new Response(JSON.stringify({ command: '', answers: answers[/until=[1-9]/.test(where) ? 'before' : name] })))
                        : sent(where, options);
        };""")
    go('history')
    check(browser.wait('document.querySelectorAll("table tbody tr").length === 3'), 'a row for each type, and two of what has changed', browser.text('main'))
    same(browser.script('return [...document.querySelectorAll("table:last-of-type tbody tr")].slice(-2).map((row) => [...row.querySelectorAll("td.n")].map((one) => one.firstChild.data))'),
         [['0.033', '+50 %', '5.0 %', '+2.5', '–', '–', '2.0 s', '+100 %'], ['0.0', '−100 %', '0.0 %', '−5.0', '–', '–', '–', '–']], 'by how much')
    same(browser.script('return [...document.querySelectorAll("td.late")].map((one) => one.firstChild.data).slice(-2)'), ['+2.5', '+100 %'], 'what has become worse')
    same(browser.script('return [...document.querySelectorAll("#history-against option")].map((one) => one.value)'), ['before', 'day', 'week', 'deploy'],
         'against what')
    go('history?since=1h&against=deploy')
    check(browser.wait('asked.some((one) => { const [, since, until] = /since=([0-9]+)s.until=([0-9]+)s/.exec(one) || []; return until >= 1800 && since == 2 * until; })'),
          'the time since the deploy, and as long before', browser.text('main'))
    browser.script('document.querySelector(".plot").focus()')
    read = []
    for _ in range(35):  # minutes back
        browser.press('\ue012')
        read.append(browser.script('return [...document.querySelectorAll(".legend b")].map((e) => e.innerText)'))
        if read[-1][0] != '0.0':
            break
    same(read[-1], ['2.0', '0.1', '1.0'], 'a minute, and the one an hour before')
    check('the hour before' in browser.text('.legend'), 'named', browser.text('.legend'))
    ticks = browser.script('return [...document.querySelector(".axis").children].map((e) => e.innerText)')
    minutes = [int(tick[:2]) * 60 + int(tick[3:]) for tick in ticks]
    same([(b - a) % 1440 for a, b in zip(minutes, minutes[1:])], [15] * 4, 'the axis says when')
    browser.script('window.fetch = sent')

    # what runs, by host; what failed and what is planned; why jobs died
    now = time.time()
    running = [{'id': '<b>late</b>', 'queue': 'mail', 'type': 'mail.send', 'since': now, 'timeout': 30, 'attempt': 2, 'worker': 1},
               {'id': 'fine', 'queue': 'mail', 'type': 'mail.send', 'since': now + 3000, 'timeout': 0, 'attempt': 1, 'worker': 2}]
    redis('HSET', 'later:hosts', 'runs:7', json.dumps({
        'host': 'runs', 'pid': 7, 'version': '1', 'seen': now + 3600, 'started': now, 'workers': 2, 'running': 5, 'performed': 1, 'failed': 0, 'rate': 0,
        'queues': ['mail'], 'jobs': running}))
    go('running')
    check(browser.wait('document.querySelector("section[aria-label=\\"runs:7\\"] small")?.innerText === "5 running on 2 workers, the 2 longest"'), 'what runs, by host',
          browser.text('main'))
    same(browser.script('return [...document.querySelectorAll("section[aria-label=\\"runs:7\\"] tbody tr")].map((r) => [r.querySelector("th").innerText,'
                        ' ...[...r.querySelectorAll("td.n")].filter((e) => e.dataset.head !== "Usually within").map((e) => e.innerText)])'),
         [['<b>late</b>', '60 min !', '30 s', '2', '1'], ['fine', '10 min', '–', '1', '2']], 'for how long, and what is over its time')
    redis('HDEL', 'later:hosts', 'runs:7')
    check(browser.wait('!document.querySelector("section[aria-label=\\"runs:7\\"]")'), 'a host that is gone runs nothing')
    run('push', 't', '-q', 'apart', '--id', 'failed')
    taken = json.loads(run('reserve', 'apart', '--json'))
    run('release', 'failed', '--token', taken['token'], '-q', 'apart', '--in', '1h')
    run('push', 't', '-q', 'apart', '--id', 'planned', '--in', '1h')
    for words, name in (('Retrying', 'failed'), ('Planned', 'planned')):
        go('queue?name=apart&state=delayed')
        browser.click(words, 'main')
        check(browser.wait('document.querySelector("main .facts")?.innerText.includes("that is all") && document.querySelector("tbody").innerText.trim()'),
              f'{words}: a search', browser.text('main'))
        same(browser.script('return [...document.querySelectorAll("tbody th")].map((e) => e.innerText)'), [name], f'{words}: only those')
    ended = [f'e{i}' for i in range(66)]
    run('push', '--file', '-', input='\n'.join(json.dumps({'type': 't', 'queue': 'ended', 'id': name}) for name in ended))
    run('bury', *ended[:40], '-q', 'ended', '--error', 'HTTP 503 from https://a.example/1?q="x"')
    run('bury', *ended[40:65], '-q', 'ended', '--error', 'HTTP 503 from https://a.example/22')
    run('bury', ended[65], '-q', 'ended', '--error', 'HTTP 503 from nobody')
    go('')  # the page shows those that are known when it is opened
    check(wait_until(lambda: cell('ended', 'Dead') == '66'), 'many died', row('ended'))
    go('dead')
    reason = '[...document.querySelectorAll("tr")].find((e) => e.innerText.includes("HTTP 503 from https") && e.querySelector("a[aria-label]"))'
    check(browser.wait(f'{reason}?.querySelector("td").innerText === "65"'), 'a reason is counted among all dead jobs', browser.text('main'))
    check(browser.wait('/^All \\d+ are counted|died for other reasons/.test(document.querySelector("main p.facts").innerText)'), 'and so are the others', browser.text('main'))
    browser.script(f'{reason}.querySelector("a").click()')
    check(browser.wait('document.querySelector("main .facts")?.innerText.includes("65 found; that is all")'), 'see all', browser.text('main'))
    go('dead')
    check(browser.wait(f'{reason}?.querySelector("td").innerText === "65"'), 'again', browser.text('main'))
    browser.script(f'{reason}.querySelector("button").click()')
    browser.click('Kick', 'dialog')
    check(wait_until(lambda: run('size', 'ended').split('\t')[1:5] == ['65', '0', '0', '1']), 'kick all', run('size', 'ended'))
    check(browser.wait(f'!({reason})'), 'and it is no reason any more', browser.text('main'))

    # a reason that none of the latest ones has
    olds = [f'o{i}' for i in range(80)]
    run('push', '--file', '-', input='\n'.join(json.dumps({'type': 't', 'queue': 'older', 'id': name}) for name in olds))
    run('bury', *olds[:20], '-q', 'older', '--error', 'the disk was full')
    run('bury', *olds[20:], '-q', 'older', '--error', 'no route')
    go('')
    check(wait_until(lambda: cell('older', 'Dead') == '80'), 'more than are listed', row('older'))
    go('dead')
    check(browser.wait('[...document.querySelectorAll("main .cards tbody tr")].some((e) => e.innerText.includes("the disk was full") &&'
                       ' e.querySelector("td").innerText === "20")'), 'a reason that none of the latest ones has', browser.text('main'))
    run('cancel', '-q', 'older', '--all', '--yes')
    run('forget', 'older')
    check(browser.wait('!document.querySelector("main").innerText.includes("no route")'), 'and all of them are gone', browser.text('main'))

    # the list of dead jobs follows by itself; not while some are chosen
    listed = '[...document.querySelectorAll("main .jobs tbody th")].map((e) => e.innerText)'
    here = '[...document.querySelectorAll(".examples a")].find((e) => e.innerText.startsWith("ended"))?.innerText'
    check(browser.wait(f'{listed}.includes("e65") && !{listed}.includes("e1")'), 'the dead that are left', browser.text('main'))
    browser.script('[...document.querySelectorAll("main .jobs tbody tr")].find((e) => e.innerText.includes("e65")).querySelector("a").focus()')
    run('bury', 'e1', '-q', 'ended', '--error', 'just now')
    check(browser.wait(f'{listed}.includes("e1") && {here} === "ended 2"'), 'one that dies is listed', browser.text('main'))
    check(browser.wait('[...document.querySelectorAll("main .cards tbody tr")].some((e) => e.innerText.includes("just now"))'), 'and why it died', browser.text('main'))
    same(browser.script('return document.activeElement.innerText'), 'e65', 'who is in a row by keyboard stays there')
    box = '[...document.querySelectorAll("main .jobs tbody tr")].find((e) => e.innerText.includes("e65")).querySelector("input")'
    check(browser.wait('document.querySelector("main").ariaBusy === "false"'), 'nothing more is asked', browser.text('main'))
    browser.script('window.asks = window.fetch;'
                   'window.fetch = (url, ...more) => asks(url, ...more).then((answer) => !String(url).includes("jobs?") ? answer'
                   ' : new Promise((go) => { window.release = () => { window.fetch = asks; go(answer); }; }))')
    run('bury', 'e2', '-q', 'ended', '--error', 'later')
    check(browser.wait('!!window.release'), 'another one dies, and the answer is on its way', browser.text('main'))
    browser.script(f'{box}.click(); release()')
    check(browser.wait('document.querySelector("main").ariaBusy === "false"'), 'a job is chosen before it comes', browser.text('main'))
    same(browser.script(f'return [{box}.checked, {listed}.includes("e2")]'), [True, False], 'the list of which some are chosen stays')
    browser.wait('performance.now() > arguments[0]', browser.script('return performance.now()') + 4000)
    same(browser.script(f'return [{box}.checked, {listed}.includes("e2")]'), [True, False], 'and stays')
    browser.click('None', 'main')
    check(browser.wait(f'{listed}.includes("e2") && {here} === "ended 3"'), 'until none is', browser.text('main'))
    run('cancel', '-q', 'ended', '--all', '--yes')
    run('forget', 'ended')

    # flows
    steps = [{'type': 't', 'step': 'a'}, {'type': 't', 'step': 'b'}, {'type': 't', 'step': 'c', 'after': ['a', 'b']},
             {'type': 't', 'step': 'end', 'after': ['*'], 'when': 'ended'}]
    run('push', '--flow', 'night', '--file', '-', '-q', 'steps', input='\n'.join(json.dumps(step) for step in steps))
    run('bury', 'night.a', '-q', 'steps', '--error', hostile[4])
    run('cancel', 'night.b', '-q', 'steps')
    go('flows')
    check(browser.wait('[...document.querySelectorAll("tbody th")].some((e) => e.innerText === "night")'), 'flows', browser.text('main'))
    browser.click('night', 'tbody')
    check(browser.wait('document.querySelectorAll(".levels > li").length >= 2'), 'a flow, level by level', browser.text('main'))
    same(browser.script('return [...document.querySelectorAll(".levels > li")].map((e) => [...e.querySelectorAll("li a")].map((a) => a.innerText).sort())')[0],
         ['a', 'b'], 'its first level')
    drawn = """
        const box = document.querySelector('.edges').getBoundingClientRect(), near = (a, b) => Math.abs(a - b) < 2;
        const at = (x, y, side) => [...document.querySelectorAll('.levels ul > li')].find((e) => {
            const of = e.getBoundingClientRect();
            return near(of.left - box.left + of.width / 2, x) && near(of[side] - box.top, y);
        })?.querySelector('a').innerText;
        return [...document.querySelectorAll('.edges path')].map((e) => {
            const [x, y, , , , , right, down] = e.getAttribute('d').match(/-?[\\d.]+/g).map(Number);
            return `${at(x, y, 'bottom')} ${at(x + right, y + down, 'top')}`;
        }).sort();"""
    for width in (360, 1440):
        browser.look(width, 900, False)
        check(wait_until(lambda: browser.script(drawn) == ['a c', 'b c', 'c end']), f'lines from step to step, {width} px', browser.script(drawn))
    check('after a,b' in browser.text('.levels'), 'in words, too', browser.text('.levels'))
    check(browser.wait('document.querySelector("main [role=status]").innerText.startsWith("✕ a is dead: buried: " + arguments[0])', hostile[4]), 'what blocks it',
          browser.text('main'))
    browser.click('Kick its dead', 'main')
    browser.click('Kick', 'dialog')
    check(wait_until(lambda: '"state":"ready"' in run('show', 'night.a', '-q', 'steps', '--json')), 'its dead are kicked')
    check(browser.wait('!document.querySelector("main").innerText.includes("is dead")'), 'the page shows it', browser.text('main'))
    steps = [{'type': 't', 'step': f's{i}', **({'after': [f's{i - 1}']} if i % 20 else {})} for i in range(41)]
    run('push', '--flow', 'many', '--file', '-', '-q', 'steps', input='\n'.join(json.dumps(step) for step in steps))
    go('flow?name=many&queue=steps')
    check(browser.wait('document.querySelectorAll(".levels ul > li").length === 41'), 'a flow of many steps', browser.text('main'))
    same(browser.script('return document.querySelectorAll(".edges path").length'), 0, 'has no lines')
    run('flow', 'cancel', 'many', '-q', 'steps')
    go('flow?name=night&queue=steps')
    browser.click('a', '.levels')
    check(browser.wait('[...document.querySelectorAll("dl.facts a")].some((e) => e.innerText === "night")'), 'a job leads to its flow', browser.text('main'))

    # keys
    go('')
    browser.press('/')
    same(browser.script('return document.activeElement.id'), 'search-field', '/ searches')
    browser.press('Escape')
    browser.press('g', 'd')
    # The address changes before the page does, and the overview has rows, too.
    check(browser.wait('/^\\W*\\d*\\W*Dead/.test(document.title) && document.querySelector("tr[data-row]")'), 'g d')
    browser.press('j')
    browser.press('Enter')
    check(browser.wait('location.hash.startsWith("#/job?id=dead")'), 'j, Enter: a job')
    browser.press('?')
    check(browser.wait('document.querySelector("dialog[open]")'), '? tells the keys')
    browser.press('Escape')
    browser.wait('!document.querySelector("dialog[open]")')
    browser.click('Keys', 'footer')
    check(browser.wait('document.querySelector("dialog[open] .keys")'), 'and so does a button, which says so')
    browser.press('Escape')

    # hostile
    for i in range(0, len(hostile), 1 if soak else 4):
        go(f'job?id=h{i}&queue=hostile')
        if not browser.wait('document.querySelector("pre.document")'):
            check(False, f'hostile payload {i} is shown', browser.text('main'))
    wanted = hostile[4].replace('"', '\\"')
    go('job?id=h4&queue=hostile')
    browser.wait('document.querySelector("pre.document")')
    check(wanted in browser.text('pre.document'), 'a hostile payload is text', browser.text('pre.document'))
    for page in PAGES:
        check(go(page), f'page {page or "overview"}', browser.text())
    for page in PAGES:
        go(page)
        time.sleep(0.1)  # so that what would run has run
        same(browser.script('return [window.hacked ?? null, violations, document.querySelectorAll('
                            '"#trouble :is(iframe, script, img), main :is(iframe, script, img, object)").length]'), [None, [], 0],
             f'nothing executes: {page or "overview"}')
    same([entry for entry in browser.complaints() if 'job?id=due' not in entry['message']
          and '404' not in entry['message'] and 'attempts=many' not in entry['message'] and 'state=retrying' not in entry['message']
          and 'api/1/replace' not in entry['message']], [], 'nothing is complained of')

    # accessible
    if axe != '-':
        with open(axe) as file:
            source = file.read()
        browser.command('Page.setBypassCSP', enabled=True)
        for width, dark in ((1440, False), (360, True)) + (((360, False), (1440, True)) if soak else ()):
            browser.look(width, 800, dark)
            browser.go('about:blank')
            go('')
            browser.script(source)
            for page in PAGES:
                go(page)
                browser.script('document.querySelectorAll("details").forEach((e) => { e.open = true; })')
                same(browser.axe(), [], f'axe: {page or "overview"}, {width} px, {"dark" if dark else "light"}')
                wide = browser.script('return document.documentElement.scrollWidth')
                check(wide <= width, f'it is no wider than {width} px: {page or "overview"}', wide)
            same(browser.script('return [...document.querySelectorAll("header nav, header nav a")].filter((e) => e.scrollWidth > e.clientWidth + 1 ||'
                                ' e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.innerText)'), [], f'the menu fits into {width} px')
        browser.look(1280, 900, False)
        browser.command('Page.setBypassCSP', enabled=False)

    # a reader without rights
    browser.go(os.environ['read_only'])
    check(settled(), 'read-only')
    same(browser.script('return document.getElementById("role").innerText'), 'read-only', 'which it says')
    for page in ('job?id=job-000&queue=mail', 'job?id=dead4&queue=dead', 'queue?name=mail'):
        browser.script('document.querySelector("main").replaceChildren(); location.hash = arguments[0]', f'#/{page}')
        check(browser.wait('document.querySelector("main h1") && document.querySelector("main .command")'),
              f'{page} is shown', browser.text())
        same(browser.script('return [...document.querySelectorAll("main details:not(.columns), main button:not(.small)")]'
                            '.filter((e) => e.checkVisibility()).map((e) => e.innerText)'), [], 'without a form or an action')

    browser.go(link)
    check(settled(), 'and again as one who may act')

    # other sites
    browser.go(f'http://evil.test:{base.split(":")[2]}')
    check('not known as ours' in browser.text(), 'DNS rebinding is refused', browser.text())
    browser.go(f'http://evil.test:{evil.server_port}/')
    told = browser.wait('document.title.startsWith("[") && document.title')
    same(json.loads(told or '[]')[1:], ['refused', 'unread'], 'another site gets no answer')
    same(browser.script('return document.getElementById("i").contentDocument'), None, 'nor a frame of ours')
    check('no' in run('size', 'mail').split('\t')[5], 'and pauses nothing', run('size', 'mail'))

    # many tabs share one stream
    first = browser.call('GET', 'window')
    for _ in range(7):
        opened = browser.call('POST', 'window/new', {'type': 'tab'})['handle']
        browser.call('POST', 'window', {'handle': opened})
        browser.go(base)
    check(browser.wait('document.querySelector("#connection.live")'), 'eight tabs, all live')
    browser.call('POST', 'window', {'handle': first})

    # rates of two hosts that report a second and a half apart
    PACE = {'early': (100, 0), 'late': (28, 1.5)}
    alive, ended, began = set(PACE), threading.Event(), time.time()

    def report():
        told = dict.fromkeys(PACE, 0)
        while not ended.wait(0.1):
            for host in sorted(alive):
                pace, offset = PACE[host]
                turn = int((time.time() - began - offset) // 3)
                if turn <= told[host]:
                    continue
                told[host] = turn
                seen = time.time()
                redis('HSET', 'later:hosts', f'{host}:1', json.dumps({
                    'host': host, 'pid': 1, 'version': '1', 'seen': seen, 'started': began, 'workers': 2, 'running': 1,
                    'performed': round(pace * (seen - began)), 'failed': 0, 'rate': pace, 'queues': ['mail'], 'fault': None}))

    def curve():
        """Returns the points of the chart of rates: x, and the rate."""
        return browser.script("""
            const d = document.querySelector('.plot .line.ready').getAttribute('d') || '', most = parseFloat(document.querySelector('.plot .top').innerText);
            return d.split(/[ML]/).filter(Boolean).map((p) => p.split(' ').map(Number)).map(([x, y]) => [x, most * (128 - y) / 118]);""")

    redis('DEL', 'later:hosts')
    reporter = threading.Thread(target=report, daemon=True)
    reporter.start()
    go('')
    check(browser.wait('document.querySelector(".tiles").innerText.includes("on 2 hosts")'), 'two hosts', browser.text('.tiles'))
    hidden = browser.command('Page.addScriptToEvaluateOnNewDocument', source='delete window.SharedWorker')
    browser.go('about:blank')
    go('')
    check(wait_until(lambda: len(curve()) >= 12), 'a chart of both')
    check(browser.wait('/^Running\\n2\\non 4 workers, 1 reserved$/.test(document.querySelector(".tile").innerText)'),
          'what runs is what they say, not what is reserved', browser.text('.tile'))
    both = [round(pace, 1) for x, pace in curve()]
    check(all(abs(pace - 128) <= 6.4 for pace in both), 'its rates are those of the counters', both)
    tile = '[...document.querySelectorAll(".tile")].find((e) => e.innerText.startsWith("Attempts a second")).querySelector("b").innerText'
    check(browser.wait(f'{tile} === document.querySelector(".legend b").innerText'), 'the number above says the same', browser.script(f'return {tile}'))
    alive.discard('late')
    check(browser.wait(f'Math.abs({tile} - 100) <= 5'), 'one is killed: only the rate of the other is left', browser.script(f'return {tile}'))
    browser.script("""window.away = true;
        const now = Date.now, since = now();
        Object.defineProperty(document, 'hidden', { get: () => window.away, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));
        Date.now = () => now() + 300000;
        window.away = false;
        document.dispatchEvent(new Event('visibilitychange'));""")
    check(browser.wait('document.querySelector("#connection.live")') and wait_until(lambda: 1 <= len(curve()) < 10), 'the page was hidden for five minutes',
          curve())
    same([x for x, pace in curve() if not 0 <= x <= 640], [], 'its chart stays within its frame')
    ended.set()
    reporter.join()
    redis('DEL', 'later:hosts')
    check(browser.wait(f'{tile} === "0.0"'), 'no host is left: nothing is done', browser.script(f'return {tile}'))
    same(curve()[-1][1], 0, 'in the chart, too')
    check(browser.wait('document.querySelector("#connection.bad")'), 'no laterd is alive: the dot is red', browser.text('#connection'))
    browser.command('Page.removeScriptToEvaluateOnNewDocument', identifier=hidden['identifier'])
    redis('HSET', 'later:hosts', 'past:1', json.dumps({
        'host': 'past', 'pid': 1, 'version': '1', 'seen': time.time() - 3600, 'started': began - 7200, 'workers': 2, 'running': 6, 'busy': [6, 6],
        'performed': 10, 'failed': 1, 'rate': 47.3, 'queues': ['mail'], 'fault': None}))
    browser.go('about:blank')
    go('hosts')
    check(browser.wait('document.querySelector("tr.gone")?.innerText.includes("ago")'), 'a host that is gone: when it was seen', browser.text('main'))
    same([part in browser.text('tr.gone') for part in ('47.3', '\t6\t')], [False, False], 'and nothing of what it did then', )
    redis('HSET', 'later:hosts', 'web1:1', json.dumps({
        'host': 'web1', 'pid': 1, 'version': '1', 'seen': time.time() + 600, 'started': began, 'workers': 2, 'running': 0,
        'performed': 0, 'failed': 0, 'rate': 0, 'queues': ['mail'], 'fault': None, 'busy': [0, 2, None, 1], 'memory': 42 << 20, 'crashes': 3,
        'pools': [{'name': hostile[4], 'workers': 2}]}))
    facts = """return Object.fromEntries([...document.querySelectorAll('tbody tr:not(.gone) td')].map((e) => [e.dataset.head, e.innerText.trim()]))"""
    check(wait_until(lambda: browser.script(facts).get('Memory') == '42.0 MiB'), 'how much memory it has', browser.script(facts))
    same([browser.script(facts)[name] for name in ('Busy, 30 min', 'Crashes', 'Pools')], ['1.0 of 2', '3', f'{hostile[4]}: 2'],
         'how busy it was, what crashed, its pools')
    same([browser.script("return [...document.querySelectorAll(`tbody ${arguments[0]} .curve path`)].map((e) => e.getAttribute('d').split('M').length - 1)", kind)
          for kind in ('tr:not(.gone)', 'tr.gone')], [[2, 2], [0, 0]], 'a curve with a gap; none of one that is gone')
    same(browser.script("return document.querySelector('tr:not(.gone) .curve').getAttribute('aria-label')"), '3 minutes: 1.0 at once on average, 2.0 at most', 'in words, too')
    browser.click('Quiet', 'tbody tr:not(.gone)')
    check(wait_until(lambda: redis('EXISTS', 'later:{host:web1}:paused').strip() == '1'), 'a host is asked to be quiet', browser.text('#notes'))
    redis('DEL', 'later:hosts', 'later:{host:web1}:paused')

    # schedules: a new one, in words, its next times, its last job; another time
    go('cron')
    browser.click('New schedule', 'main')
    for name, text in (('name', 'nightly'), ('queue', 'mail'), ('expression', 'never'), ('type', 'report')):
        browser.type(f'#cron-{name}', text)
    browser.click('Set', 'dialog')
    check(browser.wait('document.querySelector("dialog .error").innerText.includes("expression")'), 'what is wrong with it', browser.text('dialog'))
    browser.script('document.querySelector("#cron-expression").value = ""')
    browser.type('#cron-expression', '0 3 * * mon-fri')
    browser.click('Set', 'dialog')
    check(wait_until(lambda: 'at 03:00, on Monday to Friday' in (row('nightly') or '')), 'a new schedule, in words', browser.text('main'))
    browser.script('document.querySelector("tr[data-of=\\"mail nightly\\"] summary").focus()')
    browser.command('Input.dispatchKeyEvent', type='keyDown', key='Enter', code='Enter', windowsVirtualKeyCode=13, text='\r')
    check(browser.wait('document.querySelectorAll("td details[open] div").length === 5'), 'its next five times, by Enter', browser.text('main'))
    browser.click('Change', 'tr[data-of="mail nightly"]')
    check(browser.wait('document.querySelector("#cron-expression").value === "0 3 * * mon-fri"'), 'another time, from the present one')
    browser.script('document.querySelector("#cron-expression").value = ""')
    browser.type('#cron-expression', '@every 90s')
    browser.click('Set', 'dialog')
    check(wait_until(lambda: 'every 90 seconds' in (row('nightly') or '')), 'is set', browser.text('main'))
    check('"type":"report"' in redis('HGET', 'later:{mail}:crontab', 'nightly').replace('\\', ''), 'and its job is as it was')
    run('push', 'report', '-q', 'mail', '--id', 'cron:nightly:1800000000')
    run('bury', 'cron:nightly:1800000000', '-q', 'mail')
    redis('HSET', 'later:{mail}:crontab', 'nightly:state', 'origin=set\ntick=1800000000\noutcome=fired\nfired=1\n')
    go('cron')
    check(wait_until(lambda: ', dead' in (row('nightly') or '')), 'its last job is dead', row('nightly'))
    for words in ('Leave it', 'Delete it'):
        browser.click('Delete', 'tr[data-of="mail nightly"]')
        check(browser.wait('document.querySelector("dialog h2").innerText === "Delete the schedule nightly of mail for good?"'), 'to delete one is asked', browser.text())
        browser.click(words, 'dialog')
        check(browser.wait('!document.querySelector("dialog")'), f'{words}: is an answer')
        if words == 'Leave it':
            same('"nightly"' in run('cron', '--json'), True, 'it is there')
    check(wait_until(lambda: not row('nightly') and '"nightly"' not in run('cron', '--json')), 'it is gone', browser.text('main'))
    check('later cron --queue=mail delete nightly' in browser.text('#notes'), 'its command is shown', browser.text('#notes'))
    run('cancel', 'cron:nightly:1800000000', '-q', 'mail')

    # Redis itself, and the locks, in the tabs beside the hosts
    go('hosts')
    browser.script('[...document.querySelectorAll("nav.tabs a")].find((a) => a.innerText === "Redis").focus()')
    browser.command('Input.dispatchKeyEvent', type='keyDown', key='Enter', code='Enter', windowsVirtualKeyCode=13, text='\r')
    told = """return Object.fromEntries([...document.querySelectorAll('main dl.facts div')].map((e) => [e.querySelector('dt').innerText, e.querySelector('dd').innerText]))"""
    check(wait_until(lambda: 'Version' in browser.script(told)), 'Redis by Enter', browser.text('main'))
    check(browser.script(told)['Version'].startswith(redis('INFO', 'server').split('redis_version:')[1].split()[0]), 'its version', browser.script(told))
    same([browser.script(told)[name] for name in ('When it is full', 'Keys dropped')], ['refuses writes', '0'], 'what it does when it is full')
    check('none: a crash loses' in browser.script(told)['Append-only file'], 'what it does not keep', browser.script(told))
    browser.click('Count keys by kind', 'main')
    check(browser.wait('[...document.querySelectorAll("main tbody tr")].some((r) => r.innerText.startsWith("jobs"))'), 'keys by kind, when asked', browser.text('main'))
    redis('HSET', 'later:lock:{night}', 'token', 't', 'owner', 'web1 mail job-000', 'since', f'{time.time() - 60:.6f}', 'ttl', '30')
    redis('PEXPIRE', 'later:lock:{night}', '3600000')
    redis('ZADD', 'later:lock:{night}:waiting', '1', 'apart planned', '2', 'apart failed')
    redis('LPUSH', 'later:limit:{sms}', f'{time.time():.6f}')
    redis('PEXPIRE', 'later:limit:{sms}', '3600000')
    redis('HSET', 'later:hosts', 'limits:1', json.dumps({'host': 'limits', 'pid': 1, 'version': '1', 'seen': time.time() + 600, 'started': began, 'queues': ['mail'],
                                                         'needs': [{'kind': 'limit', 'name': 'sms', 'queue': 'mail', 'max': 1, 'per': 3600, 'window': 'sliding'}]}))
    go('locks')
    check(wait_until(lambda: row('night')), 'a lock', browser.text('main'))
    check('job job-000 of mail on web1' in row('night') and '2: planned, failed' in row('night'), 'who has it, and who waits', row('night'))
    same(browser.script('return [...document.querySelectorAll("main tbody tr")].find((r) => r.innerText.startsWith("night")).querySelector("td a").getAttribute("href")'),
         '#/job?id=job-000&queue=mail', 'with a link')
    check('1 of 1 in 60 min' in row('sms') and 'opens in' in row('sms'), 'a limit: its rate, and when it opens', row('sms'))

    # other numbers for a limit
    def given(label, text):
        """Puts this into the field of the dialog with this label."""
        browser.script('const e = document.getElementById([...document.querySelectorAll("dialog label")].find((l) => l.innerText === arguments[0]).htmlFor);'
                       'e.value = arguments[1]', label, text)

    browser.click('Set other numbers', 'main')
    same(browser.script('return [...document.querySelectorAll("dialog datalist option")].map((e) => e.value)'), ['sms'], 'it is proposed')
    for label, text in (('Name', 'fax'), ('How many', '3')):
        given(label, text)
    browser.click('Set', 'dialog')
    check(browser.wait('document.querySelector("dialog .error").innerText === "no laterd that is alive has a limit fax in its configuration"'),
          'it is told what is wrong, as by the command', browser.text('dialog'))
    browser.click('Leave it', 'dialog')
    browser.click('Change', 'main')
    check(browser.wait('document.querySelector("dialog h2")?.innerText === "Other numbers for limit sms"'), 'of the limit', browser.text('dialog'))
    for label, text in (('How many', '7'), ('In this time, of a limit', '1m'), ('Who sets it', 'ann')):
        given(label, text)
    browser.click('Set', 'dialog')
    check(browser.wait('!document.querySelector("dialog")') and wait_until(lambda: '7 in 60 s' in browser.text('main')), 'they are listed', browser.text('main'))
    check('later set --max=7 --per=1m --by=ann limit sms' in browser.text('#notes'), 'its command is shown', browser.text('#notes'))
    check('"name":"sms","max":7,"per":60,"by":"ann"' in run('set', '--json'), 'and set', run('set', '--json'))
    check(wait_until(lambda: '1 of 7 in 60 s' in row('sms')), 'the limit has them', row('sms'))
    browser.click('Unset', 'main')
    check(wait_until(lambda: run('set', '--json') == '' and not browser.script('return document.querySelector("[aria-label=\\"Unset limit sms\\"]")')), 'until they are unset',
          browser.text('main'))
    redis('DEL', 'later:lock:{night}', 'later:lock:{night}:waiting', 'later:limit:{sms}')
    redis('HDEL', 'later:hosts', 'limits:1')

    # Redis hangs, ends, is back
    go('')
    check(wait_until(lambda: row('hostile')), 'a queue with jobs is shown', browser.text('main'))
    pid = int(redis('INFO', 'server').split('process_id:')[1].split()[0])
    os.kill(pid, signal.SIGSTOP)
    check(browser.wait('document.querySelector("#connection.away")?.textContent.includes("numbers from")'),
          'Redis hangs: the page says how old its numbers are', browser.text('#connection'))
    check(wait_until(lambda: row('hostile')), 'and still shows them', browser.text('main'))
    browser.script('location.hash = "#/dead"')
    check(browser.wait('document.querySelector("main .empty")?.innerText.includes("Redis")'), 'the dead jobs: why they are not shown', browser.text('main'))
    check('Nothing is dead' not in browser.text('main'), 'instead of "Nothing is dead"', browser.text('main'))
    os.kill(pid, signal.SIGCONT)
    check(browser.wait('document.querySelector("#connection.live")'), 'it goes on')
    check(browser.wait('document.querySelectorAll("main .jobs tbody tr").length === 13'), 'and they are', browser.text('main'))
    go('')
    redis('SHUTDOWN', 'NOSAVE')
    check(browser.wait('document.querySelector("#connection.away")'), 'Redis ends', browser.text('#connection'))
    again = subprocess.Popen(['redis-server', os.path.join(work, 'redis.conf')], stdout=subprocess.DEVNULL)
    check(browser.wait('document.querySelector("#connection.live")'), 'Redis is back: so is the page')
    check(browser.wait('document.querySelector("main").innerText.includes("There is no queue yet")'), 'empty')
    check(browser.wait('document.querySelector("#trouble li.critical")?.innerText.includes("no laterd is alive, 0 jobs wait")'), 'and nobody is there',
          browser.text('#trouble'))
    redis('HSET', 'later:hosts', 'new:1', json.dumps({
        'host': 'new', 'pid': 1, 'version': '1', 'seen': time.time() + 3600, 'started': began, 'workers': 2, 'running': 0,
        'performed': 0, 'failed': 0, 'rate': 0, 'queues': ['*']}))
    check(browser.wait('document.querySelector("#trouble .well").checkVisibility() && document.querySelector("#trouble .well").innerText.startsWith'
                       '("✓ No trouble, looked at ")'), 'all is well', browser.text('#trouble'))
    # Of troubles and of hosts it hears in turn.
    check(browser.wait('document.title === "Overview – later" && document.querySelector("link[rel=icon]").getAttribute("href") === "icon.svg"'
                       ' && document.querySelector("#connection").className === "live"'), 'title, icon and dot, too',
          browser.script('return [document.title, document.querySelector("#connection").className]'))

    # a page in the background looks now and then
    browser.command('Page.addScriptToEvaluateOnNewDocument', source="""
        delete window.SharedWorker;
        const every = window.setInterval;
        window.setInterval = (what, ms) => every(what, ms === 30000 ? 500 : ms);""")
    browser.go('about:blank')
    go('')
    browser.script("""Object.defineProperty(document, 'hidden', { get: () => true, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));""")
    redis('DEL', 'later:hosts')
    check(browser.wait('document.title === "✕1 Overview – later"', seconds=120), 'a page in the background tells it', browser.script('return document.title'))
    again.terminate()
    again.wait()
finally:
    browser.close()
    evil.shutdown()
