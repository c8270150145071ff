"""flow_steps.py: what a client does with flows: steps, as in steps.py, of a State."""
import time
from typing import TYPE_CHECKING, Any, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple

from .away import LOST, Away
from .bounds import BYTES_MAX, PART_MAX
from .document import NewJob, Prepared, check_label
from .errors import FlowClosed, FlowUnknown, QueueFull
from .flows import Flow, check, prepared, state_of
from .script import CANCEL, FLOW_JOIN, FLOW_PARK, FLOW_PUSH, KICK, Script
from .told import Pushed, pushed_of, strange, text_of

if TYPE_CHECKING:
    from .steps import State, Steps

KEPT = ""  # how long a flow is kept after its end is for its queue to say
LOOK_EVERY = 0.2  # seconds between two looks of wait
COUNTS = ("total", "open", "waiting", "dead", "done", "gone", "skipped")


# ---- pushing


def push(state: "State", name: str, jobs: Iterable[NewJob], queue: str, is_open: bool) -> "Steps[List[Pushed]]":
    check_label("queue", queue)
    check_label("flow", name)
    items = prepared(name, jobs, queue)
    check(items, is_open)
    yield from state.greet()
    return (yield from send(state, name, queue, items, not is_open))


def send(state: "State", name: str, home: str, items: List[Prepared], is_whole: bool) -> "Steps[List[Pushed]]":
    """Pushes jobs into a flow, and closes it if they are all. Those that wait go first, so that nothing has
    begun whose successor is not there; what goes to the flow's own queue goes last, so that it can close the
    flow."""
    for queue in dict.fromkeys(one.queue or home for one in items):
        yield from state.learn(queue)
    yield from state.announce(home)
    results: List[Optional[Pushed]] = [None] * len(items)
    is_closed = not is_whole
    parts = list(_parts(state, items, home))
    for at, (place, part) in enumerate(parts):
        if place:
            yield from _push_away(state, name, home, items, part, results)
        else:
            is_last = is_whole and at == len(parts) - 1
            is_closed = is_closed or is_last
            yield from push_part(state, name, [items[i] for i in part], home, is_last, part, results)
    if not is_closed:
        yield from push_part(state, name, [], home, True, [], results)
    return [one for one in results if one is not None]


def _place(state: "State", one: Prepared, home: str) -> str:
    """Returns the place of a job, "" if the flow's own queue takes it at once."""
    queue = one.queue or home
    plan = state.plans[queue]
    return "" if queue == home and plan.epoch == "0" else plan.route(queue, one.id)[-1]


def _parts(state: "State", items: List[Prepared], home: str) -> "Iterator[Tuple[str, List[int]]]":
    """Splits jobs into calls of bounded size, each for one place."""
    places = [_place(state, one, home) for one in items]
    turns = [[i for i in range(len(items)) if bool(items[i].after) == waits] for waits in (True, False)]
    if len(set(places)) == 1:
        turns = [turns[0] + turns[1]]
    for turn in turns:
        for place in sorted({places[i] for i in turn}, reverse=True):
            part: List[int] = []
            size = 0
            for i in turn:
                if places[i] != place:
                    continue
                if part and (len(part) == PART_MAX or size + len(items[i].document) > BYTES_MAX):
                    yield place, part
                    part, size = [], 0
                part.append(i)
                size += len(items[i].document)
            yield place, part


def push_part(state: "State", name: str, part: List[Prepared], queue: str, close: bool,
              places: Sequence[int], results: List[Optional[Pushed]]) -> "Steps[None]":
    """To repeat it is safe: what is there is known."""
    args: List[Any] = [name, part[0].adder if part else "", int(close), KEPT]
    for one in part:
        args += [one.id, one.step, one.after, one.fate, one.when, one.priority, one.document]
    answers = yield FLOW_PUSH.call(state.prefix, queue, args, name)
    for place, one, answer in zip(places, part, _told(answers, name)):
        results[place] = pushed_of(one.id, answer)
    if any(results[place] is None for place in places):
        raise QueueFull(queue, results)


def _told(answers: Any, name: str) -> Sequence[Any]:
    """The answers to the jobs of a call."""
    if isinstance(answers, (list, tuple)):
        return answers
    raise FlowClosed(name) if text_of(answers) == "CLOSED" else strange(answers)


def _push_away(state: "State", name: str, home: str, items: List[Prepared], part: List[int],
               results: List[Optional[Pushed]]) -> "Steps[None]":
    """Jobs of another queue, or of shards, are announced to the flow and parked there, until it has them run."""
    queue = items[part[0]].queue or home

    def once() -> "Steps[None]":
        left = [i for i in part if results[i] is None]
        numbers = yield from _join(state, name, home, items, left, results)
        yield from _park(state, name, home, items, numbers, results)

    yield from state.by_plan(queue, once)
    if any(results[i] is None for i in part):
        raise QueueFull(queue, results)


def _join(state: "State", name: str, home: str, items: List[Prepared], part: List[int],
          results: List[Optional[Pushed]]) -> "Steps[Dict[int, str]]":
    """Returns the numbers under which the flow awaits jobs, by their places."""
    args: List[Any] = [name, items[part[0]].adder, 0, KEPT]
    for i in part:
        one = items[i]
        args += [one.id, one.step, one.after, one.fate, one.when, _place(state, one, home)]
    answers = yield FLOW_JOIN.call(state.prefix, home, args, name)
    numbers: Dict[int, str] = {}
    for i, answer in zip(part, map(text_of, _told(answers, name))):
        if answer.startswith("PARK "):
            numbers[i] = answer[5:]
        else:
            results[i] = pushed_of(items[i].id, answer)
    return numbers


def _park(state: "State", name: str, home: str, items: List[Prepared], numbers: Dict[int, str],
          results: List[Optional[Pushed]]) -> "Steps[None]":
    """Former places are only searched."""
    waiting = [(i, state.plans[items[i].queue or home].route(items[i].queue or home, items[i].id)) for i in numbers]
    while waiting:
        groups: Dict[Tuple[str, bool], List[Tuple[int, List[str]]]] = {}
        for i, route in waiting:
            groups.setdefault((route[0], len(route) == 1), []).append((i, route))
        waiting = []
        for (place, is_last), group in groups.items():
            if is_last:
                yield from state.announce(place)
            plan = state.plans[items[group[0][0]].queue or home]
            args: List[Any] = ["%s/%s" % ("new" if is_last else "seek", plan.epoch), name, home]
            for i, _ in group:
                args += [items[i].id, numbers[i], items[i].priority, items[i].document]
            answers = yield FLOW_PARK.call(state.prefix, place, args)
            for (i, route), answer in zip(group, map(text_of, answers)):
                if answer == "ABSENT":
                    waiting.append((i, route[1:]))
                else:
                    results[i] = pushed_of(items[i].id, answer)


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
    return Flow(name, state_of(closed, counts), closed, float(told[1]), **counts)


def known(state: "State", name: str, queue: str) -> "Steps[Flow]":
    flow = yield from look(state, name, queue)
    if flow is None:
        raise FlowUnknown(name, queue)
    return flow


def _key(state: "State", name: str, queue: str) -> str:
    return "%s:{%s}:flow:%s" % (state.prefix, queue, name)


def wait(state: "State", name: str, queue: str, timeout: Optional[float]) -> "Steps[Flow]":
    end = None if timeout is None else time.monotonic() + timeout
    away = Away(end)
    while True:
        try:
            flow = yield from known(state, name, queue)
        except LOST as error:
            yield away.pause(error)
            continue
        away.answers()
        if flow.state not in ("open", "running"):
            return flow
        if end is not None and time.monotonic() >= end:
            raise TimeoutError("flow %s is %s; it goes on" % (name, flow.state))
        yield LOOK_EVERY


def close(state: "State", name: str, queue: str) -> "Steps[None]":
    yield from known(state, name, queue)
    yield from push_part(state, name, [], queue, True, [], [])


def kick(state: "State", name: str, queue: str) -> "Steps[int]":
    return (yield from _act(state, name, queue, "x", KICK, state.kick))


def cancel(state: "State", name: str, queue: str) -> "Steps[int]":
    """Those that wait go first: otherwise one that waits for a failure would run now."""
    waited = yield from _act(state, name, queue, "w", CANCEL, state.cancel)
    others = yield from _act(state, name, queue, "wox", CANCEL, state.cancel)
    yield from close(state, name, queue)
    return waited + others


def _pairs(fields: Any) -> List[Tuple[str, str]]:
    """redis-py makes a dict of the fields; others may leave the list."""
    flat = [part for pair in fields.items() for part in pair] if isinstance(fields, dict) else fields
    text = [part.decode() if isinstance(part, bytes) else part for part in flat]
    return list(zip(text[::2], text[1::2]))


def _act(state: "State", name: str, queue: str, states: str, script: Script, act: Any) -> "Steps[int]":
    """Acts on the jobs that are in one of these states, many in a call. One that is not found there,
    since it runs or has moved, is looked for by itself."""
    yield from known(state, name, queue)
    jobs: Dict[str, str] = {}  # the queue, or shard, of each
    cursor = b"0"
    while True:
        cursor, fields = yield ["HSCAN", _key(state, name, queue), cursor, "MATCH", "j:*", "COUNT", 500]
        jobs.update((field[2:], _place_of(text) or queue) for field, text in _pairs(fields) if text[0] in states)
        if int(cursor) == 0:
            break
    places: Dict[str, List[str]] = {}
    for job_id, place in jobs.items():
        places.setdefault(place, []).append(job_id)
    acted = 0
    for place, ids in places.items():
        for start in range(0, len(ids), PART_MAX):
            some = ids[start:start + PART_MAX]
            for job_id, was in zip(some, (yield script.call(state.prefix, place, some))):
                acted += bool(was) or (yield from act(job_id, place.partition("/")[0])) is not None
    return acted


def _place_of(text: str) -> str:
    """`STATE STEP WHEN DELAY AFTER QUEUE:NUMBER`; the last is there if the job lies in another queue."""
    words = text.split(" ")
    return words[5].partition(":")[0] if len(words) > 5 else ""
