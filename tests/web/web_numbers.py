"""web_numbers.py LINK: each number on each page against the command line, and that against Redis."""
import json
import os
import sys
import time

from checks import check, redis, run, same, wait_until
from webdriver import Browser

link, work = sys.argv[1], os.environ['work']
base = link.split('#')[0]
STATES = ['ready', 'delayed', 'reserved', 'dead']
QUEUES = ['flaky', 'later', 'mail', 'night', 'reports', 'spread', 'steps']
ROUNDS = 30


def lines(*words):
    return [json.loads(line) for line in run(*words, '--json').splitlines()]


def sizes():
    return {one['queue']: one for one in lines('size')}


def keys(name, part):
    """Returns the keys of a queue and of its shards."""
    return redis('KEYS', f'later:{{{name}}}:{part}').split() + redis('KEYS', f'later:{{{name}/*}}:{part}').split()


def push(jobs):
    run('push', '--file', '-', input='\n'.join(json.dumps(job) for job in jobs))


# ---- an hour's mix

began = time.monotonic()
run('cron', 'set', 'report', '* * * * * *', 'note', '-q', 'night')
for i in range(ROUNDS):
    push([{'type': 'note', 'queue': 'mail'}] * 60 + [{'type': 'note', 'queue': 'spread'}] * 20
         + [{'type': 'do', 'queue': 'reports', 'payload': {'do': 'sleep', 'for': 0.01}}] * 10
         + [{'type': 'do', 'queue': 'flaky', 'payload': {'do': 'retry', 'upto': 2}}] * 4
         + [{'type': 'do', 'queue': 'flaky', 'id': f'bad{i}', 'payload': {'do': 'bury'}}]
         + [{'type': 'note', 'queue': 'mail', 'id': f'planned{i}', 'in': 3600}] * (i % 2))
    time.sleep(max(0, began + i - time.monotonic()))
push([{'type': 'note', 'queue': 'later', 'id': f'nobody{i}'} for i in range(7)])  # which nobody serves
run('push', '--flow', 'books', '--file', '-', '-q', 'steps', input='\n'.join(json.dumps(step) for step in [
    {'type': 'note', 'step': 'a'}, {'type': 'do', 'step': 'b', 'payload': {'do': 'bury'}}, {'type': 'note', 'step': 'c', 'after': ['a', 'b']}]))
run('pause', 'night')
run('cron', 'pause', 'report')
push([{'type': 'note', 'queue': 'night', 'id': f'paused{i}'} for i in range(3)])
run('push', 'do', json.dumps({'do': 'sleep', 'until': 'end', 'for': 3600}), '-q', 'reports', '--id', 'long', '--timeout', '1h')


def rests():
    """Has all ended that can, and has laterd written down what it counted?"""
    now = sizes()
    if [now[name]['ready'] for name in ('mail', 'flaky', 'reports', 'spread', 'steps')] != [0] * 5 or now['flaky']['delayed']:
        return False
    hosts = [one for one in lines('status') if 'host' in one]
    attempts = sum(one['attempts'] for one in lines('history'))
    return sum(one['reserved'] for one in now.values()) == hosts[0]['running'] == 1 and 'jobs' in hosts[0] and hosts[0]['performed'] == attempts


check(wait_until(rests, 300), f'{ROUNDS} rounds have ended', (run('size'), run('status'), run('history')))
print(f'# {sum(one["attempts"] for one in lines("history"))} attempts, after {time.monotonic() - began:.0f} s')

# ---- the command line against Redis

known = sizes()
same(sorted(known), QUEUES, 'all queues')
for name in QUEUES:
    for state in ('ready', 'delayed', 'dead'):
        same(known[name][state], sum(int(redis('ZCARD', key)) for key in keys(name, state)), f'{name}: {state} are those in Redis')
stats = {name: sum(int(redis('HGET', key, name) or 0) for queue in QUEUES for key in keys(queue, 'stats')) for name in ('done', 'released', 'buried')}
history = lines('history')
same([sum(one['done'] for one in history), sum(one['retry'] for one in history), sum(one['bury'] for one in history)],
     [stats['done'], stats['released'], stats['buried']], 'the history has what the counters of Redis have')

# ---- the pages against the command line

browser = Browser(work)


def go(page):
    browser.go('about:blank')
    browser.go(f'{base}#/{page}')
    browser.wait('document.querySelector("#connection.live") && document.querySelector("main h1")')


def rows(label):
    """Returns the rows of a table, each by the headings; a heading that comes again has its number."""
    return browser.script("""
        const found = document.querySelector(`main [aria-label="${arguments[0]}"] table`);
        if (!found) return [];
        const seen = {}, heads = [...found.tHead.rows[0].cells].map(({ textContent: head }) => {
            seen[head] = (seen[head] ?? 0) + 1;
            return seen[head] > 1 ? `${head} ${seen[head]}` : head;
        });
        return [...found.tBodies[0].rows].map((row) => Object.fromEntries([...row.cells].map((cell, i) => [heads[i], cell.innerText.trim()])));""", label)


def counts(row, names):
    return [int(row[name].replace(',', '')) if row.get(name, '–') != '–' else None for name in names]


def shows(got, wanted, name):
    """Waits until the page has these numbers."""
    check(wait_until(lambda: got() == wanted), name, f'got {got()!r}, wanted {wanted!r}')


def close(text, seconds):
    """Is a duration of a page this one, as it is rounded there?"""
    if seconds is None or text == '–':
        return text == '–' and seconds is None
    value, unit = text.split()
    of, least = {'µs': (1e-6, 1e-6), 'ms': (0.001, 0.0006), 's': (1, 0.0006), 'min': (60, 0.0006)}[unit]
    return abs(float(value) * of - seconds) <= max(0.06 * seconds, least)


try:
    browser.go(link)
    browser.wait('document.querySelector("#connection.live")')

    # the overview
    [host] = [one for one in lines('status') if 'host' in one]
    total = {state: sum(one[state] for one in known.values()) for state in STATES}
    shows(lambda: {line[0]: line[1] for line in (tile.split('\n') for tile in browser.script(
        'return [...document.querySelectorAll(".tile")].map((e) => e.innerText)')) if line[0] in ('Running', 'Ready', 'Delayed', 'Dead')},
          {'Running': str(host['running']), **{state.title(): f'{total[state]:,}' for state in ('ready', 'delayed', 'dead')}}, 'overview: the sums')
    browser.script('const more = [...document.querySelectorAll(".above button")].find((e) => !e.hidden && e.innerText.startsWith("Show")); more?.click()')
    names = ['Ready', 'Reserved', 'Delayed', 'Dead', 'Hosts']
    shows(lambda: {row['Queue'].split()[0]: counts(row, names) for row in rows('Queues')},
          {name: [one[part] for part in ('ready', 'reserved', 'delayed', 'dead', 'served')] for name, one in known.items()}, 'overview: each queue')
    shows(lambda: {(row['In a second'], row['Done a second']) for row in rows('Queues')}, {('0.0', '0.0')}, 'overview: nothing comes or ends any more')
    shows(lambda: [row['Queue'] for row in rows('Queues') if 'paused' in row['Queue']], [next(
        row['Queue'] for row in rows('Queues') if row['Queue'].startswith('night'))], 'overview: what is paused')

    # a queue, state by state
    for name in QUEUES:
        go(f'queue?name={name}')
        shows(lambda: browser.script('return [...document.querySelectorAll(".tabs b")].slice(0, 5).map((e) => e.innerText)'),
              [f'{known[name][state]:,}' for state in ('ready', 'reserved', 'delayed', 'waiting', 'dead')], f'queue {name}: the counts')
    for name, state in (('later', 'ready'), ('mail', 'delayed'), ('flaky', 'dead'), ('reports', 'reserved'), ('night', 'ready')):
        go(f'queue?name={name}&state={state}')
        shows(lambda: len(rows(f'Jobs of {name}, {state}')), min(50, known[name][state]), f'queue {name}: its {state} jobs')

    # the dead, with reasons
    go('dead')
    shows(lambda: browser.script('return Object.fromEntries([...document.querySelectorAll(".examples a")].map((e) => [e.firstChild.data.trim(), e.querySelector("b").innerText]))'),
          {name: f'{one["dead"]:,}' for name, one in known.items() if one['dead']}, 'dead: by queue')
    shows(lambda: sum(counts(row, ['Jobs'])[0] for row in rows('Reasons') if row['Jobs'].isdigit()), total['dead'], 'dead: the reasons are for all of them')

    # what runs
    go('running')
    shows(lambda: [(row['Job'], row['Attempt'], row['Worker']) for row in rows(f'Running on {host["host"]}:{host["pid"]}')],
          [(one['id'], str(one['attempt']), str(one['worker'])) for one in host['jobs']], 'running: as the host says')
    shows(lambda: [row['Job'] for row in rows('Reserved jobs')], ['long'], 'running: what is reserved')

    # hosts
    go('hosts')
    shows(lambda: [counts(row, ['Workers', 'Running', 'Performed', 'Failed']) for row in rows('Hosts')],
          [[host[part] for part in ('workers', 'running', 'performed', 'failed')]], 'hosts: as later status has it')
    same((host['performed'], host['failed']), (sum(one['attempts'] for one in history), sum(one['failed'] for one in history)), 'which is what the history has')

    # the history, by type
    go('history')
    by_type = {(one['queue'], one['type']): one for one in history}
    shows(lambda: {(row['Queue'], row['Type']): counts(row, ['Attempts', 'Failed']) for row in rows('Types')},
          {key: [one['attempts'], one['failed']] for key, one in by_type.items()}, 'history: attempts and failures')
    for row in rows('Types'):
        one = by_type[row['Queue'], row['Type']]
        same(row['Failing'], f'{100 * one["failed"] / one["attempts"]:.1f} %', f'history: {row["Queue"]}, {row["Type"]}: which part fails')
        times = [(row[head], one[of].get(part)) for of, heads in (('wait', ('Wait p50', 'p95', 'p99')), ('run', ('Run p50', 'p95 2', 'p99 2')))
                 for part, head in zip(('p50', 'p95', 'p99'), heads)]
        check(all(close(text, seconds) for text, seconds in times), f'history: {row["Queue"]}, {row["Type"]}: its times', times)
        told = browser.script('return [...document.querySelectorAll("main tr")].find((r) => r.querySelector("th")?.innerText === arguments[0]'
                              ' && r.querySelector("td")?.innerText === arguments[1]).querySelector(".bars").ariaLabel', row['Type'], row['Queue'])
        same([int(text.split()[0].replace(',', '')) for text in told.split(', ')], [count for _, count in one['run']['octaves']],
             f'history: {row["Queue"]}, {row["Type"]}: how many ran how long')
        same(sum(count for _, count in one['run']['octaves']), one['run']['count'], 'which are all of them')
    shows(lambda: len(browser.script('return [...document.querySelectorAll(".marks li")].map((e) => e.innerText)')), len(lines('history', '--marks')),
          'history: what else happened')
    shows(lambda: {(row['Queue'], row['Type']): row['Failing'] for row in rows('Change')},
          {key: f'{100 * one["failed"] / one["attempts"]:.1f} %' for key, one in by_type.items()}, 'history: against the hour before: which part fails')
    check(all(abs(float(row['A second']) - by_type[row['Queue'], row['Type']]['attempts'] / 3600) < 0.08 for row in rows('Change')),
          'history: and how many a second', rows('Change'))

    # of one type
    queue, kind = max(by_type, key=lambda key: by_type[key]['failed'])
    one = by_type[queue, kind]
    check(one['failed'] > 0 and len(by_type) > 1, 'one of some types has failed', by_type)
    browser.script('[...document.querySelectorAll("main th a")].find((e) => e.hash === arguments[0]).click()', f'#/history?since=1h&type={kind}&queue={queue}')
    shows(lambda: [(row['Type'], *counts(row, ['Attempts', 'Failed'])) for row in rows('Types')], [(kind, one['attempts'], one['failed'])], 'history: of one type')
    shows(lambda: [f' --type={kind} ' in command for command in browser.script('return [...document.querySelectorAll("main .command code")].map((e) => e.innerText)')[:2]],
          [True, True], 'its curve and its row are by what they say')
    same(sum(row['failed'] for row in lines('history', queue, '--type', kind, '--by', 'minute')), one['failed'], 'minute by minute these are its failures')

    # schedules, flows, tasks
    go('cron')
    [schedule] = lines('cron')
    shows(lambda: [(row['Name'], row['Queue'], row['State']) for row in rows('Periodic jobs')], [('report', 'night', '❚❚ paused')], 'periodic jobs')
    same(schedule['state'], 'paused', 'as later cron has it')
    go('flows')
    [flow] = lines('flow')
    shows(lambda: [(row['Flow'], counts(row, ['Jobs', 'Open', 'Waiting', 'Dead', 'Gone'])) for row in rows('Flows')],
          [('books', [flow[part] for part in ('total', 'open', 'waiting', 'dead', 'gone')])], 'flows: as later flow has it')
    go('queue?name=later')
    browser.click('Pause', 'main')
    browser.wait('document.querySelector("#notes").innerText.includes("later pause later")')
    go('tasks')
    shows(lambda: ['later pause later' in row['Command'] for row in rows('Tasks')], [True], 'tasks: what was done here')
finally:
    browser.close()
    with open(f'{work}/end', 'w', encoding='ascii'):
        pass
