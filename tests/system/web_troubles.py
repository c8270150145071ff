"""web_troubles.py LINK WHERE: keeps the overview open and says what is on top of it. For each line of its
input it prints one: `rules`, their names, sorted; `order`, as they stand; `first`, what is written there of the
first; `well`, the words that there is none; `line`, the first as later-web has it.
"""
import json
import os
import sys

from web_client import ask
from webdriver import Browser

link, where = sys.argv[1:3]
headers = {'Authorization': f'Bearer {link.split("token=")[1]}'}
SHOWN = '[...document.querySelectorAll("#trouble li")].filter((e) => e.checkVisibility())'
RULES = f'return {SHOWN}.map((e) => e.querySelector("small").innerText.split(" ")[0])'

browser = Browser(os.environ['work'])
try:
    browser.go(link)
    for line in sys.stdin:
        word = line.strip()
        if word == 'rules':
            said = ' '.join(sorted(set(browser.script(RULES))))
        elif word == 'order':
            said = ' '.join(browser.script(RULES))
        elif word == 'first':
            said = browser.script(f'return {SHOWN}[0]?.innerText ?? ""')
        elif word == 'well':
            said = browser.script('return (e => e?.checkVisibility() ? e.innerText : "")(document.querySelector("#trouble .well"))')
        else:
            known = ask(where, '/api/1/troubles', headers=headers)[2]['list']
            said = json.dumps(known[0], separators=(',', ':'), ensure_ascii=False) if known else '{}'
        print(' '.join(said.split()), flush=True)
finally:
    browser.close()
