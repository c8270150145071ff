# __init__.py: the package laterd: what `import laterd` gives.
"""laterd: pushes jobs to its queues in Redis, and performs them.

Pushing needs redis-py. It is imported on first use, so that a program of handlers that pushes
nothing starts without it.
"""
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .crontab import NewSchedule, Schedule
from .document import NewJob, RawJSON
from .errors import (FlowClosed, FlowUnknown, JobFailed, JobUnknown, LaterdError, Moving, PrefixRefused,
                     QueueFull, Refused, WrongProtocol)
from .events import End, Events
from .flows import Flow, batch, chain
from .handlers import (
    # @answers raised: {Pascal},
    Retry,
    Bury,
    Return,
    # @end
    Handlers, Job, TimeIsUp, current_job)
from .task import Task
from .told import Found, Mapped, Outcome, Pushed, Size
from .unique import unique_id

if TYPE_CHECKING:
    from . import aio, testing
    from .client import Client

__version__ = "0.1.0"
__all__ = [
    # @answers raised: "{Pascal}",
    "Retry",
    "Bury",
    "Return",
    # @end
    "Client", "End", "Events", "Flow", "FlowClosed", "FlowUnknown", "Found", "Handlers", "Job", "JobFailed",
    "JobUnknown", "LaterdError", "Mapped", "Moving", "NewJob", "NewSchedule", "Outcome", "PrefixRefused", "Pushed",
    "QueueFull", "RawJSON", "Refused", "Schedule", "Size", "Task", "TimeIsUp", "WrongProtocol", "aio", "batch", "chain",
    "current_job", "testing", "unique_id",
]

_PLACES = {"Client": ".client", "aio": ".aio", "testing": ".testing"}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError("module %r has no attribute %r" % (__name__, name))
    module = import_module(_PLACES[name], __name__)
    return module if name in ("aio", "testing") else getattr(module, name)
