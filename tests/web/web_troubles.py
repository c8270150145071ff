"""web_troubles.py: keeps the overview open and says what is on top of it; and takes what is posted of it. It
prints the port to post to, then a line for each of its input: `go LINK WHERE` opens the page; `rules`, their
names, sorted; `order`, as they stand; `first`, what is written there of the first; `well`, the words that there
is none; `line`, the first as later-web has it; `subjects`, of which RULE:QUEUE:HOST:TYPE they are; `soon
RULE...`, when the page has shown just these: `SECONDS LOOKS`; LOOKS may be `late`; `told SUBJECT...`, what was
posted of these once that is begin and end in turns.

What was provoked while look n+1 was under way is seen by look n+2 at the latest. Looks are counted, since
a busy machine takes its time for each. They are five seconds apart, so that is within ten.
"""
import json
import os
import sys
import time

from checks import wait_until
from web_client import ask, take_posts
from webdriver import Browser

where, headers, posts = '', {}, []
SHOWN = '[...document.querySelectorAll("#trouble li")].filter((e) => e.checkVisibility())'
RULES = f'return {SHOWN}.map((e) => e.querySelector("small").innerText.split(" ")[0])'



def subject(one):
    return ':'.join(one[name] or '' for name in ('rule', 'queue', 'host', 'type'))


def took(_path, _headers, body):
    posts.append(json.loads(body))
    return 204


def told(subjects):
    """Waits until each has begun and ended, perhaps more than once, or has begun again."""
    def all_told():
        events = {one: [post['event'] for post in posts if subject(post) == one] for one in subjects}
        return all('end' in has and has == (['begin', 'end'] * len(has))[:len(has)] for has in events.values())
    return 'all' if wait_until(all_told) else json.dumps([(post['event'], subject(post)) for post in posts])


def look():
    return ask(where, '/api/1/troubles', headers=headers)[2]


def on_page():
    return sorted(set(browser.script(RULES)))


def soon(rules):
    """Waits for these. An answer of the second look that lacks them is too late."""
    start, begin, looks = look()['look'], time.monotonic(), None
    while looks is None or on_page() != rules:
        if time.monotonic() - begin > 120:
            return f'{time.monotonic() - begin:.1f} never: {" ".join(on_page())}'
        known = look()
        as_wanted = sorted({one['rule'] for one in known['list']}) == rules
        if as_wanted and looks is None:
            looks = known['look'] - start
        elif not as_wanted and known['look'] >= start + 2:
            return f'{time.monotonic() - begin:.1f} late: {json.dumps(known)}'
        time.sleep(0.05)
    return f'{time.monotonic() - begin:.1f} {looks}'


browser = Browser(os.environ['work'])
try:
    print(take_posts(took), flush=True)
    for line in sys.stdin:
        word, *rest = line.split()
        if word == 'go':
            where, headers, said = rest[1], {'Authorization': f'Bearer {rest[0].split("token=")[1]}'}, ''
            browser.go(rest[0])
        elif word == 'rules':
            said = ' '.join(on_page())
        elif word == 'soon':
            said = soon(rest)
        elif word == 'told':
            said = told(rest)
        elif word == 'subjects':
            said = ' '.join(sorted(map(subject, look()['list'])))
        elif word == 'order':
            said = ' '.join(browser.script(RULES))
        elif word == 'first':
            said = browser.script(f'return {SHOWN}[0]?.innerText ?? ""')
        elif word == 'well':
            said = browser.script('return (e => e?.checkVisibility() ? e.innerText : "")(document.querySelector("#trouble .well"))')
        else:
            known = look()['list']
            said = json.dumps(known[0], separators=(',', ':'), ensure_ascii=False) if known else '{}'
        print(' '.join(said.split()), flush=True)
finally:
    browser.close()
