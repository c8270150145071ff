"""answers.py: what a program of handlers writes to laterd, one JSON object per line.

later-job(3), section exec, describes it. laterd takes no other line, so what a handler says is made
fit for one here.
"""
import collections
import json
import logging
import math
import os
import threading
import traceback
from typing import TYPE_CHECKING, Any, Callable, Deque, Dict, List, Optional

if TYPE_CHECKING:
    import asyncio

    from .handlers import Job

# @answers said: {UPPER}_MAX = {most}  # {help}
ERROR_MAX = 1000  # bytes of an error that are kept
TEXT_MAX = 16384  # bytes of a text for the log that a client sends
VALUE_MAX = 65536  # bytes of a value or a checkpoint
LEVELS_MAX = 128  # levels of a value or a checkpoint
# @end

_ENCODER = json.JSONEncoder(separators=(",", ":"), allow_nan=False, ensure_ascii=False)
_OWN = ("laterd", "asyncio", "importlib")  # packages whose frames above a handler's say nothing


class TooMuch(Exception):
    """The value is JSON, but laterd does not keep it."""


def _unicode(text: str) -> str:
    """Returns the text with U+FFFD for each half of a surrogate pair."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def text_of(said: Any, most: int = TEXT_MAX) -> str:
    """Returns a text that laterd takes: without NUL and half characters, and cut to this many
    bytes."""
    try:
        text = str(said)
    except Exception as error:
        text = "%s, whose text cannot be had (%s)" % (type(said).__name__, type(error).__name__)
    return _unicode(text.replace("\0", "\ufffd")).encode()[:most].decode(errors="ignore")


def number_of(said: Any) -> float:
    """Returns a number that JSON has: 0 if it is none."""
    try:
        number = float(said)
    except (TypeError, ValueError, OverflowError):
        return 0
    return int(number) if number.is_integer() and abs(number) < 1 << 53 else number if math.isfinite(number) else 0


def error_of(error: BaseException) -> str:
    """Returns the last line of the error's traceback, and then the traceback: as much of its end
    as laterd keeps. Frames of laterd's own above the handler's are left out."""
    frame = error.__traceback__
    while frame and str(frame.tb_frame.f_globals.get("__name__")).partition(".")[0] in _OWN:
        frame = frame.tb_next
    try:
        said = "".join(traceback.format_exception_only(type(error), error)).strip()
        said = "%s: %s" % (type(error).__name__, error) if isinstance(error, SyntaxError) else said  # else the place goes first
        where = "".join(traceback.format_exception(type(error), error, frame)).strip()
    except Exception as fault:
        said, where = "%s, whose traceback cannot be had (%s)" % (type(error).__name__, type(fault).__name__), ""
    if where.endswith(said):
        where = where[:-len(said)].rstrip()
    said, lines = text_of(said, ERROR_MAX), text_of(where, len(where) * 4).split("\n")
    while sum(len(line.encode()) + 1 for line in lines) > ERROR_MAX - len(said.encode()):
        del lines[0]
    return "\n".join([said, *lines]).rstrip("\n")


def _is_deep(value: Any) -> bool:
    level: List[Any] = [[value]]  # lists, tuples and dicts
    for _ in range(LEVELS_MAX + 1):
        level = [part for one in level for part in (one.values() if isinstance(one, dict) else one)
                 if isinstance(part, (list, tuple, dict))]
        if not level:
            return False
    return True


def value_text(value: Any) -> str:
    """Returns the value as JSON. Raises TooMuch, or whatever the encoder raises for what is not
    JSON."""
    try:
        text = _ENCODER.encode(value)
    except RecursionError:
        raise TooMuch("it is deeper than %d levels" % LEVELS_MAX) from None
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        text = _unicode(text)
        size = len(text.encode())
    if size > VALUE_MAX:
        raise TooMuch("it has %d bytes of JSON, and at most %d are kept" % (size, VALUE_MAX))
    if size > 2 * LEVELS_MAX and _is_deep(value):  # a shorter one has too few brackets
        raise TooMuch("it is deeper than %d levels" % LEVELS_MAX)
    return text


def checkpoint_line(id: str, state: Any) -> str:
    """Returns the line that leaves a checkpoint; raises ValueError if laterd would not keep it."""
    try:
        return '{"id":%s,"checkpoint":%s}' % (_ENCODER.encode(id), value_text(state))
    except TooMuch as why:
        raise ValueError("its checkpoint cannot be kept: %s" % why) from None
    except Exception as error:
        raise ValueError("its checkpoint is not JSON: %s" % error) from error


def lines_of(answer: Dict[str, Any]) -> List[str]:
    """Returns the lines for an answer. The handler has done its work, so a value that cannot be
    sent has nothing run again: what is no JSON buries the job if somebody wants it, and what is too
    much for laterd is left out, with a line for the log."""
    rest = {name: part for name, part in answer.items() if name != "value"}
    try:
        if "value" not in answer:
            return [_ENCODER.encode(rest)]
        return ['%s,"value":%s}' % (_ENCODER.encode(rest)[:-1], value_text(answer["value"]))]
    except TooMuch as why:
        told = {"log": "error", "text": "its value is not sent: %s" % why, "id": answer["id"]}
        return [_ENCODER.encode(told), _ENCODER.encode(rest)]
    except Exception as error:
        said = "its value is not JSON: %s: %s" % (type(error).__name__, text_of(error))
        return [_ENCODER.encode({**rest, "result": "bury", "error": text_of(said, ERROR_MAX), "done": True})]


class Answers:
    """Descriptor 3. The lines of one turn of the loop are written together; but each is written at once
    while a function runs in the loop's own thread (`inline`), or where jobs come one by one (`at_once`)."""

    def __init__(self, fd: int):
        self.inline = self.at_once = False
        self.read: Callable[[], None] = lambda: None  # takes what laterd has written, without waiting
        self._fd = fd
        self._waiting: Deque[str] = collections.deque()
        self._flushing = False
        self._loop: "Optional[asyncio.AbstractEventLoop]" = None
        self._thread = threading.get_ident()
        self._lock = threading.Lock()
        self._writing = False  # the loop's thread is
        self._put_off: Optional[BaseException] = None
        os.set_inheritable(fd, False)

    def attach(self, loop: "asyncio.AbstractEventLoop") -> None:
        self._loop = loop

    def put(self, answer: Dict[str, Any]) -> None:
        """May be called from any thread."""
        for line in lines_of(answer):
            self.put_line(line)

    def look(self) -> None:
        """While a function runs in the loop's own thread, nobody else reads."""
        if self.inline:
            self.read()

    def put_line(self, line: str) -> None:
        self._waiting.append(line)
        if self.inline or self.at_once:
            self.flush()
        elif self._loop and not self._flushing:
            self._flushing = True
            if threading.get_ident() == self._thread:
                self._loop.call_soon(self.flush)
            else:
                self._loop.call_soon_threadsafe(self.flush)

    def flush(self) -> None:
        own = threading.get_ident() == self._thread
        self._flushing = False  # first, so that a later caller schedules the next flush
        with self._lock:
            self._writing = own
            try:
                self._write()
            finally:
                self._writing = False
        if own and self._put_off:
            put_off, self._put_off = self._put_off, None
            raise put_off

    def _write(self) -> None:
        lines = []
        while self._waiting:
            lines.append(self._waiting.popleft())
        lines.append("")
        data = memoryview("\n".join(lines).encode(errors="replace"))
        while data:
            data = data[os.write(self._fd, data):]

    def interrupt(self, error: BaseException) -> None:
        """Raises the error, from a signal: but only behind a line that is half written."""
        if not self._writing:
            raise error
        self._put_off = error


class LogHandler(logging.Handler):
    """Passes log records on as lines of laterd's log, with the fields of their job."""

    LEVELS = ((logging.ERROR, "error"), (logging.WARNING, "warn"), (logging.INFO, "info"))

    def __init__(self, answers: Answers, current: "Callable[[], Optional[Job]]"):
        super().__init__()
        self._answers, self._current = answers, current

    def emit(self, record: logging.LogRecord) -> None:
        try:
            level = next((name for least, name in self.LEVELS if record.levelno >= least), "debug")
            line = {"log": level, "text": text_of(self.format(record))}
            job = self._current()
            if job:
                line["id"] = job.id
            self._answers.put(line)
        except Exception:
            self.handleError(record)
