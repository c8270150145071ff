"""unique.py: an id that says what a job is: doc/protocol.md, "An id of type and payload"."""
import hashlib
import json
from dataclasses import replace
from decimal import Decimal
from typing import Any

from .document import NewJob, Unique, payload_bytes
from .errors import Refused

WHOLE_MAX = (1 << 53) - 1  # above it, not every whole number is one of its own in a float


def unique_id(type: str, payload: Any = None, unique: Unique = True) -> str:
    """Returns the id that push() gives a job of this type and payload. unique: as of NewJob."""
    value = json.loads(payload_bytes(payload))
    if unique is not True:
        value = _chosen(value, [unique] if isinstance(unique, str) else unique)
    return hashlib.sha256(_text([type, value]).encode()).hexdigest()[:32]


def named(job: NewJob) -> NewJob:
    """Returns the job with the id that its `unique` means."""
    if job.unique is False:
        return job
    if job.id is not None:
        raise Refused("id and unique: only one of them")
    return replace(job, id=unique_id(job.type, job.payload, job.unique), unique=False)


def _chosen(value: Any, names: Any) -> Any:
    if not isinstance(names, (list, tuple)) or not names or not all(isinstance(name, str) for name in names):
        raise Refused("unique: must be True, or names of members of the payload (%.70r)" % (names,))
    for name in names:
        if not isinstance(value, dict) or name not in value:
            raise Refused("unique: the payload has no member %.70r" % name)
    return {name: value[name] for name in names}


def _text(value: Any) -> str:
    """Returns the JSON of RFC 8785, which is the same bytes in every language."""
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: str(name).encode("utf-16-be"))
        return "{%s}" % ",".join("%s:%s" % (_text(name), _text(value[name])) for name in names)
    if isinstance(value, list):
        return "[%s]" % ",".join(map(_text, value))
    return _number(value) if isinstance(value, float) else json.dumps(value, ensure_ascii=False)


def _number(value: float) -> str:
    if value == int(value):
        if abs(value) > WHOLE_MAX:
            raise Refused("unique: %r: above 2^53, not every language has the same number; make it text" % value)
        return str(int(value))
    digits, _, exponent = repr(value).partition("e")
    if exponent and abs(value) >= 1e-6:
        return format(Decimal(digits + "e" + exponent), "f")
    return "%se%d" % (digits, int(exponent)) if exponent else digits
