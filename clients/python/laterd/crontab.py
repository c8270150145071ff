"""crontab.py: schedules, as Redis keeps them (doc/protocol.md, "Schedules"). It needs no redis-py.

What an expression means is laterd's: here only its form is checked.
"""
import math
import re
from dataclasses import dataclass
from typing import Any, List, Optional, Tuple

from .document import NewJob, Seconds, Time, check_label, check_time, check_whole, prepare_scheduled
from .errors import Refused
from .told import text_of

CATCH_UP = ("last", "none", "all")
OVERLAP = ("allow", "skip", "replace", "queue")
LATE = 60  # seconds
SPAN_MAX = 31536000  # of spread, late and expires_in, seconds
LIMIT_MAX = 10**9
AT_MAX = 256  # bytes
TIME_MAX = 1e11
ROW = 5  # elements of the answer of cron_look for each

_AT = re.compile(r"((CRON_)?TZ=[!-~]+ +)?(@[!-~]+( +[!-~]+)?|[!-~]+( +[!-~]+){4,5})\Z")
_ZONE = re.compile(r"[A-Za-z0-9_+/-]{1,64}\Z")


@dataclass(frozen=True)
class Schedule:
    """A schedule that is in Redis: see cron_list()."""

    name: str
    at: str
    zone: str
    next: Optional[float]  # when it is due, UNIX seconds; None: never, or it is paused; a Fake does not know
    paused: bool
    origin: str  # "set", or "config:HOST:ID": it stands in the configuration of that laterd


@dataclass(frozen=True)
class NewSchedule:
    """A schedule to set: such a job is pushed whenever `at` is due."""

    name: str
    at: str  # "0 3 * * mon-fri", "@every 90s": later(1), `later cron`
    job: NewJob  # without an id, a time, a flow
    zone: str = ""  # Europe/Berlin; UTC
    catch_up: str = "last"  # of the ticks missed while no host was up the last, none, all
    overlap: str = "allow"  # if the last job has not ended: allow another, skip, replace, queue
    spread: Seconds = 0  # jobs are spread over so long after their ticks
    late: Seconds = LATE  # a tick that is later is missed
    from_: Optional[Time] = None  # no tick before
    until: Optional[Time] = None  # no tick after
    limit: Optional[int] = None  # how many jobs in all

    def definition(self) -> bytes:
        """Returns how Redis keeps it; raises Refused."""
        check_label("name", self.name)
        if not isinstance(self.job, NewJob):
            raise Refused("job: must be a NewJob (%.70r)" % (self.job,))
        document = prepare_scheduled(self.job)
        head = "".join("%s=%s\n" % line for line in self._lines() if line[1] is not None)
        return head.encode() + b"\n" + document

    def _lines(self) -> List[Tuple[str, Any]]:
        """In their order, with None where it is the default."""
        expires_in = self.job.expires_in
        _check(_matches(_AT, self.at) and len(self.at) <= AT_MAX, "at: must be an expression of five fields (minute "
               "hour day month weekday), six with the second first, or @hourly, @every 90s …", self.at)
        _check(self.zone == "" or _matches(_ZONE, self.zone), "zone: must be a time zone, such as Europe/Berlin", self.zone)
        _check(self.catch_up in CATCH_UP, "catch_up: must be one of " + ", ".join(CATCH_UP), self.catch_up)
        _check(self.overlap in OVERLAP, "overlap: must be one of " + ", ".join(OVERLAP), self.overlap)
        start, end = _instant("from_", self.from_, math.ceil), _instant("until", self.until, math.floor)
        _check(start is None or end is None or start <= end, "until: is before its beginning", self.until)
        return [("at", self.at), ("zone", self.zone or None),
                ("catch_up", _unless(CATCH_UP[0], self.catch_up)), ("overlap", _unless(OVERLAP[0], self.overlap)),
                ("spread", _span("spread", self.spread, 0) or None),
                ("late", _unless(LATE, _span("late", self.late, 0))),
                ("priority", int(self.job.priority) or None), ("group", self.job.group),
                ("expires_in", None if expires_in is None else _span("expires_in", expires_in, 1)),
                ("from", start), ("until", end),
                ("limit", None if self.limit is None else check_whole("limit", self.limit, 1, LIMIT_MAX))]


def _matches(form: "re.Pattern[str]", value: Any) -> bool:
    return isinstance(value, str) and form.match(value) is not None


def _check(good: bool, must: str, value: Any) -> None:
    if not good:
        raise Refused("%s (%.70r)" % (must, value))


def _unless(default: Any, value: Any) -> Any:
    return None if value == default else value


def _span(name: str, value: Seconds, least: int) -> int:
    return check_whole(name, value, least, SPAN_MAX)


def _instant(name: str, value: Optional[Time], to_whole: Any) -> Optional[int]:
    """Ticks are whole seconds."""
    return None if value is None else int(to_whole(check_time(name, value, 1e9, TIME_MAX)))


def _value(lines: str, tag: str) -> str:
    found = re.search("^%s=(.*)$" % tag, lines, re.M)
    return found.group(1) if found else ""


def schedules_of(reply: Any) -> List[Schedule]:
    """Reads the answer of cron_look."""
    told = []
    for i in range(2, len(reply), ROW):
        name, next_tick, _, lines, state = map(text_of, reply[i:i + ROW])
        told.append(Schedule(name, _value(lines, "at"), _value(lines, "zone") or "UTC",
                             None if next_tick == "inf" else float(next_tick), _value(state, "paused") == "1",
                             _value(state, "origin")))
    return told
