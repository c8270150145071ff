"""typed.py: a user's program, for mypy --strict: clients_types.sh.

What must not pass is ignored by its error code, and mypy reports an ignore that was not needed.
"""
import asyncio
import datetime
from typing import Dict, List, Optional

import laterd

queues = laterd.Client(object())
pushed: laterd.Pushed = queues.push("mail.send", {"to": "a@b.c"}, queue="mail", delay=60, id="x")
many: List[laterd.Pushed] = queues.push_many(
    [laterd.NewJob("a", at=datetime.datetime.now(datetime.timezone.utc), backoff=[1, 2.5])])
found: Optional[laterd.Found] = queues.show("x", queue="mail")
came: Optional[str] = queues.kick("x") or queues.cancel("x", queue="mail")
size: laterd.Size = queues.size("mail")
oldest: Optional[float] = size.oldest_ready
changed: bool = queues.pause("mail", seconds=datetime.timedelta(minutes=10), by="ann") or queues.resume("mail")
nightly = laterd.NewSchedule("report", "0 3 * * *", laterd.NewJob("a"), zone="Europe/Berlin", until=datetime.datetime.now(), limit=9)
set_now: bool = queues.cron_set(nightly, queue="mail") or queues.cron_delete("report", queue="mail")
listed: List[laterd.Schedule] = queues.cron_list("mail")
due: Optional[float] = listed[0].next
hits: List[laterd.Found] = queues.search("mail", state="dead", type="mail.*", limit=5)
ended: List[laterd.Outcome] = queues.wait_many(["x", "y"], timeout=1.5)
mapped: laterd.Mapped = queues.map(laterd.NewJob("row", priority=5), range(9), chunk=3, flow="f", then=laterd.NewJob("sum"))
page: laterd.Events = queues.events("mail", after="now", timeout=5)
told: List[laterd.End] = page.ends
queues.search(stat="dead")  # type: ignore[call-arg]
text: str = pushed.state if not pushed else pushed.id
queues.cron_set("report")  # type: ignore[arg-type]
queues.push(4711)  # type: ignore[arg-type]
laterd.NewJob("a", priority="high")  # type: ignore[arg-type]

try:
    queues.wait("x", timeout=1.5)
except laterd.JobFailed as failed:
    why: Optional[Dict[str, object]] = failed.error
except laterd.QueueFull as full:
    left: List[Optional[laterd.Pushed]] = full.results

app = laterd.Handlers()


@app.on("feed.poll", "feed.import.*")
async def poll(job: laterd.Job) -> Dict[str, int]:
    job.progress(1, 2, "fetched")
    job.checkpoint({"page": job.resumes or 0})
    if job.stopping:
        return {}
    await asyncio.sleep(job.time_left())
    return {"fence": job.lock_fence or 0}


@app.on("mail.send")
def send(job: laterd.Job) -> None:
    raise laterd.Retry("busy", delay=60)


@app.on("wrong")  # type: ignore[arg-type]
def wrong(job: int) -> None:
    pass


@app.before
def note(job: laterd.Job) -> None:
    print(job.context.get("tenant"))


later = send.later({"to": "a@b.c"}, queue="mail", delay=datetime.timedelta(minutes=1), context={"tenant": "t"})
send.later({"to": laterd.unique_id("mail.send", {"to": 1}, "to")}, unique=["to"])
send.later({"to": "a@b.c"}, unique=1)  # type: ignore[arg-type]
send.later({"to": "a@b.c"}, dealy=60)  # type: ignore[call-arg]
queues.push("mail.send", priority="high")  # type: ignore[arg-type]
total: int = queues.call("sum", [1, 2], timeout=5)
fake = laterd.testing.Fake(app)
kept: List[laterd.testing.Kept] = fake.pushed("mail.send")
fake.drain(app)
tried: laterd.testing.Attempt = laterd.testing.perform(app, "mail.send", {"to": "a@b.c"}, attempt=3)


async def main() -> None:
    client = laterd.aio.Client(object())
    one: laterd.Pushed = await client.push("a")
    result: Dict[str, int] = await poll(laterd.current_job() or exit(1))
    print(one, result)
    known: Optional[laterd.Found] = await client.show("x", queue="mail")
    moved: Optional[str] = await client.reschedule("x", delay=datetime.timedelta(minutes=1))
    soon: List[laterd.Schedule] = await laterd.testing.AsyncFake().cron_list("mail")
    await client.kick_flow(5)  # type: ignore[arg-type]
    await client.wait("x", time_out=5)  # type: ignore[call-arg]
    client.size() + 1  # type: ignore[operator]
    print(known, moved, soon)
