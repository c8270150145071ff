"""web_access.py LINK AXE: everything that can be done on later-web's pages is reached by the keyboard alone, axe-core
finds nothing wrong, and a phone needs no scrolling to the side.

With LATER_PICTURES=FOLDER, a picture of each page on a phone is kept there. LINK is what later-web printed, with the token. AXE is the file axe.min.js, or "-".
"""
import os
import re
import sys

from checks import check, same
from web_stock import PAGES, fill
from webdriver import Browser

link, axe = sys.argv[1], sys.argv[2]
base, work = link.split('#')[0], os.environ['work']
soak = bool(os.environ.get('LATER_SOAK'))
LOOKS = ((1440, False), (360, True)) + (((360, False), (1440, True)) if soak else ())  # width, dark?

fill()

# ---- the browser: what handles the mouse is noted, and what is asked again after ten seconds or more is asked after one

browser = Browser(work, 1440)
browser.command('Page.enable')
browser.command('Page.addScriptToEvaluateOnNewDocument', source="""
    window.handled = new WeakMap(); // element → the events that it handles
    const { addEventListener: listen } = EventTarget.prototype;
    EventTarget.prototype.addEventListener = function add(kind, ...more) {
        if (this instanceof Element) handled.set(this, (handled.get(this) ?? new Set()).add(kind));
        return listen.call(this, kind, ...more);
    };
    window.asked = 0; // answers
    const { fetch: send, setInterval: every } = window;
    // As long as nothing is under way: on a slow machine the pages would ask more than is answered, and never rest.
    window.setInterval = (what, ms) => every(() => document.querySelector('main').ariaBusy === 'true' || what(), Math.min(ms, 1000));
    window.fetch = async (...how) => { try { return await send(...how); } finally { asked++; } };
    // The controls that somebody could use here, each with its words; of those that are alike, the first, the second …
    window.controls = () => {
        const all = [...(document.querySelector('dialog[open]') ?? document).querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex="0"]')]
            .filter((e) => e.checkVisibility({ visibilityProperty: true }) && !e.disabled && e.tabIndex >= 0);
        const seen = {};
        return all.map((e) => {
            const words = `${e.localName} ${e.ariaLabel ?? (e.textContent.trim() || e.name || e.id)}`.slice(0, 60);
            seen[words] = (seen[words] ?? 0) + 1;
            return [e, seen[words] > 1 ? `${words} ${seen[words]}` : words];
        });
    };
    window.reached = {}; // words → does one see that one is there?
    document.addEventListener('focusin', ({ target }) => {
        const found = controls().find(([e]) => e === target), { outlineStyle, outlineWidth } = getComputedStyle(target);
        if (found) reached[found[1]] = outlineStyle !== 'none' && parseFloat(outlineWidth) > 0;
    });
    // What only a mouse can use.
    window.mouseOnly = () => [...document.querySelectorAll('*')].filter((e) => {
        const kinds = [...handled.get(e) ?? []], list = e.closest('[role=listbox]');
        const owner = list && document.querySelector(`[aria-controls="${list.id}"]`);
        return kinds.some((kind) => /^(click|dblclick|contextmenu|mouse|pointer|touch|drag|wheel)/.test(kind)) && !e.matches('a[href], button, summary, input, select')
            && !(kinds.includes('keydown') && e.tabIndex >= 0) && !(owner && handled.get(owner)?.has('keydown'));
    }).map((e) => e.outerHTML.slice(0, 120));""")


def go(page):
    browser.script('document.querySelector("main").replaceChildren(); if (location.hash === arguments[0]) dispatchEvent(new Event("hashchange"));'
                   ' else location.hash = arguments[0];', f'#/{page}')
    return browser.wait('document.querySelector("main h1") && document.querySelector("#connection.live") && document.querySelector("main").ariaBusy === "false"')


def opened():
    browser.script('document.querySelectorAll("details").forEach((e) => { e.open = true; })')


def unreached(start):
    """Returns which controls Tab does not lead to, and those where one would not see it. The pages change meanwhile."""
    for _ in range(5):
        browser.script('reached = {}; document.querySelector(arguments[0]).focus();', start)
        browser.press(*['Tab'] * (browser.script('return controls().length') + 10))
        left = browser.script('return controls().map(([, words]) => words).filter((words) => !reached[words]).map((words) => [words, words in reached])')
        if not left:
            break
    return left


def stays(page, selector):
    """Is whoever is at this control by keyboard still there when the page has been asked for again, twice?"""
    go(page)
    opened()
    browser.wait('document.querySelector(arguments[0])', f'main {selector}')
    browser.script('document.querySelector(arguments[0]).focus(); asked = 0;', f'main {selector}')
    browser.wait('asked >= 6 && document.querySelector("main").ariaBusy === "false"')
    same(browser.script('return document.querySelector(arguments[0]) === document.activeElement || document.activeElement.outerHTML.slice(0, 100)', f'main {selector}'),
         True, f'{page}: who is at {selector} stays there')


def asks(page, words, replaced=False):
    """Opens a dialog by Enter, walks through it by Tab, and leaves it by Escape; replaced: after the page has made the
    button anew."""
    go(page)
    # In one step, since the page makes its buttons anew.
    check(browser.wait('(window.opener1 = [...document.querySelectorAll("main button")].find((e) => e.innerText.startsWith(arguments[0])))'
                       ' && (opener1.focus(), true)', words), f'{page}: there is {words}', browser.text())
    browser.press('Enter')
    check(browser.wait('document.querySelector("dialog[open]")'), f'{page}: {words} asks', browser.text())
    same(unreached('dialog :is(input, button)'), [], f'{page}: {words}: Tab leads to all of it')
    looked(f'{page}: {words}')
    if replaced:
        check(browser.wait('!opener1.isConnected'), f'{page}: {words}: the page makes the button anew')
    browser.press('Escape')
    check(browser.wait('!document.querySelector("dialog")'), f'{page}: {words}: Escape leaves it')
    same(browser.script('const is = (e) => [e.localName, e.ariaLabel ?? e.textContent].join(" "); return is(document.activeElement) === is(opener1)'
                        ' || document.activeElement.outerHTML.slice(0, 100)'), True, f'{page}: {words}: one is where one was')


def picture(name):
    """The whole page, however long."""
    browser.look(360, min(4000, max(800, browser.script('return document.documentElement.scrollHeight'))), False)
    browser.picture(os.path.join(os.environ['LATER_PICTURES'], f'{re.sub("[^a-z0-9]+", "-", name) or "overview"}.png'))
    browser.look(360, 800, True)


def looked(name):
    """Nothing is wrong with what is on the screen now, at no width, dark and light."""
    for width, dark in LOOKS:
        browser.look(width, 800, dark)
        how = f'{width} px, {"dark" if dark else "light"}'
        if axe != '-':
            same(browser.axe(), [], f'axe: {name}, {how}')
        if width == 360 and dark and 'LATER_PICTURES' in os.environ:
            picture(name)
        if width == 360:
            same(browser.script('return [...document.querySelectorAll("html, main *, #trouble *")].filter((e) => e.checkVisibility() && !e.closest("pre, .hidden, thead, svg") &&'
                                ' (e.getBoundingClientRect().right > innerWidth + 1 || (e.localName === "html" && e.scrollWidth > innerWidth)))'
                                '.map((e) => e.outerHTML.slice(0, 80)).slice(0, 3)'), [], f'nothing is off the screen of a phone: {name}')
    browser.look(1440, 900, False)


try:
    browser.go(link)
    check(browser.wait('document.querySelector("#connection.live")'), 'the pages', browser.text())
    if axe != '-':
        with open(axe, encoding='utf-8') as file:
            browser.script(file.read())
    for page in PAGES:
        check(go(page), f'page {page or "overview"}', browser.text())
        opened()
        same(unreached('.skip'), [], f'Tab leads to everything: {page or "overview"}')
        same(browser.script('return mouseOnly()'), [], f'nothing needs a mouse: {page or "overview"}')
        looked(page or 'overview')

    # dialogs
    asks('cron', 'New schedule')
    asks('cron', 'Change')
    asks('cron', 'Delete')
    asks('queue?name=mail', 'Pause a type')
    asks('locks', 'Set other numbers')
    asks('locks', 'Change', replaced=True)
    asks('job?id=long&queue=mail', 'Cancel')
    asks('queue?name=mail&state=delayed', 'Drop all')
    asks('flow?name=books&queue=steps', 'Kick its dead')
    go('')
    browser.press('?')
    check(browser.wait('document.querySelector("dialog[open]")'), '? tells the keys')
    looked('keys')
    browser.press('Escape')

    # what is asked again and again
    for page, selector in (('flows', 'tbody a'), ('flow?name=books&queue=steps', '.levels a'), ('locks', 'tbody a'), ('redis', '.command button'),
                           ('history', 'tbody a'), ('history', '.command button'), ('cron', 'tbody a'), ('cron', '.do button'), ('job?id=long&queue=mail', '.facts a')):
        stays(page, selector)
finally:
    browser.close()
    with open(f'{work}/end', 'w', encoding='ascii'):
        pass
