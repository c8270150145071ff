"""told.py: what a client is told of jobs and queues. It needs no redis-py."""
import json
from dataclasses import dataclass
from typing import Any, Dict, Optional, Sequence

from .errors import JobFailed, JobUnknown, WrongProtocol


@dataclass(frozen=True)
class Pushed:
    """The result of a push.

    result  "pushed", "replaced", "again": one of this id runs, and this one is pushed when it ends;
            "exists": the id was known, and nothing was changed
    state   of a job that exists: ready, delayed, reserved, dead, or ended (its id stays taken). If
            it is dead, nothing runs until it is kicked
    """

    id: str
    result: str
    state: str = ""

    def __bool__(self) -> bool:
        return self.result != "exists"


@dataclass(frozen=True)
class Mapped:
    """How many jobs were new, and how many were known: see map()."""

    pushed: int = 0
    known: int = 0


@dataclass(frozen=True)
class Found:
    """A job that is in Redis: see show()."""

    id: str
    queue: str  # the shard, if the queue has shards
    state: str  # ready, delayed, reserved, dead; done if it is kept (its type's option `keep`)
    score: Optional[float]  # ready: its place in the order; delayed: when it is due; dead: when it was buried
    attempts: int
    priority: int
    error: Optional[Dict[str, Any]]  # why it failed last: at, attempt, kind, text, host
    document: bytes
    progress: Optional[Dict[str, Any]] = None  # how far it has come: at, done, total, text; a Fake keeps none
    checkpoint: Any = None  # where its next attempt goes on
    log: Optional[Dict[str, Any]] = None  # what it has logged, if its queue keeps that: dropped, lines; not in a Fake

    @property
    def type(self) -> Optional[str]:
        said: Optional[str] = json.loads(self.document).get("type")
        return said

    @property
    def payload(self) -> Any:
        return json.loads(self.document).get("payload")


@dataclass(frozen=True)
class Size:
    """How many jobs of a queue are in each state: see size()."""

    ready: int
    delayed: int
    reserved: int
    dead: int
    paused: bool  # with shards: all of them
    oldest_ready: Optional[float]  # seconds for which the oldest ready job has waited


@dataclass(frozen=True)
class Outcome:
    """What has become of a job that was waited for, with others: see wait_many().

    state  done: it has a value; dead: it has an error; gone: there is no such job and no result;
           waiting: the time was up, and it goes on
    """

    id: str
    state: str
    value: Any = None
    error: Optional[Dict[str, Any]] = None  # as in Found

    @classmethod
    def of(cls, id: str, error: Exception) -> "Outcome":
        """error: what wait() has raised"""
        if isinstance(error, JobFailed):
            return cls(id, "dead", error=error.error)
        return cls(id, "gone" if isinstance(error, JobUnknown) else "waiting")


def text_of(reply: Any) -> str:
    return reply.decode() if isinstance(reply, bytes) else str(reply)


def pushed_of(job_id: str, answer: Any) -> Optional[Pushed]:
    """What an answer of a script that pushes means; None: the queue is full."""
    word, _, state = text_of(answer).partition(" ")
    if word == "FULL":
        return None
    if word == "WAITING":
        return Pushed(job_id, "pushed", "waiting")
    if word not in ("PUSHED", "REPLACED", "AGAIN", "EXISTS"):
        raise strange(answer)
    return Pushed(job_id, word.lower(), state)


def strange(answer: Any) -> WrongProtocol:
    """An answer that means nothing here; what became of the job is not known."""
    return WrongProtocol("the answer %.40r to a push is not known to this client, which is older than its scripts: "
                         "take the client that came with the laterd that serves the queue" % text_of(answer))


def found_of(job_id: str, place: str, reply: Sequence[Any]) -> Found:
    state, score, record, document = reply[:4]
    tags = dict(line.split("=", 1) for line in text_of(record).split("\n") if "=" in line)
    return Found(
        id=job_id, queue=place, state=text_of(state),
        score=float(score) if score else None,
        attempts=int(tags.get("a", 0)), priority=int(tags.get("p", 0)),
        error=json.loads(tags["e"]) if "e" in tags else None,
        document=document if isinstance(document, bytes) else document.encode(),
        progress=json.loads(tags["g"]) if "g" in tags else None,
        checkpoint=json.loads(tags["m"]) if "m" in tags else None,
        log=json.loads(tags["o"]) if "o" in tags else None)
