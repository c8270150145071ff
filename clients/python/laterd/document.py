"""document.py: a job, and the document that is pushed for it."""
import base64
import datetime
import json
import math
import os
import re
from dataclasses import dataclass, field, replace
from typing import Any, Callable, Dict, Iterable, List, Optional, Sequence, Tuple, Union

from .bounds import DEPTH_MAX, DOCUMENT_MAX, EXPIRES_ROOM
from .errors import LaterdError, Refused

# @options wait.list: _{UPPER}_MAX = {most}  # {help}
_LIST_MAX = 32  # waits, one after the other; the last one is used again and again
# @end
_WAITS = (
    # @options member: "{name}",  # {help}
    "base",  # wait before the second attempt, doubled before each further one
    "max",  # longest wait
    # @end
)

# @options pattern: _{UPPER} = re.compile(r"{regex}\Z")
_TYPE = re.compile(r"[A-Za-z0-9_.:-]{1,128}\Z")
_LABEL = re.compile(r"[A-Za-z0-9_.-]{1,64}\Z")
_WORD = re.compile(r"[!-~]+\Z")
_NAME = re.compile(r"[!-z|~]+\Z")
_HOOK = re.compile(r"[A-Za-z0-9_.:-]{1,128}(@[A-Za-z0-9_.-]{1,64})?\Z")
# @end
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_LONG = re.compile(r"[0-9]{309}")  # digits: more than a number has that every reader can hold

Seconds = Union[float, datetime.timedelta]
Time = Union[float, datetime.datetime, datetime.timedelta]  # of expires_at a timedelta is expires_in
Waits = Union[float, List[float], Dict[str, float]]
Steps = Union[str, List[str]]
Unique = Union[bool, str, Sequence[str]]


class RawJSON(str):
    """A payload that is JSON text already. Its bytes are pushed unchanged, and looked through before."""


@dataclass
class NewJob:
    """A job to push. Seconds may be a timedelta, UNIX seconds an aware datetime. What is not given is
    as laterd is configured.

    payload: anything that json.dumps takes, or RawJSON.
    """

    type: str
    payload: Any = None
    # @options option: # {help} ({value})\n{py}: {python}
    # the same id is the same job (text)
    id: Optional[str] = None
    # -100 to 100, higher first (whole number)
    priority: int = 0
    # how long until it may run (seconds)
    delay: Optional[Seconds] = None
    # not before this time (UNIX seconds)
    at: Optional[Time] = None
    # failed attempts after which it is buried (whole number)
    max_attempts: Optional[int] = None
    # how long after its first failure it is tried again; what fails later is buried (seconds, above 0)
    retry_for: Optional[Seconds] = None
    # how long one attempt may run (seconds, above 0)
    timeout: Optional[Seconds] = None
    # wait before each next attempt, or a list of waits (seconds, a list of them, or base and max)
    backoff: Optional[Waits] = None
    # if it has not begun by then, it is dropped (UNIX seconds)
    expires_at: Optional[Time] = None
    # if it has not begun this long from now, it is dropped (seconds, above 0)
    expires_in: Optional[Seconds] = None
    # how long its result is kept (seconds, above 0)
    result: Optional[Seconds] = None
    # it runs only while it holds this lock (text)
    lock: Optional[str] = None
    # whose job it is: groups share a queue fairly (text)
    group: Optional[str] = None
    # logged with each line of the job (text)
    trace: Optional[str] = None
    # what it is, for people who look at it (text)
    description: Optional[str] = None
    # push a job of this type when it is dead (TYPE, or TYPE@QUEUE)
    on_dead: Optional[str] = None
    # push a job of this type when it is done (TYPE, or TYPE@QUEUE)
    on_done: Optional[str] = None
    # the flow that it belongs to (name)
    flow: Optional[str] = None
    # its name in the flow (name)
    step: Optional[str] = None
    # steps of the flow that it waits for; *: all jobs without * (list of names, or *)
    after: Optional[Steps] = None
    # how they must end: all done, all ended, or one failed (done, ended or failed)
    when: Optional[str] = None
    # the running job of the flow that adds this one to it (text)
    adder: Optional[str] = None
    # the queue that its flow lies in, if that is another one (name)
    home: Optional[str] = None
    # among the jobs of a whole flow: the queue that it goes into (name)
    queue: Optional[str] = None
    # the id stays taken this long after the job has ended (seconds)
    unique_for: Optional[Seconds] = None
    # replace a job of this id that waits (yes or no)
    replace: bool = False
    # replace a job of this id that waits; if it runs, run this after it (yes or no)
    again: bool = False
    # begin after this long without another push of the id (seconds)
    debounce: Optional[Seconds] = None
    # with debounce: but at the latest this long after the first push (seconds, above 0)
    max_wait: Optional[Seconds] = None
    # the id stays taken this long from now, at least until the job ends (seconds, above 0)
    throttle: Optional[Seconds] = None
    # @end
    # its id is a hash of type and payload, or of these members of it: what is pushed twice is one job
    unique: Unique = False
    # what middleware carries along (locale, tenant …): any JSON, by name; laterd hands it on
    context: Dict[str, Any] = field(default_factory=dict)


def job_of(type: str, arguments: Dict[str, Any]) -> NewJob:
    """arguments: locals() of a method that has the options of NewJob as its own; is changed."""
    for name in ("self", "type", "queue"):
        arguments.pop(name, None)
    arguments["context"] = arguments["context"] or {}
    return NewJob(type, **arguments)


def new_id() -> str:
    """Returns a new id: 14 random letters and digits, which are 83 bits. It is short because
    Redis keeps it twice."""
    return base64.b64encode(os.urandom(11), b"01")[:14].decode()


def check_label(name: str, value: Any) -> str:
    if not isinstance(value, str) or not _LABEL.match(value):
        raise Refused("%s: must be 1 to 64 letters, digits and _ . - (%.70r)" % (name, value))
    return value


def check_queue(queue: str) -> None:
    check_label("queue", queue)


# ---- checks


Check = Callable[[str, Any, float, float], str]


def _matching(form: "re.Pattern[str]", must: str) -> Check:
    def check(name: str, value: Any, least: float, most: float) -> str:
        if not isinstance(value, str) or not form.match(value) or len(value) > most:
            raise Refused("%s: must be %s (%.70r)" % (name, must.replace("N", "%d" % most), value))
        return value

    return check


_word = _matching(_WORD, "1 to N printable ASCII characters without space")
_name = _matching(_NAME, "1 to N printable ASCII characters without space or brace")
_hook = _matching(_HOOK, "a type, or TYPE@QUEUE of at most N characters")


def _text(name: str, value: Any, least: float, most: float) -> str:
    if not isinstance(value, str) or len(_utf8(name, value)) > most or _CONTROL.search(value):
        raise Refused("%s: must be text of at most %d bytes without control characters" % (name, most))
    return value


def _seconds(name: str, value: Any, least: float, most: float) -> float:
    if isinstance(value, datetime.timedelta):
        value = value.total_seconds()
    good = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    if not good or not least <= value <= most:
        raise Refused("%s: must be a number from %s to %s (%.70r)" % (name, least, most, value))
    number: float = value
    return number


def _span(name: str, value: Any, least: float, most: float) -> float:
    number = _seconds(name, value, least, most)
    if number == least:
        raise Refused("%s: must be above %s, at most %s (%r)" % (name, least, most, value))
    return number


def _whole(name: str, value: Any, least: float, most: float) -> int:
    number = _seconds(name, value, least, most)
    if number != int(number):
        raise Refused("%s: must be a whole number (%r)" % (name, value))
    return int(number)


_count = _whole


def _time(name: str, value: Any, least: float, most: float) -> float:
    if isinstance(value, datetime.datetime):
        if value.tzinfo is None:
            raise Refused("%s: a datetime without time zone" % name)
        value = value.timestamp()
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise Refused("%s: must be UNIX seconds, or a datetime with its zone (%.70r)" % (name, value))
    at: float = value
    if not least <= at < most:
        duration = {"at": "; for a duration use delay", "expires_at": "; for a duration use expires_in"}
        raise Refused("%s: %.15g is not a plausible UNIX time%s" % (name, at, duration.get(name, "")))
    return at


check_word, check_seconds, check_whole, check_time = _word, _seconds, _whole, _time  # for what is no option of a job


def _waits(name: str, value: Any, least: float, most: float) -> Any:
    if isinstance(value, (list, tuple)):
        if not 1 <= len(value) <= _LIST_MAX:
            raise Refused("%s: must be a list of 1 to %d numbers (%d)" % (name, _LIST_MAX, len(value)))
        return [_seconds(name, wait, least, most) for wait in value]
    if isinstance(value, dict):
        if not value or set(value) - set(_WAITS):
            raise Refused("%s: must have some of %s, nothing else" % (name, ", ".join(_WAITS)))
        return {part: _seconds(name + "." + part, wait, least, most) for part, wait in value.items()}
    return _seconds(name, value, least, most)


def _flag(name: str, value: Any, least: float, most: float) -> bool:
    if not isinstance(value, bool):
        raise Refused("%s: must be True or False (%r)" % (name, value))
    return value


def _label(name: str, value: Any, least: float, most: float) -> str:
    return check_label(name, value)


def _steps(name: str, value: Any, least: float, most: float) -> List[str]:
    steps = [value] if isinstance(value, str) else value
    if steps == ["*"]:
        return ["*"]
    if not isinstance(steps, (list, tuple)) or not least <= len(steps) <= most:
        raise Refused("%s: must be a list of 1 to %d steps, or * for all jobs" % (name, most))
    return [check_label(name, step) for step in steps]


def _fate(name: str, value: Any, least: float, most: float) -> str:
    if value not in ("done", "ended", "failed"):
        raise Refused("%s: must be done, ended or failed (%.70r)" % (name, value))
    return str(value)


# What the option is called here and in Redis, its check, and its range.
_DOCUMENT: Tuple[Tuple[str, str, Any, float, float], ...] = (
    # @options document: ("{py}", "{name}", _{kind}, {least}, {most}),
    ("id", "id", _word, 1, 200),
    ("priority", "priority", _whole, -100, 100),
    ("max_attempts", "max_attempts", _count, 1, 1000000),
    ("retry_for", "retry_for", _span, 0, 315360000),
    ("timeout", "timeout", _span, 0, 604800),
    ("backoff", "backoff", _waits, 0, 1e300),
    ("expires_at", "expires_at", _time, 1e9, 1e300),
    ("result", "result", _span, 0, 315360000),
    ("lock", "lock", _name, 1, 200),
    ("group", "group", _name, 1, 64),
    ("trace", "trace", _text, 0, 256),
    ("description", "description", _text, 0, 200),
    ("on_dead", "on_dead", _hook, 1, 193),
    ("on_done", "on_done", _hook, 1, 193),
    ("flow", "flow", _label, 1, 64),
    ("step", "step", _label, 1, 64),
    ("after", "after", _steps, 1, 100),
    ("when", "when", _fate, 1, 6),
    # @end
)
_PUSH: Tuple[Tuple[str, str, Any, float, float], ...] = (
    # @options line,item,tie,part: ("{py}", "{name}", _{kind}, {least}, {most}),
    ("delay", "in", _seconds, 0, 315360000),
    ("at", "at", _time, 1e9, 1e11),
    ("expires_in", "expires_in", _span, 0, 315360000),
    ("adder", "adder", _word, 1, 200),
    ("home", "home", _label, 1, 64),
    ("queue", "queue", _label, 1, 64),
    ("unique_for", "unique_for", _seconds, 0, 1000000000),
    ("replace", "replace", _flag, 0, 1),
    ("again", "again", _flag, 0, 1),
    ("debounce", "debounce", _seconds, 0, 315360000),
    ("max_wait", "max_wait", _span, 0, 315360000),
    ("throttle", "throttle", _span, 0, 1000000000),
    # @end
)
# These go with an id.
_NAMED = (
    # @options named: "{py}",
    "unique_for",
    "again",
    "debounce",
    "throttle",
    # @end
)


def _checked(job: NewJob, options: Tuple[Tuple[str, str, Any, float, float], ...]) -> Dict[str, Any]:
    """Returns those of the options that are given, by their names in Redis."""
    given = {}
    for option, name, check, least, most in options:
        value = getattr(job, option)
        if value is not None:
            given[name] = check(option, value, least, most)
    return given


def _utf8(name: str, text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise Refused("%s: half a surrogate pair" % name) from None


# ---- the payload


def _no_twins(pairs: Any) -> Dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a member is there twice")
    if any("\0" in name for name in found):
        raise ValueError("a name with a NUL")
    return found


def _no_constant(word: str) -> None:
    raise ValueError("%s is no JSON" % word)


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError("a number is too large (%.20s…)" % digits)
    return number


def _strict(name: str, text: str) -> None:
    """Refuses what is no JSON, and what Python takes, but laterd buries (doc/protocol.md, "The document")."""
    try:
        value = json.loads(text, object_pairs_hook=_no_twins, parse_constant=_no_constant,
                           parse_float=_finite, parse_int=_finite)
    except (ValueError, RecursionError) as error:
        raise Refused("%s: %s" % (name, error)) from None
    _utf8(name, json.dumps(value, ensure_ascii=False))


def _has_twins(value: Any) -> bool:
    """May two names in it be the same in JSON? There 1 is "1"."""
    if isinstance(value, dict):
        if any(not isinstance(name, str) for name in value) and len(value) > 1:
            return True
        value = value.values()
    return any(isinstance(part, (dict, list, tuple)) and _has_twins(part) for part in value)


def _depth(text: bytes) -> int:
    """Returns how deep lists and objects are nested in this JSON."""
    deepest = depth = 0
    for bracket in re.findall(rb'"(?:[^"\\]|\\.)*"|[][{}]', text):
        if bracket in (b"[", b"{"):
            depth += 1
            deepest = max(deepest, depth)
        elif bracket in (b"]", b"}"):
            depth -= 1
    return deepest


def _member(name: str, value: Any) -> bytes:
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise Refused("%s: %s" % (name, error)) from None
    if _LONG.search(text) or "\\u0000" in text or isinstance(value, (dict, list, tuple)) and _has_twins(value):
        _strict(name, text)
    return _utf8(name, text)


def payload_bytes(payload: Any) -> bytes:
    if not isinstance(payload, RawJSON):
        return _member("payload", payload)
    _strict("payload", payload)
    return _utf8("payload", payload.strip(" \t\r\n"))


# ---- the document


@dataclass
class Prepared:
    """A job in the form that the scripts take."""

    id: str
    when: str
    priority: str
    document: bytes
    mode: str  # new, replace, again
    # Of a job of a flow; empty where there is none.
    flow: str = ""
    step: str = ""
    after: str = ""  # with commas between
    fate: str = "done"
    adder: str = ""
    home: str = ""
    queue: str = ""

    @property
    def plain(self) -> bool:
        """Is push_now enough?"""
        return self.when == "" and self.priority == "0" and self.mode == "new" and not self.flow


def seconds(number: float) -> str:
    """Formats plain decimals, since the scripts do not take 1e-7."""
    return "%.6f" % number if number != int(number) else "%d" % number


def _check_turns(job: NewJob) -> None:
    """Checks options that need an id, and options that exclude each other."""
    for name in _NAMED if job.id is None else ():
        if getattr(job, name):
            raise Refused("%s: goes with id or unique: the same id is the same job" % name)
    if (job.debounce is not None) + (job.delay is not None) + (job.at is not None) > 1:
        raise Refused("debounce, delay and at: only one of them")
    if job.max_wait is not None and job.debounce is None:
        raise Refused("max_wait: goes with debounce")
    if job.throttle is not None and job.unique_for:
        raise Refused("throttle and unique_for: only one of them")
    if job.expires_in is not None and job.expires_at is not None:
        raise Refused("expires_at and expires_in: only one of them")
    if job.expires_in is not None and job.at is not None:
        raise Refused("at and expires_in: give the time by expires_at")


def _check_tie(job: NewJob) -> None:
    """Checks what ties it to a flow. Some of what a push can do, the push into a flow cannot."""
    if job.flow is None:
        for name in ("step", "after", "when", "adder", "home"):
            if getattr(job, name) is not None:
                raise Refused("%s: goes with flow" % name)
        return
    for name in ("expires_in", "unique_for", "replace", "again", "debounce", "throttle"):
        if getattr(job, name) not in (None, False):
            raise Refused("%s: not for a job of a flow" % name)
    if job.when is not None and job.after is None:
        raise Refused("when: goes with after")


def _id(job: NewJob) -> str:
    if job.id is not None:
        return job.id
    return "%s.%s" % (job.flow, job.step) if job.step is not None else new_id()


def _when(push: Dict[str, Any]) -> str:
    """Returns when it may begin, and in how many seconds it expires, in the form of the script."""
    wait = push.get("debounce", push.get("in", 0))
    when = ""
    if "at" in push:
        when = seconds(push["at"])
    elif "debounce" in push or wait > 0:
        when = "+" + seconds(wait)
    if "max_wait" in push:
        when += "/" + seconds(push["max_wait"])
    if "expires_in" in push:
        if wait >= push["expires_in"]:
            raise Refused("expires_in: %s seconds from now it is not due yet, and would be lost"
                          % push["expires_in"])
        when += "!" + seconds(push["expires_in"])
    return when


def _rank(members: Dict[str, Any], push: Dict[str, Any]) -> str:
    """Returns the priority, how long the id stays taken, and the group, in the form of the script."""
    rank = "%d" % members.get("priority", 0)
    if "throttle" in push:
        rank += "/+" + seconds(push["throttle"])
    elif push.get("unique_for"):
        rank += "/" + seconds(push["unique_for"])
    return "%s@%s" % (rank, members["group"]) if "group" in members else rank


def _document(job: NewJob, job_id: str) -> Dict[str, Any]:
    if not isinstance(job.type, str) or not _TYPE.match(job.type):
        raise Refused("type: must be 1 to 128 letters, digits and _ . : - (%.70r)" % (job.type,))
    members: Dict[str, Any] = {"type": job.type, "id": job_id}
    members.update(_checked(job, _DOCUMENT))
    if members.get("priority") == 0:
        del members["priority"]
    if job.context:
        members["context"] = json.loads(_member("context", dict(job.context)))
    return members


def _written(job: NewJob, members: Dict[str, Any]) -> bytes:
    document = json.dumps(members, separators=(",", ":"), ensure_ascii=False).encode()
    if job.payload is not None:
        payload = payload_bytes(job.payload)
        if _depth(payload) >= DEPTH_MAX:
            raise Refused("payload: nested deeper than %d levels" % (DEPTH_MAX - 1))
        document = document[:-1] + b',"payload":' + payload + b"}"
    size = len(document) + (EXPIRES_ROOM if job.expires_in is not None else 0)
    if size > DOCUMENT_MAX:
        named = job.type if job.id is None else "%s, id %s" % (job.type, job.id)
        raise Refused("too large: %s: a document of %d bytes, %d allowed" % (named, size, DOCUMENT_MAX))
    return document


# What a schedule decides, or what a job of a schedule cannot be.
_NOT_SCHEDULED = (
    "id", "unique",
    # @options one: "{py}",
    "delay",
    "at",
    "expires_at",
    "flow",
    "step",
    "after",
    "when",
    "adder",
    "home",
    "queue",
    "unique_for",
    "replace",
    "again",
    "debounce",
    "max_wait",
    "throttle",
    # @end
)


def prepare_scheduled(job: NewJob) -> bytes:
    """Checks a job of a schedule and builds its document; raises Refused. It has no id and no priority."""
    for option in _NOT_SCHEDULED:
        if getattr(job, option) not in (None, False):
            raise Refused("%s: not for a job of a schedule" % option)
    _checked(job, _PUSH)
    members = _document(job, "")
    del members["id"]
    members.pop("priority", None)
    return _written(job, members)


def prepare(job: NewJob) -> Prepared:
    """Checks a job and builds its document; raises Refused."""
    if isinstance(job.expires_at, datetime.timedelta) and job.expires_in is None:
        job = replace(job, expires_in=job.expires_at, expires_at=None)
    _check_turns(job)
    _check_tie(job)
    job_id = _id(job)
    push = _checked(job, _PUSH)
    when = _when(push)
    members = _document(job, job_id)
    document = _written(job, members)
    mode = "again" if job.again or job.debounce is not None else "replace" if job.replace else "new"
    return Prepared(job_id, when, _rank(members, push), document, mode, members.get("flow", ""),
                    members.get("step", ""), ",".join(members.get("after", ())),
                    members.get("when", "done"), push.get("adder", ""), push.get("home", ""), push.get("queue", ""))


def prepare_one(job: NewJob) -> Prepared:
    """As prepare(), for push(), which has its own word for the queue."""
    if job.queue is not None:
        raise Refused("queue: for the jobs of push_many() and flow()")
    return prepare(job)


def prepare_many(jobs: Iterable[NewJob]) -> List[Prepared]:
    """As prepare(), for push_many(), which takes no jobs of flows."""
    items = []
    for number, job in enumerate(jobs, 1):
        try:
            items.append(prepare(job))
            if items[-1].flow:
                raise Refused("flow: not here; flow() pushes many jobs of a flow, push() one")
        except LaterdError as error:
            raise type(error)("job %d: %s" % (number, error)) from None
    return items
