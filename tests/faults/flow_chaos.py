"""flow_chaos.py [SECONDS [SEED]]: flows of each kind over three queues and a spread one, while their pushers, workers,
laterds (with their movers) and Redis are killed and stopped, and jobs are kicked, cancelled and purged. Run it by hand,
from the build tree; LATERD and LATER name other programs. Chains of 5, batches of 100 with three callbacks, graphs of 30.
With LATER_TEST_REDIS=cluster it is a Cluster, whose masters also hand over to their replicas, and whose slots move.

What must hold when all is quiet, else a line says what does not:
 - a flow has all its jobs, and none is left that waits or is open;
 - a job has begun only when all that it waits for had ended as it asks, and is done only if it was run;
 - one that was done is run again only if a fault lies between its runs;
 - `later check` agrees, and no news is left."""
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import flow_store

seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60
seed = int(sys.argv[2]) if len(sys.argv) > 2 else int(time.time())
chance = random.Random(seed)
later, laterd = os.environ.get("LATER", "cli/later"), os.environ.get("LATERD", "daemon/laterd")
top, wrong, faults, flows = tempfile.mkdtemp(prefix="flow-chaos-"), [], [], {}
parts = ["a", "b", "c", "wide", "wide/0", "wide/1"]
print("# seed %d, in %s" % (seed, top), flush=True)


def spawn(*words, log="log"):
    with open("%s/%s" % (top, log), "ab") as out:
        return subprocess.Popen(words, stdout=out, stderr=out, stdin=subprocess.DEVNULL, start_new_session=True)


def start_host(n):
    return spawn(laterd, "-c", "%s/%d.conf" % (top, n), log="%d.log" % n)


def call(*words, text=None, limit=120):
    """Returns the status and what it said; killed after so many seconds."""
    try:
        done = subprocess.run([later, "--redis", store.url, *words], input=text, capture_output=True, text=True, timeout=limit,
                              check=False)
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired:
        return None, ""


def configure():
    os.makedirs(top + "/jobs")
    os.makedirs(top + "/noted")
    for plugin in ("tests/system/check.so", "jobs/null.so"):
        shutil.copy(plugin, top + "/jobs")
    for n in (0, 1):
        with open("%s/%d.conf" % (top, n), "w", encoding="ascii") as file:
            file.write("""redis = { url = "%s"; }; state_dir = "%s/state%d";
workers = 3; grace = 0.3; lease = 5.0; crash_max = 1000;
plugins = { dir = "%s/jobs"; config = { check = { dir = "%s/noted"; }; }; };
retry = { max_attempts = 1000; base = 0.01; max = 0.1; };
queues = ( { name = "a"; }, { name = "b"; }, { name = "c"; }, { name = "wide"; shards = 2; } );
""" % (store.url, top, n, top, top))


# ---- flows

def job(step, after=(), when="done", queues=("a",)):
    what = chance.choices([{"do": "done"}, {"do": "sleep", "for": 0.02}, {"do": "retry", "upto": 1},
                           {"do": "bury", "upto": 1}], [80, 10, 8, 2])[0]
    line = {"type": "do", "step": step, "payload": what, "queue": chance.choice(queues)}
    return {**line, "after": list(after), "when": when} if after else line


def chain():
    return [job("s%d" % i, ["s%d" % (i - 1)] if i else [], queues=("a", "b")) for i in range(5)]


def batch():
    ends = {"then": "done", "finally": "ended", "alarm": "failed"}
    return [job("m%d" % i, queues=("a", "wide")) for i in range(100)] + \
        [job(name, ["*"], ends[name], ("a", "c")) for name in ends]


def graph():
    return [job("g%d" % i, {"g%d" % chance.randrange(i) for _ in range(chance.randrange(1, 4))} if i > 2 else [],
                queues=("a", "b", "c", "wide")) for i in range(30)]


def push(name, limit=120):
    lines = "".join(json.dumps(line) + "\n" for line in flows[name]["jobs"])
    status = call("push", "-q", "a", "--flow", name, "--file", "-", text=lines, limit=limit)[0]
    flows[name]["pushed"] = flows[name]["pushed"] or status == 0


def new_flow():
    name = "f%d" % len(flows)
    flows[name] = {"jobs": chance.choice([chain, chain, batch, graph])(), "pushed": False}
    push(name, chance.choice([120, 120, 0.02, 0.05, 0.1]))


# ---- faults

def children(pid):
    told = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False).stdout
    return [int(word) for word in told.split()]


def send(pid, number):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def kill_worker():
    for pid in chance.sample(*(lambda pids: (pids, min(1, len(pids))))(children(chance.choice(hosts).pid))):
        send(pid, signal.SIGKILL)


def kill_host():
    n = chance.randrange(2)
    workers = children(hosts[n].pid)
    for pid in [hosts[n].pid] + (workers if chance.random() < 0.5 else []):
        send(pid, signal.SIGKILL)
    hosts[n].wait()
    hosts[n] = start_host(n)


def stop(pid, longest):
    send(pid, signal.SIGSTOP)
    time.sleep(chance.random() * longest)
    send(pid, signal.SIGCONT)


def stop_host():
    stop(chance.choice(hosts).pid, 3)


def fault():
    what = chance.choice([kill_worker] * 6 + [kill_host] * 3 + [stop_host] * 2 + store.faults)
    faults.append([time.time()])
    what()
    faults[-1].append(time.time())
    kinds[what.__name__] = kinds.get(what.__name__, 0) + 1


def act():
    name = chance.choice(list(flows))
    what = chance.randrange(8)
    if what < 5:
        call("flow", "kick", name, "-q", "a", limit=20)
    elif what < 7:
        call("cancel", "%s.%s" % (name, chance.choice(flows[name]["jobs"])["step"]), limit=20)
    else:
        call("cancel", "-q", chance.choice(["a", "b", "c", "wide"]), "--state", "dead", "--yes", limit=20)


# ---- the end

def members(name):
    told = call("flow", "show", name, "-q", "a", "--json")[1].splitlines()
    return {one["step"]: one for one in map(json.loads, told) if one.get("step")}


def noted(file):
    found = {}
    with open("%s/noted/%s" % (top, file), encoding="ascii") as lines:
        for line in lines:
            words = line.split()
            found.setdefault(words[0], []).append(float(words[3 if file == "begun" else 4]))
    return found


def explained(first, second):
    """A lease of 5 s may run out after a fault, and a settlement be late."""
    return any(begin < second and end + 8 > first for begin, end in faults)


def check_flow(name, begun, ended):
    jobs, found = {line["step"]: line for line in flows[name]["jobs"]}, members(name)
    if set(jobs) != set(found):
        wrong.append("%s: lost %s, unknown %s" % (name, sorted(set(jobs) - set(found)), sorted(set(found) - set(jobs))))
        return
    for step, line in jobs.items():
        id_, state = "%s.%s" % (name, step), found[step]["state"]
        tally[state] = tally.get(state, 0) + 1
        runs, ends = sorted(begun.get(id_, [])), sorted(ended.get(id_, []))
        if state in ("waiting", "open") or state == "done" and not ends:
            wrong.append("%s is %s, with %d runs that ended" % (id_, state, len(ends)))
        needs = [other for other in jobs if "*" not in jobs[other].get("after", ())] if line.get("after") == ["*"] \
            else line.get("after", ())
        # If one is gone, a kick runs it, whatever the others do.
        waited = runs and line.get("when", "done") == "done" and all(found[other]["state"] == "done" for other in needs)
        for other in needs if waited else ():
            if not [end for end in ended["%s.%s" % (name, other)] if end <= runs[0]]:
                wrong.append("%s began before %s had ended" % (id_, other))
        if line["payload"]["do"] in ("done", "sleep"):
            for first, second in zip(runs, runs[1:]):
                if not explained(first, second) and state != "dead":
                    wrong.append("%s was run again, without a fault between" % id_)


def settle():
    """Pushes what was not pushed whole, and kicks until all have ended, or for five minutes nothing has changed."""
    for name in flows:
        for _ in range(20):
            if not flows[name]["pushed"]:
                push(name)
    left, kicked, told_before, end = [], set(), None, time.monotonic() + 300
    while time.monotonic() < end:
        told = [json.loads(line) for line in call("flow", "-q", "a", "-n", "100000", "--json")[1].splitlines()]
        left = [one["flow"] for one in told if one["state"] not in ("done", "ended")]
        if not left and len(told) == len(flows):
            return
        if told != told_before:
            told_before, end = told, time.monotonic() + 300
        for one in told:
            if one["dead"] and one["flow"] in kicked: # what is always buried
                for step, job_ in members(one["flow"]).items():
                    if job_["state"] == "dead":
                        call("cancel", "%s.%s" % (one["flow"], step))
            elif one["dead"]:
                call("flow", "kick", one["flow"], "-q", "a")
                kicked.add(one["flow"])
        time.sleep(0.5)
    wrong.append("for five minutes nothing has changed: %s" % left[:10])


store = (flow_store.Cluster if os.environ.get("LATER_TEST_REDIS") == "cluster" else flow_store.Server)(top, chance)
configure()
hosts = [start_host(0), start_host(1)]
tally, kinds, until, acts = {}, {}, time.monotonic() + seconds, 0
try:
    while time.monotonic() < until:
        chance.choices([new_flow, fault, act], [60, 15, 25 if flows else 0])[0]()
        acts += 1
    quiet = time.monotonic()
    settle()
    took = time.monotonic() - quiet
    began, over = noted("begun"), noted("ended")
    for flow in flows:
        check_flow(flow, began, over)
    for queue in parts[:4]:
        if call("check", queue)[0]:
            wrong.append("later check %s: %s" % (queue, call("check", queue)[1]))
finally:
    for one in hosts:
        send(one.pid, signal.SIGTERM)
        one.wait()
    for one in store.nodes:
        one.end()
for line in wrong[:50]:
    print(line)
print("# %d flows, %d faults (%s), jobs %s; quiet after %.1f s; unexplained: %d" %
      (len(flows), len(faults), kinds, tally, took, len(wrong)))
if not wrong:
    shutil.rmtree(top)
sys.exit(bool(wrong))
