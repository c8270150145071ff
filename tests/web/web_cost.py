"""web_cost.py WHERE: how many commands Redis performs for those who look at the pages, also within scripts."""
import json
import os
import subprocess
import sys
import threading
import time

from checks import calls, check, performed, wait_until
from web_client import Connection

where = sys.argv[1]
later = os.environ['later_bin']
QUEUES = [f'q{i}' for i in range(15)]


class Reader(threading.Thread):
    """Keeps the pages' stream open, and counts the looks of which it is told: one a second, and those for troubles."""

    def __init__(self):
        super().__init__(daemon=True)
        self.looks = self.troubled = self.queues = 0
        self.open = True
        self.start()

    def run(self):
        connection = Connection(where)
        connection.request('GET', '/api/1/live', headers={'Host': 'localhost'})
        answer = connection.getresponse()
        while self.open:
            line = answer.readline()
            if not line.startswith(b'data: '):
                if not line:
                    break
                continue
            event = json.loads(line[6:])
            self.queues += len(event['queues'])
            if event.get('troubles', {}).get('known'):
                self.troubled += 1
            elif event['known']:
                self.looks += 1
        answer.close()
        connection.close()


def rests():
    """Is Redis asked nothing for three seconds?"""
    before = calls()
    time.sleep(3)
    return not performed(before, calls())


def quiet(reader):
    """Has nothing changed for 11 seconds? Before, queues are looked at closely."""
    before = reader.queues
    time.sleep(11)
    return reader.queues == before


def costs(reader, looks):
    """Returns what so many looks cost, how many they were, and how many there were for troubles. What is told
    late counts, too. Where a connection was made anew, shortly before or meanwhile, everything was asked anew:
    then they are counted again, up to ten times."""
    for _ in range(10):
        first, told = calls(), reader.looks
        wait_until(lambda: reader.looks >= told + 8, 600)  # that is longer than from one look for troubles to the next
        before, told, troubled = calls(), reader.looks, reader.troubled
        wait_until(lambda: reader.looks >= told + looks, 600)
        used = performed(before, calls())
        anew = performed(first, calls()).get('client|setname')
        until = reader.looks + 2
        wait_until(lambda: reader.looks >= until)
        if not anew:
            return sum(used.values()), reader.looks - told, reader.troubled - troubled + 1
    sys.exit('web_cost: the connection to Redis was made anew all the time')


def is_cheap(reader, who):
    used, looks, troubled = costs(reader, 20)
    print(f'# {who}: {used} commands in {looks} looks, and {troubled} for troubles')
    # A look each second, one for troubles each five seconds and one for marks each ten are 13 + 31 / 5 + 2 / 10 = 19.4
    # commands a second; when a minute is over, its history takes 45 more. On a busy machine some looks are not told: so half as many again.
    check(used <= 1.5 * (13 * looks + 31 * troubled + 2 * looks / 10) + 90, f'{who}: some 20 commands a second', (used, looks, troubled))


subprocess.run([later, 'serve'], check=True, capture_output=True, text=True,
               input=''.join(f'["push","t","-q","{name}"]\n["push","t","-q","{name}","--in","1h"]\n' for name in QUEUES))
check(wait_until(rests), 'nobody looks: Redis is asked nothing')
readers = [Reader()]
check(wait_until(lambda: quiet(readers[0]), 200), 'nothing happens in 15 queues')
is_cheap(readers[0], 'one reader')
readers += [Reader() for _ in range(59)]
check(wait_until(lambda: all(reader.looks > 1 for reader in readers)), '60 readers are told')
is_cheap(readers[0], '60 readers')
for reader in readers:
    reader.open = False
check(wait_until(rests), 'they are gone: Redis is asked nothing')
