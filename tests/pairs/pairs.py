"""All pairs of the options of a job, of the states that it is in when it is pushed again, and of kinds
of queue: each sequence runs on Redis and on the oracle of pairs_model.py, and both are compared after
each step.

    pairs.py LATER SOCKET CLOCK WORK SEED [ROW]

CLOCK is the file that turns Redis's clock. All times of the table are hundreds of seconds apart, so
that no result hangs on how long a step takes."""
import binascii
import json
import re
import shlex
import subprocess
import sys

import pairs_array
from pairs_model import COUNTERS, Queue
from pairs_redis import Deviation, Redis, Serve

JUMP, LEASE = 1000, 80000
PAST = 1600000000
# What an option means to the oracle, by its level in the table.
WAYS = {"new": {}, "replace": {"replace": True}, "again": {"again": True},
        "debounce": {"debounce": 500}, "debounce-soon": {"debounce": 500, "max_wait": 200},
        "debounce-late": {"debounce": 500, "max_wait": 50000}}
DUES = {"now": {}, "in": {"in": 300}, "past": {"at": PAST}, "at": {"at": "+300"}}
LIVES = {"free": ("none", 0), "unique-short": ("unique", 400), "unique-long": ("unique", 90000),
         "throttle-short": ("throttle", 400), "throttle-long": ("throttle", 90000)}
EXPIRES = {"never": {}, "in": {"expires_in": 700}, "in-late": {"expires_in": 90000},
           "past": {"expires_at": PAST}, "late": {"expires_at": "+90000"}}
# These are only members of the document: the value, and how the command line says it.
MEMBERS = {
    "max_attempts": {"default": None, "1": (1, "1"), "5": (5, "5")},
    "backoff": {"default": None, "number": (5, "5"), "list": ([1, 10, 300], "1,10,5m"),
                "json": ({"base": 10, "max": 60}, '{"base":10,"max":60}')},
    "result": {"default": None, "kept": (600, "10m")},
    "lock": {"default": None, "named": ("l/1", "l/1")},
    "timeout": {"default": None, "short": (60, "1m")},
    "retry_for": {"default": None, "day": (86400, "1d")},
    "group": {"default": None, "set": ("acme", "acme")},
    "on_dead": {"default": None, "set": ("alert", "alert")},
    "on_done": {"default": None, "set": ("a.b:c", "a.b:c")},
    "trace": {"default": None, "text": ("t r", "t r")},
    "description": {"default": None, "text": ("d \u00e9", "d \u00e9")},
}
ONE_PUSH = {"way": list(WAYS), "due": list(DUES), "priority": ["-7", "0", "100"], "life": list(LIVES),
            "expires": list(EXPIRES), "payload": ["json", "text"], "by": ["words", "line", "document"],
            **{name: list(levels) for name, levels in MEMBERS.items()}}
BY_HAND = ["none", "kick", "cancel", "bury", "cancel-ready", "cancel-delayed", "cancel-dead", "pause"]
TABLE = {"queue": ["plain", "shards", "moved", "prefix"], "room": ["any", "last", "full"],
         "held": ["waits", "reserved", "dead", "retry", "returned", "ended"],
         "between": BY_HAND, "jump1": ["no", "yes"],
         "after": BY_HAND + ["ack", "release", "return", "settle-bury"], "jump2": ["no", "yes"],
         **{name + n: levels for n in "12" for name, levels in ONE_PUSH.items()}}
OPTIONS = {"queue", "in", "at", "id", "priority", "replace", "again", "debounce", "max-wait", "unique-for",
           "throttle", "expires-at", "expires-in", "text", "file"} | {n.replace("_", "-") for n in MEMBERS}
LEFT_OUT = {**{n: "of flows; cli_flow_push.sh" for n in ("flow", "step", "after", "when", "adder", "home", "then")},
            "open": "with --flow; cli_flow.sh", "wait": "needs a handler; daemon_results.sh"}


def clashes(a, b):
    """Options that later(1) and protocol.md do not allow together, or that leave nothing to look at."""
    one, other = sorted((a, b))
    if one[0][-1] != other[0][-1]:
        return False
    names = one[0][:-1], other[0][:-1]
    if names == ("due", "way"):
        return one[1] != "now" and other[1].startswith("debounce")  # "--again and --in together"
    if names == ("due", "expires"):
        return one[1] in ("past", "at") and other[1].startswith("in")  # "give the time by expires_at"
    return False


class Sequence:
    """One row of the array, on Redis and on the oracle."""

    def __init__(self, row, name, redis, serves, work):
        self.row, self.redis, self.work = row, redis, work
        self.queue, self.log, self.model, self.token = name, [], Queue(), "0" * 16
        self.shards, self.pushed = 1, 0
        self.prefix = "other" if row["queue"] == "prefix" else "later"
        self.serves = [serve for serve in serves if serve.prefix == self.prefix]

    # ---- talking to both

    def later(self, *words):
        words = [*words, "--json"]
        self.log.append("later --prefix " + " ".join(map(shlex.quote, [self.prefix, *words])))
        before = self.redis.time() - 1
        answer = self.serves[0].ask(words)
        self.model.at((before, self.redis.time() + 1))
        return answer

    def key(self, name, place=None):
        return f"{self.prefix}:{{{place or self.queue}}}:{name}"

    def do(self, *words):
        self.log.append("redis " + " ".join(shlex.quote(str(word)) for word in words))
        return self.redis.call(*words)

    def advance(self):
        self.log.append(f"advance_redis {JUMP}")
        self.redis.advance(JUMP)

    def same(self, what, got, wanted):
        if got != wanted:
            raise Deviation(f"{what}: got {got!r}, wanted {wanted!r} by {self.model.why}")

    def within(self, what, got, wanted):
        if type(wanted) is not tuple:
            return self.same(what, got, wanted)
        # A score is a double, and microseconds.
        if type(got) not in (int, float) or not wanted[0] - 0.001 <= got <= wanted[1] + 0.001:
            raise Deviation(f"{what}: got {got!r}, wanted {wanted} by {self.model.why}")

    # ---- what is said of the queue before

    def place(self, id="x"):
        shard = binascii.crc_hqx(id.encode(), 0) % self.shards
        return self.queue if self.shards == 1 else f"{self.queue}/{shard}"

    def plan(self, text, count):
        self.do("SET", self.key("shards"), text)
        self.shards = count

    def room(self, most):
        """Another job, which waits for long, where x goes; and so many jobs at most."""
        id = next(f"f{i}" for i in range(1000) if self.place(f"f{i}") == self.place())
        self.later("push", "other", "--id", id, "-q", self.queue, "--in", "30d")
        self.model.push(id, meaning({"document": {}, "delay": 30 * 86400}), self.place())
        self.do("HSET", self.key("stats", self.place()), "max_jobs", most)
        self.model.max_jobs[self.place()] = most

    # ---- steps

    def push(self, n):
        levels = {name: self.row[name + n] for name in ONE_PUSH} if n else {}
        self.pushed += 1
        words, push = options(levels, str(self.pushed), self.redis.time())
        words = as_words(words, self.queue) if levels.get("by", "words") == "words" else \
            as_line(words, self.queue, levels["by"], f"{self.work}/line", self.log)
        status, rows, said = self.later(*words)
        wanted = self.model.push("x", push, self.place())
        got = "full" if status == 75 else said
        if rows:
            got = " ".join(rows[0][name] for name in ("result", "state") if name in rows[0])
        self.same("push", got, wanted)
        self.same("status", status, 75 if wanted == "full" else 0)

    def reserve(self):
        status, rows, _ = self.later("reserve", self.queue, "--lease", str(LEASE))
        wanted = self.model.reserve("x")
        self.same("reserve", (status, [row["id"] for row in rows]), (0, ["x"]) if wanted else (75, []))
        if rows:
            self.token = rows[0]["token"]
            self.same("attempt", rows[0]["attempt"], self.model.jobs["x"].attempts + 1)

    def settle(self, verb, *options, seconds=0):
        words = ["release", "--uncounted"] if verb == "return" else [verb]
        status, _, _ = self.later(*words, "x", "--token", self.token, "-q", self.queue, *options)
        wanted = self.model.settle("x", verb, seconds)
        self.same(verb, status, 0 if wanted else 77)

    def hold(self):
        held = self.row["held"]
        if held == "waits":
            return
        if self.model.jobs["x"].state == "delayed":
            self.by_hand("kick")
        self.reserve()
        self.look()
        if held == "dead":
            self.settle("bury", "--error", "by us")
        elif held == "retry":
            self.settle("release", "--in", "600", "--error", "by us", seconds=600)
        elif held == "returned":
            self.settle("return")
        elif held == "ended":
            self.settle("ack")

    def by_hand(self, verb):
        if verb in ("kick", "cancel", "bury"):
            status, rows, _ = self.later(verb, "x", "-q", self.queue)
            wanted = getattr(self.model, verb)("x")
            self.same(verb, (status, [row["state"] for row in rows]), (0, [wanted]) if wanted else (66, []))
        elif verb.startswith("cancel-"):
            state = verb[7:]
            status, rows, _ = self.later("cancel", "-q", self.queue, "--state", state, "--yes")
            self.same(verb, (status, rows[0]["cancelled"]), (0, self.model.cancel_all(state)))
        elif verb in ("pause", "resume"):
            self.later(verb, self.queue)
            self.model.paused = verb == "pause"
        elif verb in ("ack", "release", "return"):
            self.settle(verb, *["--error", "by us"] * (verb == "release"))
        elif verb == "settle-bury":
            self.settle("bury", "--error", "by us")

    # ---- comparing

    def look(self):
        why = self.model.why
        status, rows, _ = self.later("show", "x", "-q", self.queue)
        self.model.why = why
        job = self.model.jobs.get("x")
        self.same("show", (status, [row["state"] for row in rows]), (0, [job.state]) if job else (66, []))
        if not job:
            return
        row = rows[0]
        self.same("in its place", self.redis.call("HEXISTS", self.key("jobs", self.model.place["x"]), "x"), "1")
        self.same("attempts", row["attempts"], job.attempts)
        self.same("priority", row["priority"], job.priority)
        self.same("error", row["error"] and row["error"]["text"], job.error)
        if job.state == "ready" and job.score:
            self.in_line(row, job)
        elif job.state == "reserved" or job.score:
            self.within("score", row["score"], job.score)
        document = json.loads(row["document"])
        for name in ("payload", "expires_at", *MEMBERS):
            self.within(f"document's {name}", document.get(name), job.document.get(name))

    def in_line(self, row, job):
        """Its place is the time since when it is ready; or where groups are, a tag, which is not later than
        the present, and its record has that time."""
        records = self.key("records", self.model.place["x"])
        share = re.search("^q=([0-9.]+) (.*)$", self.redis.call("HGET", records, "x") or "", re.M)
        self.same("group", share and share[2], job.document.get("group", share and ""))
        since = row["score"]
        if share:
            since = float(share[1]) - 1000000 * job.priority
            self.within("tag", row["score"] + 1000000 * job.priority, (self.model.began, self.model.now[1] + 1))
        self.within("since", since, job.score)

    def end(self):
        places = [self.queue] + [f"{self.queue}/{i}" for i in range(4)]
        have = dict.fromkeys(COUNTERS, 0)
        for place in places:
            stats = self.redis.call("HGETALL", self.key("stats", place))
            for name, value in zip(stats[::2], stats[1::2]):
                if name in have:
                    have[name] += int(value)
        self.model.why = "protocol.md, Counters"
        self.same("counters", have, self.model.counters)
        status, rows, said = self.later("check", self.queue)
        self.model.why = "later(1), check"
        self.same("check", (status, [row for row in rows if not row["ok"]], said), (0, [], ""))

    def run(self):
        row = self.row
        if row["queue"] in ("shards", "moved"):
            self.plan("5 4", 4)
        if row["room"] == "last":
            self.room(2)
        self.push("1")
        self.look()
        self.hold()
        if row["queue"] == "moved":
            self.plan("6 3 4", 3)
            self.serves.pop(0)  # so that the next one reads the new plan
        if row["room"] == "full":
            self.room(1)
        self.steps(row["between"], row["jump1"])
        self.push("2")
        self.look()
        self.steps(row["after"], row["jump2"])
        self.by_hand("resume")
        for _ in range(2):
            self.advance()
            self.reserve()
            self.look()
            self.settle("ack")
            self.look()
        self.push("")
        self.look()
        self.end()

    def steps(self, verb, jump):
        self.by_hand(verb)
        self.look()
        if jump == "yes":
            self.advance()


# ---- options

def meaning(push):
    return {**dict(replace=False, again=False, debounce=0, max_wait=0, life=("none", 0), expires_in=0,
                   delay=0, at=0, priority=0, document={}), **push}


def options(levels, number, now):
    """A push: {member: (value, as words)}, and what it means to the oracle."""
    def level(name):
        return levels.get(name, TABLE[name + "1"][0])

    def when(value):
        return round(now) + int(value) if type(value) is str else value
    said = {"id": ("x", "x"), "priority": (int(level("priority")), level("priority"))}
    if not levels:
        said = {"id": ("x", "x")}
    text = level("payload") == "text" if levels else False
    said["payload"] = (number if text else int(number), number)
    for name, value in {**WAYS[level("way")], **DUES[level("due")], **EXPIRES[level("expires")]}.items():
        said[name] = (when(value), str(when(value)))
    kind, seconds = LIVES[level("life")]
    if seconds:
        name = {"unique": "unique_for"}.get(kind, kind)
        said[name] = (seconds, str(seconds))
    for name in MEMBERS:
        if MEMBERS[name][level(name)]:
            said[name] = MEMBERS[name][level(name)]
    value = {name: pair[0] for name, pair in said.items()}
    document = {n: v for n, v in value.items() if n in MEMBERS or n in ("payload", "expires_at")}
    return said, meaning({
        "replace": "replace" in value, "again": "again" in value, "debounce": value.get("debounce", 0),
        "max_wait": value.get("max_wait", 0), "life": (kind, seconds), "at": value.get("at", 0),
        "expires_in": value.get("expires_in", 0), "document": document,
        "delay": value.get("debounce", value.get("in", 0)), "priority": value.get("priority", 0)})


def as_words(said, queue):
    words = ["push", "t", "-q", queue, said["payload"][1]]
    if type(said["payload"][0]) is str:
        words.append("--text")
    for name, (value, text) in said.items():
        if name != "payload":
            words += ["--" + name.replace("_", "-")] + ([text] if value is not True else [])
    return words


def as_line(said, queue, by, path, log):
    line = {"type": "t", **{name: pair[0] for name, pair in said.items() if name != "replace"}}
    if by == "document":
        inner = {n: line.pop(n) for n in list(line) if n in MEMBERS or n in ("type", "payload", "expires_at")}
        line = {**line, "queue": queue, "document": inner}
    with open(path, "w", encoding="utf-8") as file:
        print(json.dumps(line), file=file)
    log.append(f"echo {shlex.quote(json.dumps(line))} >{path}")
    return ["push", "--file", path, "-q", queue] + ["--replace"] * ("replace" in said)


# ---- all of it

def check_options(later):
    text = subprocess.run([later, "help", "push"], check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout
    names = set(re.findall(r"^ .*?--([a-z-]+)", text.split("\nOptions:\n")[1].split("\nOptions of every")[0], re.M))
    unknown, gone = names - OPTIONS - set(LEFT_OUT), (OPTIONS | set(LEFT_OUT)) - names
    print("not ok" if unknown or gone else "ok", "the table has each option of later push, or the reason why not")
    if unknown or gone:
        print(f"add to the table: {sorted(unknown)}; later push does not have: {sorted(gone)}")


def main():
    later, path, clock, work, seed = sys.argv[1:6]
    only = int(sys.argv[6]) if len(sys.argv) > 6 and sys.argv[6] else None
    pairs_array.test()
    print("ok the array has each pair of levels")
    check_options(later)
    rows = pairs_array.covering(TABLE, clashes, int(seed))
    redis, serves, bad = Redis(path, clock), [Serve(later), Serve(later), Serve(later, "other")], 0
    for i, row in enumerate(rows):
        if only not in (None, i):
            continue
        sequence = Sequence(row, f"p{seed}-{i}", redis, serves, work)
        try:
            sequence.run()
        except Deviation as deviation:
            bad += 1
            print(f"seed {seed}, row {i}: LATER_SEED={seed} LATER_ROW={i} sh tests/pairs/pairs.sh")
            print(" ".join(f"{name}={level}" for name, level in row.items()))
            print("".join(f"  {line}\n" for line in sequence.log) + f"{deviation}")
    print("not ok" if bad else "ok", f"seed {seed}: {len(rows)} sequences with all pairs of {len(TABLE)} factors: "
          f"{bad} deviate")
    sys.exit(bad > 0)


main()
