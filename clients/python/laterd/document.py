"""A job, and the document that is pushed for it."""
import base64
import datetime
import json
import math
import os
import re
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Union

from .errors import Refused

DOCUMENT_MAX = 1 << 20
DEPTH_MAX = 128
DELAY_MAX = 315360000
AT_MIN, AT_END = 10**9, 10**11
EXPIRES_ROOM = 40  # bytes that expires_in adds to a document, in Redis

_TYPE = re.compile(r"[A-Za-z0-9_.:-]{1,128}\Z")
_ID = re.compile(r"[!-~]{1,200}\Z")
_QUEUE = re.compile(r"[A-Za-z0-9_.-]{1,64}\Z")
_LOCK = re.compile(r"[!-z|~]{1,200}\Z")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")

Seconds = Union[float, datetime.timedelta]


class RawJSON(str):
    """A payload that is JSON text already. Its bytes are pushed unchanged."""


@dataclass
class NewJob:
    """A job to push.

    payload        anything that json.dumps takes, or RawJSON
    id             the same id is the same job; by default a new one is made
    priority       -100 to 100, higher first
    delay, at      seconds or a timedelta from now; UNIX seconds or an aware datetime. Not both
    max_attempts, timeout, backoff    by default as laterd is configured
    expires_at     if it has not begun by then, it is dropped: UNIX seconds or an aware datetime; a
                   timedelta is expires_in
    expires_in     the same, seconds or a timedelta from now
    trace          logged with each line of the job
    lock           the job runs only while it holds this lock
    result         seconds for which its result is kept, for wait()
    unique_for     seconds for which the id stays taken after the job has ended
    replace        replace a ready or delayed job of this id
    again          like replace, but if the job runs, this one (or the last of several) is pushed
                   when it ends
    debounce       seconds, like delay; each such push of the id puts the job off again
    max_wait       with debounce: at most this long after the first push
    throttle       seconds from now for which the id stays taken: at most one job in that time
    """

    type: str
    payload: Any = None
    id: Optional[str] = None
    priority: int = 0
    delay: Optional[Seconds] = None
    at: Union[float, datetime.datetime, None] = None
    max_attempts: Optional[int] = None
    timeout: Optional[Seconds] = None
    backoff: Union[float, List[float], Dict[str, float], None] = None
    expires_at: Union[float, datetime.datetime, datetime.timedelta, None] = None
    trace: Optional[str] = None
    lock: Optional[str] = None
    result: Optional[Seconds] = None
    unique_for: Seconds = 0
    replace: bool = False
    again: bool = False
    debounce: Optional[Seconds] = None
    max_wait: Optional[Seconds] = None
    throttle: Optional[Seconds] = None
    expires_in: Optional[Seconds] = None


def new_id() -> str:
    """Returns a new id: 14 random letters and digits, which are 83 bits. It is short because
    Redis keeps it twice."""
    return base64.b64encode(os.urandom(11), b"01")[:14].decode()


def check_queue(queue: str) -> None:
    if not isinstance(queue, str) or not _QUEUE.match(queue):
        raise Refused("queue: must be 1 to 64 letters, digits and _ . - (%.70r)" % (queue,))


# ---- checks


def _text(name: str, value: Any, pattern: "re.Pattern[str]", what: str) -> str:
    if not isinstance(value, str) or not pattern.match(value):
        raise Refused("%s: must be %s (%.70r)" % (name, what, value))
    return value


def _number(name: str, value: Any, least: float, most: float, above: bool = False) -> float:
    if isinstance(value, datetime.timedelta):
        value = value.total_seconds()
    good = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    if not good or not least <= value <= most or (above and value == least):
        raise Refused("%s: must be a number %s %s, at most %s (%r)"
                      % (name, "above" if above else "from", least, most, value))
    number: float = value
    return number


def _whole(name: str, value: Any, least: int, most: int) -> int:
    number = _number(name, value, least, most)
    if number != int(number):
        raise Refused("%s: must be a whole number (%r)" % (name, value))
    return int(number)


def _time(name: str, value: Any, least: float, most: float) -> float:
    if isinstance(value, datetime.datetime):
        if value.tzinfo is None:
            raise Refused("%s: a datetime without time zone" % name)
        value = value.timestamp()
    return _number(name, value, least, most)


def _backoff(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        if not 1 <= len(value) <= 32:
            raise Refused("backoff: must be a list of 1 to 32 numbers (%d)" % len(value))
        return [_number("backoff", wait, 0, math.inf) for wait in value]
    if isinstance(value, dict):
        if not value or set(value) - {"base", "max"}:
            raise Refused("backoff: must have base, max or both, nothing else")
        return {name: _number("backoff." + name, wait, 0, math.inf) for name, wait in value.items()}
    return _number("backoff", value, 0, math.inf)


def _trace(value: Any) -> str:
    if not isinstance(value, str) or len(_utf8("trace", value)) > 256 or _CONTROL.search(value):
        raise Refused("trace: must be text of at most 256 bytes without control characters")
    return value


def _utf8(name: str, text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise Refused("%s: half a surrogate pair" % name) from None


# ---- the payload


def _no_twins(pairs: Any) -> Dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise Refused("payload: a member is there twice")
    return found


def _no_constant(word: str) -> None:
    raise Refused("payload: %s is no JSON" % word)


def _finite(digits: str) -> float:
    return _number("payload", float(digits), -math.inf, math.inf)


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


def _payload(payload: Any) -> bytes:
    if not isinstance(payload, RawJSON):
        try:
            text = json.dumps(payload, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        except (TypeError, ValueError, RecursionError) as error:
            raise Refused("payload: %s" % error) from None
        return _utf8("payload", text)
    try:
        value = json.loads(payload, object_pairs_hook=_no_twins, parse_constant=_no_constant,
                           parse_float=_finite)
        _utf8("payload", json.dumps(value, ensure_ascii=False))
    except (json.JSONDecodeError, RecursionError) as error:
        raise Refused("payload: %s" % error) from None
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

    @property
    def plain(self) -> bool:
        """Is push_now enough?"""
        return self.when == "" and self.priority == "0" and self.mode == "new"


def seconds(number: float) -> str:
    """Formats plain decimals, since the scripts do not take 1e-7."""
    return "%.6f" % number if number != int(number) else "%d" % number


def _check_turns(job: NewJob) -> None:
    """Checks options that need an id, and options that exclude each other."""
    for name in ("debounce", "throttle", "again"):
        if getattr(job, name) not in (None, False) and job.id is None:
            raise Refused("%s: goes with an id: the same id is the same job" % name)
    if job.debounce is not None and (job.delay is not None or job.at is not None):
        raise Refused("debounce, delay and at: only one of them")
    if job.max_wait is not None and job.debounce is None:
        raise Refused("max_wait: goes with debounce")
    if job.throttle is not None and job.unique_for:
        raise Refused("throttle and unique_for: only one of them")


def _life(job: NewJob) -> str:
    """Returns in how many seconds it expires, in the form of the script; "" if never."""
    if job.expires_at is not None and job.expires_in is not None:
        raise Refused("expires_at and expires_in: only one of them")
    life = job.expires_at if isinstance(job.expires_at, datetime.timedelta) else job.expires_in
    if life is None:
        return ""
    if job.at is not None:
        raise Refused("at and expires_in: give the time by expires_at")
    number = _number("expires_in", life, 0, DELAY_MAX, above=True)
    wait = job.delay if job.debounce is None else job.debounce
    if wait is not None and _number("delay", wait, 0, DELAY_MAX) >= number:
        raise Refused("expires_in: %s seconds from now it is not due yet, and would be lost" % number)
    return "!" + seconds(number)


def _expires_at(value: Any) -> float:
    at = _time("expires_at", value, -math.inf, 1e15)
    if at < AT_MIN:
        raise Refused("expires_at: %.15g is not a plausible UNIX time; for a duration use expires_in" % at)
    return at


def _when(job: NewJob) -> str:
    if job.debounce is not None:
        when = "+" + seconds(_number("debounce", job.debounce, 0, DELAY_MAX))
        if job.max_wait is None:
            return when
        return when + "/" + seconds(_number("max_wait", job.max_wait, 0, DELAY_MAX, above=True))
    if job.delay is not None and job.at is not None:
        raise Refused("delay and at: only one of them")
    if job.delay is not None:
        delay = _number("delay", job.delay, 0, DELAY_MAX)
        return "+" + seconds(delay) if delay > 0 else ""
    if job.at is None:
        return ""
    at = _time("at", job.at, 0, AT_END)
    if at < AT_MIN or at >= AT_END:
        raise Refused("at: %r are no UNIX seconds of this age; a delay is `delay`" % (job.at,))
    return seconds(at)


def _members(job: NewJob, job_id: str, priority: int) -> Dict[str, Any]:
    members: Dict[str, Any] = {
        "type": _text("type", job.type, _TYPE, "1 to 128 letters, digits and _ . : -"),
        "id": job_id,
    }
    if priority:
        members["priority"] = priority
    if job.max_attempts is not None:
        members["max_attempts"] = _whole("max_attempts", job.max_attempts, 1, 1000000)
    if job.timeout is not None:
        members["timeout"] = _number("timeout", job.timeout, 0, 604800, above=True)
    if job.backoff is not None:
        members["backoff"] = _backoff(job.backoff)
    if job.expires_at is not None and not isinstance(job.expires_at, datetime.timedelta):
        members["expires_at"] = _expires_at(job.expires_at)
    if job.trace is not None:
        members["trace"] = _trace(job.trace)
    if job.lock is not None:
        members["lock"] = _text("lock", job.lock, _LOCK,
                                "1 to 200 printable ASCII characters without space or brace")
    if job.result is not None:
        members["result"] = _number("result", job.result, 0, 86400, above=True)
    return members


def prepare(job: NewJob) -> Prepared:
    """Checks a job and builds its document; raises Refused."""
    if job.id is None:
        job_id = new_id()
    else:
        job_id = _text("id", job.id, _ID, "1 to 200 printable ASCII characters without space")
    priority = _whole("priority", job.priority, -100, 100)
    unique = _number("unique_for", job.unique_for, 0, 10**9)
    _check_turns(job)
    life = _life(job)
    when = _when(job) + life
    document = json.dumps(_members(job, job_id, priority), separators=(",", ":"),
                          ensure_ascii=False).encode()
    if job.payload is not None:
        payload = _payload(job.payload)
        if _depth(payload) >= DEPTH_MAX:
            raise Refused("payload: nested deeper than %d levels" % (DEPTH_MAX - 1))
        document = document[:-1] + b',"payload":' + payload + b"}"
    size = len(document) + (EXPIRES_ROOM if life else 0)
    if size > DOCUMENT_MAX:
        raise Refused("too large: a document of %d bytes, %d allowed" % (size, DOCUMENT_MAX))
    rank = "%d/%s" % (priority, seconds(unique)) if unique else "%d" % priority
    if job.throttle is not None:
        rank += "/+" + seconds(_number("throttle", job.throttle, 0, 10**9, above=True))
    mode = "again" if job.again or job.debounce is not None else "replace" if job.replace else "new"
    return Prepared(job_id, when, rank, document, mode)
