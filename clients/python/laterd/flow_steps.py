"""What a client does with flows: steps, as in steps.py, of a State."""
import time
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Optional, Sequence, Set, Tuple

from .document import NewJob, Prepared, check_label
from .errors import FlowClosed, FlowUnknown, QueueFull
from .flows import Flow, check, prepared
from .script import FLOW_PUSH
from .told import Pushed

if TYPE_CHECKING:
    from .steps import State, Steps

KEPT = 86400  # seconds that a flow is kept after its end
JOBS_MAX, BYTES_MAX = 200, 1 << 20  # per call
LOOK_EVERY = 0.2  # seconds between two looks of wait
COUNTS = ("total", "open", "waiting", "dead", "done", "gone", "skipped")


# ---- pushing


def push(state: "State", name: str, jobs: Iterable[NewJob], queue: str, is_open: bool) -> "Steps[List[Pushed]]":
    """First those that wait, so that nothing has begun whose successor is not there."""
    check_label("queue", queue)
    check_label("flow", name)
    items = prepared(name, jobs)
    check(items, is_open)
    yield from state.greet()
    yield from state.announce(queue)
    order = sorted(range(len(items)), key=lambda i: not items[i].after)
    results: List[Optional[Pushed]] = [None] * len(items)
    parts = _parts(order, items) or [[]]
    for part in parts:
        close = part is parts[-1] and not is_open
        yield from push_part(state, name, [items[i] for i in part], queue, close, part, results)
    return [one for one in results if one is not None]


def _parts(order: List[int], items: List[Prepared]) -> List[List[int]]:
    parts: List[List[int]] = []
    size = 0
    for i in order:
        if not parts or len(parts[-1]) == JOBS_MAX or size + len(items[i].document) > BYTES_MAX:
            parts.append([])
            size = 0
        parts[-1].append(i)
        size += len(items[i].document)
    return parts


def push_part(state: "State", name: str, part: List[Prepared], queue: str, close: bool,
              places: Sequence[int], results: List[Optional[Pushed]]) -> "Steps[None]":
    """To repeat it is safe: what is there is known."""
    args: List[Any] = [name, part[0].adder if part else "", int(close), KEPT]
    for one in part:
        args += [one.id, one.step, one.after, one.fate, one.when, one.priority, one.document]
    answers = yield FLOW_PUSH.call(state.prefix, queue, args, name)
    if not isinstance(answers, (list, tuple)):
        raise FlowClosed(name)
    for place, one, answer in zip(places, part, answers):
        word, _, known = (answer.decode() if isinstance(answer, bytes) else str(answer)).partition(" ")
        if word != "FULL":
            results[place] = Pushed(one.id, "exists" if word == "EXISTS" else "pushed",
                                    "waiting" if word == "WAITING" else known)
    if any(results[place] is None for place in places):
        raise QueueFull(queue, results)


# ---- looking and acting


def look(state: "State", name: str, queue: str) -> "Steps[Optional[Flow]]":
    check_label("queue", queue)
    check_label("flow", name)
    yield from state.greet()
    fields = [star + count for count in COUNTS for star in ("", "*")]
    told = yield ["HMGET", _key(state, name, queue), "closed", "made"] + fields
    if told[0] is None:
        return None
    number = [int(one or 0) for one in told[2:]]
    counts = {count: number[2 * i] + number[2 * i + 1] for i, count in enumerate(COUNTS)}
    closed = int(told[0]) == 1
    return Flow(name, _word(closed, counts), closed, float(told[1]), **counts)


def _key(state: "State", name: str, queue: str) -> str:
    return "%s:{%s}:flow:%s" % (state.prefix, queue, name)


def _word(closed: bool, counts: Dict[str, int]) -> str:
    if counts["open"] == 0 and counts["dead"] > 0:
        return "blocked"
    if not closed:
        return "open"
    if counts["open"] + counts["waiting"] > 0:
        return "running"
    return "ended" if counts["gone"] > 0 else "done"


def wait(state: "State", name: str, queue: str, timeout: Optional[float]) -> "Steps[Flow]":
    end = None if timeout is None else time.monotonic() + timeout
    while True:
        flow = yield from look(state, name, queue)
        if flow is None:
            raise FlowUnknown(name, queue)
        if flow.state not in ("open", "running"):
            return flow
        if end is not None and time.monotonic() >= end:
            raise TimeoutError("flow %s is %s; it goes on" % (name, flow.state))
        yield LOOK_EVERY


def close(state: "State", name: str, queue: str) -> "Steps[None]":
    if (yield from look(state, name, queue)) is None:
        raise FlowUnknown(name, queue)
    yield from push_part(state, name, [], queue, True, [], [])


def kick(state: "State", name: str, queue: str) -> "Steps[int]":
    return (yield from _act(state, name, queue, "x", state.kick))


def cancel(state: "State", name: str, queue: str) -> "Steps[int]":
    """Those that wait go first: otherwise one that waits for a failure would run now."""
    waited = yield from _act(state, name, queue, "w", state.cancel)
    others = yield from _act(state, name, queue, "wox", state.cancel)
    yield from close(state, name, queue)
    return waited + others


def _pairs(fields: Any) -> List[Tuple[str, str]]:
    """redis-py makes a dict of the fields; others may leave the list."""
    flat = [part for pair in fields.items() for part in pair] if isinstance(fields, dict) else fields
    text = [part.decode() if isinstance(part, bytes) else part for part in flat]
    return list(zip(text[::2], text[1::2]))


def _act(state: "State", name: str, queue: str, states: str, act: Any) -> "Steps[int]":
    if (yield from look(state, name, queue)) is None:
        raise FlowUnknown(name, queue)
    ids: Set[str] = set()
    cursor = b"0"
    while True:
        cursor, fields = yield ["HSCAN", _key(state, name, queue), cursor, "MATCH", "j:*", "COUNT", 500]
        ids.update(field[2:] for field, text in _pairs(fields) if text[0] in states)
        if int(cursor) == 0:
            break
    acted = 0
    for job_id in ids:
        acted += (yield from act(job_id, queue)) is not None
    return acted
