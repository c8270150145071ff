#!/usr/bin/python3
"""answers.py CONFORMANCE URL NOTES LOG LANGUAGE/TYPE...: do jobs end as "handlers" of conformance.json
says, whatever their handlers answer? README.md describes the file.

laterd runs, and performs jobs of each TYPE by a program in that language, which notes each job in
NOTES. Prints `ok NAME` or `no NAME` with lines `# why` after it, like judge.py."""
import collections
import json
import re
import sys
import time

from judge import Store, Wrong, expand, place_of, same, short

HANGS = 300  # seconds; a job that is not settled at once waits for its time-out, which is longer
KINDS = {"done": None, "buried": "buried", "retry": "retry"}


def push(store, job, kind, row):
    document = {"type": kind, "payload": row["does"], "result": row.get("result", 3600), "timeout": 7200,
                "max_attempts": row.get("runs", 1), "backoff": 0.01}
    if not document["result"]:
        del document["result"]
    store.do("HSET", "later:{default}:jobs", job, json.dumps(document))
    store.do("ZADD", "later:{default}:ready", store.now(), job)


def result(store, job, until):
    """What the job has left: its state, the bytes of its value or of its error, and since when."""
    while True:
        left = store.do("LRANGE", "later:{default}:result:" + job, 0, 0)
        if left:
            head, _, rest = left[0].partition("\n")
            head = json.loads(head)
            return head["state"], rest, head["at"]
        if time.monotonic() > until:
            raise Wrong("it does not end")
        time.sleep(0.02)


def gone(store, job, until):
    """The same of a job that is to leave nothing when it is done."""
    while store.do("HEXISTS", "later:{default}:jobs", job):
        if store.do("ZSCORE", "later:{default}:dead", job) is not None:
            raise Wrong("it is dead")
        if time.monotonic() > until:
            raise Wrong("it does not end")
        time.sleep(0.02)
    return "done", "null", 0


def in_log(path, job, pattern, until):
    while True:
        with open(path, encoding="utf-8", errors="replace") as file:
            if any(re.search(r"job=%s |by %s\." % (job, job), line) and re.search(pattern, line) for line in file):
                return
        if time.monotonic() > until:
            raise Wrong("the log has no line of it with %s" % pattern)
        time.sleep(0.1)


def check(row, state, rest, notes, job):
    error = json.loads(rest) if state == "dead" else {"kind": None, "text": ""}
    if error["kind"] != KINDS[row["ends"]]:
        raise Wrong("it is %s: %s" % (state, short(rest)))
    if not re.search(row.get("error", "").replace("[^]", "[\\s\\S]"), error["text"]):
        raise Wrong("its error is %s" % short(error["text"]))
    if len(error["text"].encode()) > 1000:
        raise Wrong("its error has %d bytes" % len(error["text"].encode()))
    if "bytes" in row and rest != row["bytes"]:
        raise Wrong("its value is %.300s" % rest)
    if "value" in row and not same(json.loads(rest), row["value"]):
        raise Wrong("its value is %.300s" % rest)
    if notes[job] != row.get("runs", 1):
        raise Wrong("it ran %d times" % notes[job])


def main():
    conformance, url, notes_path, log = sys.argv[1:5]
    with open(conformance, encoding="utf-8") as file:
        rows = expand(json.load(file)["handlers"])
    store = Store(place_of(url))
    jobs, took = [], []
    for place in sys.argv[5:]:
        language, kind = place.split("/")
        for n, row in enumerate(rows):
            if language in row.get("only", [language]) and language not in row.get("not", []):
                jobs.append(("%s.%d" % (kind, n), kind, row))
    for job, kind, row in jobs:
        push(store, job, kind, row)
    until = time.monotonic() + HANGS
    for job, kind, row in jobs:
        try:
            state, rest, at = (result if row.get("result", 1) else gone)(store, job, until)
            with open(notes_path, encoding="ascii") as file:
                begun = [line.split() for line in file]
            notes = collections.Counter(words[0] for words in begun)
            took.append(max((at - float(words[3]) for words in begun if words[0] == job), default=0))
            check(row, state, rest, notes, job)
            if "log" in row:
                in_log(log, job, row["log"], until)
            print("ok %s: %s" % (kind, row["name"]))
        except Wrong as wrong:
            print("no %s: %s\n# %s" % (kind, row["name"], wrong))
    print("# from a handler's begin to its job's end: at most %.3f s" % max(took))
    with open(notes_path, encoding="ascii") as file:
        programs = {tuple(line.split()[1:3]) for line in file}
    for place in sys.argv[5:]:
        kind = place.split("/")[1]
        pids = [pid for name, pid in programs if name == kind]
        if place.split("/")[0] == "php":
            continue  # an exit ends its program, after its answer
        print("%s %s: one program has performed them all" % ("ok" if len(pids) == 1 else "no", kind))


main()
