"""What a client is told of jobs and queues. It needs no redis-py."""
import json
from dataclasses import dataclass
from typing import Any, Dict, Optional


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
