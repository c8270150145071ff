#!/usr/bin/python3
"""wait.py URL: how soon the Python client hears of results, which this program leaves as laterd would, and what it
tells of the dead (what it hears of: conformance.json, `wait:`). Prints `ok NAME` or `no NAME`, like judge.py."""
import asyncio
import importlib
import sys
import threading
import time

from driver import connect, laterd
from judge import Store, place_of

HANGS = 60  # seconds, for what takes none
# A waiting call that ends by itself would look again, and find by that what it should be woken for.
importlib.import_module("laterd.client").BLOCK = 10.0 * HANGS
PLACE = place_of(sys.argv[1])
STORE = Store(PLACE)
SYNC = connect(PLACE, False)
DONE = '{"state":"done","attempt":1,"at":%d}\n{"width":640}'
END = """redis.call('DEL', KEYS[2]) redis.call('HDEL', KEYS[1], ARGV[1]) redis.call('RPUSH', KEYS[2], ARGV[2])"""


def told(ok, name):
    print("ok" if ok else "no", "wait:", name, flush=True)


def ends(job, element, delay=0.0):
    """Ends the job in this many seconds, on another connection than the one that waits."""
    def end():
        time.sleep(delay)
        STORE.do("EVAL", END, 2, "later:{w}:jobs", "later:{w}:result:" + job, job, element)
    thread = threading.Thread(target=end)
    thread.start()
    return thread


def runs(job):
    """A job that is reserved: it is known, and in no set."""
    STORE.do("HSET", "later:{w}:jobs", job, '{"type":"a","result":60}')


def raised(kind, call):
    try:
        call()
    except kind as error:
        return error
    return None


def at_once(call):
    begin = time.monotonic()
    value = call()
    return value, time.monotonic() - begin < HANGS - 10


def main():
    STORE.on_all("FLUSHALL")
    runs("j-1")
    end = ends("j-1", DONE % 1, 0.5)
    value, quick = at_once(lambda: SYNC.wait("j-1", "w", 60))
    end.join()
    told(value == {"width": 640}, "the value, when the job ends")
    told(quick, "without waiting for its next look")
    unknown, quick = at_once(lambda: raised(laterd.JobUnknown, lambda: SYNC.wait("none", "w", 60)))
    told(unknown and quick, "an unknown one is told at once")

    error = '{"at":1764000000.5,"attempt":3,"kind":"retry","text":"smtp: busy","host":"web1"}'
    runs("j-3")
    STORE.do("ZADD", "later:{w}:dead", "1764000000", "j-3")
    STORE.do("HSET", "later:{w}:records", "j-3", "a=3\ne=%s\n" % error)
    failed = raised(laterd.JobFailed, lambda: SYNC.wait("j-3", "w", 60))
    told(failed and failed.error["text"] == "smtp: busy", "a dead one, with its error")
    runs("j-4")
    end = ends("j-4", '{"state":"dead","attempt":3,"at":4}\n' + error, 0.3)
    failed = raised(laterd.JobFailed, lambda: SYNC.wait("j-4", "w", 60))
    end.join()
    told(failed and failed.error["kind"] == "retry", "one that dies meanwhile")
    asyncio.run(many())


async def many():
    client = connect(PLACE, True)
    runs("j-5")
    end = ends("j-5", DONE % 6, 0.5)
    values = await asyncio.gather(*(client.wait("j-5", "w", 60) for _ in range(10)))
    end.join()
    told(values == [{"width": 640}] * 10, "ten coroutines at once")
    waits = asyncio.ensure_future(connect({"kind": "single", "socket": "/nowhere"}, True).wait("j-6", "w"))
    await asyncio.wait({waits}, timeout=0.2)  # it has asked, and pauses; if not yet, there is only less to cancel
    waits.cancel()
    done, _ = await asyncio.wait({waits}, timeout=HANGS)
    told(done and waits.cancelled(), "one is cancelled while Redis is away")


main()
