"""testing.py: for tests of programs that push or perform, without Redis and without laterd.

    queues = laterd.testing.Fake()                       # in the place of laterd.Client
    sign_up(queues, "a@b.c")
    queues.assert_pushed("mail.send", {"to": "a@b.c"}, queue="mail")
    queues.drain(app)                                    # performs what was pushed
    assert laterd.testing.perform(app, "mail.send", {}).result == "bury"

What is pushed is checked as the real client checks it, and a handler gets what JSON makes of its
payload. Time does not pass: a delay is kept but not waited for, and an id that stays taken stays so.
Jobs of a flow wait for each other, and get values. What the handlers say of their types counts, and a job that
is dead or done pushes what its on_dead or on_done says.
"""
import asyncio
import concurrent.futures
import contextlib
import hashlib
import heapq
import json
import time
from dataclasses import dataclass, field, replace
from typing import Any, Dict, Iterable, List, Optional, Sequence, Set, Tuple

from .answers import lines_of
from .asked import Search, check_ids, pause_words, reschedule_words
from .awaiting import awaited_of_fake
from .crontab import NewSchedule, Schedule, schedules_of
from .document import NewJob, Prepared, Seconds, Time, check_label, check_queue, prepare, prepare_many, prepare_one
from .errors import FlowClosed, FlowUnknown, JobFailed, JobUnknown, LaterdError
from .events import End, Events, Page
from .flows import Flow, check, prepared
from .handlers import Handlers, Job
from .pushing import Awaited, Blocking
from .testing_flows import KeptFlow
from .told import Found, Outcome, Pushed, Size

MAX_ATTEMPTS = 25  # as laterd is configured by default
DRAINED_MAX = 10000  # a handler may push without end
ANY = object()  # any payload
ENDED = ("done", "cancelled", "skipped")


@dataclass
class Attempt:
    """What became of one attempt: the answer as laterd gets it.

    result    the answer: "done", "retry" …
    progress  each as its arguments: done, total, text
    checkpoint   the last one that it has left
    """

    result: str
    value: Any = None
    error: str = ""
    delay: Optional[float] = None
    progress: List[Tuple[float, float, str]] = field(default_factory=list)
    checkpoint: Any = None


class _Heard:
    """Takes the place of laterd."""

    def __init__(self) -> None:
        self.progress: List[Tuple[float, float, str]] = []
        self.checkpoint: Any = None

    def look(self) -> None:
        pass

    def put_line(self, line: str) -> None:
        self.checkpoint = json.loads(line)["checkpoint"]

    def put(self, line: Dict[str, Any]) -> None:
        if "progress" in line:
            far = line["progress"]
            self.progress.append((far["done"], far["total"], far["text"]))


def perform(app: Handlers, type: str, payload: Any = None, *, queue: str = "default", attempt: int = 1,
            max_attempts: int = MAX_ATTEMPTS, values: Optional[Dict[str, Any]] = None, resumes: Any = None,
            stopping: bool = False, **options: Any) -> Attempt:
    """Performs one job with its handler, and returns what became of it. values: what steps of its flow
    gave back. resumes: a checkpoint. stopping: laterd stops. The options are those of NewJob."""
    one = prepare(NewJob(type, payload, max_attempts=max_attempts, **options))
    return _attempt(app, type, queue, one, attempt, max_attempts, {"values": values or {}, "checkpoint": resumes},
                    stopping)


def _attempt(app: Handlers, type: str, queue: str, one: Prepared, attempt: int, most: int,
             given: Dict[str, Any], stopping: bool = False) -> Attempt:
    heard = _Heard()
    job = Job({"id": one.id, "type": type, "queue": queue, "attempt": attempt, "max_attempts": most,
               "time_left": 300.0, "token": "test", **json.loads(json.dumps(given)),
               "document": json.loads(one.document)}, heard)  # type: ignore[arg-type]
    job.stops = stopping
    last = json.loads(lines_of({"id": one.id, **_outside_a_loop(app, job)})[-1])
    return Attempt(last["result"], last.get("value"), last.get("error", ""), last.get("in"), heard.progress,
                   heard.checkpoint)


def _outside_a_loop(app: Handlers, job: Job) -> Dict[str, Any]:
    """A coroutine is run by a loop of its own, which a thread can have only one of."""
    loop = None
    with contextlib.suppress(RuntimeError):  # and no more, or it would be in the traceback of what the handler raises
        loop = asyncio.get_running_loop()
    if not loop:
        return app.perform(job)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        return pool.submit(app.perform, job).result()


@dataclass(eq=False)
class Kept:
    """A job that was pushed to a Fake."""

    job: NewJob
    queue: str
    made: Prepared
    state: str  # ready, delayed, reserved, dead, waiting; done, cancelled, skipped (not needed in its flow)
    attempts: int = 0
    error: Optional[Dict[str, Any]] = None
    value: Any = None
    checkpoint: Any = None
    successor: "Optional[Kept]" = None  # pushed with `again` while this one ran
    home: Optional[KeptFlow] = field(default=None, repr=False)  # the flow in which it waits, or has waited
    hook_of: Optional[str] = None  # pushed since the job of this id is dead, or done

    @property
    def id(self) -> str:
        return self.made.id

    @property
    def type(self) -> str:
        return self.job.type

    @property
    def payload(self) -> Any:
        return json.loads(self.made.document).get("payload")

    def found(self) -> Found:
        return Found(self.id, self.queue, self.state, None, self.attempts, self.job.priority, self.error,
                     self.made.document, checkpoint=self.checkpoint)


def _kept(job: NewJob, queue: str, made: Prepared) -> Kept:
    return Kept(job, queue, made, _due(made.when))


def _due(when: str) -> str:
    when = when.partition("!")[0]
    if when[:1] == "+":
        return "ready" if when == "+0" else "delayed"
    return "delayed" if float(when or 0) > time.time() else "ready"


class Fake(Blocking):
    """Keeps what is pushed, in the place of a laterd.Client.

    app: it runs inline: each job is performed as it is pushed, also one with a delay.
    """

    def __init__(self, app: Optional[Handlers] = None):
        self.jobs: List[Kept] = []  # all, in the order of their pushes
        self._app = app
        self._by_id: Dict[Tuple[str, str], Kept] = {}  # the last one of each queue and id
        self._taken: Set[Tuple[str, str]] = set()  # ids that stay taken
        self._flows: Dict[Tuple[str, str], KeptFlow] = {}  # by queue and name
        self._woken: List[Kept] = []  # whose time in a flow has come
        self._ends: List[End] = []
        self._paused: Dict[str, bool] = {}  # queues, and whether only resume() ends it
        self._crontab: Dict[Tuple[str, str], bytes] = {}  # by queue and name: definitions

    # ---- what a client can

    def push_job(self, job: NewJob, queue: str = "default") -> Pushed:
        check_queue(queue)
        job = self._passed(job)
        new = _kept(job, queue, prepare_one(job))
        return self._tell(job, self._add(new) if new.made.flow else self._push(new))

    def push_many(self, jobs: Sequence[NewJob], queue: str = "default") -> List[Pushed]:
        check_queue(queue)
        jobs = self._all_passed(jobs)
        made = zip(jobs, prepare_many(jobs))
        return self._tell_all(jobs, [self._push(_kept(job, one.queue or queue, one)) for job, one in made])

    def show(self, id: str, queue: str = "default") -> Optional[Found]:
        kept = self._find(id, queue)
        return kept.found() if kept else None

    def wait(self, id: str, queue: str = "default", timeout: Optional[float] = None) -> Any:
        """It never waits: so call() is only for inline."""
        kept = self._find(id, queue)
        if kept and kept.state == "dead":
            raise JobFailed(id, kept.error)
        if kept:
            raise TimeoutError("%s has not ended; drain() performs it" % id)
        kept = self._by_id.get((queue, id))
        if kept and kept.state in ("done", "dead") and kept.job.result is not None:
            return kept.value
        raise JobUnknown(id, queue)

    def wait_many(self, ids: Sequence[str], queue: str = "default", timeout: Optional[float] = None) -> List[Outcome]:
        return [self._outcome(id, queue) for id in check_ids(ids)]

    def _outcome(self, id: str, queue: str) -> Outcome:
        try:
            return Outcome(id, "done", self.wait(id, queue))
        except (JobFailed, JobUnknown, TimeoutError) as error:
            return Outcome.of(id, error)

    def size(self, queue: str = "default") -> Size:
        check_queue(queue)
        states = [kept.state for kept in self.jobs if kept.queue == queue]
        ready, delayed, reserved, dead = (states.count(state) for state in ("ready", "delayed", "reserved", "dead"))
        return Size(ready, delayed, reserved, dead, queue in self._paused, 0.0 if ready else None)

    def pause(self, queue: str = "default", seconds: Optional[Seconds] = None, by: str = "") -> bool:
        """Nothing of the queue is performed until resume(): time does not pass."""
        check_queue(queue)
        ends = pause_words(seconds, by)[0] > 0
        changed, self._paused[queue] = ends or not self._paused.get(queue), not ends
        return changed

    def resume(self, queue: str = "default") -> bool:
        """What was pushed meanwhile is performed by drain(), also inline."""
        check_queue(queue)
        return self._paused.pop(queue, None) is not None

    def cron_set(self, schedule: NewSchedule, queue: str = "default") -> bool:
        """Kept, and no more: time does not pass."""
        check_queue(queue)
        place, made = (queue, schedule.name), schedule.definition()
        before, self._crontab[place] = self._crontab.get(place), made
        return before != made

    def cron_delete(self, name: str, queue: str = "default") -> bool:
        check_label("name", name)
        check_queue(queue)
        return self._crontab.pop((queue, name), None) is not None

    def cron_list(self, queue: str = "default") -> List[Schedule]:
        """By their names."""
        check_queue(queue)
        return schedules_of(["", "", *(part for (home, name), made in sorted(self._crontab.items()) if home == queue
                                       for part in (name, "inf", "", made, "origin=set"))])

    def search(self, queue: str = "default", state: Optional[str] = None, type: Optional[str] = None,
               text: Optional[str] = None, limit: int = 100) -> List[Found]:
        """No job that is done is kept."""
        check_queue(queue)
        what = Search(state, type, text, limit)
        found = [kept.found() for name in what.states if name != "done" for kept in reversed(self.jobs)
                 if (kept.queue, kept.state) == (queue, name) and what.fits(kept.made.document)]
        return found[:limit]

    def events(self, queue: str = "default", after: str = "", limit: int = 500, timeout: float = 0) -> Events:
        """All ends are kept."""
        page, ends = Page(queue, after, limit), [end for end in self._ends if end.queue == queue]
        page.told.ends = [] if page.from_now else ends[page.last(queue):page.last(queue) + limit]
        page.numbers[queue] = len(ends) if page.from_now else page.last(queue) + len(page.told.ends)
        return page.end()

    def kick(self, id: str, queue: str = "default") -> Optional[str]:
        kept = self._find(id, queue)
        if not kept or kept.state not in ("dead", "delayed"):
            return None
        came, kept.state = kept.state, "ready"
        if came == "dead":
            kept.attempts = 0
        self._settle_flows()
        return came

    def reschedule(self, id: str, queue: str = "default", *, delay: Optional[Seconds] = None,
                   at: Optional[Time] = None, priority: Optional[int] = None) -> Optional[str]:
        words = reschedule_words(delay, at, priority)
        kept = self._find(id, queue)
        if not kept or kept.state not in ("ready", "delayed"):
            return None
        came, kept.state = kept.state, _due(words[0]) if words[0] else kept.state
        if priority is not None:
            kept.job = replace(kept.job, priority=priority)
        return came

    def forget(self, id: str, queue: str = "default") -> bool:
        kept = self._find(id, queue) or self._by_id.get((queue, id))
        had = bool(kept and kept.state == "done" and kept.job.result is not None)
        if kept and had:
            kept.job = replace(kept.job, result=None)
        return had

    def cancel(self, id: str, queue: str = "default") -> Optional[str]:
        kept = self._find(id, queue)
        if not kept and (queue, id) in self._taken:
            self._taken.remove((queue, id))
            return "ended"
        if not kept:
            return None
        came, kept.state = kept.state, "cancelled"
        self._settle_flows()
        return came

    def flow(self, name: str, jobs: Iterable[NewJob] = (), queue: str = "default",
             open: bool = False) -> List[Pushed]:
        check_queue(queue)
        check_label("flow", name)
        jobs = self._all_passed(jobs)
        made = prepared(name, jobs, queue)
        check(made, open)
        flow = self._flows.setdefault((queue, name), KeptFlow(name))
        if flow.closed and any(one.id not in flow.jobs for one in made):
            raise FlowClosed(name)
        pushed = [self._join(flow, _kept(job, one.queue or queue, one)) for job, one in zip(jobs, made)]
        flow.closed = flow.closed or not open
        self._settle_flows()
        self._perform_woken()
        return self._tell_all(jobs, pushed)

    def show_flow(self, name: str, queue: str = "default") -> Optional[Flow]:
        check_queue(queue)
        check_label("flow", name)
        flow = self._flows.get((queue, name))
        return flow.flow() if flow else None

    def wait_flow(self, name: str, queue: str = "default", timeout: Optional[float] = None) -> Flow:
        flow = self._flow(name, queue).flow()
        if flow.state in ("open", "running"):
            raise TimeoutError("flow %s is %s; drain() performs its jobs" % (name, flow.state))
        return flow

    def kick_flow(self, name: str, queue: str = "default") -> int:
        dead = [kept for kept in self._flow(name, queue).jobs.values() if kept.state == "dead"]
        return len([kept for kept in dead if self.kick(kept.id, kept.queue)])

    def cancel_flow(self, name: str, queue: str = "default") -> int:
        flow, count = self._flow(name, queue), 0
        for states in (("waiting",), ("waiting", "ready", "delayed", "reserved", "dead")):
            for kept in list(flow.jobs.values()):
                count += kept.state in states and self.cancel(kept.id, kept.queue) is not None
        self.close_flow(name, queue)
        return count

    def close_flow(self, name: str, queue: str = "default") -> None:
        self._flow(name, queue).closed = True
        self._settle_flows()
        self._perform_woken()

    # ---- what a test wants to know

    def pushed(self, type: Optional[str] = None, queue: Optional[str] = None) -> List[Kept]:
        """Returns what was pushed, whatever has become of it."""
        return [kept for kept in self.jobs
                if type in (None, kept.type) and queue in (None, kept.queue)]

    def assert_pushed(self, type: str, payload: Any = ANY, *, queue: Optional[str] = None,
                      count: Optional[int] = None, **options: Any) -> None:
        """Fails unless such a job was pushed: as often as `count` says, otherwise at least once."""
        such = [kept for kept in self.pushed(type, queue)
                if (payload is ANY or kept.payload == json.loads(json.dumps(payload)))
                and all(getattr(kept.job, name) == value for name, value in options.items())]
        if (count is None and not such) or (count is not None and len(such) != count):
            raise AssertionError("%s was pushed so %d times; there are: %s" % (
                type, len(such), ["%s %s %r" % (kept.queue, kept.type, kept.payload) for kept in self.jobs] or "none"))

    def assert_nothing_pushed(self, type: Optional[str] = None, queue: Optional[str] = None) -> None:
        such = self.pushed(type, queue)
        if such:
            raise AssertionError("pushed: %s" % ["%s %s %r" % (kept.queue, kept.type, kept.payload) for kept in such])

    def drain(self, app: Handlers, queue: Optional[str] = None) -> List[Attempt]:
        """Performs each job that is ready or delayed once, the highest priority first, then those that
        were pushed meanwhile. One that is to be tried again waits for the next drain()."""
        attempts: List[Attempt] = []
        line: List[Tuple[int, int]] = []
        begun: Set[int] = set()
        seen = 0
        while True:
            for n in range(seen, len(self.jobs)):
                heapq.heappush(line, (-self.jobs[n].job.priority, n))
            seen = len(self.jobs)
            for woken in self._woken:
                heapq.heappush(line, (-woken.job.priority, self.jobs.index(woken)))
            self._woken.clear()
            if not line:
                return attempts
            number = heapq.heappop(line)[1]
            kept = self.jobs[number]
            if queue not in (None, kept.queue) or not self._may_run(kept) or number in begun:
                continue
            begun.add(number)
            if len(attempts) == DRAINED_MAX:
                raise LaterdError("drain: %d jobs were performed, and they push more and more" % DRAINED_MAX)
            attempts.append(self._perform(app, kept))

    # ---- inside

    def _find(self, id: str, queue: str) -> Optional[Kept]:
        check_queue(queue)
        kept = self._by_id.get((queue, id))
        return kept if kept and kept.state not in ENDED else None

    def _may_run(self, kept: Kept) -> bool:
        return kept.state in ("ready", "delayed") and kept.queue not in self._paused

    def _flow(self, name: str, queue: str) -> KeptFlow:
        check_queue(queue)
        check_label("flow", name)
        if (queue, name) not in self._flows:
            raise FlowUnknown(name, queue)
        return self._flows[queue, name]

    def _add(self, new: Kept) -> Pushed:
        """Adds a job to its flow, as push() does."""
        flow = self._flows.setdefault((new.made.home or new.queue, new.made.flow), KeptFlow(new.made.flow))
        adder = flow.jobs.get(new.made.adder)
        if flow.closed and new.id not in flow.jobs and not (adder and adder.state == "reserved"):
            raise FlowClosed(flow.name)
        pushed = self._join(flow, new)
        self._settle_flows()
        self._perform_woken()
        return pushed

    def _join(self, flow: KeptFlow, new: Kept) -> Pushed:
        old = flow.jobs.get(new.id) or self._find(new.id, new.queue)
        if old:
            flow.add(old, new.made)
            return Pushed(new.id, "exists", "gone" if old.state == "cancelled" else old.state)
        new.home = flow
        flow.add(new, new.made)
        if new.made.after:
            new.state = "waiting"
        else:
            self._woken.append(new)
        self.jobs.append(new)
        self._by_id[new.queue, new.id] = new
        return Pushed(new.id, "pushed", "waiting" if new.made.after else "")

    def _settle_flows(self) -> None:
        while any([flow.settle(self._wake) for flow in self._flows.values()]):
            pass

    def _wake(self, kept: Kept) -> None:
        kept.state = _due(kept.made.when)
        self._woken.append(kept)

    def _perform_woken(self) -> None:
        """Inline: those whose time has come."""
        while self._app and self._woken:
            kept = self._woken.pop(0)
            if self._may_run(kept):
                self._perform(self._app, kept)

    def _push(self, new: Kept) -> Pushed:
        old = self._find(new.id, new.queue)
        if not old and (new.queue, new.id) in self._taken:
            return Pushed(new.id, "exists", "ended")
        result = "pushed"
        if old and old.state == "reserved" and new.made.mode == "again":
            old.successor = new
            return Pushed(new.id, "again")
        if old and (new.made.mode == "new" or old.state in ("dead", "reserved", "waiting")):
            return Pushed(new.id, "exists", old.state)
        if old:
            result, old.state = "replaced", "cancelled"
            for flow in self._flows.values():  # it takes the other's place there, too
                if flow.jobs.get(new.id) is old:
                    new.made = replace(new.made, step=old.made.step, after=old.made.after, fate=old.made.fate)
                    new.home = old.home
                    flow.jobs[new.id] = new
                    flow.steps.update({step: new for step, kept in flow.steps.items() if kept is old})
        self.jobs.append(new)
        self._by_id[new.queue, new.id] = new
        if self._app and self._may_run(new):
            self._perform(self._app, new)
            self._perform_woken()
        return Pushed(new.id, result)

    def _perform(self, app: Handlers, kept: Kept) -> Attempt:
        policy = app.policy(kept.type)
        most: int = kept.job.max_attempts or policy.get("max_attempts") or MAX_ATTEMPTS
        kept.state, kept.attempts = "reserved", kept.attempts + 1
        given = {**(kept.home.heard(kept) if kept.home else {}), "checkpoint": kept.checkpoint}
        attempt = _attempt(app, kept.type, kept.queue, kept.made, kept.attempts, most, given)
        kept.checkpoint = kept.checkpoint if attempt.checkpoint is None else attempt.checkpoint
        if kept.state == "reserved":  # else it was cancelled meanwhile
            self._settle(kept, attempt, most)
            self._note_end(kept, attempt)
            self._push_hook(kept, policy)
        if kept.successor:
            successor, kept.successor = kept.successor, None
            if kept.state in ENDED:
                self._push(successor)
        self._settle_flows()
        return attempt

    def _push_hook(self, kept: Kept, policy: Dict[str, Any]) -> None:
        if kept.state not in ("done", "dead") or kept.hook_of:
            return
        hook = getattr(kept.job, "on_" + kept.state) or policy.get("on_" + kept.state)
        if hook:
            type, _, queue = hook.partition("@")
            dead = kept.state == "dead"
            told = {"id": kept.id, "type": kept.type, "queue": kept.queue, "ending": kept.state,
                    "attempts": kept.attempts, "error": kept.error if dead else None,
                    "value": None if dead else kept.value}
            of = kept.id if len(kept.id) <= 160 else hashlib.sha1(kept.id.encode()).hexdigest()
            job = NewJob(type, told, id="%s.%s.%d" % (of, kept.state, time.time_ns() // 1000))
            self._push(Kept(job, queue or kept.queue, prepare(job), "ready", hook_of=kept.id))

    def _note_end(self, kept: Kept, attempt: Attempt) -> None:
        if attempt.result != "return":
            kind = kept.error["kind"] if kept.error and attempt.result != "done" else None
            self._ends.append(End(kept.queue, kept.id, kept.type, attempt.result, kept.state, time.time(), "test", kind,
                                  kept.attempts))

    def _settle(self, kept: Kept, attempt: Attempt, most: int) -> None:
        if attempt.result == "done":
            kept.state, kept.value = "done", attempt.value
            if kept.job.unique_for or kept.job.throttle:
                self._taken.add((kept.queue, kept.id))
            return
        dead = attempt.result == "bury" or (attempt.result == "retry" and kept.attempts >= most)
        kind = "buried" if attempt.result == "bury" else attempt.result
        kept.error = {"at": time.time(), "attempt": kept.attempts, "kind": kind, "text": attempt.error, "host": "test"}
        kept.state = "dead" if dead else "delayed"
        kept.attempts -= attempt.result == "return"


class AsyncFake(Awaited):
    """The same in the place of a laterd.aio.Client: its calls are awaited, and `fake` is asked what
    was pushed."""

    def __init__(self, app: Optional[Handlers] = None):
        self.fake = Fake(app)

    async def push_job(self, job: NewJob, queue: str = "default") -> Pushed:
        job = self._passed(job)
        return self._tell(job, self.fake.push_job(job, queue))

    async def push_many(self, jobs: Sequence[NewJob], queue: str = "default") -> List[Pushed]:
        passed = self._all_passed(jobs)
        return self._tell_all(passed, self.fake.push_many(passed, queue))

    async def flow(self, name: str, jobs: Iterable[NewJob] = (), queue: str = "default",
                   open: bool = False) -> List[Pushed]:
        passed = self._all_passed(jobs)
        return self._tell_all(passed, self.fake.flow(name, passed, queue, open))

    show = awaited_of_fake(Fake.show)
    size = awaited_of_fake(Fake.size)
    kick = awaited_of_fake(Fake.kick)
    cancel = awaited_of_fake(Fake.cancel)
    reschedule = awaited_of_fake(Fake.reschedule)
    forget = awaited_of_fake(Fake.forget)
    pause = awaited_of_fake(Fake.pause)
    resume = awaited_of_fake(Fake.resume)
    cron_set = awaited_of_fake(Fake.cron_set)
    cron_delete = awaited_of_fake(Fake.cron_delete)
    cron_list = awaited_of_fake(Fake.cron_list)
    search = awaited_of_fake(Fake.search)
    events = awaited_of_fake(Fake.events)
    wait = awaited_of_fake(Fake.wait)
    wait_many = awaited_of_fake(Fake.wait_many)
    show_flow = awaited_of_fake(Fake.show_flow)
    wait_flow = awaited_of_fake(Fake.wait_flow)
    kick_flow = awaited_of_fake(Fake.kick_flow)
    cancel_flow = awaited_of_fake(Fake.cancel_flow)
    close_flow = awaited_of_fake(Fake.close_flow)
