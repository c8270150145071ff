"""mapping.py: a job for each of many payloads, pushed as they come: map() of clients and fakes."""
from dataclasses import replace
from itertools import islice
from typing import Any, Iterable, Iterator, List, Optional, Sequence, Union

from .document import NewJob
from .errors import Refused
from .flows import batch
from .told import Mapped, Pushed

PART = 200  # jobs of a call


class Mapping:
    """One map(): its calls, and what became of their jobs."""

    def __init__(self, job: Union[str, NewJob], items: Iterable[Any], chunk: Optional[int], flow: Optional[str],
                 ends: Sequence[Optional[NewJob]]):
        self._job = NewJob(job) if isinstance(job, str) else job
        if self._job.id is not None or self._job.step is not None:
            raise Refused("map: each job has an id of its own; unique makes one")
        if chunk is not None and (not isinstance(chunk, int) or chunk < 1):
            raise Refused("chunk: must be a whole number from 1 (%r)" % (chunk,))
        if flow is None and any(ends):
            raise Refused("then, finally_ and failed: go with flow")
        self._payloads = iter(items) if chunk is None else _chunks(iter(items), chunk)
        self._flow, self._ends = flow, batch([], *ends)
        self._number = 0
        self.told = Mapped()

    def parts(self) -> Iterator[List[NewJob]]:
        """The jobs of each call, but the last one to a flow."""
        while True:
            part = [replace(self._job, payload=payload) for payload in islice(self._payloads, PART)]
            if not part:
                return
            yield self._numbered(part)

    def last(self) -> List[NewJob]:
        """The jobs that go into the flow last, so that it can be closed."""
        return self._numbered(self._ends)

    def count(self, pushed: Sequence[Pushed]) -> None:
        new = sum(map(bool, pushed))
        self.told = Mapped(self.told.pushed + new, self.told.known + len(pushed) - new)

    def _numbered(self, jobs: List[NewJob]) -> List[NewJob]:
        """In a flow they have the ids that flow() would give them, so that the same again is the same."""
        self._number += len(jobs)
        first = self._number - len(jobs) + 1
        return [replace(job, id="%s:%d" % (self._flow, number))
                if self._flow is not None and not job.unique and job.id is None and job.step is None else job
                for number, job in enumerate(jobs, first)]


def _chunks(items: Iterator[Any], size: int) -> Iterator[List[Any]]:
    while True:
        chunk = list(islice(items, size))
        if not chunk:
            return
        yield chunk


def run(queues: Any, mapping: Mapping, flow: Optional[str], queue: str) -> Mapped:
    for part in mapping.parts():
        mapping.count(queues.push_many(part, queue) if flow is None else queues.flow(flow, part, queue, True))
    if flow is not None:
        mapping.count(queues.flow(flow, mapping.last(), queue))
    return mapping.told


async def run_async(queues: Any, mapping: Mapping, flow: Optional[str], queue: str) -> Mapped:
    for part in mapping.parts():
        mapping.count(await (queues.push_many(part, queue) if flow is None else queues.flow(flow, part, queue, True)))
    if flow is not None:
        mapping.count(await queues.flow(flow, mapping.last(), queue))
    return mapping.told
