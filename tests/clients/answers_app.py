"""answers_app.py: handlers for handlers_answers.sh: each does what its job's payload says."""
import asyncio
import datetime
import logging
import os
import sys
import time

import laterd

app = laterd.Handlers()
plain = laterd.Handlers()  # without coroutine functions
ODD = {"big": 12345678901234567890, "nan": float("nan"), "infinite": [float("-inf")],
       "no JSON": {"since": datetime.datetime(2026, 1, 1)}, "half": "a\ud800b", "nul": "a\0b",
       "half and nul": "a\0b\ud800c"}


def made(what):
    if not isinstance(what, dict):
        return what
    if "text" in what:
        return "x" * what["text"]
    value = ODD[what["odd"]] if "odd" in what else what.get("json")
    for n in range(what.get("levels", 0)):
        value = [value] if n else []
    return value


def perform(job):
    with open(os.environ["NOTES"], "a") as notes:
        notes.write("%s %s %d %f\n" % (job.id, job.type, os.getpid(), time.time()))
    does, what = job.payload[0], made(job.payload[-1])
    if does == "return":
        return what
    if does == "throw":
        raise ValueError(what)
    if does == "bury":
        raise laterd.Bury(what)
    if does == "retry":
        raise laterd.Retry(what, float("inf"))
    if does == "exit":
        sys.exit(3)
    if does == "print":
        print("printed by %s." % job.id)
    if does == "log":
        logging.getLogger("app").info("far\0too long" + "\x01" * 300000)
    if does in ("checkpoint", "stop") and job.resumes is not None:
        return job.resumes
    if does == "checkpoint":
        job.checkpoint(what)
        raise ValueError("again")
    if does == "stop":
        job.checkpoint(what)
        while not job.stopping:
            time.sleep(0.01)
    if does == "progress":
        job.progress(float("nan"), float("inf"), "a\0\ud800b")


app.on("python.thread", "python.serial")(perform)
plain.on("python.plain")(perform)


@app.on("python.async")
async def perform_async(job):
    if job.payload[0] == "stop" and job.resumes is None:
        job.checkpoint(made(job.payload[-1]))
        while not job.stopping:
            await asyncio.sleep(0.01)
        return None
    return perform(job)
