"""flows.py: flows before a push: jobs that wait for each other. It needs no redis-py."""
from dataclasses import dataclass, replace
from typing import Dict, Iterable, List, Optional, Sequence, Set

from .bounds import FLOW_MAX
from .document import NewJob, Prepared, prepare
from .errors import LaterdError, Refused


@dataclass(frozen=True)
class Flow:
    """What Redis knows of a flow: its state, and how many of its jobs are in which.

    state   "open": more may be added; "running"; "blocked": what is left waits for a dead job, and a
            kick lets it go on; "done"; "ended": some jobs are gone (cancelled, expired …)
    open    jobs that are ready, delayed or reserved
    skipped jobs that were to run after a failure that did not come
    """

    name: str
    state: str
    closed: bool
    made: float
    total: int
    open: int
    waiting: int
    dead: int
    done: int
    gone: int
    skipped: int


def state_of(closed: bool, counts: Dict[str, int]) -> str:
    if counts["open"] == 0 and counts["dead"] > 0:
        return "blocked"
    if not closed:
        return "open"
    if counts["open"] + counts["waiting"] > 0:
        return "running"
    return "ended" if counts["gone"] > 0 else "done"


# ---- jobs of a flow


def chain(*jobs: NewJob) -> List[NewJob]:
    """Returns the jobs, each of which waits for the one before."""
    named = [job if job.step else replace(job, step=str(i)) for i, job in enumerate(jobs, 1)]
    return named[:1] + [replace(job, after=[before.step or ""]) for before, job in zip(named, named[1:])]


def batch(jobs: Iterable[NewJob], then: Optional[NewJob] = None, finally_: Optional[NewJob] = None,
          failed: Optional[NewJob] = None) -> List[NewJob]:
    """Returns the jobs and those that wait for all of them: `then` runs when all are done, `finally_`
    when all have ended in whatever way, `failed` when the first one is dead or gone."""
    ends = ((then, "done"), (finally_, "ended"), (failed, "failed"))
    return list(jobs) + [replace(job, after="*", when=when) for job, when in ends if job]


def check(jobs: Sequence[Prepared], is_open: bool) -> None:
    """Refuses a flow that cannot end: steps of one name, or that nobody has, and circles."""
    steps: Set[str] = set()
    for number, job in enumerate(jobs, 1):
        if job.step in steps:
            raise Refused("job %d: step: another job is %s, too" % (number, job.step))
        if job.step:
            steps.add(job.step)
    stars = {job.step for job in jobs if job.after == "*"}
    left: Dict[int, List[str]] = {}
    for number, job in enumerate(jobs, 1):
        after = [] if job.after == "*" else [step for step in job.after.split(",") if step]
        for step in after:
            if step not in steps and not is_open:
                raise Refused("job %d: after: there is no step %s" % (number, step))
            if step in stars:
                raise Refused("job %d: after: step %s waits for all jobs, this one too" % (number, step))
        left[number] = [step for step in after if step in steps]
    _check_circle(jobs, left)


def _check_circle(jobs: Sequence[Prepared], left: Dict[int, List[str]]) -> None:
    waiters: Dict[str, List[int]] = {}
    for number, after in left.items():
        for step in after:
            waiters.setdefault(step, []).append(number)
    counts = {number: len(after) for number, after in left.items()}
    free = [number for number, count in counts.items() if count == 0]
    for number in free:  # which grows
        for waiter in waiters.get(jobs[number - 1].step, ()):
            counts[waiter] -= 1
            if counts[waiter] == 0:
                free.append(waiter)
    if len(free) < len(jobs):
        stuck = [job.step or "job %d" % i for i, job in enumerate(jobs, 1) if counts[i] > 0]
        raise Refused("after: a circle: %s wait for each other" % ", ".join(stuck[:10]))


def prepared(name: str, jobs: Iterable[NewJob], home: str) -> List[Prepared]:
    """A job without id and step is known by its place, so that the same jobs again are the same."""
    items = []
    for number, job in enumerate(jobs, 1):
        try:
            if job.flow not in (None, name):
                raise Refused("flow: is not %s" % name)
            if job.home not in (None, home):
                raise Refused("home: is not %s" % home)
            job_id = job.id if job.id is not None or job.step else "%s:%d" % (name, number)
            items.append(prepare(replace(job, flow=name, id=job_id)))
        except LaterdError as error:
            raise type(error)("job %d: %s" % (number, error)) from None
    if len(items) > FLOW_MAX:
        raise Refused("a flow has at most %d jobs" % FLOW_MAX)
    return items
