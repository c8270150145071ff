"""laterd: push jobs to its queues in Redis, and perform them."""
from . import aio
from .client import Client
from .document import NewJob, RawJSON
from .errors import (JobFailed, JobUnknown, LaterdError, Moving, PrefixRefused, QueueFull, Refused,
                     WrongProtocol)
from .handlers import Bury, Handlers, Job, Retry, Return, TimeIsUp, current_job
from .steps import Found, Pushed

__version__ = "0.1.0"
__all__ = ["Bury", "Client", "Found", "Handlers", "Job", "JobFailed", "JobUnknown", "LaterdError",
           "Moving", "NewJob", "PrefixRefused", "Pushed", "QueueFull", "RawJSON", "Refused", "Retry",
           "Return", "TimeIsUp", "WrongProtocol", "aio", "current_job"]
