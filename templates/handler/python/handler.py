"""Performs jobs of the type @NAME@. By hand: python3 -m laterd handler:app @NAME@ '{"name":"world"}'"""
import logging

import laterd

app = laterd.Handlers()
log = logging.getLogger(__name__)


@app.on("@NAME@")
async def perform(job):  # a plain `def` would run in a thread of its own
    if not isinstance(job.payload, dict) or "name" not in job.payload:
        raise laterd.Bury("payload.name is missing")  # dead at once; any other exception is a retry
    log.info("attempt %d of %d", job.attempt, job.max_attempts)
    return {"greeting": "hello, " + job.payload["name"]}  # for who waits for the job's result
