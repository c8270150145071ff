"""pushing.py: what clients and fakes share: push() with named options, hooks before and after, map(), call()."""
from typing import Any, Callable, Coroutine, Dict, Generic, Iterable, List, Optional, Tuple, TypeVar, Union

from .awaiting import awaited
from .document import NewJob, Seconds, Steps, Time, Unique, Waits, job_of
from .errors import LaterdError, Refused
from .mapping import Mapping, run, run_async
from .told import Mapped, Pushed
from .unique import named

RESULT_KEPT = 60  # seconds, after the caller has given up

Told = TypeVar("Told")  # what push() gives back: Pushed, or what is awaited for it
Middleware = Callable[[NewJob], NewJob]
Teller = Callable[[NewJob, Pushed], object]


class Pushing(Generic[Told]):
    _before: Tuple[Middleware, ...] = ()
    _after: Tuple[Teller, ...] = ()

    def before_push(self, function: Middleware) -> Middleware:
        """A decorator: each job that is pushed is given to the function, which returns the job to push.

            @queues.before_push
            def carry(job):
                return replace(job, context={"tenant": tenant.get(), **job.context})
        """
        self._before += (function,)
        return function

    def after_push(self, function: Teller) -> Teller:
        """A decorator: the function is told of each job that was pushed, and what became of it. After an
        error it is not called."""
        self._after += (function,)
        return function

    def _tell(self, job: NewJob, pushed: Pushed) -> Pushed:
        for function in self._after:
            function(job, pushed)
        return pushed

    def _tell_all(self, jobs: List[NewJob], pushed: List[Pushed]) -> List[Pushed]:
        for job, one in zip(jobs, pushed) if self._after else ():
            self._tell(job, one)
        return pushed

    def _passed(self, job: NewJob) -> NewJob:
        if not isinstance(job, NewJob):
            raise Refused("jobs: each must be a NewJob (%.70r)" % (job,))
        job = named(job)
        for function in self._before:
            job = function(job)
            if not isinstance(job, NewJob):
                raise LaterdError("before_push: %s must return the job" % getattr(function, "__name__", function))
        return named(job)

    def _all_passed(self, jobs: Iterable[NewJob]) -> List[NewJob]:
        if not isinstance(jobs, Iterable):
            raise Refused("jobs: must be a list of them (%.70r)" % (jobs,))
        return [self._passed(job) for job in jobs]

    def push_job(self, job: NewJob, queue: str = "default") -> Told:
        """Pushes one job. A known id is no error: see Pushed."""
        raise NotImplementedError

    def push(self, type: str, payload: Any = None, *, queue: str = "default",
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
             ) -> Told:
        """Pushes one job. The options are those of NewJob. A known id is no error: see Pushed."""
        if isinstance(type, NewJob):
            raise Refused("push: a NewJob goes to push_job()")
        return self.push_job(job_of(type, locals()), queue)


class Blocking(Pushing[Pushed]):
    """Client and Fake."""

    def map(self, job: Union[str, NewJob], items: Iterable[Any], queue: str = "default", *,
            chunk: Optional[int] = None, flow: Optional[str] = None, then: Optional[NewJob] = None,
            finally_: Optional[NewJob] = None, failed: Optional[NewJob] = None) -> Mapped:
        """Pushes a job for each item, as they come from wherever they are: a call for 200 of them, and no more in
        memory. job: a type, or a NewJob whose payload is put in. chunk: so many items are the payload of a
        job, as a list. flow: the jobs are a flow of this name, for whose end then, finally_ and failed wait, as of
        batch(). The same call again pushes what is missing, if it is a flow, or `unique`."""
        return run(self, Mapping(job, items, chunk, flow, (then, finally_, failed)), flow, queue)

    def call(self, type: str, payload: Any = None, *, queue: str = "default", timeout: float = 60) -> Any:
        """Pushes one job, waits for its end, and returns its result: see wait(). After TimeoutError the
        job goes on."""
        return self.wait(self.push(type, payload, queue=queue, result=timeout + RESULT_KEPT).id, queue, timeout)

    def wait(self, id: str, queue: str = "default", timeout: Optional[float] = None) -> Any:
        raise NotImplementedError


class Awaited(Pushing[Coroutine[Any, Any, Pushed]]):
    """aio.Client and AsyncFake."""

    async def map(self, job: Union[str, NewJob], items: Iterable[Any], queue: str = "default", *,
                  chunk: Optional[int] = None, flow: Optional[str] = None, then: Optional[NewJob] = None,
                  finally_: Optional[NewJob] = None, failed: Optional[NewJob] = None) -> Mapped:
        return await run_async(self, Mapping(job, items, chunk, flow, (then, finally_, failed)), flow, queue)

    async def call(self, type: str, payload: Any = None, *, queue: str = "default", timeout: float = 60) -> Any:
        pushed = await self.push(type, payload, queue=queue, result=timeout + RESULT_KEPT)
        return await self.wait(pushed.id, queue, timeout)

    wait = awaited(Blocking.wait)
