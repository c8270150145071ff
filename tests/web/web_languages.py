"""web_languages.py LINK WORDS: later-web's pages in another language. LINK is what later-web printed, WORDS the folder of
the catalogues.

In a language that is made here, each text is as in English, in ⟦ ⟧: what is outside of them is data, or was forgotten.
"""
import getpass
import json
import os
import sys

from checks import check, redis, run, same, wait_until
from web_stock import PAGES, fill
from webdriver import Browser

link, words = sys.argv[1:]
work = os.environ['work']
with open(os.path.join(words, 'de.json'), encoding='utf-8') as file:
    german = json.load(file)


def bracketed(text):
    return '|'.join(f'⟦{form}⟧' for form in text.replace('{+}', '{}').split('|'))


def made(part):
    return {text: bracketed(text) for text in german[part]}


redis('CONFIG', 'SET', 'slowlog-log-slower-than', '-1')  # commands are data, and which are slow differs
redis('SLOWLOG', 'RESET')
# What the server may say, and how it is said in German: values in values, data that looks like words, numbers.
SAYINGS = [
    ('server', 'Dead is 2.0 h behind, 1,204,000 ready', 'Dead ist 2,0 h im Rückstand, 1.204.000 bereit'),
    ('server', 'mail is paused by ann since 09:12 UTC, for 5.0 min more', 'mail ist angehalten von ann seit 09:12 UTC, noch 5,0 min'),
    ('server', 'waits for the lock a, held by job 7f on app-1 for 12 s, third in line', 'wartet auf die Sperre a, gehalten von Job 7f auf app-1 seit 12 s, Platz 3 in der Reihe'),
    ('server', 'waits for the limit api, which opens in 0.8 s, 12th in line; that was set by ann',
     'wartet auf das Limit api, das sich öffnet in 0,8 s, Platz 12 in der Reihe; das wurde von ann gesetzt'),
    ('server', 'waits for max_running of type:bulk: 2 of 2 run: it is its turn', 'wartet auf max_running von type:bulk: 2 von 2 laufen: er ist an der Reihe'),
    ('server', 'its type is paused by ann: no laterd is alive', 'sein Typ ist angehalten von ann: no laterd is alive'),
    ('server', 'attempt 2 in 55 min, after retry: dead', 'Versuch 2 in 55 min, nach retry: dead'),
    ('server', 'Kick 1,203 dead, 3 delayed jobs of queue dead', 'Jobs der Warteschlange dead anstoßen: 1.203 tot, 3 verzögert'),
    ('server', 'later kick: there is no schedule dead', 'later kick: es gibt keinen Zeitplan dead'),
    ('server', 'nobody has ever said this', 'nobody has ever said this'), ('server', '', ''),
    ('server', 'x is paused' * 91, 'x is paused' * 91),
    ('cron', 'every 5 minutes in hours 8 to 17, on Monday to Friday, in March', 'alle 5 Minuten in den Stunden 8–17, am Montag–Freitag, im März'),
    ('cron', 'at 03:00, 04:30, on the second Monday of the month, if it is day 8', 'um 03:00, 04:30, am zweiten Montag des Monats, wenn es Tag 8 ist'),
]

fill()
run('push', 'note', '-q', 'Dead', '--id', 'in-dead')
browser = Browser(work, 1440)
browser.command('Page.enable')


def speak(catalogue):
    """From now on, a page that asks for German gets this."""
    return browser.command('Page.addScriptToEvaluateOnNewDocument', source=f'''{{
        const {{ fetch: send }} = window, words = {json.dumps(json.dumps(catalogue))};
        window.fetch = async (where, ...how) => (where === 'de.json' ? new Response(words) : send(where, ...how));
    }}''')['identifier']


def choose(language):
    browser.script('const e = document.querySelector("#language"); e.value = arguments[0]; e.dispatchEvent(new Event("change"));', language)
    return browser.wait('document.documentElement.lang === arguments[0] && document.querySelector("#connection.live")', language)


def go(page):
    browser.script('document.querySelector("main").replaceChildren(); if (location.hash === arguments[0]) dispatchEvent(new Event("hashchange"));'
                   ' else location.hash = arguments[0];', f'#/{page}')
    browser.wait('document.querySelector("main h1") && document.querySelector("#connection.live") && document.querySelector("main").ariaBusy === "false"')
    browser.script('document.querySelectorAll("details").forEach((e) => { e.open = true; })')


# What is data, by where it stands; and words that are data wherever they stand.
PLACES = 'code, pre, kbd, noscript, option, datalist, .error, .fact + .because, h1.id, [data-data], .columns label, .facets h3, .facets li :is(a, span):not(:has(em)), .brand'
browser.command('Page.addScriptToEvaluateOnNewDocument', source='''
    window.unsaid = (places, data) => {
        const found = new Set();
        let depth = 0; // of brackets: a text with elements in it is in several nodes
        const look = (text) => {
            let out = '';
            for (const letter of text) {
                if (letter === '⟦') depth++;
                if (!depth) out += letter;
                if (letter === '⟧') depth = Math.max(0, depth - 1);
            }
            const words = (out.replace(/\\b[a-z]+:\\S+/g, '').match(/[A-Za-z][\\w.*-]*/g) ?? []).filter((one) => one.length > 1 && !data.includes(one));
            if (words.length) found.add(`${text}: ${words}`);
        };
        const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        while (walk.nextNode()) {
            const at = walk.currentNode.parentElement;
            if (at.checkVisibility() && !at.closest(places)) look(walk.currentNode.data);
        }
        for (const name of ['title', 'aria-label', 'placeholder'])
            for (const one of document.querySelectorAll(`[${name}]`)) {
                depth = 0;
                if (one.checkVisibility() && !one.closest(places)) look(one.getAttribute(name));
            }
        depth = 0;
        look(document.title);
        return [...found];
    };''')
DATA = '''later laterd Redis mail steps night nobody bulk note do report other books long held unserved paused failed dead0 dead1 dead2 kept none in-dead Dead
type limit max_running permit UTC bulk.* books.a books.b books.c one later-web KiB MiB GiB standalone master noeviction p50 p95 p99 default null
the relay is slow page today payload.tenant report.daily Europe Berlin unix tmp redis.sock'''.split()
DATA += [os.uname().nodename, getpass.getuser(), *work.split('/')]  # hosts, who did it, and where Redis is
DATA += [f'{letter}{i}' for letter in 'np' for i in range(120)]


def all_said(name):
    left = browser.script('return unsaid(arguments[0], arguments[1])', PLACES, DATA)
    same(left, [], f'all of it is said: {name}')


def asks(page, label):
    """Opens a dialog, by its English label."""
    go(page)
    browser.wait('[...document.querySelectorAll("main button")].some((e) => e.innerText.startsWith(arguments[0]))', f'⟦{label}')
    browser.script('[...document.querySelectorAll("main button")].find((e) => e.innerText.startsWith(arguments[0])).click()', f'⟦{label}')
    check(browser.wait('document.querySelector("dialog[open]")'), f'{page}: {label} asks', browser.text())
    all_said(f'{page}: {label}')
    browser.press('Escape')
    browser.wait('!document.querySelector("dialog")')


try:
    pseudo = speak({part: made(part) for part in german})
    browser.go(link)
    check(browser.wait('document.querySelector("#connection.live")'), 'the pages', browser.text())
    same(browser.script('return document.documentElement.lang'), 'en', 'are in English')
    check(choose('de'), 'another language is chosen', browser.text())
    for page in PAGES:
        go(page)
        if page.startswith('search?q=queue'):  # its counts come later
            check(browser.wait('document.querySelector(".facets li")'), 'what was found is counted', browser.text())
        all_said(page or 'overview')
    for page, label in (('cron', 'New schedule'), ('cron', 'Change'), ('cron', 'Delete'), ('queue?name=mail', 'Pause a type'), ('locks', 'Set other numbers'),
                        ('locks', 'Change'), ('job?id=long&queue=mail', 'Cancel'), ('queue?name=mail&state=delayed', 'Drop all'),
                        ('flow?name=books&queue=steps', 'Kick its dead')):
        asks(page, label)
    go('queue?name=nobody')
    browser.click('⟦Pause⟧', 'main')
    check(browser.wait('document.querySelector("#notes .note")'), 'an action', browser.text())
    all_said('what was done')
    browser.click('⟦Resume⟧', 'main')
    check(browser.wait('document.querySelectorAll("#notes .note").length === 2'), 'and its end', browser.text())
    all_said('what was done then')
    go('tasks')
    all_said('what is told of it')
    go('')
    browser.press('?')
    check(browser.wait('document.querySelector("dialog[open]")'), '? tells the keys')
    all_said('keys')
    browser.press('Escape')

    # a catalogue that is hostile, or no catalogue
    browser.command('Page.removeScriptToEvaluateOnNewDocument', identifier=pseudo)
    hostile = speak({'pages': {'Overview': '<img src=x onerror="window.ran = 1">', 'Queues': {'toString': 1}, '{} trouble|{} troubles': '<b>{}</b>|{9}{__proto__}'},
                     'server': {'{+}': '{}', 'dead': '<script>window.ran = 1</script>'}, 'cron': 7})
    browser.go('about:blank')
    browser.go(link)
    check(browser.wait('document.querySelector("#connection.live")'), 'a hostile catalogue', browser.text())
    same(browser.script('return [document.querySelector("nav a").textContent, window.ran, document.querySelectorAll("img, b b, main script").length]'),
         ['<img src=x onerror="window.ran = 1">', None, 0], 'is text')
    browser.command('Page.removeScriptToEvaluateOnNewDocument', identifier=hostile)
    broken = browser.command('Page.addScriptToEvaluateOnNewDocument', source='''{
        const { fetch: send } = window;
        window.fetch = async (where, ...how) => { if (where === 'de.json') throw new TypeError(); return send(where, ...how); };
    }''')['identifier']
    browser.go('about:blank')
    browser.go(link)
    check(browser.wait('document.querySelector("#connection.live")'), 'a catalogue that cannot be had', browser.text())
    same(browser.script('return [document.documentElement.lang, document.querySelector("nav a").textContent, document.querySelector("#language").value]'),
         ['en', 'Overview', 'en'], 'is English')
    browser.command('Page.removeScriptToEvaluateOnNewDocument', identifier=broken)

    # German
    browser.go('about:blank')
    browser.go(link)
    check(browser.wait('document.querySelector("#connection.live")'), 'German', browser.text())
    same(browser.script('return [document.documentElement.lang, document.querySelector("#language").value]'), ['de', 'de'], 'the choice is kept')
    go('')
    check(browser.wait('document.querySelector("#trouble").innerText.includes("niemand bedient nobody, 1 Job ist bereit")'), 'a trouble', browser.text('#trouble'))
    check(browser.wait('/3 Jobs sind in mail gestorben/.test(document.querySelector("#trouble").innerText)'), 'a plural of the server', browser.text('#trouble'))
    check(browser.wait('/\\d Störungen/.test(document.querySelector("#trouble").innerText)'), 'a plural of the pages', browser.text('#trouble'))
    check(browser.wait('document.querySelector(".queues").innerText.includes("Dead") && document.querySelector("#trouble").innerText.includes("niemand bedient Dead, 1 Job ist bereit")'),
          'a queue that is called Dead stays so', browser.text())
    check('later size nobody; systemctl reload laterd' in browser.text('#trouble'), 'a command stays', browser.text('#trouble'))
    go('job?id=unserved&queue=nobody')
    check(browser.wait('document.querySelector(".why").innerText === "Warum er nicht läuft: kein laterd bedient nobody"'), 'a reason', browser.text('.why'))
    go('job?id=failed&queue=mail')
    check(browser.wait('/Warum er nicht läuft: Versuch 2 in \\d+ min, nach retry: /.test(document.querySelector(".why").innerText)'), 'with numbers', browser.text('.why'))
    go('cron')
    check(browser.wait('document.querySelector("main").innerText.includes("um 03:00, am Montag–Freitag")'), 'a schedule', browser.text('main'))
    go('history?since=24h&queue=mail')
    check(browser.wait('/\\d,\\d %/.test(document.querySelector("main").innerText)'), 'a number', browser.text('main'))
    said = browser.script('return import("./app.js").then(({ $words }) => arguments[0].map(([part, text]) => $words.said(text, part)))', SAYINGS)
    for (_, text, wanted), got in zip(SAYINGS, said):
        same(got, wanted, text[:80] or 'nothing')

    # where words that are longer may have no room
    def measured():
        """How wide the queues are, and may be, when all columns of one of them say something: its trend, too."""
        run('push', 'note', '-q', 'Dead')
        return browser.wait('[...document.querySelectorAll(".queues tbody tr")].some((r) => r.querySelector(".spark") && r.cells[6].innerText !== "–")'
                            ' && (e => [e.scrollWidth, e.clientWidth, e.innerText])(document.querySelector(".queues"))', seconds=3)

    for language in sorted(name[:-5] for name in os.listdir(words)):
        check(choose(language), f'{language} is chosen', browser.text())
        go('')
        got = wait_until(measured)
        check(got and got[0] <= got[1], f'the columns of the queues fit, also of one that grows: {language}', got or browser.text())
        browser.look(360, 800, False)
        for page in ('', 'dead', 'hosts', 'queue?name=mail', 'job?id=failed&queue=mail', 'cron', 'search?q=queue%3Amail+state%3Adead'):
            go(page)
            same(browser.script('return [...document.querySelectorAll("html, header *, main *")].filter((e) => e.checkVisibility() && !e.closest("pre, .hidden, thead, svg") &&'
                                ' (e.getBoundingClientRect().right > innerWidth + 1 || (e.localName === "html" && e.scrollWidth > innerWidth)))'
                                '.map((e) => e.outerHTML.slice(0, 120)).slice(0, 3)'), [], f'nothing is off the screen of a phone: {language}, {page or "overview"}')
        browser.look(1440, 900, False)

    check(choose('en'), 'and English again', browser.text())
    same(browser.script('return document.querySelector("nav a").textContent'), 'Overview', 'as before')

    # what the browser asks for, if nobody has chosen
    browser.script('localStorage.removeItem(Object.keys(localStorage).find((name) => name.startsWith("later language")))')
    agent = browser.script('return navigator.userAgent')
    browser.command('Emulation.setUserAgentOverride', userAgent=agent, acceptLanguage='xx,de-AT,en')
    browser.go('about:blank')
    browser.go(link)
    check(browser.wait('document.documentElement.lang === "de"'), 'the first that is there of those that the browser asks for', browser.text())
finally:
    browser.close()
    with open(f'{work}/end', 'w', encoding='ascii'):
        pass
