"""task.py: a handler that can be asked to run later: what @app.on() makes of a function."""
import functools
from typing import TYPE_CHECKING, Any, Callable, Dict, Generic, Optional, TypeVar

from .document import Seconds, Steps, Time, Unique, Waits, job_of
from .errors import LaterdError

if TYPE_CHECKING:
    from .handlers import Handlers, Job

Result = TypeVar("Result")


class Task(Generic[Result]):
    """Called, it is the function itself. later() pushes a job of its type."""

    def __init__(self, app: "Handlers", type: str, function: "Callable[[Job], Result]"):
        functools.update_wrapper(self, function)
        self.app, self.type, self.function = app, type, function

    def __call__(self, job: "Job") -> Result:
        return self.function(job)

    def later(self, payload: Any = None, *, queue: str = "default",
              unique: Unique = False,
              context: Optional[Dict[str, Any]] = None,
              # @options document,line,item,tie: {py}: {python},
              id: Optional[str] = None,
              priority: int = 0,
              delay: Optional[Seconds] = None,
              at: Optional[Time] = None,
              max_attempts: Optional[int] = None,
              retry_for: Optional[Seconds] = None,
              timeout: Optional[Seconds] = None,
              backoff: Optional[Waits] = None,
              expires_at: Optional[Time] = None,
              expires_in: Optional[Seconds] = None,
              result: Optional[Seconds] = None,
              lock: Optional[str] = None,
              group: Optional[str] = None,
              trace: Optional[str] = None,
              description: Optional[str] = None,
              on_dead: Optional[str] = None,
              on_done: Optional[str] = None,
              flow: Optional[str] = None,
              step: Optional[str] = None,
              after: Optional[Steps] = None,
              when: Optional[str] = None,
              adder: Optional[str] = None,
              home: Optional[str] = None,
              unique_for: Optional[Seconds] = None,
              replace: bool = False,
              again: bool = False,
              debounce: Optional[Seconds] = None,
              max_wait: Optional[Seconds] = None,
              throttle: Optional[Seconds] = None,
              # @end
              ) -> Any:
        """Pushes a job for this function, by app.queues. Returns what push() of that does: a Pushed, or
        what is awaited for it."""
        if self.app.queues is None:
            raise LaterdError("later: app.queues is not set; give it a Client")
        if self.type.endswith("*"):
            raise LaterdError("later: %s is no type; push() one" % self.type)
        return self.app.queues.push_job(job_of(self.type, locals()), queue)


def plain_of(function: "Callable[[Job], Result]") -> "Callable[[Job], Result]":
    """A function may be registered twice."""
    said: Any = function
    return said.function if isinstance(said, Task) else function
