#!/usr/bin/python3
"""judge.py: does a client of laterd do what conformance.json says?

    judge.py CONFORMANCE URL -- DRIVER [ARGUMENT...]

URL `fake`: the steps that need no Redis, of a driver of a client's fake.

It starts the driver, a small program around the client, hands it one call after the other, a JSON
object a line, and compares its answers and what is in Redis then. It prints a line for each step:
`ok NAME`, or `no NAME` with lines `# why` behind it. README.md describes both files. URL is as of
later(1). The judge knows redis-py and nothing of laterd's clients.
"""
import json
import os
import re
import subprocess
import sys
import threading
import time

import redis
from redis.sentinel import Sentinel

ONCE = 60  # seconds until `once` is given up
MEANWHILE = 0.1  # seconds for a call to begin; if that is too short, there is only less to wait for
NEW_ID = re.compile(r"^[0-9A-Za-z]{14}$")


# ---- the file's shorthand


def expand(value, number=None):
    """{"repeat": X, "times": N}: a string or list N times over, or N objects with # numbered."""
    if isinstance(value, dict) and "repeat" in value:
        what, times = value["repeat"], value["times"]
        if isinstance(what, dict) or (isinstance(what, str) and "#" in what):
            return [expand(what, i) for i in range(times)]
        return what * times + value.get("and", "") * times if isinstance(what, str) else what * times
    if isinstance(value, dict):
        return {name: expand(part, number) for name, part in value.items()}
    if isinstance(value, list):
        return [expand(part, number) for part in value]
    if isinstance(value, str) and number is not None:
        return number if value == "#" else value.replace("#", str(number))
    return value


# ---- where Redis is


def place_of(url):
    """What the driver is told: a socket, the Sentinels, or the nodes of a Cluster."""
    if url.startswith("unix:"):
        return {"kind": "single", "socket": url[len("unix:"):]}
    kind, rest = url.split("://")
    hosts, _, master = rest.partition("/")
    nodes = [[host.rsplit(":", 1)[0], int(host.rsplit(":", 1)[1])] for host in hosts.split(",")]
    return {"kind": kind, "nodes": nodes, **({"master": master} if master else {})}


class Store:
    """The Redis, as the judge looks at it."""

    def __init__(self, place):
        self.kind = place["kind"]
        if self.kind == "single":
            self.redis = redis.Redis(unix_socket_path=place["socket"], decode_responses=True)
        elif self.kind == "sentinel":
            sentinels = Sentinel(place["nodes"])
            self.redis = sentinels.master_for(place["master"], decode_responses=True)
        else:
            host, port = place["nodes"][0]
            self.redis = redis.RedisCluster(host=host, port=port, decode_responses=True)

    def do(self, *words):
        return self.redis.execute_command(*words)

    def on_all(self, *words):
        if self.kind != "cluster":
            self.redis.execute_command(*words)
            return
        for node in self.redis.get_primaries():
            self.redis.get_redis_connection(node).execute_command(*words)

    def on_node_of(self, key, *words):
        """On the node of a Cluster where this key is; else on the server."""
        if self.kind != "cluster":
            self.redis.execute_command(*words)
            return
        self.redis.get_redis_connection(self.redis.get_node_from_key(key)).execute_command(*words)

    def await_blocked(self, count):
        """Until so many clients wait; or for a minute, if a client never does."""
        deadline = time.monotonic() + 60
        while self.blocked() < count and time.monotonic() < deadline:
            time.sleep(0.01)

    def blocked(self):
        if self.kind != "cluster":
            return self.redis.info("clients")["blocked_clients"]
        nodes = [self.redis.get_redis_connection(node) for node in self.redis.get_primaries()]
        return sum(node.info("clients")["blocked_clients"] for node in nodes)

    def now(self):
        node = self.redis.get_random_node() if self.kind == "cluster" else None
        client = self.redis.get_redis_connection(node) if node else self.redis
        seconds, micro = client.execute_command("TIME")
        return int(seconds) + int(micro) / 1e6

    def state(self, queue, job):
        key = "later:{%s}:" % queue
        for name in ("ready", "delayed", "dead", "waiting"):
            score = self.do("ZSCORE", key + name, job)
            if score is not None:
                return name, float(score)
        return ("reserved" if self.do("HEXISTS", key + "jobs", job) else None), None


# ---- without a Redis

REDIS = {"before", "on_all", "meanwhile", "once", "between"}  # members of a step that need one
NAMES = {"id", "show", "kick", "cancel", "reschedule", "forget", "wait", "flow", "show_flow", "wait_flow", "kick_flow", "cancel_flow", "close_flow"}


def words_of(value, named=False):
    """All strings in the value that may be names of jobs and flows: those of a step's own members, or all."""
    if isinstance(value, dict):
        return {word for name, part in value.items() if not named or name in NAMES or not isinstance(part, str)
                for word in words_of(part, named)}
    if isinstance(value, list):
        return {word for part in value for word in words_of(part, named)}
    return {value, *re.split("[:.]", value)} if isinstance(value, str) else set()


def queues_of(value):
    if isinstance(value, dict):
        own = {part for name, part in value.items() if name in ("queue", "home") and isinstance(part, str)}
        return own.union(*map(queues_of, value.values()))
    if isinstance(value, list):
        return set().union(*map(queues_of, value))
    return set(re.findall("later:{([^}/]+)", value)) if isinstance(value, str) else set()


def without_redis(steps):
    """The steps that mean the same to a fake: what none of those that are left out has touched. A job that is
    refused is so always."""
    touched, seen = {}, set()
    all_queues, all_words = list(map(queues_of, steps)), list(map(words_of, steps))
    for step, queues, words in zip(steps, all_queues, all_words):
        names = words_of(step["call"], True) - {step["call"].get("queue")}
        lost = [queue for queue in queues if queue in touched and (not names or names & touched[queue])]
        if REDIS & step.keys() or step.get("fresh", {}).keys() - {"context"} or (
                lost and step.get("answer") != {"error": "refused"}):
            for queue in queues:
                touched.setdefault(queue, set()).update(words)
            continue
        if "fresh" in step:  # a new fake knows nothing
            for queue in seen:
                touched.setdefault(queue, set()).update(
                    *(words for queues, words in zip(all_queues, all_words) if queue in queues))
        seen |= queues
        yield step


class Fake:
    """Takes the place of a Store."""

    def now(self):
        return time.time()


# ---- comparing


class Wrong(Exception):
    pass


def crc16(text):
    crc = 0
    for byte in text.encode():
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ 0x1021 if crc & 0x8000 else crc << 1) & 0xFFFF
    return crc


def same(got, wanted):
    """Equal as JSON: 5 and 5.0 are, true and 1 are not."""
    if isinstance(wanted, bool) or isinstance(got, bool):
        return got is wanted
    if isinstance(wanted, dict) and isinstance(got, dict):
        return got.keys() == wanted.keys() and all(same(got[name], wanted[name]) for name in wanted)
    if isinstance(wanted, list) and isinstance(got, list):
        return len(got) == len(wanted) and all(map(same, got, wanted))
    return got == wanted


def short(value):
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 300 else text[:300] + "…"


def includes(got, wanted, where="the answer"):
    """Has the answer all that is wanted? It may have more."""
    if wanted == "new id":
        if not isinstance(got, str) or not NEW_ID.match(got):
            raise Wrong("%s: %s is no new id" % (where, short(got)))
    elif isinstance(wanted, dict) and wanted.keys() == {"above"}:
        if isinstance(got, bool) or not isinstance(got, (int, float)) or not got > wanted["above"]:
            raise Wrong("%s: %s, wanted more than %s" % (where, short(got), wanted["above"]))
    elif isinstance(wanted, dict) and wanted.keys() == {"has"}:
        if not isinstance(got, str) or wanted["has"] not in got:
            raise Wrong("%s: %s, wanted text with %s" % (where, short(got), wanted["has"]))
    elif isinstance(wanted, dict) and isinstance(got, dict):
        for name, part in wanted.items():
            if name == "document":
                if not same(as_wanted(got.get(name), part), part):
                    raise Wrong("the document: %s, wanted %s" % (short(got.get(name)), short(part)))
            elif name not in got and part is not None:
                raise Wrong("%s: no %s in %s" % (where, name, short(got)))
            else:
                includes(got.get(name), part, name)
    elif isinstance(wanted, list) and isinstance(got, list):
        if len(got) != len(wanted):
            raise Wrong("%s: %d, wanted %d" % (where, len(got), len(wanted)))
        for one, part in zip(got, wanted):
            includes(one, part, where)
    elif not same(got, wanted):
        raise Wrong("%s: %s, wanted %s" % (where, short(got), short(wanted)))


def as_wanted(document, wanted):
    """Without what says nothing: an id, a priority of 0 and a payload of null may be there or not."""
    if not isinstance(document, dict):
        return document
    silent = {"priority": 0, "payload": None}
    return {name: value for name, value in document.items()
            if name in wanted or not (name == "id" or (name in silent and value == silent[name]))}


class Step:
    def __init__(self, store, step):
        self.store, self.step = store, step

    def check(self, then, answer, begin, end):
        for kind in ("job", "record", "redis", "order", "shard", "shards", "known_once", "schedule"):
            if kind in then:
                getattr(self, "check_" + kind)(then, answer, begin, end)

    def check_job(self, then, answer, begin, end):
        job = answer.get("id") if then["job"] == "$id" else then["job"]
        state, score = self.store.state(then["queue"], job)
        if then.get("state", state) != state:
            raise Wrong("%s is %s, wanted %s" % (job, state, then["state"]))
        least = begin - then.get("priority", 0) * 1000000
        most = end - then.get("priority", 0) * 1000000
        if "in" in then:
            least, most = begin + then["in"], end + then["in"]
        if "at" in then:
            least = most = then["at"]
        if ("in" in then or "at" in then or "priority" in then) and not (
                least - 0.001 <= score <= most + 0.001):
            raise Wrong("%s: its score is %r, wanted %r to %r" % (job, score, least, most))
        text = self.store.do("HGET", "later:{%s}:jobs" % then["queue"], job)
        if "bytes" in then and then["bytes"] not in text:
            raise Wrong("the document is %s" % text[:300])
        if "document" in then:
            document = json.loads(text)
            if document.get("id", job) != job:
                raise Wrong("the document's id is %r" % document["id"])
            if "expires_in" in then:
                expires = document.pop("expires_at", 0)
                if not begin - 0.001 <= expires - then["expires_in"] <= end + 0.001:
                    raise Wrong("it expires at %r, wanted %r after the push" % (expires, then["expires_in"]))
            if not same(as_wanted(document, then["document"]), then["document"]):
                raise Wrong("the document is %s, wanted %s" % (text[:300], short(then["document"])))

    def check_record(self, then, *_):
        record = self.store.do("HGET", "later:{%s}:records" % then["queue"], then["record"]) or ""
        if then["line"] not in record.split("\n"):
            raise Wrong("the record is %r, wanted %s" % (record, then["line"]))

    def check_redis(self, then, *_):
        got = self.store.do(*then["redis"])
        got = int(got) if isinstance(got, bool) else got
        if got != then["is"]:
            raise Wrong("%s: %r, wanted %r" % (" ".join(then["redis"]), got, then["is"]))

    def check_order(self, then, *_):
        got = self.store.do("ZRANGE", "later:{%s}:ready" % then["queue"], 0, -1)
        if got != then["order"]:
            raise Wrong("the order is %s …" % got[:5])

    def places(self, queue, count):
        return [queue] + ["%s/%d" % (queue, i) for i in range(count)]

    def check_shard(self, then, *_):
        wanted = "%s/%d" % (then["queue"], crc16(then["shard"]) % then["count"])
        got = [place for place in self.places(then["queue"], then["count"])
               if self.store.do("HEXISTS", "later:{%s}:jobs" % place, then["shard"])]
        if got != [wanted]:
            raise Wrong("%s is in %s, wanted %s" % (then["shard"], got, wanted))

    def check_shards(self, then, *_):
        for job in then["shards"]:
            self.check_shard({**then, "shard": job})

    def check_known_once(self, then, *_):
        held = [job for place in self.places(then["queue"], then["count"])
                for job in self.store.do("HKEYS", "later:{%s}:jobs" % place)]
        for job in then["known_once"]:
            if held.count(job) != 1:
                raise Wrong("%s is there %d times" % (job, held.count(job)))


    def check_schedule(self, then, *_):
        text = self.store.do("HGET", "later:{%s}:crontab" % then["queue"], then["schedule"]) or ""
        lines, _, document = text.partition("\n\n")
        if lines != then["lines"]:
            raise Wrong("the lines are %r, wanted %r" % (lines, then["lines"]))
        document = json.loads(document)
        if "id" in document or not same(as_wanted(document, then["document"]), then["document"]):
            raise Wrong("the document is %s, wanted %s" % (short(document), short(then["document"])))


class FakeStep(Step):
    """What is in a fake is asked of its driver."""

    def __init__(self, driver, step):
        super().__init__(None, step)
        self.driver = driver

    def check(self, then, answer, begin, end):
        if "job" not in then:
            return
        job = answer.get("id") if then["job"] == "$id" else then["job"]
        got = self.driver.ask({"show": job, "queue": then["queue"]})
        wanted = {name: then[name] for name in ("state", "priority", "document") if name in then}
        if "expires_in" in then:
            del wanted["document"]  # Redis adds the time to it
        includes({name: part for name, part in got.items() if part is not None or name == "state"}, wanted, job)


# ---- the driver


class Driver:
    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, call):
        self.tell(call)
        return self.hear()

    def tell(self, call):
        self.process.stdin.write(json.dumps(call).encode() + b"\n")
        self.process.stdin.flush()

    def hear(self):
        line = self.process.stdout.readline()
        if not line:
            raise Wrong("the driver has ended: status %s" % self.process.wait())
        return json.loads(line)

    def end(self):
        self.process.stdin.close()
        return self.process.wait()


def tell_paused(store, driver, step):
    """What the call reads first is from before the command, what its first script reads from after it:
    Redis lets both wait, and goes on in the order in which they came. On a Cluster the script may wait
    on another node first; so the command's node goes on first, and the others after it."""
    key = next(word for word in step["between"] if str(word).startswith("later:"))
    store.on_all("CLIENT", "PAUSE", 60000, "WRITE")
    command = threading.Thread(target=store.do, args=step["between"])
    command.start()
    store.await_blocked(1)
    driver.tell(step["call"])
    store.await_blocked(2)
    store.on_node_of(key, "CLIENT", "UNPAUSE")
    command.join()
    store.on_all("CLIENT", "UNPAUSE")


def judge(store, driver, place, step, before_first):
    for words in step.get("before", []):
        store.do(*words)
    for words in step.get("on_all", []):
        store.on_all(*words)
    if "fresh" in step or before_first:
        answer = driver.ask({"open": {**place, **step.get("fresh", {})}})
        if "error" in answer and answer["error"] != step.get("answers", [{}])[0].get("error"):
            raise Wrong("open: %s" % short(answer))
    begin = store.now()
    if "between" in step:
        tell_paused(store, driver, step)
    else:
        driver.tell(step["call"])
    until = time.monotonic() + ONCE
    while "once" in step and not store.do(*step["once"]) and time.monotonic() < until:
        time.sleep(0.02)
    for words in step.get("meanwhile", []):
        time.sleep(MEANWHILE)
        (store.on_all if words[0] == "CLIENT" else store.do)(*words)
    got = driver.hear()
    end = store.now()
    wanted = step.get("answers", [step.get("answer", {})])
    then = step.get("then", [])
    for last, one in zip([False] * (len(wanted) - 1) + [True], wanted):
        try:
            includes(got, {name: part for name, part in one.items() if name != "then"})
            then = then + one.get("then", [])
            break
        except Wrong as wrong:
            if last:
                raise Wrong("%s (%s)" % (wrong, short(got)))
    if isinstance(got.get("error"), str) and not any("error" in one for one in wanted):
        raise Wrong("answered %s" % short(got))
    for one in then:
        (Step(store, step) if place["kind"] != "fake" else FakeStep(driver, step)).check(one, got, begin, end)


def main():
    conformance, url = sys.argv[1:3]
    with open(conformance, encoding="utf-8") as file:
        steps = expand(json.load(file)["steps"])
    if url == "fake":
        place, store, of = {"kind": "fake"}, Fake(), len(steps)
        steps = list(without_redis(steps))
        assert 2 * len(steps) > of, "most steps need no Redis, but %d of %d were left out" % (of - len(steps), of)
    else:
        place = place_of(url)
        store = Store(place)
        store.on_all("FLUSHALL")
    driver = Driver(sys.argv[sys.argv.index("--") + 1:])
    only = os.environ.get("CONFORMANCE_ONLY", "")
    first = True
    for step in steps:
        if not re.search(only, step["name"]):
            continue
        try:
            judge(store, driver, place, step, first)
            print("ok", step["name"])
        except Wrong as wrong:
            print("no %s\n# %s" % (step["name"], wrong))
        first = False
    print("ok the driver ends with 0" if driver.end() == 0 else "no the driver ends with 0", flush=True)


if __name__ == "__main__":
    main()
