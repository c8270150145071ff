"""crontab.py: schedules, as Redis keeps them (doc/protocol.md, "Schedules"). It needs no redis-py.

What an expression means is laterd's: here only its form is checked.
"""
import math
import re
from dataclasses import dataclass
from typing import Any, Callable, List, Optional, Tuple

from .document import NewJob, Seconds, Time, check_label, check_time, check_whole, prepare_scheduled
from .errors import Refused
from .told import text_of

ROW = 5  # elements of the answer of cron_look for each


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
    # @schedule own: # {help} ({value})\n{py}: {python}
    # by whose clocks it is due, such as Europe/Berlin (a time zone)
    zone: str = ""
    # ticks missed while no host was up: the last, none, or all of a day, at most 100 (last, none, all)
    catch_up: str = "last"
    # if the last job has not ended: allow, skip, replace it if it waits, queue one (allow, skip, replace, queue)
    overlap: str = "allow"
    # jobs are spread over this time after their ticks (whole seconds)
    spread: Seconds = 0
    # a tick that is later than this is missed (whole seconds)
    late: Seconds = 60
    # no tick is before this time (UNIX seconds)
    from_: Optional[Time] = None
    # no tick is after this time (UNIX seconds)
    until: Optional[Time] = None
    # how many jobs it pushes in all (whole number)
    limit: Optional[int] = None
    # @end

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
        lines = []
        for field, tag, check, least, most, usual, owner in _OPTIONS:
            value = getattr(self.job if owner == "job" else self, field)
            if value is not None or usual != "":
                value = check(field, value, least, most)
            lines.append((tag, None if value == usual else value))
        said = dict(lines)
        _check(said["from"] is None or said["until"] is None or said["from"] <= said["until"],
               "until: is before its beginning", self.until)
        return lines


def _check(good: bool, must: str, value: Any) -> None:
    if not good:
        raise Refused("%s (%.70r)" % (must, value))


def _matches(form: str, value: Any, most: float) -> bool:
    return isinstance(value, str) and len(value) <= most and _FORMS[form].match(value) is not None


def _expression(name: str, value: Any, least: float, most: float) -> Any:
    _check(_matches("expression", value, most), name + ": must be an expression of five fields (minute hour day month "
           "weekday), six with the second first, or @hourly, @every 90s …", value)
    return value


def _zone(name: str, value: Any, least: float, most: float) -> Any:
    _check(value == "" or _matches("zone", value, most), name + ": must be a time zone, such as Europe/Berlin", value)
    return value


def _choice(name: str, value: Any, least: float, most: float) -> Any:
    _check(value in _WORDS[name], name + ": must be one of " + ", ".join(_WORDS[name]), value)
    return value


def _whole(name: str, value: Any, least: float, most: float) -> int:
    return check_whole(name, value, least, most)


_span = _life = _rank = _count = _whole


def _group(name: str, value: Any, least: float, most: float) -> Any:
    return value  # the job's own check has seen it


def _start(name: str, value: Any, least: float, most: float) -> int:
    """Ticks are whole seconds."""
    return math.ceil(check_time(name, value, least, most))


def _end(name: str, value: Any, least: float, most: float) -> int:
    return math.floor(check_time(name, value, least, most))


_FORMS = {
    # @schedule pattern: "{name}": re.compile(r"{regex}\Z"),
    "expression": re.compile(r"((CRON_)?TZ=[!-~]+ +)?(@[!-~]+( +[!-~]+)?|[!-~]+( +[!-~]+){4,5})\Z"),
    "zone": re.compile(r"[A-Za-z0-9_+/-]+\Z"),
    # @end
}
_WORDS = {
    # @schedule choice: "{py}": ({quoted}),
    "catch_up": ("last", "none", "all"),
    "overlap": ("allow", "skip", "replace", "queue"),
    # @end
}
# Of each option its member, its tag, its check, its range, what is left out ("": only what nobody has said), and who has it.
_OPTIONS: Tuple[Tuple[str, str, Callable[[str, Any, float, float], Any], float, float, Any, str], ...] = (
    # @schedule option: ("{py}", "{name}", _{kind}, {least}, {most}, {usual}, "{owner}"),
    ("at", "at", _expression, 1, 256, 0, "schedule"),
    ("zone", "zone", _zone, 1, 64, "", "schedule"),
    ("catch_up", "catch_up", _choice, 0, 0, "last", "schedule"),
    ("overlap", "overlap", _choice, 0, 0, "allow", "schedule"),
    ("spread", "spread", _span, 0, 31536000, 0, "schedule"),
    ("late", "late", _span, 0, 31536000, 60, "schedule"),
    ("priority", "priority", _rank, -100, 100, 0, "job"),
    ("group", "group", _group, 1, 64, "", "job"),
    ("expires_in", "expires_in", _life, 1, 31536000, "", "job"),
    ("from_", "from", _start, 1e9, 1e11, "", "schedule"),
    ("until", "until", _end, 1e9, 1e11, "", "schedule"),
    ("limit", "limit", _count, 1, 1000000000, "", "schedule"),
    # @end
)


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
