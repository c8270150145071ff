"""handlers.py: functions that perform jobs, in a program of the plugin exec with `lines = true`.

    app = laterd.Handlers()

    @app.on("mail.send")
    def send(job):
        smtp.send(job.payload["to"])

    @app.on("feed.*")
    async def poll(job):
        ...

`python -m laterd mails:app` runs it. later-job(3), section exec, describes the lines that it
reads and writes.
"""
import asyncio
import collections
import contextlib
import contextvars
import datetime
import functools
import inspect
import io
import json
import logging
import math
import os
import queue
import re
import select
import signal
import sys
import threading
import time
from typing import Any, Callable, ContextManager, Dict, List, Optional, Tuple, Type, TypeVar, Union

from .answers import ERROR_MAX, Answers, LogHandler, checkpoint_line, error_of, number_of, text_of
from .document import NewJob, Waits, prepare
from .errors import Refused
from .pushing import Pushing
from .task import Result, Task, plain_of

READ = 1 << 16  # as much as a pipe holds; a larger block would be mapped anew for each read
PROGRESS_EVERY = 0.1  # seconds between two progress lines of a job

_TYPES = re.compile(r"(?!\Z)[A-Za-z0-9_.:-]{0,128}\*?\Z")
_decode = json.JSONDecoder().raw_decode  # a line begins with its object
_quote: Callable[[str], str] = getattr(json.encoder, "encode_basestring_ascii")  # missing in the type stubs
_BARE: ContextManager[Any] = contextlib.nullcontext(lambda value: None)  # around a job without hooks
_current: "contextvars.ContextVar[Optional[Job]]" = contextvars.ContextVar("laterd_job", default=None)


class Outcome(Exception):
    """Raised by a handler that ends its attempt in another way than by returning."""

    result = ""
    delay: Optional[float] = None

    def __init__(self, why: str = "", delay: Union[float, datetime.timedelta, None] = None):
        super().__init__(why)
        seconds = delay.total_seconds() if isinstance(delay, datetime.timedelta) else delay
        if seconds is not None and not math.isfinite(seconds):
            raise ValueError("delay: %r is no number of seconds" % delay)
        self.delay = None if seconds is None else max(float(seconds), 0.0)


# `delay`: seconds or a timedelta.
# @answers raised: class {Pascal}(Outcome):\n    """{Help}"""\n\n    result = "{name}"\n\n
class Retry(Outcome):
    """Tries the job again, after the backoff or the wait given; after the last attempt it is buried."""

    result = "retry"


class Bury(Outcome):
    """Buries the job at once, because another try cannot help."""

    result = "bury"


class Return(Outcome):
    """Gives the job back for the wait given, as if it had not begun; it is no attempt."""

    result = "return"


# @end
class _GoesOn(Return):
    """The job goes on at its checkpoint, in another laterd."""


class TimeIsUp(BaseException):
    """Raised in a handler that is not a coroutine when laterd ends the program."""


class Job:
    """What a handler is given.

    id type queue attempt max_attempts token trace    as laterd tells them; attempts count from 1
    lock_fence    of a job with `lock`: the number of its taking; whoever guards a thing refuses a lower one
    document, payload, context                        as they were pushed, parsed
    values           what the steps that it has waited for gave back, by step; None for one that gave nothing
    flow             if it has waited for all others ("*"): a dict with the flow's name, its counts, and `failed`
    resumes          the checkpoint that an earlier attempt has left; None if there is none
    cancelled                                         it is asked to stop: its result will not count
    """

    def __init__(self, line: Dict[str, Any], answers: "Answers"):
        self.id: str = line["id"]
        self.type: str = line["type"]
        self.queue: str = line.get("queue", "")
        self.attempt: int = line.get("attempt", 1)
        self.max_attempts: int = line.get("max_attempts", 1)
        self.token: str = line.get("token", "")
        self.trace: Optional[str] = line.get("trace")
        self.lock_fence: Optional[int] = line.get("lock_fence")
        self.document: Dict[str, Any] = line["document"]
        self.payload: Any = self.document.get("payload")
        self.context: Dict[str, Any] = self.document.get("context") or {}
        self.values: Dict[str, Any] = line.get("values", {})
        self.flow: Optional[Dict[str, Any]] = line.get("flow")
        self.resumes: Any = line.get("checkpoint")
        self.cancelled = False
        self.stops = False  # laterd does; see stopping
        self._left = self._knows = False  # it has left a checkpoint; it has been told that laterd stops
        self._end: float = time.monotonic() + line.get("time_left", 0.0)
        self._told = 0.0
        self._answers = answers

    def time_left(self) -> float:
        """Returns the seconds until it is asked to stop."""
        return max(self._end - time.monotonic(), 0.0)

    def progress(self, done: float, total: float = 0, text: str = "") -> None:
        """Reports progress. It is cheap, since most calls send nothing."""
        now = time.monotonic()
        if now - self._told < PROGRESS_EVERY:
            return
        self._told = now
        far = {"done": number_of(done), "total": number_of(total), "text": text_of(text)}
        self._answers.put({"id": self.id, "progress": far})

    def checkpoint(self, state: Any) -> None:
        """Leaves a checkpoint, any JSON up to 64 KiB: the next attempt finds the last one in `resumes`, whatever
        ends this one. Raises ValueError if it is no JSON, or longer."""
        self._answers.put_line(checkpoint_line(self.id, state))
        self._left = True

    @property
    def stopping(self) -> bool:
        """Does laterd stop, as at a deploy? A handler that has seen this, has left a checkpoint and returns
        without a value goes on in another laterd at once, and has not used up an attempt."""
        self._answers.look()
        self._knows = self._knows or self.stops
        return self.stops

    def check_end(self, value: Any) -> None:
        """Raises what ends the attempt if it is to go on elsewhere."""
        if value is None and self._knows and self._left:
            raise _GoesOn


Function = TypeVar("Function", bound=Callable[..., Any])


def current_job() -> Optional[Job]:
    """Returns the job whose handler is the caller, directly or indirectly."""
    return _current.get()


def answer_of(error: BaseException) -> Dict[str, Any]:
    """Returns the answer for an attempt that raised this error."""
    if isinstance(error, _GoesOn):
        return {"result": "return", "in": 0}
    if isinstance(error, Outcome):
        said = text_of(error, ERROR_MAX) or type(error).__name__
        if error.__cause__:
            said = text_of("%s\n%s" % (said, error_of(error.__cause__)), ERROR_MAX)
        answer: Dict[str, Any] = {"result": error.result, "error": said}
        if error.delay is not None:
            answer["in"] = error.delay
        return answer
    if isinstance(error, asyncio.CancelledError):
        return {"result": "retry", "error": "cancelled"}
    return {"result": "retry", "error": error_of(error)}


Backoff = Union[Waits, "Callable[[Job, BaseException], Optional[float]]"]


def _policy_of(retries: Optional[int], backoff: Optional[Waits], on_dead: Optional[str] = None,
               on_done: Optional[str] = None) -> Dict[str, Any]:
    """Returns the members of a job's document that say the same; raises Refused."""
    attempts = None if retries is None else retries + 1
    document = json.loads(prepare(NewJob("policy", max_attempts=attempts, backoff=backoff, on_dead=on_dead,
                                         on_done=on_done)).document)
    return {name: document[name] for name in ("max_attempts", "backoff", "on_dead", "on_done") if name in document}


def _finite(seconds: Any) -> float:
    if not math.isfinite(seconds):
        raise ValueError("%r is no number of seconds" % seconds)
    return float(seconds)


def _read_payload(model: Any, job: Job) -> None:
    read = getattr(model, "model_validate", None) or getattr(model, "parse_obj", None) or (lambda members: model(**members))
    try:
        job.payload = read(job.payload)
    except Exception as error:
        raise Bury("the payload is no %s: %s" % (model.__name__, error)) from None


def _with_payload(function: Callable[[Job], Any], model: Any) -> Callable[[Job], Any]:
    @functools.wraps(function)
    def performs(job: Job) -> Any:
        _read_payload(model, job)
        return function(job)

    @functools.wraps(function)
    async def awaits(job: Job) -> Any:
        _read_payload(model, job)
        return await function(job)

    return awaits if inspect.iscoroutinefunction(function) else performs


def _place_of(function: Callable[..., Any]) -> str:
    code = getattr(inspect.unwrap(function), "__code__", None)
    return "%s:%d" % (code.co_filename, code.co_firstlineno) if code else repr(function)


def given_up_of(type: str) -> str:
    """Returns the type of the jobs that tell of one that was given up."""
    return ".".join(part for part in (type.rstrip("*").rstrip("."), "given_up") if part)


class Handlers:
    """The functions of a program, by type.

    queues: a Client, or a Fake in a test; Task.later() pushes by it.
    """

    def __init__(self, queues: "Optional[Pushing[Any]]" = None) -> None:
        self.queues = queues
        self._hooks: Dict[str, List[Callable[..., Any]]] = {"before": [], "after": [], "failed": [], "around": []}
        self._hooked = False
        self._given_up: Dict[str, str] = {}
        self._functions: Dict[str, Callable[[Job], Any]] = {}
        self._policies: Dict[str, Dict[str, Any]] = {}
        self._bury: Dict[str, Tuple[Type[BaseException], ...]] = {}
        self._waits: Dict[str, Callable[[Job, BaseException], Optional[float]]] = {}

    def on(self, *types: str, retries: Optional[int] = None, backoff: Optional[Backoff] = None,
           bury: Tuple[Type[BaseException], ...] = (), on_dead: Optional[str] = None,
           on_done: Optional[str] = None,
           payload: Optional[Type[Any]] = None) -> "Callable[[Callable[[Job], Result]], Task[Result]]":
        """A decorator that registers the function for these types. A type that ends in * is a
        prefix. A type has one function. The function is a Task then: its later() pushes a job of the first type.

        retries, backoff    how often a job is tried again and after which waits, as of NewJob, if neither
                            the job nor laterd.conf says otherwise. backoff may be a function(job, error), which
                            is asked after each attempt that raises: the seconds, or None for laterd's own waits
        bury                errors after which another try cannot help: the job is buried at once
        on_dead, on_done    the type of a job that is pushed when one of these is dead, or done, also after
                            a crash
        payload             a class that the payload becomes: a model of pydantic, a dataclass, or any that takes
                            its members by name. A job whose payload is refused is buried
        """
        if not types or not all(isinstance(type, str) for type in types):
            raise Refused("on: name the types: @app.on(\"mail.send\")")
        waits = backoff if callable(backoff) else None
        policy = _policy_of(retries, None if callable(backoff) else backoff, on_dead, on_done)

        def decorate(function: "Callable[[Job], Result]") -> "Task[Result]":
            plain = plain_of(function)
            performs = _with_payload(plain, payload) if payload else plain
            task = Task(self, types[0], plain)
            for type in types:
                self._check_on_dead(type, policy)
                self._check_new(type, plain)
                self._functions[type], self._policies[type], self._bury[type] = performs, policy, bury
                self._waits.pop(type, None)
                if waits:
                    self._waits[type] = waits
            return task

        return decorate

    def _check_new(self, type: str, function: Callable[..., Any]) -> None:
        if not _TYPES.match(type):
            raise Refused("on: %.70r is neither a type nor a prefix of types that ends in *" % type)
        if type in self._functions:
            raise Refused("type %s has two handlers, at %s and at %s: remove one"
                          % (type, _place_of(self._functions[type]), _place_of(function)))

    def _check_on_dead(self, type: str, policy: Dict[str, Any]) -> None:
        if "on_dead" in policy and type in self._given_up:
            raise Refused("on_dead: of type %s it is given_up()" % type)

    # ---- around a job

    def before(self, function: Function) -> Function:
        """A decorator: function(job) is called before each job. What it raises ends the attempt."""
        return self._hook("before", function)

    def after(self, function: Function) -> Function:
        """A decorator: function(job, value) is called after each job that is done. What it raises is
        logged."""
        return self._hook("after", function)

    def failed(self, function: Function) -> Function:
        """A decorator: function(job, error) is called after each attempt that has raised an error, but
        Return. What it raises is logged. It does not see crashes and time-outs; given_up() does."""
        return self._hook("failed", function)

    def around(self, function: "Callable[[Job], ContextManager[Any]]") -> "Callable[[Job], ContextManager[Any]]":
        """A decorator: function(job) is a context manager, entered before each job and its other hooks.

            @app.around
            @contextlib.contextmanager
            def with_tenant(job):
                with tenants.use(job.context["tenant"]):
                    yield
        """
        return self._hook("around", function)

    def _hook(self, name: str, function: Function) -> Function:
        self._hooks[name].append(function)
        self._hooked = True
        return function

    def given_up(self, *types: str) -> "Callable[[Callable[[Job], Result]], Task[Result]]":
        """A decorator: the function gets a job when one of these types is dead, whatever the reason, also
        after a crash. Its payload has id, type, queue, attempts and error of the other. Its own type is
        TYPE.given_up, which laterd.conf must give to the program, too, where it names types."""
        names = [given_up_of(type) for type in types]
        for type, name in zip(types, names):
            self._check_on_dead(type, self._policies.get(type, {}))
            self._given_up[type] = name
        return self.on(*names)

    def _tell(self, name: str, job: Job, *words: Any) -> None:
        for hook in self._hooks[name]:
            try:
                hook(job, *words)
            except Exception:
                logging.getLogger("laterd").exception("the hook %s of job %s", name, job.id)

    @contextlib.contextmanager
    def _around(self, job: Job) -> Any:
        with contextlib.ExitStack() as stack:
            for function in self._hooks["around"]:
                stack.enter_context(function(job))
            try:
                for hook in self._hooks["before"]:
                    hook(job)
                yield functools.partial(self._tell, "after", job)
            except BaseException as error:
                if not isinstance(error, Return):
                    self._tell("failed", job, error)
                raise

    @property
    def types(self) -> List[str]:
        return sorted(self._functions)

    @property
    def hello(self) -> Dict[str, Any]:
        """The line by which the program introduces itself."""
        return {"hello": 1, "stopping": True, "types": [{"name": name, **self._policies[name], **self._gone(name)} for name in self.types]}

    def _gone(self, type: str) -> Dict[str, str]:
        return {"on_dead": self._given_up[type]} if type in self._given_up else {}

    def _match(self, type: str) -> Optional[str]:
        """Finds the exact name, otherwise the longest prefix."""
        if type in self._functions:
            return type
        names = (type[:end] + "*" for end in range(len(type), -1, -1))
        return next((name for name in names if name in self._functions), None)

    def policy(self, type: str) -> Dict[str, Any]:
        """What the program tells laterd of a type, by the names of a job's document."""
        name = self._match(type)
        return {**self._policies[name], **self._gone(name)} if name else {}

    def find(self, type: str) -> Optional[Callable[[Job], Any]]:
        """Finds the function for a type."""
        name = self._match(type)
        return self._functions[name] if name else None

    def answer_of(self, job: Job, error: BaseException) -> Dict[str, Any]:
        """Returns the answer for an attempt that raised this error."""
        name = self._match(job.type)
        if name and isinstance(error, self._bury[name]):
            return {"result": "bury", "error": error_of(error)}
        answer = answer_of(error)
        if name in self._waits and answer["result"] == "retry" and "in" not in answer:
            answer.update(self._wait_of(self._waits[name], job, error))
        return answer

    def _wait_of(self, waits: "Callable[[Job, BaseException], Optional[float]]", job: Job, error: BaseException) -> Dict[str, float]:
        """Asks a function; one that fails, or has no number, leaves it to laterd."""
        try:
            seconds = waits(job, error)
            return {} if seconds is None else {"in": max(_finite(seconds), 0.0)}
        except Exception:
            logging.getLogger("laterd").exception("the backoff of job %s", job.id)
            return {}

    def run(self, max_jobs: int = 0, max_memory: int = 0) -> None:
        """Performs jobs until laterd closes standard input, and then finishes those under way.

        max_jobs, max_memory (bytes): after this the program ends, and laterd starts it again;
        0 = never.
        """
        fd = os.environ.get("LATER_ANSWERS")
        if not fd:
            sys.exit("This is a program for laterd, with `lines = true`; to try a handler: "
                     "python -m laterd MODULE:NAME TYPE [PAYLOAD]")
        Program(self, Answers(int(fd)), max_jobs, max_memory).run()

    @property
    def awaits(self) -> bool:
        """Is any function a coroutine function?"""
        return any(map(inspect.iscoroutinefunction, self._functions.values()))

    def perform(self, job: Job) -> Dict[str, Any]:
        """Performs one job and returns its answer."""
        function = self.find(job.type)
        if not function:
            return {"result": "bury", "error": "the program has no handler for type %s" % job.type}
        token = _current.set(job)
        try:
            with self._around(job) if self._hooked else _BARE as after:
                value = _awaited(function(job))
                job.check_end(value)
                after(value)
        except BaseException as error:  # sys.exit() too ends only its job
            return self.answer_of(job, error)
        finally:
            _current.reset(token)
        return done(value)

    async def perform_async(self, function: Callable[[Job], Any], job: Job) -> Dict[str, Any]:
        """The same for a coroutine function."""
        _current.set(job)
        try:
            with self._around(job) if self._hooked else _BARE as after:
                value = await function(job)
                job.check_end(value)
                after(value)
        except BaseException as error:
            return self.answer_of(job, error)
        return done(value)


def _awaited(value: Any) -> Any:
    return asyncio.run(_wait(value)) if inspect.isawaitable(value) else value


async def _wait(value: Any) -> Any:
    return await value


def done(value: Any) -> Dict[str, Any]:
    return {"result": "done"} if value is None else {"result": "done", "value": value}


class Threads:
    """Threads for functions that are not coroutines: one for each job under way. Their results
    are handed to the loop many at a time."""

    def __init__(self, perform: Callable[[Job], Dict[str, Any]],
                 finish: Callable[[Job, Dict[str, Any]], None], loop: asyncio.AbstractEventLoop):
        self._perform, self._finish, self._loop = perform, finish, loop
        self._jobs: "queue.SimpleQueue[Job]" = queue.SimpleQueue()
        self._done: "collections.deque[Tuple[Job, Dict[str, Any]]]" = collections.deque()
        self._handing = False
        self._count = self._busy = 0  # of threads; of jobs; the loop's alone

    def put(self, job: Job) -> None:
        self._busy += 1
        if self._busy > self._count:
            self._count += 1
            threading.Thread(target=self._run, name="laterd_%d" % self._count, daemon=True).start()
        self._jobs.put(job)

    def _run(self) -> None:
        while True:
            job = self._jobs.get()
            self._done.append((job, self._perform(job)))
            if not self._handing:
                self._handing = True
                self._loop.call_soon_threadsafe(self._hand)

    def _hand(self) -> None:
        self._handing = False  # first, so that a later caller schedules the next handing over
        while self._done:
            self._busy -= 1
            self._finish(*self._done.popleft())


class Program:
    """The main loop, which reads lines, performs jobs and writes answers. Where jobs come one by one and no
    function is a coroutine function, it is a plain one that waits in read(2): a job begins sooner then, and a
    function may have a loop of its own."""

    def __init__(self, handlers: Handlers, answers: Answers, max_jobs: int, max_memory: int):
        self.handlers, self.answers = handlers, answers
        self.max_jobs, self.max_memory = max_jobs, max_memory
        self.parallel = int(os.environ.get("LATER_PARALLEL") or 0)
        answers.at_once = not self.parallel
        self.tasks: Dict[str, Any] = {}  # id → (job, asyncio.Task, or None for a thread)
        self.buffer = b""
        self.begun = 0
        self.ending = False  # nothing more is read
        self.coroutines: Dict[Any, bool] = {}  # handler → is it a coroutine function?
        self.loop: Optional[asyncio.AbstractEventLoop] = None

    def run(self) -> None:
        if self.parallel or self.handlers.awaits:
            asyncio.run(self.run_loop())
            return
        self.answers.read = self.look
        self.begin()
        os.set_blocking(0, True)
        while not self.ending:
            self.on_readable()

    async def run_loop(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.over = self.loop.create_future()
        self.threads = Threads(self.handlers.perform, self.finish, self.loop)
        self.answers.attach(self.loop)
        self.answers.read = self.on_readable
        self.begin()
        os.set_blocking(0, False)
        self.loop.add_reader(0, self.on_readable)
        await self.over
        self.answers.flush()

    def begin(self) -> None:
        for stream in (sys.stdout, sys.stderr):  # what is printed is logged as it is printed
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(line_buffering=True)
        if not logging.getLogger().handlers:
            logging.getLogger().addHandler(LogHandler(self.answers, current_job))
            logging.getLogger().setLevel(logging.INFO)
        signal.signal(signal.SIGTERM, self.on_term)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # laterd's affair
        self.answers.put(self.handlers.hello)
        self.answers.flush()

    # ---- the program's end

    def stop_reading(self) -> None:
        if self.loop and not self.ending:
            self.loop.remove_reader(0)
        self.ending = True
        self.end_if_idle()

    def end_if_idle(self) -> None:
        if self.loop and self.ending and not self.tasks and not self.over.done():
            self.over.set_result(None)

    def on_term(self, *_: Any) -> None:
        if self.answers.inline:
            self.answers.interrupt(TimeIsUp("laterd ends the program"))
        elif self.loop:
            self.loop.call_soon_threadsafe(self.give_up)
        else:
            self.put_end()

    def put_end(self) -> None:
        """Lets a read(2) that waits, or the next one, find the end. What it has read is not lost, as it might be if
        an error were raised here. The pipe stays open, so that laterd sees the program end."""
        end = os.open(os.devnull, os.O_RDONLY)
        self.pipe = os.dup(0)
        os.dup2(end, 0)
        os.close(end)

    def give_up(self) -> None:
        for id in list(self.tasks):
            self.cancel(id)
        self.stop_reading()

    def is_enough(self) -> bool:
        if self.max_jobs and self.begun >= self.max_jobs:
            return True
        if not self.max_memory:
            return False
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") > self.max_memory

    # ---- input

    def look(self) -> None:
        if select.select([0], [], [], 0)[0]:
            self.on_readable()

    def on_readable(self) -> None:
        try:
            data = os.read(0, READ)
        except BlockingIOError:
            return
        if not data:
            self.stop_reading()
            return
        lines = data.split(b"\n")
        lines[0] = self.buffer + lines[0]
        self.buffer = lines.pop()
        for line in lines:
            self.take(_decode(line.decode())[0])
        # A job that was read in part counts as begun by this program, so the rest is read too.
        if not self.buffer and self.is_enough():
            self.stop_reading()

    def take(self, line: Dict[str, Any]) -> None:
        if "cancel" in line:
            self.cancel(line["id"])
            return
        if "stopping" in line:
            if line["id"] in self.tasks:
                self.tasks[line["id"]][0].stops = True
            return
        job = Job(line, self.answers)
        self.begun += 1
        function = self.handlers.find(job.type)
        if function not in self.coroutines:
            self.coroutines[function] = inspect.iscoroutinefunction(function)
        if function and self.loop and self.coroutines[function]:
            task = asyncio.Task(self.perform_async(function, job), loop=self.loop)
            self.tasks[job.id] = (job, task)
        elif function and self.parallel:
            self.tasks[job.id] = (job, None)
            self.threads.put(job)
        else:
            self.tasks[job.id] = (job, None)
            self.perform_inline(job)

    def cancel(self, id: str) -> None:
        job, task = self.tasks.get(id, (None, None))
        if job:
            job.cancelled = True
        if task:
            task.cancel()

    # ---- three ways to perform

    async def perform_async(self, function: Callable[[Job], Any], job: Job) -> None:
        self.finish(job, await self.handlers.perform_async(function, job))

    def perform_inline(self, job: Job) -> None:
        self.answers.inline = True
        try:
            answer = self.handlers.perform(job)
        except TimeIsUp as error:  # just before or after the function
            answer = answer_of(error)
        self.answers.inline = False
        self.finish(job, answer)

    def finish(self, job: Job, answer: Dict[str, Any]) -> None:
        del self.tasks[job.id]
        if len(answer) == 1 and not self.ending:  # most answers are a plain "done"
            self.answers.put_line('{"result":"%s","id":%s}' % (answer["result"], _quote(job.id)))
            return
        answer["id"] = job.id
        if self.ending and not self.tasks:
            answer["last"] = True
        self.answers.put(answer)
        self.end_if_idle()
