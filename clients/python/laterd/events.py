"""events.py: ends of jobs, as a queue tells of them (doc/protocol.md). It needs no redis-py."""
import json
import re
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Sequence

from .bounds import ENDS_MAX
from .document import check_queue
from .errors import Refused
from .told import text_of

ENTRIES = 10  # of a place in one answer
_BOOKMARK = re.compile(r"[A-Za-z0-9_./-]+:[0-9]{1,15}( [A-Za-z0-9_./-]+:[0-9]{1,15})*\Z")


@dataclass(frozen=True)
class End:
    """An attempt that has ended.

    ending  done, retry, timeout, crash, bury, expired …: doc/protocol.md, "Attempts"
    state   what the job is now: done, expired, dead, delayed, ready
    """

    queue: str
    id: str
    type: Optional[str]
    ending: str
    state: str
    at: float  # UNIX seconds
    host: str
    kind: Optional[str] = None  # of its error
    attempt: Optional[int] = None
    ms: Optional[float] = None  # how long it took
    waited: Optional[float] = None  # for how many seconds it had been ready


@dataclass
class Events:
    """What events() has found. missed: how many ends are no longer kept; None: they are counted anew, since the
    queue was forgotten or Redis has lost some. bookmark: what the next call goes on after."""

    ends: List[End] = field(default_factory=list)
    missed: Optional[int] = 0
    bookmark: str = ""


class Page:
    """One events(): what it goes on after, by place (the queue, or a shard), and what it has found."""

    def __init__(self, queue: str, after: str, limit: int):
        check_queue(queue)
        if not isinstance(limit, int) or not 1 <= limit <= ENDS_MAX:
            raise Refused("limit: must be a whole number from 1 to %d (%r)" % (ENDS_MAX, limit))
        if after not in ("", "now") and not _BOOKMARK.match(after):
            raise Refused("after: must be a bookmark, now or nothing (%.70r)" % after)
        self.queue, self.limit, self.from_now = queue, limit, after == "now"
        self.follows = after not in ("", "now")  # what is not there is missed
        self.numbers: Dict[str, int] = {}
        for word in after.split(" ") if self.follows else ():
            place, _, number = word.partition(":")
            self.numbers[place] = int(number)
            if place.partition("/")[0] != queue:
                raise Refused("after: the bookmark is of queue %s" % place.partition("/")[0])
        self.told = Events()

    def last(self, place: str) -> int:
        return self.numbers.setdefault(place, 0)

    def share(self, places: Sequence[str]) -> int:
        """How many ends of each place are told, so that none has to wait for another."""
        return -(-self.limit // len(places))

    def begin_anew(self, place: str) -> None:
        self.numbers[place], self.told.missed = 0, None

    def take(self, place: str, entries: Any, share: int) -> int:
        """Takes what it has not told of yet, and returns how many ends."""
        taken = 0
        for id, fields in entries:
            number, _, micro = text_of(id).partition("-")
            fields = {text_of(name): text_of(value) for name, value in fields.items()}
            lines = fields.get("ends", "").split("\n")
            first = int(number) - len(lines) + 1
            if self.follows and first > self.last(place) + 1 and self.told.missed is not None:
                self.told.missed += first - self.last(place) - 1
            for n, line in enumerate(lines, first):
                if taken == share:
                    return taken
                if n > self.last(place):
                    taken += 1
                    self.numbers[place] = n
                    self._tell(line, int(micro) / 1e6, fields.get("host", ""))
        return taken

    def end(self) -> Events:
        self.told.ends.sort(key=lambda end: end.at)
        self.told.bookmark = " ".join("%s:%d" % part for part in sorted(self.numbers.items()))
        return self.told

    def _tell(self, line: str, at: float, host: str) -> None:
        try:
            said = json.loads(line)
            told = End(self.queue, said["id"], said["type"], said["ending"], said["state"], at, host,
                       said.get("kind"), said.get("attempt"), said.get("ms"), said.get("waited"))
        except (ValueError, KeyError, TypeError):
            return  # another program wrote it
        self.told.ends.append(told)


def number_of(entries: Any) -> int:
    """The number of the last end, of the answer that has the last entry."""
    return int(text_of(entries[0][0]).partition("-")[0]) if entries else 0
