"""All pairs of the commands of pairs_verbs.py, of the states in which a job can be, of conditions, of
kinds of queue, of output, and of kinds of Redis: one that is full, a replica, users with few rights, a
Cluster, Sentinels, none. Each row is one command, whose answer and effect the documents must foretell.

    pairs_commands.py LATER SOCKET WORK PROTOCOL SCRIPTS SEED [ROW]

A refused command must have changed nothing."""
import binascii
import concurrent.futures
import copy
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import time

import pairs_array
from pairs_model import COUNTERS, Job, Queue
from pairs_redis import Deviation, Redis, Serve
from pairs_verbs import COMMANDS, CONDITIONS, EDITED, OPTIONS_OUTSIDE, OUTSIDE, PROGRAMS, STATES, TEXT_ONLY, options_of

DOCUMENT = '{"type":"t","payload":{"k":7,"s":"needle"}}'
TABLE = {"command": list(COMMANDS), "condition": list(CONDITIONS),
         "state": ["ready", "delayed", "due", "reserved", "dead", "retry", "returned", "again", "kept", "result", "ended",
                   "absent", "plain"],
         "queue": ["plain", "shards", "prefix", "paused"], "aside": ["free", "held"],
         "redis": ["plain", "full", "replica", "viewer", "kicker", "pusher", "later", "cluster", "sentinel", "down"],
         "output": ["text", "json", "serve"]}
USERS = {"viewer": ["look"], "kicker": ["look", "kick"], "pusher": ["push", "wait"],
         "later": ["laterd", "later"]}
# What the columns of a line without --json are, as later(1) has them.
COLUMNS = {"size": ["queue", "ready", "delayed", "reserved", "dead", "paused"], "size names": ["queue"],
           "peek": ["id", "state"], "show": ["id", "state"], "search": ["id", "state"], "search count all": ["queue", "count"],
           "search count": ["count"], "kick": ["id", "state"], "bury": ["id", "state"], "cancel": ["id", "state"],
           "edit": ["id", "state"]}


def clashes(a, b):
    """What does not go together, or is not said in the documents."""
    one, other = dict([a, b]), {name for name, _ in (a, b)}
    if other == {"command", "output"}:
        return one["output"] == "serve" and one["command"] in PROGRAMS or \
            one["output"] == "json" and one["command"] in TEXT_ONLY or \
            one["output"] == "serve" and one["command"] in TEXT_ONLY
    if other == {"command", "redis"}:
        words, needs, _ = COMMANDS[one["command"]]
        if one["redis"] == "kicker":
            return not words.startswith("kick {x}") and needs != "look"
        return one["redis"] == "pusher" and not words.startswith(("push", "wait"))
    if other == {"command", "condition"}:
        return one["condition"] != "none" and "{condition" not in COMMANDS[one["command"]][0]
    if other == {"condition", "redis"}:  # these may run no command with conditions
        return one["redis"] in ("kicker", "pusher") and one["condition"] != "none"
    if other == {"state", "condition"}:  # the age of a reserved job is not said
        return one["condition"] == "newer" and one["state"] in ("reserved", "again")
    return False


class World:
    """What there is, as the documents say: the queue's model, and what is beside it."""

    def __init__(self, row, number):
        self.row, self.model = row, Queue()
        self.queue, self.x, self.prefix = f"q{number}", f"x{number}", "other" if row["queue"] == "prefix" else "later"
        self.plain, self.kept, self.result = None, None, None
        self.unadopted, self.extra = set(), {"ready": 0}
        self.token = "0" * 16
        self.shards = 4 if row["queue"] == "shards" else 1

    def place(self, id):
        shard = binascii.crc_hqx(id.encode(), 0) % self.shards
        return self.queue if self.shards == 1 else f"{self.queue}/{shard}"

    def push(self, id, document=None, **how):
        meaning = dict(replace=False, again=False, debounce=0, max_wait=0, life=("none", 0), expires_in=0, delay=0, at=0,
                       priority=0, document={})
        answer = self.model.push(id, {**meaning, **how}, self.place(id))
        if answer in ("pushed", "replaced"):
            self.model.jobs[id].type = "t"
        if answer == "pushed":
            self.result = None if id == self.x else self.result
        return answer

    def reserve(self, id):
        done = id in self.model.jobs and self.model.reserve(id)
        if done:
            self.unadopted.discard(id)
        return done

    def act(self, verb, id):
        if id == self.kept and id not in self.model.jobs:
            self.kept = None
        else:
            getattr(self.model, verb)(id)
        self.unadopted.discard(id)

    def facts(self):
        jobs = [{"id": id, "type": getattr(job, "type", "t"), "state": job.state, "attempts": job.attempts,
                 "priority": job.priority,
                 "error": job.error, "kind": {1: "buried" if job.error and job.buried else "retry"}.get(bool(job.error)),
                 "plain": id in self.unadopted} for id, job in self.model.jobs.items()]
        if self.kept:
            jobs.append({"id": self.kept, "type": "t", "state": "done", "attempts": 0, "priority": 0, "error": None, "kind": None,
                         "plain": False})
        return jobs

    def shown(self, id):
        return None if id in self.unadopted and self.row["command"].startswith("search") else id


Job.buried = False


class Place:
    """A kind of Redis: where its master is, and what a row starts from there."""

    def __init__(self, later, url, masters):
        self.later, self.url, self.masters = later, url, [Redis(address) for address in masters]
        self.serves = {}

    def serve(self, prefix, url=None):
        key = prefix, url or self.url
        if key not in self.serves:
            self.serves[key] = Serve(self.later, prefix, "--redis", key[1])
        return self.serves[key]

    def empty(self):
        for master in self.masters:
            master.call("FLUSHALL")

    @property
    def redis(self):
        return self.masters[0]


def the_set(later, folder):
    with open(f"{folder}/redis.set", encoding="utf-8") as file:
        lines = [line.split() for line in file]
    return Place(later, next(line[1] for line in lines if line[0] == "url"), [line[1] for line in lines if line[0] == "master"])


class Setting:
    """All places, and the users."""

    def __init__(self, later, path, work, protocol, scripts):
        self.later, self.work, self.scripts = later, work, scripts
        with open(protocol, encoding="utf-8") as file:
            self.blocks = {name: " ".join(text.split()) for name, text in re.findall(
                r"<!-- acl: ([a-z]+) -->\n```\n(.*?)```", file.read(), re.S)}
        self.plain = Place(later, "unix:" + path, [path])
        self.cluster, self.sentinel = the_set(later, work + "/cluster"), the_set(later, work + "/sentinel")
        self.port = self.listen(self.plain.redis)
        with open(work + "/password", "w", encoding="utf-8") as file:
            print("PASSWORD", file=file)
        os.chmod(work + "/password", 0o600)
        with open(work + "/edited", "w", encoding="utf-8") as file:
            print(EDITED, file=file)
        self.replica = self.start_replica()

    @staticmethod
    def listen(redis):
        port = os.getpid() % 20000 + 20000
        while redis.call("CONFIG", "GET", "port")[1] == "0":  # an earlier seed may have set it
            try:
                redis.call("CONFIG", "SET", "port", port)
            except AssertionError:
                port += 1
        return int(redis.call("CONFIG", "GET", "port")[1])

    def start_replica(self):
        path = self.work + "/replica.sock"
        self.copier = subprocess.Popen(
            ["redis-server", "--port", "0", "--unixsocket", path, "--save", "", "--dir", self.work, "--logfile",
             self.work + "/replica.log", "--replicaof", "127.0.0.1", str(self.port), "--repl-diskless-sync-delay", "0"],
            stdout=subprocess.DEVNULL)
        while True:
            try:
                if "master_link_status:up" in Redis(path).call("INFO", "replication"):
                    return "unix:" + path
            except (OSError, AssertionError):
                pass
            time.sleep(0.02)

    def become(self, kind, world):
        """The user of these lines of protocol.md, for this queue and prefix."""
        words = " ".join(self.blocks[name] for name in USERS[kind])
        words = words.replace("{mail}", "{" + world.queue + "}").replace("later:", world.prefix + ":")
        if world.shards > 1:
            words += f" ~{world.prefix}:{{{world.queue}/* &{world.prefix}:{{{world.queue}/*"
        found = re.findall(r"\([^)]*\)|[^ ]+", words)
        self.plain.redis.call("ACL", "SETUSER", kind, "reset", *found[2:])
        return f"redis://{kind}@127.0.0.1:{self.port}"

    def script(self, place, world, name, id, *arguments):
        """Calls a script as protocol.md's `run` does."""
        with open(f"{self.scripts}/{name}.lua", encoding="utf-8") as file:
            text = file.read()
        keys = re.search(r"^-- KEYS +(.*)$", text, re.M).group(1).split()
        lock = f"{world.prefix}:lock:{{{id}}}"
        base = f"{world.prefix}:{{{world.place(id)}}}:"
        spelled = {"lock": lock, "fence": lock + ":fence", "lock_wake": lock + ":wake", "line_waiting": lock + ":waiting",
                   "line_due": lock + ":due", "held": f"{base}reserved:{world.token}", "result": f"{base}result:{id}"}
        return place.redis.call("EVAL", text, len(keys), *[spelled.get(key, base + key) for key in keys], *arguments)


class Trial:
    """One row."""

    def __init__(self, row, number, setting):
        self.row, self.setting, self.log = row, setting, []
        self.world = World(row, number)
        self.place = getattr(setting, row["redis"] if row["redis"] in ("cluster", "sentinel") else "plain")

    # ---- what is there before

    def later(self, *words):
        """As administrator."""
        self.log.append("later " + " ".join(map(shlex.quote, words)))
        before = self.place.redis.time()
        answer = self.place.serve(self.world.prefix).ask([*words, "--json"])
        self.world.model.at((before - 0.001, self.place.redis.time() + 0.001))
        return answer

    def key(self, name, place):
        return f"{self.world.prefix}:{{{place}}}:{name}"

    def prepare(self):
        w, redis = self.world, self.place.redis
        self.place.empty()
        if w.shards > 1:
            redis.call("SET", self.key("shards", w.queue), "5 4")
        self.later("push", "other", "8", "--id", "y", "-q", w.queue, "--in", "30d")
        w.push("y", delay=30 * 86400)
        w.model.jobs["y"].type = "other"
        getattr(self, "make_" + self.row["state"])()
        if self.row["queue"] == "paused":
            self.later("pause", w.queue)
            w.model.paused = True
        if self.row["aside"] == "held":
            self.hold()

    def hold(self):
        self.setting.script(self.place, self.world, "lock_take", "l", "stranger", "somebody", "600", "", "")
        for words in ("limit m --max 1 --per 1h", "stock set s 1", "stock claim s me"):
            self.later(*words.split())
        self.later("cron", "set", "c", "@yearly", "t", "7", "-q", self.world.queue)

    def make_ready(self, *options, **how):
        w = self.world
        self.later("push", "t", '{"k":7,"s":"needle"}', "--id", w.x, "-q", w.queue, *options)
        w.push(w.x, **how)

    def make_delayed(self):
        self.make_ready("--in", "1d", delay=86400)

    def make_due(self):
        self.make_ready("--in", "0.05", delay=0.05)
        goal = self.place.redis.time() + 0.1
        while self.place.redis.time() < goal:
            time.sleep(0.02)

    def make_reserved(self, *options, **how):
        self.make_ready(*options, **how)
        status, rows, _ = self.later("reserve", self.world.queue, "--lease", "1h")
        if status != 0 or not self.world.model.reserve(self.world.x):
            raise Deviation(f"reserve: {status}")
        self.world.token = rows[0]["token"]

    def settle(self, verb, *options, seconds=0):
        w = self.world
        words = ["release", "--uncounted"] if verb == "return" else [verb]
        self.later(*words, w.x, "--token", w.token, "-q", w.queue, *options)
        w.model.settle(w.x, verb, seconds)
        if verb == "bury":
            w.model.jobs[w.x].buried = True

    def make_dead(self):
        self.make_reserved()
        self.settle("bury", "--error", "by us")

    def make_retry(self):
        self.make_reserved()
        self.settle("release", "--in", "1d", "--error", "by us", seconds=86400)

    def make_returned(self):
        self.make_reserved()
        self.settle("return")

    def make_again(self):
        self.make_reserved()
        self.make_ready("--again", again=True)

    def make_ended(self):
        self.make_reserved("--unique-for", "1d", life=("unique", 86400))
        self.settle("ack")

    def finish(self, *words):
        self.make_reserved()
        self.setting.script(self.place, self.world, "finish", self.world.x, self.world.x, "done", "[7.5]", *words)
        self.world.model.settle(self.world.x, "ack")

    def make_kept(self):
        self.finish("0", "10", "86400", '"ms":1.0,"host":"h"}', "", "")
        self.world.kept = self.world.x

    def make_result(self):
        self.finish("600")
        self.world.result = "done"

    def make_absent(self):
        pass

    def make_plain(self):
        w = self.world
        w.plain = hashlib.sha1(DOCUMENT.encode()).hexdigest()
        now = self.place.redis.time()
        self.place.redis.call("ZADD", self.key("ready", w.place(w.plain)), now, DOCUMENT)
        w.model.jobs[w.plain] = Job({}, 0)
        w.unadopted.add(w.plain)

    # ---- the command

    def words(self):
        w, found = self.world, []
        for word in COMMANDS[self.row["command"]][0].split(" "):
            if word.startswith("{condition"):
                condition = CONDITIONS[self.row["condition"]][0].split()
                found += condition or ["--type", "*"] * ("!" in word)
                continue
            found.append(word.format(q=w.queue, x=w.x, token=w.token, file=f"{self.setting.work}/{w.x}", name="n" + w.x,
                                     config=self.setting.work + "/laterd.conf",
                                     edited=self.setting.work + "/edited"))
        return [word.replace("by.us", "by us") if word != "^by.us$" else word for word in found]

    def run_command(self):
        """Returns the status, the rows or lines, and the words."""
        w, setting, url = self.world, self.setting, self.place.url
        environment = {**os.environ, "LATER_REDIS_PASSWORD_FILE": setting.work + "/password"}
        kind = self.row["redis"]
        if kind in USERS:
            url = setting.become(kind, w)
        else:
            del environment["LATER_REDIS_PASSWORD_FILE"]
        if kind == "replica":
            self.place.redis.call("WAIT", 1, 60000)
            url = setting.replica
        elif kind == "down":
            url = "unix:/nowhere.sock"
        elif kind == "full":
            self.place.redis.call("CONFIG", "SET", "maxmemory", "1")
        with open(f"{setting.work}/{w.x}", "w", encoding="utf-8") as file:
            print(json.dumps({"type": "t", "id": w.x, "payload": 7}), file=file)
        words = self.words()
        options = ["--redis", url, "--prefix", w.prefix]
        json_too = ["--json"] if self.row["output"] != "text" else []
        if "--" in words:
            words[words.index("--"):words.index("--")] = options + json_too
        else:
            words += options + json_too
        self.log.append(f"{self.row['redis']}: later " + " ".join(map(shlex.quote, words)))
        command = [setting.later, *words]
        given = None
        if self.row["output"] == "serve":
            given = json.dumps([word for word in self.words()] + ["--json"]) + "\n"
            command = [setting.later, "serve", *options]
        before = self.place.redis.time() if kind != "down" else 0
        done = subprocess.run(command, input=given, stdin=None if given else subprocess.DEVNULL, capture_output=True,
                              encoding="utf-8", env=environment, cwd=setting.work, check=False)
        if kind != "down":
            w.model.at((before - 0.001, self.place.redis.time() + 0.001))
        if kind == "full":
            self.place.redis.call("CONFIG", "SET", "maxmemory", "0")
        return self.read(done)

    def read(self, done):
        lines, status, words = done.stdout.split("\n")[:-1], done.returncode, done.stderr
        self.log.append(f"status {status}: {done.stdout[:600]}{words[:300]}")
        if self.row["output"] == "serve":
            if not lines or lines[-1][0] != "\x1e":
                return status, [], words
            end = json.loads(lines.pop()[1:])
            status, words = end["status"], end["words"]
        if self.row["output"] == "text":
            return status, lines, words
        return status, [json.loads(line) for line in lines], words

    # ---- the oracle

    def outcomes(self):
        """What may come of it: for each, status, rows, and the world after it."""
        _, needs, oracle = COMMANDS[self.row["command"]]
        after = copy.deepcopy(self.world)
        answer = oracle(after)
        if answer is None:
            return None
        status, rows = answer
        self.note_burial(after)
        base = status, rows, after
        changes = status == 0 and needs in ("push", "write") and not (rows and list(rows[0].values()) == [0]) and rows != []
        return self.refusals(needs, base, changes)

    def note_burial(self, after):
        for id, job in after.model.jobs.items():
            if job.state == "dead" and self.world.model.jobs[id].state != "dead":
                job.buried = True

    def refusals(self, needs, base, changes):
        kind = self.row["redis"]
        refused = {"down": 69, "full": 69, "replica": 69}.get(kind, 77), None, self.world
        if needs == "none" or kind in ("plain", "cluster", "sentinel", "later", "pusher", "kicker"):
            return [base]
        if base[0] == 64:
            return [base, refused]
        if kind == "down":
            return [base] if self.row["command"].startswith("metrics") else [refused]
        if kind == "full":
            return {"push": [refused, base] if base[0] == 66 or (self.row["command"], base[0]) == ("edit", 75) else [refused]}.get(needs, [base])
        if needs == "look" or needs == "read" and kind == "replica":
            return [base]
        if needs == "note":
            return [refused]
        if needs == "read" or not changes:
            return [base, refused]
        return [refused]

    # ---- comparing

    def matches(self, got, outcome):
        """'' if this is the outcome, else how it differs."""
        status, rows, said = got
        if status != outcome[0]:
            return f"status {status}, wanted {outcome[0]}"
        if outcome[1] is None:
            return "" if status in (0, 3, 75) or said else "refused without a word"
        if self.row["output"] == "text":
            return self.matches_text(rows, outcome[1])
        names = list(outcome[1][0]) if outcome[1] else []
        rows = [row for row in rows if not names or set(names) <= set(row)] if outcome[1] else rows
        got = sorted((json.dumps({name: row[name] for name in names}, sort_keys=True) for row in rows))
        wanted = sorted(json.dumps(row, sort_keys=True) for row in outcome[1])
        return "" if got == wanted else f"rows {got}, wanted {wanted}"

    def matches_text(self, lines, rows):
        command = self.row["command"]
        names = COLUMNS.get(command if command in COLUMNS else command.split(" ", maxsplit=1)[0])
        if not names or not rows:
            return ""
        if any(name not in row for row in rows for name in names):
            names = list(rows[0])  # of many jobs, their number; or as many columns as the oracle tells
        got = sorted(line.split("\t")[:len(names)] for line in lines)
        wanted = sorted([{None: "", True: "yes", False: "no"}.get(row[name], str(row[name]))
                         if type(row[name]) is not int else str(row[name]) for name in names] for row in rows)
        return "" if got == wanted else f"lines {got}, wanted {wanted}"

    def look(self, world):
        self.world = world
        for id in (world.x, world.plain, "y", "z"):
            if id is not None:
                self.look_at(id, world.model.jobs.get(id) if id not in world.unadopted else None)
        status, rows, _ = self.later("size", world.queue)
        jobs = world.facts()
        wanted = {state: sum(job["state"] == state for job in jobs) + world.extra.get(state, 0) for state in STATES[:4]}
        self.same("size", {state: rows[0][state] for state in wanted}, wanted)
        self.same("paused", rows[0]["paused"], world.model.paused)
        if not world.plain:
            self.look_at_counters()
        status, rows, words = self.later("check", world.queue)
        self.same("check", (status, [row for row in rows if not row["ok"]], words), (0, [], ""))

    def look_at(self, id, job):
        status, rows, _ = self.later("show", id, "-q", self.world.queue)
        state = job.state if job else "done" if id == self.world.kept else None
        states = [row["state"] for row in rows if row["state"] != "done" or not job]
        self.same("show " + id, (status, states), (0, [state]) if state else (66, []))
        if job:
            self.same("attempts", rows[0]["attempts"], job.attempts)

    def look_at_counters(self):
        have = dict.fromkeys(COUNTERS, 0)
        for place in {self.world.queue, *(f"{self.world.queue}/{i}" for i in range(4 if self.world.shards > 1 else 0))}:
            stats = self.place.redis.call("HGETALL", self.key("stats", place))
            for name, value in zip(stats[::2], stats[1::2]):
                if name in have:
                    have[name] += int(value)
        self.same("counters", have, self.world.model.counters)

    @staticmethod
    def same(what, got, wanted):
        if got != wanted:
            raise Deviation(f"{what}: got {got!r}, wanted {wanted!r}")

    def run(self):
        down = self.row["redis"] == "down"
        if down:
            self.world.model.at((0, 0))
        else:
            self.prepare()
        got = self.run_command()
        outcomes = self.outcomes()
        if outcomes is None:
            return
        differences = [self.matches(got, outcome) for outcome in outcomes]
        if "" not in differences:
            raise Deviation(f"{' or '.join(differences)} ({self.world.model.why})")
        if not down:
            self.look(outcomes[differences.index("")][2])


def check_commands(later):
    """Is each command, and each option of each, in a row, or among those that are left out?"""
    def help_of(*words):
        return subprocess.run([later, "help", *words], check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout

    names, missing = set(re.findall(r"^  ([a-z]+)  ", help_of(), re.M)), []
    have = {words.split(" ")[0] for words, _, _ in COMMANDS.values()} | set(OUTSIDE)
    for name in names - set(OUTSIDE):
        options = help_of(name).split("\nOptions:\n")[1:]
        tried = options_of(name)
        for option in re.findall(r"^ .*?--([a-z-]+)", options[0].split("\nOptions of every")[0], re.M) if options else []:
            if not tried(option) and not {name, option} & set(OPTIONS_OUTSIDE):
                missing.append(f"{name} --{option}")
    print("not ok" if names != have or missing else "ok",
          "the table has each command of later and its options, or the reason why not")
    if names != have or missing:
        print(f"add to the table: {sorted(names - have) + missing}; later does not have: {sorted(have - names)}")


def told(setting, seed, i, row):
    """Runs a row, and prints what deviates. Returns whether it does."""
    trial = Trial(row, f"{seed}-{i}", setting)
    try:
        trial.run()
    except Deviation as deviation:
        print(f"seed {seed}, row {i}: LATER_SEED={seed} LATER_ROW={i} sh tests/pairs/pairs_commands.sh\n"
              + " ".join(f"{name}={level}" for name, level in row.items()) + "\n"
              + "".join(f"  {line}\n" for line in trial.log) + f"{deviation}", flush=True)
        return 1
    return 0


def main():
    later, path, work, protocol, scripts, seed = sys.argv[1:7]
    only = int(sys.argv[7]) if len(sys.argv) > 7 and sys.argv[7] else None
    check_commands(later)
    rows = pairs_array.covering(TABLE, clashes, int(seed), tries=2)
    rows = [(i, row) for i, row in enumerate(rows) if only in (None, i)]
    setting = Setting(later, path, work, protocol, scripts)
    # Whoever finds no Redis tries again for some seconds. So these run beside each other.
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        found = [pool.submit(told, setting, seed, i, row) for i, row in rows if row["redis"] == "down"]
        bad = sum(told(setting, seed, i, row) for i, row in rows if row["redis"] != "down")
        bad += sum(one.result() for one in found)
    setting.copier.terminate()
    setting.copier.wait()
    print("not ok" if bad else "ok", f"seed {seed}: {len(rows)} commands with all pairs of {len(TABLE)} factors: {bad} deviate")
    sys.exit(bad > 0)


main()
