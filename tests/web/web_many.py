"""web_many.py WHERE: the overview of thousands of queues: what is made, sent and touched. That is what its time is
made of, and it does not depend on the machine."""
import json
import os
import sys

from checks import check, run, same, wait_until
from web_client import ask
from webdriver import Browser

where, work = sys.argv[1], os.environ['work']
MANY, FIRST, MORE = 5000, 25, 200
names = [f'q{i:04}' for i in range(MANY)]
run('push', '--file', '-', input='\n'.join(json.dumps({'type': 't', 'queue': name}) for name in [*names, names[-1], names[-1]]))


def rows():
    return browser.script('return [...document.querySelectorAll(".queues tbody th a")].map((e) => e.innerText)')


def more():
    return browser.script('return document.querySelector(".pages button").checkVisibility() && document.querySelector(".pages button").innerText')


browser = Browser(work)
browser.command('Page.enable')
browser.command('Page.addScriptToEvaluateOnNewDocument', source='''
    window.heard = []; // bytes of each message of the worker
    const { set } = Object.getOwnPropertyDescriptor(MessagePort.prototype, 'onmessage');
    Object.defineProperty(MessagePort.prototype, 'onmessage', { set(take) {
        set.call(this, (event) => { heard.push(JSON.stringify(event.data).length); take(event); });
    } });''')
try:
    browser.enter(where, 'admin')
    check(browser.wait('document.querySelector(".queues tbody tr")'), 'the overview', browser.text())
    same(rows(), names[:FIRST], 'what is on the screen is made')
    same(more(), f'{MANY - FIRST:,} more: show {MORE}', 'and how many more there are is said')
    nodes = browser.script('return document.querySelectorAll("*").length')
    check(nodes <= 40 * FIRST, 'so that it is made of few elements', nodes)
    same(browser.script('return document.querySelectorAll(".tile.ready b")[0].innerText'), f'{MANY + 2:,}', 'the sums are of all')

    # what changes
    browser.script('''window.touched = new Set();
        new MutationObserver((all) => all.forEach(({ target }) => {
            const at = target.parentElement ? target : target.parentNode, cell = (at.closest ? at : at.parentElement).closest("td, th");
            if (cell?.dataset.head !== "Oldest") touched.add(cell?.parentElement.querySelector("a").innerText);
        })).observe(document.querySelector(".queues tbody"), { subtree: true, childList: true, characterData: true, attributes: true });
        heard.splice(0);''')
    status = ask(where, '/api/1/push', {'queue': 'q0003', 'type': 't', 'payload': '{}'},
                 headers={'Host': where, 'Origin': f'http://{where}', 'Authorization': 'Bearer 0123456789abcdef-admin'})[0]
    same(status, 200, 'a job for one of them')
    spark = 'document.querySelector(".queues tbody tr:nth-child(4) .spark")'
    check(browser.wait(f'/^M[\\d.]+ 10.0H[\\d.]+V1.0H100$/.test({spark}.firstChild.getAttribute("d"))'), 'is seen, as a step of its curve',
          browser.text('.queues tbody tr:nth-child(4)'))
    check(browser.wait(f'/^2 ready, 1 .* ago, at most 2$/.test({spark}.ariaLabel)'), 'which is told in words, too', browser.script(f'return {spark}.ariaLabel'))
    same(browser.script('return [...touched]'), ['q0003'], 'only its row was touched')
    same(browser.script('return document.querySelectorAll(".spark").length'), 1, 'queues that stay as they are have no curve')
    check(browser.wait('heard.length > 2 && Math.max(...heard) < 20000'), 'and only what has changed is sent to the page', browser.script('return heard'))

    # the rest, when it is asked for
    browser.script('scrollTo(0, document.documentElement.scrollHeight)')
    check(wait_until(lambda: rows() == names[:FIRST + MORE]), 'more of them when their end comes into sight', len(rows()))
    browser.script('document.querySelector(".pages button").click()')
    check(wait_until(lambda: rows() == names[:FIRST + 2 * MORE]), 'and by a click', len(rows()))
    browser.script('scrollTo(0, 0)')
    browser.click('Ready', '.queues thead')
    check(wait_until(lambda: rows()[:3] == [names[-1], names[3], names[0]]), 'all are sorted, not only those that are shown', rows()[:3])
    browser.type('#filter', 'q49')
    check(wait_until(lambda: rows() == [names[-1], *names[4900:-1]]), 'and filtered', rows())
finally:
    browser.close()
