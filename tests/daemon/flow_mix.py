"""flow_mix.py LATER LATERD_PID QUEUE SEED SECONDS: jobs of flows and others in one queue, and all that can be
done to them, in random order, while laterd performs them. When nothing runs any more, each flow must agree
with the queue: its counts with its members, its members with the sets, and nothing waits whose fate is
decided (doc/protocol.md, "Flows"). Prints what does not agree, a line each, and then how much was done."""
import json
import os
import random
import signal
import subprocess
import sys
import time

import patience
import redis

later, laterd, queue, seed = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
seconds = float(sys.argv[5])
port = os.environ["REDIS_PORT"]
if not port:
    store = redis.Redis(unix_socket_path=os.environ["REDIS_SOCKET"], decode_responses=True)
elif os.environ["LATER_TEST_REDIS"] == "cluster":
    store = redis.RedisCluster(host="127.0.0.1", port=int(port), decode_responses=True)
else:
    store = redis.Redis(port=int(port), decode_responses=True)
chance = random.Random(seed)
asked = 0
statuses = {}


def key(name):
    return "later:{%s}:%s" % (queue, name)


def call(*words, text=None):
    global asked
    asked += 1
    told = subprocess.run([later, *words], input=text, capture_output=True, text=True, timeout=120, check=False)
    statuses[told.returncode] = statuses.get(told.returncode, 0) + 1
    if told.returncode not in (0, 64, 65, 66, 75, 77):
        print("status %d of later %s: %s" % (told.returncode, " ".join(words), told.stderr.strip()))
    return told.stdout


def some_id():
    return "%s.%s" % (some_flow(), some_step()) if chance.random() < 0.6 else "p%d" % chance.randrange(12)


def some_flow():
    return "f%d" % max(0, asked // 60 - chance.randrange(3))  # new ones come, since a closed one takes no more


def some_step():
    return "s%d" % chance.randrange(8)


def payload():
    what = chance.choice(["done", "done", "done", "retry", "bury", "sleep"])
    return json.dumps({"do": what, "for": 0.05})


def options():
    words = []
    for option, values in (("--priority", ["-5", "7"]), ("--in", ["0.2", "1"]), ("--max-attempts", ["1", "2"]),
                           ("--expires-in", ["0.1", "5"]), ("--result", ["5"]), ("--lock", ["l"]),
                           ("--group", ["A", "A", "B", "C/1"]), ("--on-dead", ["do"]), ("--on-done", ["null"])):
        if chance.random() < 0.12:
            words += [option, chance.choice(values)]
    return words


def push():
    words = options()
    for word in (["--replace"], ["--again"], ["--debounce", "0.3"], ["--throttle", "1"], ["--unique-for", "0.5"]):
        if chance.random() < 0.15:
            words += word
    call("push", "do", payload(), "-q", queue, "--id", some_id(), *words)


def after(step):
    if step == 7:
        return "*"
    return ",".join({"s%d" % chance.randrange(step) for _ in range(chance.randrange(1, 4))}) if step else ""


def push_step():
    step = chance.randrange(8)
    words = []
    waits = after(step) if chance.random() < 0.8 else ""
    if waits:
        words += ["--after", waits, "--when", chance.choice(["done", "done", "ended", "failed"])]
    if chance.random() < 0.4:
        words += ["--id", some_id()]  # of another flow, too
    if chance.random() < 0.2:
        words += ["--group", chance.choice(["A", "B"])]
    call("push", "do", payload(), "-q", queue, "--flow", some_flow(), "--step", "s%d" % step, *words)


def push_known():
    """A job that waits in one flow belongs to another, too."""
    ids = store.zrange(key("waiting"), 0, -1)
    if ids:
        call("push", "do", "-q", queue, "--flow", some_flow(), "--id", chance.choice(ids))


def push_file():
    lines, have = [], []
    for step in chance.sample(range(8), chance.randrange(1, 9)):
        line = {"type": "do", "step": "s%d" % step, "payload": json.loads(payload())}
        waits = ",".join(one for one in after(step).split(",") if one == "*" or one in have) if step else ""
        have.append("s%d" % step)
        if waits:
            line["after"] = waits.split(",")
            line["when"] = chance.choice(["done", "done", "ended", "failed"])
        if chance.random() < 0.3:
            line["group"] = chance.choice(["A", "B", "C/1"])
        if chance.random() < 0.1:
            line["expires_at"] = time.time() + chance.choice([-1, 0.1, 60])
        lines.append(json.dumps(line))
    chance.shuffle(lines)
    call("push", "-q", queue, "--flow", some_flow(), "--file", "-", *(["--open"] if chance.random() < 0.9 else []),
         text="\n".join(lines) + "\n")


def act():
    verb = chance.choice(["kick", "kick", "cancel", "bury"])
    if chance.random() < 0.95:
        call(verb, some_id(), some_id(), "-q", queue)
        return
    states = {"kick": ["dead", "delayed", "waiting"], "bury": ["ready", "delayed", "waiting"],
              "cancel": ["ready", "delayed", "dead", "waiting", "reserved"]}[verb]
    call(verb, "-q", queue, "--state", chance.choice(states), "--yes")


def flow():
    call("flow", chance.choice(["close", "kick", "kick", "cancel"]), some_flow(), "-q", queue)


def signals():
    if chance.random() < 0.4:
        os.kill(laterd, signal.SIGHUP)
        return
    workers = subprocess.run(["ps", "-o", "pid=", "--ppid", str(laterd)], capture_output=True, text=True, check=False)
    pids = [int(pid) for pid in workers.stdout.split()]
    if pids:
        try:
            os.kill(chance.choice(pids), signal.SIGKILL)
        except ProcessLookupError:
            pass


def by_hand():
    what = chance.randrange(3)
    if what == 0:
        store.zadd(key("ready"), {'{"type":"null","n":%d}' % chance.randrange(1000): time.time()})
    elif what == 1:
        call("pause", queue)
        time.sleep(0.05)
        call("resume", queue)
    else:
        call("search", "-q", queue, "--state", "waiting")


# As of one moment: of each priority and group, how many jobs are ready, minus what `fair` says.
SHARES = """
local found = {}
for _, id in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
    local record = '\\n' .. (redis.call('HGET', KEYS[2], id) or '')
    local group = string.match(record, '\\nq=[0-9.]+ ([^\\n]*)')
    if group then
        local field = (string.match(record, '\\np=([^\\n]*)') or '0') .. ' ' .. group
        found[field] = (found[field] or 0) + 1
    end
end
local fair = redis.call('HGETALL', KEYS[3])
for i = 1, #fair, 2 do
    if string.find(fair[i], ' ', 1, true) then
        found[fair[i]] = (found[fair[i]] or 0) - tonumber(string.match(fair[i + 1], ' (%d+)$'))
    end
end
local wrong = {}
for field, n in pairs(found) do
    wrong[#wrong + 1] = n ~= 0 and field .. ': ' .. n or nil
end
return wrong
"""


def shares():
    wrong = store.eval(SHARES, 3, key("ready"), key("records"), key("fair"))
    if wrong:
        print("ready jobs of groups, minus those that fair counts: %s" % wrong)


def settled():
    sizes = json.loads(call("size", queue, "--json"))
    return sizes["ready"] + sizes["delayed"] + sizes["reserved"] == 0


LETTERS = {"w": "waiting", "o": "open", "x": "dead", "d": "done", "g": "gone", "s": "skipped"}


def fate(flow_of, told, job):
    """What becomes of a job that waits: run, dead, skip; None: it goes on waiting."""
    after_, when, closed = job["after"], job["when"], told["closed"] == "1"
    if after_ == "*":
        states = [one["state"] for one in flow_of.values() if one["after"] != "*"]
        over = closed and not any(state in "ow" for state in states)
        failed = any(state in "xg" for state in states)
        if when == "failed":
            return "run" if failed else "skip" if over else None
        if when == "ended":
            return "run" if over else None
        return "dead" if "g" in states else "run" if over and "x" not in states else None
    by_step = {one["step"]: one["state"] for one in flow_of.values() if one["step"] != "-"}
    states = [by_step.get(step, "u" if closed else "?") for step in after_.split(",")]
    ended = all(state in "dxgsu" for state in states)
    if when == "failed":
        return "run" if any(state in "xgu" for state in states) else "skip" if ended else None
    if when == "ended":
        return "run" if ended else None
    return "run" if set(states) == {"d"} else "dead" if any(state in "gsu" for state in states) else None


def members_of(told):
    found = {}
    for field, text in told.items():
        if field.startswith("j:"):
            words = text.split(" ") + ["-"] * 4
            found[field[2:]] = {"state": words[0], "step": words[1], "when": words[2], "after": words[4] if
                                len(text.split(" ")) == 5 else "-"}
    return found


def where(id_):
    if not store.hexists(key("jobs"), id_):
        return "nowhere"
    for state in ("ready", "delayed", "dead", "waiting"):
        if store.zscore(key(state), id_) is not None:
            return state
    return "reserved"


def check_flow(name):
    told = store.hgetall(key("flow:" + name))
    found = members_of(told)
    counts = {}
    for id_, job in found.items():
        star = "*" if job["after"] == "*" else ""
        for counter in ("total", LETTERS[job["state"]]):
            counts[star + counter] = counts.get(star + counter, 0) + 1
        place = where(id_)
        good = {"w": ["waiting"], "x": ["dead"], "o": ["ready", "delayed", "reserved"]}.get(job["state"])
        if good and place not in good:
            print("flow %s: job %s is %s there, and %s in the queue" % (name, id_, LETTERS[job["state"]], place))
        if job["state"] == "w" and job["after"] != "-":
            decided = fate(found, told, job)
            if decided:
                print("flow %s: job %s waits, and its fate is: %s; %s" % (name, id_, decided, job))
    for counter in ["total", *LETTERS.values()]:
        for star in ("", "*"):
            if int(told.get(star + counter, 0)) != counts.get(star + counter, 0):
                print("flow %s: %s%s is %s, there are %d" % (name, star, counter, told.get(star + counter),
                                                            counts.get(star + counter, 0)))
    return {id_ for id_, job in found.items() if job["state"] == "w"}


verbs = [push] * 4 + [push_step] * 8 + [push_known] * 2 + [push_file] * 3 + [act] * 5 + [flow] + [by_hand] + [signals]


def while_paused():
    """Nothing runs, so that much is ready, and what happens to it is seen."""
    call("pause", queue)
    for _ in range(12):
        chance.choice([push, push, push_step, push_file, act, act, shares])()
        shares()
    call("resume", queue)


verbs += [shares, while_paused]
until = time.monotonic() + seconds
while time.monotonic() < until:
    chance.choice(verbs)()
call("resume", queue)
for name in store.zrange(key("flows"), 0, -1):
    call("flow", "close", name, "-q", queue)
patience.until(settled, 300)
if not patience.until(lambda: not store.exists(key("fair")), 60):  # migrate drops what a plain member has left
    print("nothing is ready, and there is fair: %s" % store.hgetall(key("fair")))
if not settled():
    print("jobs are left: " + call("size", queue, "--json").strip())
waiting = set()
for name in store.zrange(key("flows"), 0, -1):
    waiting |= check_flow(name)
for id_ in store.zrange(key("waiting"), 0, -1):
    if id_ not in waiting:
        print("job %s waits, and no flow knows" % id_)
checked = subprocess.run([later, "check", queue], capture_output=True, text=True, check=False)
if checked.returncode:
    print("later check: " + checked.stdout)
tally = {}
for name in store.zrange(key("flows"), 0, -1):
    for job in members_of(store.hgetall(key("flow:" + name))).values():
        tally[job["state"]] = tally.get(job["state"], 0) + 1
print("# seed %d: %d commands, statuses %s, jobs of flows %s" % (seed, asked, statuses, tally))
