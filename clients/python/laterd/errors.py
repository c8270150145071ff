"""errors.py: the errors of this package. Those of Redis are redis.RedisError, passed on."""
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence

if TYPE_CHECKING:
    from .told import Pushed


class LaterdError(Exception):
    """Any error of this package."""


class Refused(LaterdError, ValueError):
    """A bad job or queue name. Nothing was sent."""


class QueueFull(LaterdError):
    """The queue has as many jobs as its operator allows (queues.max_jobs).

    results: those of push_many(); None for jobs that were not pushed.
    """

    def __init__(self, queue: str, results: "Sequence[Optional[Pushed]]" = ()):
        super().__init__("queue %s is full" % queue)
        self.results: "List[Optional[Pushed]]" = list(results)


class FlowClosed(LaterdError):
    """Only a running job of the flow may add to it (`adder`). Nothing was pushed by this call."""

    def __init__(self, flow: str):
        super().__init__("flow %s is closed: only a running job of it may add to it" % flow)


class FlowUnknown(LaterdError):
    """There is no flow of this name in the queue."""

    def __init__(self, flow: str, queue: str):
        super().__init__("no flow %s in queue %s" % (flow, queue))


class WrongProtocol(LaterdError):
    """The queues in this Redis are of another protocol, or this client does not know what a push was answered."""


class PrefixRefused(LaterdError):
    """The Redis client adds a prefix to every key, so no worker would find the jobs."""


class Moving(LaterdError):
    """The shards of a queue kept changing during a push."""


class JobFailed(LaterdError):
    """From wait(): the job is dead. error: as in show(), or None."""

    def __init__(self, job_id: str, error: Optional[Dict[str, Any]]):
        super().__init__("%s: %s" % (job_id, (error or {}).get("text", "dead")))
        self.id = job_id
        self.error = error


class JobUnknown(LaterdError):
    """From wait(): there is no job of this id, and no result of one."""

    def __init__(self, job_id: str, queue: str):
        super().__init__("no job %s in queue %s, and no result of it; push it with result=SECONDS to keep one"
                         % (job_id, queue))
