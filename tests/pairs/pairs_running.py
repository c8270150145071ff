"""All pairs of operations and kinds of running work. Each row is a laterd of its own, under a prefix of
its own, with jobs of each kind (pairs_work.py); while they run, two operations are made, one after the
other. Then what laterd(8), later(1) and laterd.conf(5) promise must hold: each job has ended as asked,
and has run as often as it must and at no time twice; locks, permits and limits were kept; nothing is left.

    pairs_running.py LATER LATERD SOCKET WORK DOC SEED [ROW]

The rows of a seed have each operation once as the first and once as the second; other seeds, other pairs."""
import concurrent.futures
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time

import pairs_work
import patience
from pairs_redis import Deviation, Redis, Serve

AT_ONCE = 4
PLACES = ["a", "c", "s", "s/0", "s/1", "s/2"]
PATIENCE = 300  # seconds; only a hang takes as long


def until(what, test):
    if not patience.until(test, PATIENCE):
        raise Deviation(f"waited {PATIENCE} s in vain: {what}")


class Laterd:
    def __init__(self, row, state="state"):
        self.row, self.state, self.log = row, state, f"{row.folder}/{state}.log"
        row.daemons.append(self)
        self.begin()

    def begin(self):
        begun = self.count(" ready: ")
        with open(self.log, "a", encoding="utf-8") as log:
            self.process = subprocess.Popen([self.row.laterd, "-c", f"{self.row.folder}/{self.state}.conf"],
                                            stdin=subprocess.DEVNULL, stderr=log)
        until("laterd is ready", lambda: self.count(" ready: ") > begun or self.process.poll() is not None)
        self.row.same("laterd runs", self.process.poll(), None)

    def lines(self):
        if not os.path.exists(self.log):
            return []
        with open(self.log, encoding="utf-8") as file:
            return file.read().splitlines()

    def count(self, text):
        return sum(text in line for line in self.lines())

    def send(self, number):
        self.process.send_signal(number)

    def end(self, number=signal.SIGTERM, status=0):
        self.send(number)
        self.row.same("laterd's exit status", self.process.wait(PATIENCE), status)

    def workers(self):
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children", encoding="utf-8") as file:
            children = file.read().split()
        return [int(child) for child in children if is_worker(child)]


def is_worker(pid):
    """Workers lead a group of their own; what handlers leave has the same name, and is laterd's child too."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            name, rest = file.read().split("(", 1)[1].rsplit(")", 1)
    except OSError:
        return False
    return name.startswith("worker ") and rest.split()[2] == pid


class Row:
    def __init__(self, setting, number, operations):
        self.later, self.laterd, self.socket, self.work = setting
        self.number, self.operations = number, operations
        self.prefix, self.folder = f"r{number}", f"{self.work}/r{number}"
        self.redis, self.serve, self.lock = Redis(self.socket), Serve(self.later, self.prefix), threading.Lock()
        self.parts, self.log = dict(pairs_work.BASE), []
        self.runs, self.gone, self.again, self.dropped, self.killed = {}, set(), {}, 0, False
        self.quit = False  # what ran was given back
        self.bad_reloads, self.daemons = 0, []

    # ---- tools of the operations

    @staticmethod
    def same(what, got, wanted):
        if got != wanted:
            raise Deviation(f"{what}: got {got!r}, wanted {wanted!r}")

    def say(self, *words):
        self.log.append(f"{time.time():.3f} " + " ".join(words))

    def ask(self, *words, statuses=(0,)):
        status, rows, said = self.serve.ask([*words, "--json"])
        self.say("later", *words, f"-> {status} {said}")
        if status not in statuses:
            raise Deviation(f"later {' '.join(words)}: status {status}, wanted {statuses}: {said}")
        return status, rows

    def run_later(self, *words, statuses=(0,)):
        """For commands that run a program, which `later serve` refuses."""
        cut = words.index("--")
        done = subprocess.run([self.later, *words[:cut], "--prefix", self.prefix, "--json", *words[cut:]],
                              capture_output=True, encoding="utf-8", stdin=subprocess.DEVNULL, check=False)
        self.say("later", *words, f"-> {done.returncode} {done.stderr}")
        if done.returncode not in statuses:
            raise Deviation(f"later {' '.join(words)}: status {done.returncode}: {done.stderr}")
        return [json.loads(line) for line in (done.stdout + done.stderr).splitlines() if line.startswith("{")]

    def notes(self, name):
        path = f"{self.folder}/{name}"
        if not os.path.exists(path):
            return []
        with open(path, encoding="utf-8") as file:
            return [line.split() for line in file.read().splitlines()]

    def running(self):
        ended = {tuple(line[:2]) for line in self.notes("ended")}
        return [line for line in self.notes("begun") if tuple(line[:2]) not in ended]

    def more_begins(self, count=3):
        goal = len(self.notes("begun")) + count
        until("more jobs begin", lambda: len(self.notes("begun")) >= goal or self.known() == 0)

    def known(self):
        return sum(int(self.redis.call("HLEN", f"{self.prefix}:{{{place}}}:jobs")) for place in PLACES)

    def write_config(self, state="state", more=""):
        with open(f"{self.folder}/{state}.conf", "w", encoding="utf-8") as file:
            file.write(pairs_work.config(self.folder, self.socket, self.prefix, self.parts, state) + more)

    def reload(self, change=None, word="reloaded: "):
        self.parts = {**pairs_work.BASE, **(pairs_work.CHANGES[change] if change else {})}
        self.write_config()
        before = self.daemon.count(word)
        self.daemon.send(signal.SIGHUP)
        refused = self.daemon.count("reload refused")
        until("the reload", lambda: self.daemon.count(word) > before or self.daemon.count("reload refused") > refused)
        self.same("reloads refused", self.daemon.count("reload refused"), refused)

    # ---- a row

    def prepare(self):
        os.makedirs(self.folder)
        os.symlink(self.work + "/jobs", self.folder + "/jobs")
        for name, text in (("program", pairs_work.PROGRAM), ("lines", pairs_work.LINES)):
            with open(f"{self.folder}/{name}", "w", encoding="utf-8") as file:
                file.write(text)
        self.write_config()
        self.daemon = Laterd(self)
        self.push([line for line, _ in pairs_work.jobs()])
        self.runs = {line["id"]: runs for line, runs in pairs_work.jobs()}

    def push(self, lines):
        with open(f"{self.folder}/lines.ndjson", "w", encoding="utf-8") as file:
            for line in lines:
                print(json.dumps(line), file=file)
        return [row["result"] for row in self.ask("push", "--file", f"{self.folder}/lines.ndjson")[1]]

    def push_again(self):
        """These may run once more, or take the place of one that waits: the answer says which."""
        for line in (pairs_work.AGAIN, pairs_work.BOUNCE):
            answer, = self.push([line])
            self.runs[line["id"]] = self.runs.get(line["id"], 0) + (answer in ("pushed", "again"))
            # A second `again` takes the place of the first, if that has not begun.
            if answer == "again":
                self.again[line["id"]] = self.again.get(line["id"], 0) + 1

    def run(self):
        self.prepare()
        until("a job begins", lambda: len(self.notes("begun")) >= 3)
        for operation in self.operations:
            self.push_again()
            self.say("operation", operation)
            OPERATIONS[operation](self)
            self.more_begins()
        self.push_again()
        until("the retries and delayed jobs have ended", lambda: self.left() == 0)
        self.ask("cron", "pause", "every")
        until("all jobs have ended", lambda: self.known() == 0)
        self.ask("wait", "result-0", "-q", "a", "--timeout", "60", statuses=(0, 66) if "result-0" in self.gone or self.dropped else (0,))
        self.judge()
        self.daemon.end()
        self.judge_rest()

    def left(self):
        """All but the schedule's."""
        return self.known() - int(self.redis.call("HLEN", f"{self.prefix}:{{c}}:jobs"))

    # ---- the oracle

    def judge(self):
        ended, begun = {}, {}
        for id, *_ in self.notes("begun"):
            begun[id] = begun.get(id, 0) + 1
        spans = {}
        for id, _, _, start, end, _ in self.notes("ended"):
            ended[id] = ended.get(id, 0) + 1
            spans.setdefault(id, []).append((float(start), float(end)))
        missing = []
        for id, runs in self.runs.items():
            got = begun.get(id, 0)
            if id in self.gone:
                continue
            least = runs - self.again.get(id, 0)
            if got < least:
                missing.append(id)
            elif got > runs and not self.killed and not self.quit:
                raise Deviation(f"{id} has run {got} times, wanted {least} to {runs}: {spans.get(id)}")
        if len(missing) > self.dropped:
            raise Deviation(f"not run: {missing}, and {self.dropped} were dropped")
        for id, times in spans.items():
            self.apart(id, times, 1)
        if not self.killed:
            for kind, most in (("alone", 1), ("locked", 1), ("permit", 2)):
                self.apart(kind, [span for id in spans if id.startswith(kind) for span in spans[id]], most)
        self.judge_ticks(begun)

    def apart(self, what, times, most):
        running = 0
        for _, step in sorted([(start, 1) for start, _ in times] + [(end, -1) for _, end in times]):
            running += step
            if running > most:
                raise Deviation(f"{what}: {running} at once, wanted {most}: {sorted(times)}")

    def judge_ticks(self, begun):
        """laterd.conf(5), cron: catch_up all; each tick once."""
        ticks = sorted(int(float(id.split(":")[2])) for id in begun if re.match(r"cron:every:\d", id))
        if not self.dropped and not self.gone and "cron" not in self.operations and \
                ticks != list(range(ticks[0], ticks[0] + len(ticks))):
            raise Deviation(f"ticks {ticks}")

    def judge_rest(self):
        _, rows = self.ask("check")
        self.same("check", [row for row in rows if not row["ok"]], [])
        _, rows = self.ask("lock")
        self.same("locks", [row for row in rows if row["kind"] != "limit" and (row["held"] or row["waiting"])], [])
        _, rows = self.ask("size", "a", "s", "c")
        self.same("dead", [row["queue"] for row in rows if row["dead"]], [])
        self.same("processes", [line for line in processes() if self.folder in line], [])
        errors = [line for line in self.daemon.lines() if re.match(r"\S+ (error|crit)", line)]
        if not self.killed:
            self.same("errors in the log", errors[self.bad_reloads:], [])
            self.same("crashes in the log", [line for line in self.daemon.lines() if "exited with status" in line], [])


def processes():
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                found.append(file.read().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            pass
    return [line for line in found if "pairs_running.py" not in line]


# ---- operations

def nothing(row):
    del row


def reloads(change):
    return lambda row: row.reload(change)


def reload_and_back(row):
    row.reload("queue gone")
    row.reload()


def reload_bad(row):
    before = row.daemon.count(" error ")
    row.write_config(more="workers = -7;\n")
    row.daemon.send(signal.SIGHUP)
    until("the refusal", lambda: row.daemon.count(" error ") > before)
    row.bad_reloads += 1
    row.write_config()


def stop_go(row):
    row.daemon.send(signal.SIGTSTP)
    time.sleep(0.4)
    row.daemon.send(signal.SIGCONT)


def restarts(number):
    def operation(row):
        row.daemon.end(number)
        row.daemon.begin()
    return operation


def quits(row):
    row.quit = True
    restarts(signal.SIGQUIT)(row)


def kill_all(row):
    row.killed = True
    row.daemon.end(signal.SIGKILL, -signal.SIGKILL)
    row.daemon.begin()


def hits_worker(number):
    def operation(row):
        row.killed = True
        workers = row.daemon.workers()
        if workers:
            os.kill(workers[0], number)
    return operation


def second(row):
    row.write_config("second")
    other = Laterd(row, "second")
    row.more_begins()
    other.end()


def pause(row):
    row.ask("pause", "a", "s")
    time.sleep(0.4)
    row.ask("resume", "a", "s")


def pause_for(row):
    row.ask("pause", "a", "s", "--for", "0.5")


def set_lower(row):
    """What is not in the configuration, or not announced yet, is refused."""
    row.ask("set", "max_running", "type:exec.permit", "--max", "1", "--for", "0.5", statuses=(0, 66))
    row.ask("set", "limit", "type:exec.limit", "--max", "1", statuses=(0, 66))
    time.sleep(0.3)
    row.ask("unset", "limit", "type:exec.limit")


def pause_host(row):
    hosts = (line["host"] for line in row.ask("status", "--json")[1] if "host" in line and not line.get("gone"))
    with_host = next(hosts, None)
    if with_host:
        row.ask("pause", "--host", with_host, "--for", "0.5")


def cancel(row):
    for id, *_ in row.running()[:1]:
        queue = next((line["queue"] for line, _ in pairs_work.jobs() if line["id"] == id), None)
        if queue and row.ask("cancel", id, "-q", queue, statuses=(0, 66))[0] == 0:
            row.gone.add(id)


def bury_kick(row):
    if row.ask("bury", "delayed-0", "-q", "s", statuses=(0, 66))[0] == 0:
        row.ask("kick", "delayed-0", "-q", "s")


def kick(row):
    row.ask("kick", "-q", "a", "--all", "--yes")


def cancel_delayed(row):
    row.dropped += row.ask("cancel", "-q", "a", "--state", "delayed", "--yes")[1][0]["cancelled"]


def replace(row):
    line = next(line for line, _ in pairs_work.jobs() if line["id"] == "limit-4")
    row.ask("push", line["type"], "--id", line["id"], "-q", line["queue"], "--replace")
    row.runs[line["id"]] = 2 if [1 for note in row.notes("begun") if note[0] == line["id"]] else 1
    row.again[line["id"]] = 1


def by_hand(row):
    status, rows = row.ask("reserve", "a", "--lease", "60", statuses=(0, 75))
    if status == 0:
        held = rows[0]["id"], "--token", rows[0]["token"], "-q", "a"
        row.ask("touch", *held)
        row.ask("release", *held, "--uncounted")
    status, rows = row.ask("reserve", "s", "--lease", "60", statuses=(0, 75))
    if status == 0:
        row.gone.add(rows[0]["id"])
        row.ask("release", rows[0]["id"], "--token", rows[0]["token"], "-q", "s")
    status, rows = row.ask("reserve", "s", "--lease", "60", statuses=(0, 75))
    if status == 0:
        row.gone.add(rows[0]["id"])
        row.ask("ack", rows[0]["id"], "--token", rows[0]["token"], "-q", "s")


def work(row):
    """Its log says which jobs it has performed: they have run elsewhere."""
    for line in row.run_later("work", "a", "s", "--until-empty", "--", "true"):
        if line["text"] == "done":
            row.gone.add(line["job"])


def lock(row):
    row.run_later("lock", "L", "--wait", "60", "--", "sleep", "0.2")


def cron(row):
    row.ask("cron", "pause", "every")
    row.ask("cron", "resume", "every")
    row.ask("cron", "run", "every")
    row.ask("cron", "set", "mine", "@every 1s", "note", "-q", "c")
    row.ask("cron", "delete", "mine")


def forget(row):
    """Of queues that have a job, even if all others are done by now."""
    row.push([{"id": "later-" + queue, "queue": queue, "type": "do", "payload": {"do": "done"}, "in": 3600} for queue in "as"])
    row.ask("forget", "a", "s", statuses=(75,))
    for queue in "as":
        row.ask("cancel", "later-" + queue, "-q", queue)


def wait(row):
    row.ask("wait", "once-0", "-q", "a", "--timeout", "0.2", statuses=(66, 75))


def look(row):
    for words in ("size a s", "peek a", "peek s --state delayed", "search -q a --count", "search -q s", "export -q a --state delayed",
                  "show plain-0 shard-0", "lock", "status", "history", "check a s", "cron"):
        row.ask(*words.split(), statuses=(0, 66) if words.startswith("show") else (0,))


def flush_scripts(row):
    row.redis.call("SCRIPT", "FLUSH")


def cut(row):
    """All connections of laterd, not of its neighbours' rows."""
    for line in row.redis.call("CLIENT", "LIST").splitlines():
        fields = dict(field.split("=", 1) for field in line.split(" ") if "=" in field)
        if str(row.daemon.process.pid) in fields["name"] or any(str(pid) in fields["name"] for pid in row.daemon.workers()):
            row.redis.call("CLIENT", "KILL", "ID", fields["id"])


def stall(row):
    row.redis.call("CLIENT", "PAUSE", "700", "ALL")


OPERATIONS = {
    "nothing": nothing, **{f"HUP {change}": reloads(change) for change in pairs_work.CHANGES if change != "queue gone"},
    "HUP twice": reload_and_back, "HUP bad": reload_bad, "TSTP CONT": stop_go, "TERM": restarts(signal.SIGTERM),
    "INT": restarts(signal.SIGINT), "QUIT": quits, "KILL": kill_all, "KILL worker": hits_worker(signal.SIGKILL),
    "TERM worker": hits_worker(signal.SIGTERM), "second": second, "pause": pause, "pause for": pause_for, "pause host": pause_host, "set": set_lower, "cancel": cancel,
    "bury kick": bury_kick, "kick": kick, "cancel delayed": cancel_delayed, "replace": replace, "by hand": by_hand, "work": work, "lock": lock,
    "cron": cron, "forget": forget, "wait": wait, "look": look, "flush scripts": flush_scripts, "cut": cut, "stall": stall,
}
# Commands that no operation runs, and why.
COMMANDS_OUTSIDE = {
    "flow": "has jobs of its own; cli_flow.sh", "edit": "makes another job of one; cli_edit.sh", "move": "needs another queue; cli_move.sh", "limit": "has a name of its own; cli_limit.sh", "stock": "has nothing to do with jobs",
    "top": "looks", "events": "looks; daemon_ends.sh", "metrics": "looks; metrics.sh", "serve": "is how the others are run", "new": "needs no Redis", "help": "needs no Redis", "completion": "needs no Redis",
}


# ---- all of it

def check_lists(later, doc):
    with open(__file__, encoding="utf-8") as file:
        text = file.read()
    help_text = subprocess.run([later, "help"], check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout
    commands = {name for name in re.findall(r"^  ([a-z]+)  ", help_text, re.M)}
    missing = [name for name in commands - set(COMMANDS_OUTSIDE) if not re.search(rf'"{name}[ "]', text)]
    with open(doc + "/laterd.8", encoding="utf-8") as file:
        section = file.read().split(".Sh SIGNALS")[1].split(".Sh ")[0]
    missing += [name for name in set(re.findall(r"SIG([A-Z]+)", section)) if f"signal.SIG{name}" not in text]
    with open(doc + "/laterd.conf.5", encoding="utf-8") as file:
        options = re.findall(r"^\.It Ic ([a-z._]+)", file.read(), re.M)
    parts = pairs_work.options_of_parts()
    missing += [name for name in options if name not in pairs_work.FIXED
                and not re.search(rf"\b{name.rsplit('.', 1)[-1]} = ", parts)]
    print("not ok" if missing else "ok", "each command, signal and option of laterd.conf(5) has an operation, or the reason why not")
    if missing:
        print(f"add to the operations: {sorted(missing)}")


def told(setting, seed, number, operations):
    row = Row(setting, f"{seed}-{number}", operations)
    try:
        row.run()
    except Deviation as deviation:
        print(f"seed {seed}, row {number}: LATER_SEED={seed} LATER_ROW={number} sh tests/pairs/pairs_running.sh\n"
              f"{' + '.join(operations)}\n" + "".join(f"  {line}\n" for line in row.log) + f"{deviation}\n"
              + "".join(f"    {line}\n" for daemon in row.daemons for line in daemon.lines() if " info " not in line), flush=True)
        return 1
    finally:
        for daemon in row.daemons: # none is left if all is well
            daemon.process.kill()
        row.serve.end()
    return 0


def main():
    later, laterd, path, work, doc, seed = sys.argv[1:7]
    only = int(sys.argv[7]) if len(sys.argv) > 7 and sys.argv[7] else None
    check_lists(later, doc)
    names, then = list(OPERATIONS), list(OPERATIONS)
    random.Random(int(seed)).shuffle(then)
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        rows = [pool.submit(told, (later, laterd, path, work), seed, i, pair) for i, pair in enumerate(zip(names, then))
                if only in (None, i)]
        bad = sum(row.result() for row in rows)
    print("not ok" if bad else "ok", f"seed {seed}: {len(rows)} pairs of operations, each with all kinds of work: {bad} deviate")
    sys.exit(bad > 0)


main()
