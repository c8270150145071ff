"""steps.py: the logic of a client without its input and output.

Generators yield what to ask Redis, get the answers, and return the caller's result. client.py
and aio.py drive them, so that both share one implementation. A Call is a script (script.py), a list
is a plain command, a Block one that waits in Redis, a float is a pause in seconds. Errors of Redis are thrown into them.
"""
import json
import os
import time
from typing import Any, Callable, Dict, Generator, List, Optional, Sequence, Set, Tuple, TypeVar

import redis

from . import flow_steps
from .asked import check_ids, pause_words
from .away import LOST, Away
from .bounds import BYTES_MAX, JOBS_MAX
from .document import NewJob, Prepared, check_queue, prepare_many, prepare_one
from .errors import JobFailed, JobUnknown, Moving, QueueFull, WrongProtocol
from .events import ENTRIES, Events, Page, number_of
from .plan import Plan
from .script import Block, CANCEL, KICK, PAUSE, PUSH, PUSH_NOW, RESCHEDULE, RESUME, SHOW, SIZE, Script
from .told import Found, Outcome, Pushed, Size, found_of, pushed_of, strange, text_of

PROTOCOL = "2"
CALL_KEPT = 60  # seconds for which Redis remembers the answer to a call
TRIES = 20  # changes of plan, or of a job's holder, in a row before it gives up
NAP = 0.05
WHOLE = Plan()  # for a queue that is not known to be spread

T = TypeVar("T")
Steps = Generator[Any, Any, T]


def new_call() -> str:
    """Returns an id of a call, under which Redis remembers its answer."""
    return os.urandom(12).hex()


class Calls:
    """Numbers for calls of push_now, and the set in which Redis remembers them for a while.

    A new set is used after 500 calls or a minute. Two threads, or processes after a fork, may
    share one, since a call is known by its number.
    """

    def __init__(self) -> None:
        self.set, self.left, self.until = "", 0, 0.0

    def next(self) -> Tuple[str, int]:
        now = time.monotonic()
        if self.left <= 0 or now >= self.until:
            self.set, self.left, self.until = new_call(), JOBS_MAX, now + CALL_KEPT
        self.left -= 1
        return self.set, 10**17 + int.from_bytes(os.urandom(8), "big") % (9 * 10**17)


class State:
    """What a client knows of its Redis."""

    def __init__(self, prefix: str):
        self.prefix = prefix
        self.greeted = False
        self.plans: Dict[str, Plan] = {}
        self.announced: Set[str] = set()
        self.calls = Calls()

    # ---- before the first call

    def greet(self) -> Steps[None]:
        if self.greeted:
            return
        number = yield ["GET", self.prefix + ":protocol"]
        if number is not None and text_of(number) != PROTOCOL:
            raise WrongProtocol("this Redis is kept by protocol %s; this client knows %s: take the "
                                "client that came with the laterd that serves it"
                                % (text_of(number)[:20], PROTOCOL))
        self.greeted = True

    def announce(self, place: str) -> Steps[None]:
        if place not in self.announced:
            yield ["SADD", self.prefix + ":queues", place]
            self.announced.add(place)

    def forget_connection(self) -> None:
        """A connection was lost: the next one may find another Redis, or an emptied one."""
        self.greeted = False
        self.announced.clear()

    # ---- pushing

    def push(self, job: NewJob, queue: str) -> Steps[Pushed]:
        check_queue(queue)
        one = prepare_one(job)
        yield from self.greet()
        if one.flow:
            return (yield from self.push_tied(one, queue))
        plan = self.plans.get(queue, WHOLE)
        route = plan.route(queue, one.id)
        if one.plain and len(route) == 1:
            answer = yield from self.push_now(one, route[0], plan)
            if answer == "PUSHED":
                return Pushed(one.id, "pushed")
            if answer != "ASK":
                raise strange(answer)
        results = yield from self.push_all([one], queue)
        return results[0]

    def push_tied(self, one: Prepared, queue: str) -> Steps[Pushed]:
        """Adds a job to its flow, which stays open."""
        one.queue = queue
        return (yield from flow_steps.send(self, one.flow, one.home or queue, [one], False))[0]

    def push_now(self, one: Prepared, place: str, plan: Plan) -> Steps[str]:
        yield from self.announce(place)
        calls, number = self.calls.next()
        answer = yield PUSH_NOW.call(self.prefix, place,
                                     [plan.epoch, one.id, one.document, number], calls)
        return text_of(answer)

    def push_many(self, jobs: Sequence[NewJob], queue: str) -> Steps[List[Pushed]]:
        check_queue(queue)
        items = prepare_many(jobs)
        yield from self.greet()
        return (yield from self.push_over(items, queue))

    def push_over(self, items: List[Prepared], home: str) -> Steps[List[Pushed]]:
        """Each into its queue. With QueueFull, all were tried."""
        results: List[Optional[Pushed]] = [None] * len(items)
        full = ""
        for queue in dict.fromkeys(one.queue or home for one in items):
            numbers = [i for i, one in enumerate(items) if (one.queue or home) == queue]
            told: Sequence[Optional[Pushed]] = []
            try:
                told = yield from self.push_all([items[i] for i in numbers], queue)
            except QueueFull as error:
                full, told = full or queue, error.results
            for i, pushed in zip(numbers, told):
                results[i] = pushed
        if full:
            raise QueueFull(full, results)
        return [one for one in results if one is not None]

    def push_all(self, items: List[Prepared], queue: str) -> Steps[List[Pushed]]:
        results: List[Optional[Pushed]] = [None] * len(items)
        yield from self.by_plan(queue, lambda: self.push_by_plan(items, queue, results))
        pushed = [one for one in results if one is not None]
        if len(pushed) < len(results):
            raise QueueFull(queue, results)
        return pushed

    def by_plan(self, queue: str, once: "Callable[[], Steps[None]]") -> Steps[None]:
        """Follows the plan that is known. If it is stale, Redis says so, and the new plan is
        followed."""
        for tries in range(TRIES):
            try:
                return (yield from once())
            except redis.ResponseError as error:
                if not str(error).startswith("RESHARD "):
                    raise
            yield from self.learn(queue)
            if tries > 2:
                yield NAP
        raise Moving("queue %s: its shards are being changed, or Redis has lost their number; "
                     "a laterd that serves the queue will mend that" % queue)

    def learn(self, queue: str) -> Steps[Plan]:
        """Returns the plan as Redis has it, which is known from then on."""
        check_queue(queue)
        yield from self.greet()
        text = yield ["GET", "%s:{%s}:shards" % (self.prefix, queue)]
        plan = self.plans[queue] = Plan.parse(text_of(text)) if text else Plan()
        return plan

    def push_by_plan(self, items: List[Prepared], queue: str,
                     results: List[Optional[Pushed]]) -> Steps[None]:
        """Former places are only searched. The last place is where a job is pushed."""
        plan = self.plans.get(queue, WHOLE)
        waiting = [(i, plan.route(queue, one.id)) for i, one in enumerate(items) if results[i] is None]
        while waiting:
            groups: Dict[Tuple[str, bool, str], List[Tuple[int, List[str]]]] = {}
            for i, route in waiting:
                key = (route[0], len(route) == 1, items[i].mode)
                groups.setdefault(key, []).append((i, route))
            waiting = []
            for (place, last, mode), group in groups.items():
                if last:
                    yield from self.announce(place)
                if not last:
                    mode = "seek" if mode == "new" else "seek-" + mode
                for part in parts_of(group, items):
                    answers = yield self.push_call(place, mode, plan, [items[i] for i, _ in part])
                    for (i, route), answer in zip(part, map(text_of, answers)):
                        if answer == "ABSENT":
                            waiting.append((i, route[1:]))
                        else:
                            results[i] = pushed_of(items[i].id, answer)

    def push_call(self, place: str, mode: str, plan: Plan, items: List[Prepared]) -> Any:
        args: List[Any] = [CALL_KEPT, "%s/%s" % (mode, plan.epoch)]
        for item in items:
            args += [item.id, item.when, item.priority, item.document]
        return PUSH.call(self.prefix, place, args, new_call())

    # ---- looking

    def show(self, job_id: str, queue: str) -> Steps[Optional[Found]]:
        plan = yield from self.learn(queue)
        for place in reversed(plan.route(queue, job_id)):
            reply = yield SHOW.call(self.prefix, place, [job_id])
            if text_of(reply[0]):
                return found_of(job_id, place, reply)
        return None

    def size(self, queue: str) -> Steps[Size]:
        plan, parts = (yield from self.learn(queue)), []
        for place in plan.places(queue):
            parts.append((yield SIZE.call(self.prefix, place, [])))
        ages = [float(part[5]) for part in parts if part[5]]
        ready, delayed, reserved, dead = (sum(int(part[i]) for part in parts) for i in range(4))
        return Size(ready, delayed, reserved, dead, all(int(part[4]) for part in parts),
                    max(ages, default=None))

    def events(self, page: Page, timeout: float) -> Steps[Events]:
        """Waits for the first ones, if there are none."""
        yield from self.learn(page.queue)
        end = time.monotonic() + timeout
        while True:
            places = self.plans[page.queue].places(page.queue)
            for place in places:
                yield from self.events_of(page, place, page.share(places))
            if page.told.ends or page.from_now or time.monotonic() >= end:
                return page.end()
            yield min(flow_steps.LOOK_EVERY, max(0.001, end - time.monotonic()))

    def events_of(self, page: Page, place: str, share: int) -> Steps[None]:
        key, taken = "%s:{%s}:events" % (self.prefix, place), 0
        while taken < share and not page.from_now:
            entries = yield ["XRANGE", key, page.last(place) + 1, "+", "COUNT", ENTRIES]
            taken += page.take(place, entries, share - taken)
            if len(entries) < ENTRIES:
                break
        if taken == 0 and (page.from_now or page.last(place)):
            number = number_of((yield ["XREVRANGE", key, "+", "-", "COUNT", 1]))
            if page.from_now:
                page.numbers[place] = number
            elif number < page.last(place):
                page.begin_anew(place)
                yield from self.events_of(page, place, share)

    # ---- acting

    def act(self, job_id: str, queue: str, at: "Callable[[str], Steps[str]]") -> Steps[Optional[str]]:
        """Returns what is said at the first place that has the job, or None."""
        plan = yield from self.learn(queue)
        for place in plan.route(queue, job_id):
            state = yield from at(place)
            if state:
                return state
        return None

    def kick(self, job_id: str, queue: str) -> Steps[Optional[str]]:
        return self.act(job_id, queue, lambda place: self.kick_at(job_id, place))

    def kick_at(self, job_id: str, place: str) -> Steps[str]:
        return text_of((yield KICK.call(self.prefix, place, [job_id]))[0])

    def reschedule(self, job_id: str, queue: str, words: List[Any]) -> Steps[Optional[str]]:
        return self.act(job_id, queue, lambda place: self.reschedule_at(job_id, place, words))

    def reschedule_at(self, job_id: str, place: str, words: List[Any]) -> Steps[str]:
        """Of another state nothing was done."""
        state = text_of((yield RESCHEDULE.call(self.prefix, place, [job_id, *words])))
        return state if state in ("ready", "delayed") else ""

    def cancel(self, job_id: str, queue: str) -> Steps[Optional[str]]:
        return self.act(job_id, queue, lambda place: self.cancel_at(job_id, place))

    def forget(self, job_id: str, queue: str) -> Steps[bool]:
        return (yield from self.act(job_id, queue, lambda place: self.forget_at(job_id, place))) is not None

    def forget_at(self, job_id: str, place: str) -> Steps[str]:
        return "forgotten" if (yield ["DEL", "%s:{%s}:result:%s" % (self.prefix, place, job_id)]) else ""

    def cancel_at(self, job_id: str, place: str) -> Steps[str]:
        """A reserved job is under a token, which its id does not tell. While it is looked for, the
        job may come under another one, or become ready."""
        token = ""
        for _ in range(TRIES):
            reply = yield CANCEL.call(self.prefix, place, [job_id], token)
            if text_of(reply[0]):
                return text_of(reply[0])
            reply = yield SHOW.call(self.prefix, place, [job_id])
            if text_of(reply[0]) in ("", "done"):
                return ""
            token = yield from self.holder(job_id, place)
        raise Moving("%s: it changes its state faster than it can be cancelled" % job_id)

    def holder(self, job_id: str, place: str) -> Steps[str]:
        """Returns the token that holds a reserved job, or nothing."""
        key = "%s:{%s}:reserved" % (self.prefix, place)
        for token in map(text_of, (yield ["ZRANGE", key, 0, -1])):
            if (yield ["ZSCORE", "%s:%s" % (key, token), job_id]) is not None:
                return token
        return ""

    def pause(self, queue: str, seconds: Any, by: str) -> Steps[bool]:
        return (yield from self.set_pause(queue, PAUSE, pause_words(seconds, by)))

    def resume(self, queue: str) -> Steps[bool]:
        return (yield from self.set_pause(queue, RESUME, []))

    def set_pause(self, queue: str, script: Script, words: List[Any]) -> Steps[bool]:
        """The plain queue comes first, and then the plan is read: whoever adds shards writes the plan and
        then copies the plain queue's pause to them, so that one of the two sees the other."""
        check_queue(queue)
        yield from self.greet()
        changed = int((yield script.call(self.prefix, queue, words)))
        plan = yield from self.learn(queue)
        for place in plan.places(queue)[1:]:
            changed |= int((yield script.call(self.prefix, place, words)))
        return bool(changed)

    # ---- results

    def wait_many(self, ids: Sequence[str], queue: str, timeout: Optional[float],
                  block: float) -> Steps[List[Outcome]]:
        """One after the other: their results stay for as long as they were asked for."""
        outcomes, end = [], None if timeout is None else time.monotonic() + timeout
        for id in check_ids(ids):
            left = None if end is None else max(0.0, end - time.monotonic())
            outcomes.append((yield from self.outcome(id, queue, left, block)))
        return outcomes

    def outcome(self, id: str, queue: str, timeout: Optional[float], block: float) -> Steps[Outcome]:
        try:
            return Outcome(id, "done", (yield from self.wait(id, queue, timeout, block)))
        except (JobFailed, JobUnknown, TimeoutError) as error:
            return Outcome.of(id, error)

    def wait(self, job_id: str, queue: str, timeout: Optional[float], block: float) -> Steps[Any]:
        """Returns its result. The element that holds it stays for others (doc/protocol.md,
        "Results")."""
        end = None if timeout is None else time.monotonic() + timeout
        away = Away(end)
        behind = True  # what comes may be of an earlier job
        while True:
            try:
                key, element, followed = yield from self.look_for_result(job_id, queue)
                away.answers()
                behind = behind and followed
                left = block if end is None else min(end - time.monotonic(), block)
                if element is None and left <= 0:
                    raise TimeoutError("%s has not ended; it goes on" % job_id)
                if element is None:
                    came = yield Block(["BLMOVE", key, key, "LEFT", "LEFT", "%.3f" % max(left, 0.001)])
                    element = None if behind else came
            except LOST as error:
                yield away.pause(error)
                continue
            if element is not None:
                return value_of(job_id, element)

    def look_for_result(self, job_id: str, queue: str) -> Steps[Tuple[str, Any, bool]]:
        """Returns the key under which the result comes, the result if it is there, and whether
        the job runs and another of its id follows it. The element is read before the state: an
        element that was there while the job is not over belongs to an earlier job of that id."""
        plan = yield from self.learn(queue)
        for place in reversed(plan.route(queue, job_id)):
            key = "%s:{%s}:result:%s" % (self.prefix, place, job_id)
            element = yield ["LINDEX", key, 0]
            reply = yield SHOW.call(self.prefix, place, [job_id])
            state = text_of(reply[0])
            if state == "dead":
                raise JobFailed(job_id, found_of(job_id, place, reply).error)
            over = state in ("", "done")  # done: it is kept
            if not over and element is not None:
                yield ["LREM", key, 1, element]
            if not over:
                return key, None, state == "reserved" and "\nn=" in "\n" + text_of(reply[2])
            element = yield ["LINDEX", key, 0]  # it may have ended in between, and the first was older
            if element is not None and not head_of(element).get("again"):  # else of an earlier job
                return key, element, False
        raise JobUnknown(job_id, queue)


def head_of(element: Any) -> Any:
    return json.loads(text_of(element).partition("\n")[0])


def value_of(job_id: str, element: Any) -> Any:
    rest = text_of(element).partition("\n")[2]
    if head_of(element)["state"] != "done":
        raise JobFailed(job_id, json.loads(rest))
    return json.loads(rest)


def parts_of(group: List[Tuple[int, List[str]]], items: List[Prepared]) -> Any:
    """Splits items into calls of bounded size."""
    part: List[Tuple[int, List[str]]] = []
    size = 0
    for i, route in group:
        if part and (len(part) == JOBS_MAX or size + len(items[i].document) > BYTES_MAX):
            yield part
            part, size = [], 0
        part.append((i, route))
        size += len(items[i].document)
    if part:
        yield part
