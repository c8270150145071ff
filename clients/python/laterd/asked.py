"""asked.py: what pause(), reschedule(), search(), wait_many() are asked, for clients and Fakes."""
import json
from dataclasses import dataclass
from typing import Any, List, Optional, Sequence, Tuple

from .bounds import FOUND_MAX, PAUSE_MAX, WAITED_MAX
from .document import NewJob, Seconds, Time, check_seconds, check_word, prepare_one
from .errors import Refused

STATES = ("reserved", "ready", "delayed", "dead", "waiting")


def pause_words(seconds: Optional[Seconds], by: str) -> List[Any]:
    """Returns how the script takes them: milliseconds, 0 without an end, and who pauses."""
    if by:
        check_word("by", by, 1, 64)
    return [0 if seconds is None else round(1000 * check_seconds("seconds", seconds, 0.001, PAUSE_MAX)), by]


def reschedule_words(delay: Optional[Seconds], at: Optional[Time], priority: Optional[int]) -> List[Any]:
    """Returns how the script takes them, with '' for what stays."""
    if delay is None and at is None and priority is None:
        raise Refused("reschedule: delay, at or priority")
    one = prepare_one(NewJob("reschedule", delay=delay, at=at, priority=priority or 0))
    stays = delay is None and at is None
    return [one.when or ("" if stays else "+0"), "" if priority is None else one.priority]


def check_ids(ids: Sequence[str]) -> List[str]:
    if isinstance(ids, str) or not 1 <= len(ids) <= WAITED_MAX:
        raise Refused("ids: must be a list of 1 to %d" % WAITED_MAX)
    return list(ids)


@dataclass(frozen=True)
class Search:
    """The conditions of a search; None: any."""

    state: Optional[str] = None
    type: Optional[str] = None
    text: Optional[str] = None
    limit: int = 100

    def __post_init__(self) -> None:
        if self.state not in (None, "done", *STATES):
            raise Refused("state: must be done or one of %s (%.70r)" % (", ".join(STATES), self.state))
        if isinstance(self.limit, bool) or not isinstance(self.limit, int) or not 1 <= self.limit <= FOUND_MAX:
            raise Refused("limit: must be a whole number from 1 to %d (%r)" % (FOUND_MAX, self.limit))
        for name, value in (("type", self.type), ("text", self.text)):
            if value is not None and (not isinstance(value, str) or not value):
                raise Refused("%s: must be text (%.70r)" % (name, value))

    @property
    def states(self) -> Tuple[str, ...]:
        """Those that are looked through. What is done and kept is found only if it is asked for."""
        return (self.state,) if self.state else STATES

    def fits(self, document: bytes) -> bool:
        """Does the job meet the conditions? Its text is looked for as it is written and without escapes."""
        try:
            read = json.loads(document)
        except ValueError:
            read = None  # a plain ZADD may be anything
        kind = read.get("type") if isinstance(read, dict) else None
        if self.type is not None and not self._is_type(kind):
            return False
        return (self.text is None or self.text in document.decode(errors="replace")
                or self.text in json.dumps(read, ensure_ascii=False, separators=(",", ":")))

    def _is_type(self, kind: Any) -> bool:
        wanted = self.type or ""
        return isinstance(kind, str) and (kind == wanted or wanted[-1:] == "*" and kind.startswith(wanted[:-1]))
