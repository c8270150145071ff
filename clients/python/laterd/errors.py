"""What can go wrong. Errors of Redis itself are redis.RedisError, unchanged."""
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence

if TYPE_CHECKING:
    from .steps import Pushed


class LaterdError(Exception):
    """Any error of this package."""


class Refused(LaterdError, ValueError):
    """A bad job or queue name: nothing was sent."""


class QueueFull(LaterdError):
    """The queue has as many jobs as its operator allows (queues.max_jobs).

    results: of push_many(), what became of each job; None for those that were not pushed.
    """

    def __init__(self, queue: str, results: "Sequence[Optional[Pushed]]" = ()):
        super().__init__("queue %s is full" % queue)
        self.results: "List[Optional[Pushed]]" = list(results)


class WrongProtocol(LaterdError):
    """This Redis is kept by a laterd of another protocol."""


class PrefixRefused(LaterdError):
    """The Redis client puts a prefix before every key, where no worker would look."""


class Moving(LaterdError):
    """The shards of a queue kept changing while it was pushed to."""


class JobFailed(LaterdError):
    """wait(): the job has ended without success; it is dead. error: as of show(), or None."""

    def __init__(self, job_id: str, error: Optional[Dict[str, Any]]):
        super().__init__("%s: %s" % (job_id, (error or {}).get("text", "dead")))
        self.id = job_id
        self.error = error


class JobUnknown(LaterdError):
    """wait(): no job of this id, and no result of it."""
