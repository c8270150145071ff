"""languages.py TREE: are the catalogues of the pages, web/pages/words/*.json, complete? Each text that the pages mark
(t`…`, many(n, '…'), and those of index.html), and each sentence of the server that is on the lists below, has its entry,
and none is stale; the {} agree. Prints `ok NAME` or `not ok NAME`, and after the latter what is wrong.

    languages.py TREE --list    prints the texts of the pages, for a new catalogue
"""
import glob
import html.parser
import json
import os
import re
import sys

tree = sys.argv[1]
HOLE = re.compile(r'\{(\+|\d|)\}')
plurals = set()  # texts that depend on a number


def read(name):
    with open(os.path.join(tree, name), encoding='utf-8') as file:
        return file.read()


# ---- what the pages say

def quoted(code, at):
    """Returns the end of the text in quotes that begins there."""
    end = at + 1
    while code[end] != code[at]:
        end += 2 if code[end] == '\\' else 1
    return end + 1


def template(code, at, found):
    """Returns the end of the template that begins there, and its text with a {} for each value. found: gets marked ones."""
    marked, text, end = code[at - 1] == 't' and not re.match(r'[\w$.]', code[at - 2]), '', at + 1
    while code[end] != '`':
        if code.startswith('${', end):
            end, text = script(code, end + 2, found) + 1, text + '{}'
        elif code[end] == '\\':
            end, text = end + 2, text + code[end + 1]
        else:
            end, text = end + 1, text + code[end]
    if marked:
        found.add(text)
    return end + 1


def script(code, at, found):
    """Walks through code up to its end, or to the } of a value in a template."""
    depth, last = 0, '('
    while at < len(code):
        if code.startswith('//', at):
            at = code.find('\n', at)
            continue
        if code[at] in '\'"':
            end = quoted(code, at)
            if re.search(r'\bmany\([^\'"`]*$', code[max(0, at - 160):at]):
                found.add(code[at + 1:end - 1])
                plurals.add(code[at + 1:end - 1])
        elif code[at] == '`':
            end = template(code, at, found)
        elif code[at] == '/' and not re.match(r'[\w$)\]\'"`]', last):
            end = at + re.match(r'/(?:[^/\\[\n]|\\.|\[(?:[^]\\]|\\.)*\])+/', code[at:]).end()
        elif code[at] == '}' and not depth:
            return at
        else:
            depth += {'{': 1, '}': -1}.get(code[at], 0)
            end = at + 1
        last = code[end - 1] if not code[end - 1].isspace() else last
        at = end
    return at


class Page(html.parser.HTMLParser):
    """The texts of index.html that somebody reads who has scripts, but for names of languages."""
    def __init__(self):
        super().__init__()
        self.found, self.within = set(), []

    def handle_starttag(self, tag, attrs):
        self.within.append(tag)
        self.found |= {value for name, value in attrs if name in ('aria-label', 'placeholder')}

    def handle_endtag(self, tag):
        if tag in self.within:
            while self.within.pop() != tag:
                pass

    def handle_data(self, data):
        if 'body' in self.within and not {'noscript', 'option', 'kbd'} & set(self.within) and data.strip():
            self.found.add(data.strip())


def page_texts():
    found, page = set(), Page()
    for name in sorted(glob.glob(os.path.join(tree, 'web/pages/*.js'))):
        if os.path.basename(name) not in ('words.js', 'tongue.js'):
            script(read(name), 0, found)
    page.feed(read('web/pages/index.html'))
    return found | (page.found - {'later'})


if sys.argv[2:] == ['--list']:
    print(json.dumps({text: '' for text in sorted(page_texts(), key=str.lower)}, ensure_ascii=False, indent=0))
    sys.exit()

# ---- what the server says

LITERALS = r'((?:"(?:\\.|[^"\\])*"\s*|PRI[diu]64\s*)+)'
# Where in which file: what must be in a catalogue, and what may.
MUST = [('lib/trouble/trouble.c', r'\b(?:trouble_add|TROUBLE_WHY)\([^";]*?' + LITERALS), ('lib/trouble/trouble.c', r'\[LATER_RULE_\w+\] = \{ ("\w+")'),
        ('lib/trouble/why.c', r'\bwhy_add\([^";]*?' + LITERALS), ('lib/history/marks.c', r'\[LATER_MARK_\w+\] = \{ "\w+", ' + LITERALS),
        ('web/http/guard.c', r'[=?:]\s*' + LITERALS), ('web/server.c', r'answer_error\([^";]*?' + LITERALS), ('web/http/http.h', r'HTTP_FULL\s+' + LITERALS),
        ('web/pages/stream.js', r"fail\(('[^']*')"), ('web/pages/api.js', r"new Refusal\(0, ('[^']*')")]
MAY = [('web/tasks/route.c', LITERALS), ('web/tasks/tasks.c', LITERALS), ('lib/trouble/say.c', LITERALS), ('lib/client/client.c', LITERALS),
       ('cli/jobs/peek.c', LITERALS), ('cli/cron/cron_act.c', LITERALS), ('cli/flow/flow_act.c', LITERALS), ('cli/choose/saved.c', LITERALS), ('cli/queues/pause.c', LITERALS)]
CRON = [('lib/cron/words.c', r'\bwords_add\(out,[^";]*?' + LITERALS)]
# Words and turns of the server that are parts of others, or are in no format.
WORDS = '''ready delayed reserved dead waiting done gone skipped blocked running open ended active over stale unreadable paused fired missed reader
operator admin lock limit permit ok err up down online start deploy reload kicked buried cancelled moved'''.split() + [
    'skipped: it runs', '{+}; that was set{+}', ': it is its turn', ', {+} in line', '{+}: it is its turn', '{+}, {+} in line',
    ' by {} since {}, for {+} more', ' since {}, for {+} more', ' by {}, for {+} more', ', for {+} more', ' by {} since {}', ' since {}', ' by {}',
    '{} (bearer of the {+} token)', '{} (user {})', '{} (somebody)', 'bearer of the {+} token', 'user {}', 'somebody',
    'later {}: {+}', '{} in any queue', '{} in queue {}', 'no search is saved as {}',
    'no job {+}: it has ended or been cancelled, or never existed; types.keep (laterd.conf) keeps those that are done for a time, and '
    '`later wait` tells a result that may still be there'] + [
    f'{verb} {{+}} jobs of {place}{end}' for verb, end in (('Kick', ''), ('Bury', ''), ('Cancel', ' for good')) for place in ('queue {}', 'all queues')]
CRON_WORDS = '''Sunday Monday Tuesday Wednesday Thursday Friday Saturday January February March April May June July August September October November
December'''.split() + ['first', 'second', 'third', 'fourth', 'fifth', '{+}, {+}', '{+} or {+}', '{+}, if it is {+}', '{+} of every minute', 'every day', 'every hour',
                       'every minute', 'every {} days', 'every {} hours', 'every {} minutes', 'every {} seconds', 'at {+}',
                       'at minute {+}', 'at minutes {+}', 'at second {+}', 'at seconds {+}']
BARE = re.compile(r'%[-+ #0]*[\d.*]*[hlzj]*[a-zA-Z]')


def formats(places):
    """The formats there, without those that say nothing by themselves."""
    found = set()
    for name, pattern in places:
        for literals in re.findall(pattern, read(name)):
            whole = ''.join(a or b or 'd' for a, b, _ in re.findall(r'"((?:\\.|[^"\\])*)"|\'([^\']*)\'|(PRI\w+)', literals)).replace('\\"', '"').replace('%%', '\0')
            if re.search(r'[A-Za-z]{2}', BARE.sub('', whole)) and '\n' not in whole:
                found.add(whole)
    return found


def fits(form, text):
    """Can a sentence of this format be one of this pattern?"""
    def glob(parts, other):
        return re.fullmatch('.*'.join(map(re.escape, parts)), other, re.S)
    return glob(BARE.split(form), text.replace('%', '\0')) or glob(HOLE.split(text)[::2], BARE.sub('x', form).replace('\0', '%'))


# ---- the catalogues

def holes(text):
    """Which values a text has a place for."""
    found = HOLE.findall(text)
    return sorted(one if one.isdigit() else str(i + 1) for i, one in enumerate(found))


def spaces(text):
    """At its ends; French has one before a colon."""
    return text[:1] == ' ' and text[1:2] not in (':', ';'), text[-1:] == ' '


def hidden(part):
    """Patterns that never fit, because one before fits all that they do."""
    seen, found = [], []
    for text in [text for text in part if HOLE.search(text)]:
        sample, parts = HOLE.sub('x1', text), list(map(re.escape, HOLE.split(text)[::2]))
        found += [f'{text}: {before}' for before, pattern in seen if pattern.fullmatch(sample)]
        seen.append((text, re.compile('.+'.join(parts), re.S)))
    return found


def tell(name, wrong):
    print(f'{"not " if wrong else ""}ok {name}')
    for line in sorted(wrong):
        print(f'# {line!r}')


def sentences(name, part, must, may, words):
    forms, others = formats(must), formats(may)
    tell(f'{name}: each sentence', [form for form in forms if not any(fits(form, text) for text in part)] + [word for word in words if word not in part])
    tell(f'{name}: none is stale', [text for text in part if text not in words and not any(fits(form, text) for form in forms | others)])
    tell(f'{name}: none hides another', hidden(part))


pages = page_texts()
for path in sorted(glob.glob(os.path.join(tree, 'web/pages/words/*.json'))):
    name, whole = os.path.basename(path)[:-5], json.loads(read(path))
    tell(f'{name}: its parts', set(whole) ^ {'pages', 'server', 'cron'})
    tell(f'{name}: each text of the pages', pages - set(whole['pages']))
    tell(f'{name}: none is stale', set(whole['pages']) - pages)
    everything = [(text, form) for part in whole.values() for text, to in part.items() for form in (to.split('|') if text in plurals else [to])]
    tell(f'{name}: its {{}}', [text for text, to in everything if holes(to) != holes(text.split('|')[-1] if text in plurals else text)])
    tell(f'{name}: spaces at its ends', [text for text, to in everything if not to or spaces(to) != spaces(text)])
    sentences(f'{name}, server', whole['server'], MUST, MAY, WORDS)
    sentences(f'{name}, cron', whole['cron'], CRON, [], CRON_WORDS)
