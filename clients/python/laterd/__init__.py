"""laterd: push jobs to its queues in Redis."""
from . import aio
from .client import Client
from .document import Job, RawJSON
from .errors import (JobFailed, JobUnknown, LaterdError, Moving, PrefixRefused, QueueFull, Refused,
                     WrongProtocol)
from .steps import Found, Pushed

__version__ = "0.1.0"
__all__ = ["Client", "Found", "Job", "JobFailed", "JobUnknown", "LaterdError", "Moving",
           "PrefixRefused", "Pushed", "QueueFull", "RawJSON", "Refused", "WrongProtocol", "aio"]
