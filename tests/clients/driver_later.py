#!/usr/bin/python3
"""driver_later.py LATER: laterd's C client, by its command line, driven by judge.py."""
import decimal
import hashlib
import json
import re
import subprocess
import sys

BY_OPTION = {"in": "--in", "at": "--at", "id": "--id", "priority": "--priority", "timeout": "--timeout",
             "max_attempts": "--max-attempts", "expires_at": "--expires-at",
             "unique_for": "--unique-for", "debounce": "--debounce", "max_wait": "--max-wait",
             "throttle": "--throttle", "expires_in": "--expires-in",
             "flow": "--flow", "step": "--step", "after": "--after", "when": "--when", "adder": "--adder",
             "home": "--home"}
STATUS = {64: "refused", 65: "refused", 69: "redis", 75: "full", 78: "protocol"}


class Failed(Exception):
    pass


def url_of(place):
    if place["kind"] == "single":
        return "unix:" + place["socket"]
    hosts = ",".join("%s:%d" % tuple(node) for node in place["nodes"])
    return "%s://%s%s" % (place["kind"], hosts, "/" + place["master"] if "master" in place else "")


def run(base, verb, *words, text=b""):
    """The JSON lines that later prints."""
    done = subprocess.run(base + [verb, "--json", *words], input=text, capture_output=True)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    words = done.stderr.decode(errors="replace").strip()
    if done.returncode not in (0, 66):
        kind = "protocol" if "protocol" in words else "closed" if " is closed: " in words else STATUS.get(done.returncode, "other")
        raise Failed(kind, words)
    return lines


def tried(base, *words):
    """later, which may say by its status that it has done nothing."""
    done = subprocess.run([*base, *words], capture_output=True)
    if done.returncode in (64, 69):
        raise Failed(STATUS[done.returncode], done.stderr.decode(errors="replace"))
    return done


def unique_id(type, payload, unique):
    """In C there is no such option: who wants the id makes it as doc/protocol.md says."""
    if unique is not True:
        names = [unique] if isinstance(unique, str) else unique
        if not names or not isinstance(payload, dict) or set(names) - payload.keys():
            raise Failed("refused", "unique")
        payload = {name: payload[name] for name in names}
    return hashlib.sha256(canonical([type, payload]).encode()).hexdigest()[:32]


def canonical(value):
    if isinstance(value, dict):
        members = sorted((name.encode("utf-16-be"), canonical(name), canonical(part)) for name, part in value.items())
        return "{%s}" % ",".join(name + ":" + part for _, name, part in members)
    if isinstance(value, list):
        return "[%s]" % ",".join(map(canonical, value))
    if isinstance(value, float) and value.is_integer():
        if abs(value) >= 1 << 53:
            raise Failed("refused", "unique")
        return str(int(value))
    if isinstance(value, float) and 1e-6 <= abs(value) < 1e-4:
        return format(decimal.Decimal(repr(value)), "f")
    return re.sub("e-0", "e-", json.dumps(value)) if isinstance(value, float) else json.dumps(value, ensure_ascii=False)


def with_id(job):
    unique = job.pop("unique", False)
    if unique is not False and "id" in job:
        raise Failed("refused", "id and unique")
    return job if unique is False else {**job, "id": unique_id(job["type"], json.loads(payload_of(job)), unique)}


def payload_of(job):
    return job["payload_json"] if "payload_json" in job else json.dumps(job.get("payload"))


def push(base, job, queue):
    others = set(job) - set(BY_OPTION) - {"type", "payload", "payload_json", "replace"}
    if others or "type" not in job:
        return push_many(base, [job], queue)[0]
    words = ["-q", queue, "--replace"] if job.get("replace") else ["-q", queue]
    for name in BY_OPTION.keys() & job.keys():
        said = ",".join(job[name]) if isinstance(job[name], list) else job[name]
        words += ["%s=%s" % (BY_OPTION[name], said)]
    return run(base, "push", *words, "--", job["type"], "-", text=payload_of(job).encode())[0]


def flow_jobs(call):
    """In C a chain and a batch are written out."""
    if "chain" in call:
        jobs = [{"step": str(i), **job} for i, job in enumerate(call["chain"], 1)]
        return jobs[:1] + [{**job, "after": [before["step"]]} for before, job in zip(jobs, jobs[1:])]
    ends = (("then", "done"), ("finally", "ended"), ("failed", "failed"))
    jobs = [with_id(job) for job in call.get("jobs", []) + call.get("batch", [])]
    jobs += [{**call[name], "after": ["*"], "when": when} for name, when in ends if name in call]
    return [{**job, "after": ["*"]} if job.get("after") == "*" else job for job in jobs]


def flow(base, call):
    text = "".join(json.dumps({"flow": call["flow"], **job}) + "\n" for job in flow_jobs(call)).encode()
    words = ["-q", call["queue"], "--flow", call["flow"], "--file", "-"] + ["--open"] * ("stays_open" in call)
    return {"results": sorted(run(base, "push", *words, text=text), key=lambda told: told["line"])}


def map_items(base, call):
    """In C the lines of a file are the jobs."""
    size = call.get("chunk")
    if {"id", "step"} & call["map"].keys() or size == -1 or {"then", "finally", "failed"} & call.keys() and "flow" not in call:
        raise Failed("refused", "map")
    items = call["items"] if size is None else [call["items"][i:i + size] for i in range(0, len(call["items"]), size)]
    jobs = [with_id({**call["map"], "payload": item}) for item in items]
    told = flow(base, {**call, "jobs": jobs})["results"] if "flow" in call else push_many(base, jobs, call["queue"])
    known = sum(one["result"] == "exists" for one in told)
    return {"pushed": len(told) - known, "known": known}


def act_on_flow(base, verb, name, call):
    words = ["flow", "--json", verb, name, "-q", call["queue"]]
    if "timeout" in call:
        words.append("--timeout=%s" % call["timeout"])
    if verb == "show":
        words = ["flow", "--json", "wait", name, "-q", call["queue"], "--timeout=0"]
    done = subprocess.run(base + words, capture_output=True)
    told = json.loads(done.stdout) if done.stdout else {"state": None}
    if verb == "show" and done.returncode == 75:
        told = next(one for one in run(base, "flow", "-q", call["queue"]) if one["flow"] == name)
    elif done.returncode in (66, 69, 75) and verb != "show":
        raise Failed({66: "unknown", 69: "redis", 75: "timeout"}[done.returncode], done.stderr.decode(errors="replace"))
    return {**told, "count": told.get("kicked", told.get("cancelled"))}


def push_many(base, jobs, queue):
    """In C each queue has a call of its own; a bad name is tried first, since nothing is to be pushed then."""
    results, failed = [None] * len(jobs), None
    queues = {job.get("queue", queue) for job in jobs} or {queue}
    for name in sorted(queues, key=lambda name: " " not in name):
        numbers = [i for i, job in enumerate(jobs) if job.get("queue", queue) == name]
        own = [{member: part for member, part in jobs[i].items() if member != "queue"} for i in numbers]
        try:
            for i, told in zip(numbers, push_into(base, own, name)):
                results[i] = told
        except Failed as full:
            if full.args[0] != "full":
                raise
            failed = full
    if failed:
        raise failed
    return results


def push_into(base, jobs, queue):
    results = [None] * len(jobs)
    for replace in (False, True):
        chosen = [i for i, job in enumerate(jobs) if bool(job.get("replace")) == replace]
        text = b""
        for i in chosen:
            members = {name: part for name, part in jobs[i].items()
                       if name not in ("replace", "payload", "payload_json")}
            text += ("%s,\"payload\":%s}\n" % (json.dumps(members)[:-1], payload_of(jobs[i]))).encode()
        words = ["-q", queue, "--replace"] if replace else ["-q", queue]
        if chosen:
            for told in run(base, "push", *words, "--file", "-", text=text):
                results[chosen[told["line"] - 1]] = told
    return results


def show(base, job, queue):
    found = run(base, "show", "-q", queue, "--", job)
    if not found or not found[0].get("state"):
        return {"state": None}
    return {**found[0], "document": json.loads(found[0]["document"])}


def wait(base, job, queue, timeout):
    told, = wait_many(base, [job], queue, timeout)["results"]
    kinds = {"dead": "failed", "gone": "unknown", "waiting": "timeout"}
    if told["state"] in kinds:
        raise Failed(kinds[told["state"]], str(told))
    return {"value": told["value"]}


def wait_many(base, ids, queue, timeout):
    done = tried(base, "wait", "--json", "-q", queue, "--timeout=%s" % timeout, "--", *ids)
    told = {one["id"]: one for one in map(json.loads, done.stdout.splitlines())}
    return {"results": [told[id] for id in ids]}


def reschedule(base, call):
    words = ["--%s=%s" % (name, call[name]) for name in ("in", "at", "priority") if name in call]
    if not words:
        raise Failed("refused", "that would be the editor")
    done = tried(base, "edit", "--json", "-q", call["queue"], *words, "--", call["reschedule"])
    return {"state": json.loads(done.stdout)["state"] if done.returncode == 0 else None}


def forget(base, call):
    done = tried(base, "wait", "-q", call["queue"], "--timeout=0", "--forget", "--", call["forget"])
    return {"changed": done.returncode in (0, 65)}


def cron_set(base, call):
    said = dict(call["cron_set"])
    job = said.pop("job")
    words = ["--%s=%s" % (name.replace("_", "-"), value) for name, value in {**said, **job}.items()
             if name not in ("name", "at", "limit", "type", "payload")]
    words += ["--number=%s" % said.get("limit")] * ("limit" in said) + ["--at=%s" % job.get("at")] * ("at" in job)
    told = run(base, "cron", "set", "-q", call["queue"], *words, "--", said["name"], said["at"], job.get("type", ""),
               payload_of(job))
    return {"changed": told[0]["changed"]}


def cron_delete(base, call):
    done = tried(base, "cron", "delete", "-q", call["queue"], "--", call["cron_delete"])
    return {"changed": done.returncode == 0}


def cron_list(base, queue):
    return {"schedules": [{**told, "paused": told["state"] == "paused"} for told in run(base, "cron", "-q", queue)]}


def pause(base, call):
    said = call.get("pause") or {}
    words = ["--%s=%s" % (option, said[name]) for option, name in (("for", "seconds"), ("by", "by")) if name in said]
    return run(base, "pause" if "pause" in call else "resume", *words, "--", call["queue"])[0]


def search(base, conditions, queue):
    words = ["--%s=%s" % ("number" if name == "limit" else name, said) for name, said in conditions.items()]
    return {"jobs": [{**found, "document": json.loads(found["document"])} for found in
                     run(base, "search", "-q", queue, *words) if "id" in found]}


def call_it(base, job, queue, timeout):
    told = push_many(base, [{**job, "result": timeout + 60}], queue)[0]
    return wait(base, told["id"], queue, timeout)


def do(base, call):
    if {"heard", "events"} & call.keys():
        return {}  # in C nobody asks to be told; `later events` has a test of its own
    if "call" in call:
        return call_it(base, call["call"], call["queue"], call["timeout"])
    if "wait" in call:
        return wait(base, call["wait"], call["queue"], call["timeout"])
    if "push" in call:
        return push(base, with_id(call["push"]), call["queue"])
    if "map" in call:
        return map_items(base, call)
    if "flow" in call:
        return flow(base, call)
    for verb in ("show", "wait", "kick", "cancel", "close"):
        if verb + "_flow" in call:
            return act_on_flow(base, verb, call[verb + "_flow"], call)
    if "push_many" in call:
        return {"results": push_many(base, [with_id(job) for job in call["push_many"]], call["queue"])}
    if "wait_many" in call:
        return wait_many(base, call["wait_many"], call["queue"], call["timeout"])
    if "pause" in call or "resume" in call:
        return pause(base, call)
    if "search" in call:
        return search(base, call["search"], call["queue"])
    if "size" in call:
        sized = run(base, "size", call["queue"])
        return sized[0] if sized else {"ready": 0, "delayed": 0, "reserved": 0, "dead": 0, "paused": False,
                                       "oldest_ready": None}
    if "reschedule" in call:
        return reschedule(base, call)
    if "forget" in call:
        return forget(base, call)
    if "cron_set" in call or "cron_delete" in call:
        return cron_set(base, call) if "cron_set" in call else cron_delete(base, call)
    if "cron_list" in call:
        return cron_list(base, call["queue"])
    for verb in ("kick", "cancel"):
        if verb in call:
            told = run(base, verb, "-q", call["queue"], "--", call[verb])
            return {"state": told[0].get("state") if told else None}
    return show(base, call["show"], call["queue"])


def carry(call, context):
    """In C a context is a member of the document like others."""
    def carried(job):
        return {**job, "context": {**context, **job.get("context", {})}}

    if "push" in call:
        return {**call, "push": carried(call["push"])}
    return {**call, "push_many": [carried(job) for job in call["push_many"]]} if "push_many" in call else call


def main():
    base, context = [], None
    for line in sys.stdin:
        call = json.loads(line)
        answer = {}
        try:
            if "open" in call:
                place = call["open"]
                base = [sys.argv[1], "--redis", url_of(place), "--prefix", place.get("prefix", "later")]
                context = place.get("context")
            else:
                answer = do(base, carry(call, context) if context else call)
        except Failed as failed:
            answer = {"error": failed.args[0], "text": failed.args[1]}
        print(json.dumps(answer), flush=True)


main()
