"""client.py: pushes jobs over redis.Redis or redis.RedisCluster."""
import time
from typing import Any, Iterable, List, Optional, Sequence

import redis

from . import cron_steps, flow_steps
from .asked import Search, reschedule_words
from .away import LOST, is_denied
from .crontab import NewSchedule, Schedule
from .document import NewJob, Seconds, Time
from .errors import PrefixRefused
from .events import Events, Page
from .flows import Flow
from .pushing import Blocking
from .script import Block, Call
from .search_steps import Walk
from .steps import State, Steps, T
from .told import Found, Outcome, Pushed, Size

BLOCK = 5.0  # seconds of one waiting call


def block_of(client: Any) -> float:
    """Must be shorter than the client's own time-out."""
    pool = getattr(client, "connection_pool", None)
    patience = getattr(pool, "connection_kwargs", {}).get("socket_timeout") or 2 * BLOCK
    return min(BLOCK, patience / 2)


def refuse_prefix(client: Any) -> None:
    """redis-py itself has none, but subclasses do, such as kombu's."""
    prefix = getattr(client, "global_keyprefix", None)
    if prefix:
        raise PrefixRefused("this Redis client puts %r before every key, where no worker would look: "
                            "take one without" % (prefix,))


class Client(Blocking):
    """Pushes to the queues of one Redis. `client` is a redis.Redis, also from a Sentinel's
    master_for(), or a redis.RedisCluster. It is as thread-safe as that client.

        queues = laterd.Client(redis.Redis(unix_socket_path="/var/lib/laterd/redis.sock"))
        queues.push("mail.send", {"to": "a@b.c"}, queue="mail", delay=60)
    """

    def __init__(self, client: Any, prefix: str = "later"):
        refuse_prefix(client)
        self._redis = client
        self._state = State(prefix)

    def push_job(self, job: NewJob, queue: str = "default") -> Pushed:
        job = self._passed(job)
        return self._tell(job, self._run(self._state.push(job, queue)))

    def push_many(self, jobs: Sequence[NewJob], queue: str = "default") -> List[Pushed]:
        """Pushes many jobs, up to 500 per call to Redis, each into its own `queue` if it has one. All are
        checked before any is sent."""
        passed = self._all_passed(jobs)
        return self._tell_all(passed, self._run(self._state.push_many(passed, queue)))

    def show(self, id: str, queue: str = "default") -> Optional[Found]:
        """Returns what Redis knows of a job, or None if there is none of this id."""
        return self._run(self._state.show(id, queue))

    def size(self, queue: str = "default") -> Size:
        """Counts the jobs of a queue, in all its shards."""
        return self._run(self._state.size(queue))

    def kick(self, id: str, queue: str = "default") -> Optional[str]:
        """Makes a dead or delayed job ready. A dead one starts afresh. Returns the state it came
        from, or None if it is in neither."""
        return self._run(self._state.kick(id, queue))

    def cancel(self, id: str, queue: str = "default") -> Optional[str]:
        """Drops a job, whatever its state; the handler of one that runs is stopped. Returns the state
        that it had, or None if there is none of this id. "ended": its id was taken still, and is free
        now."""
        return self._run(self._state.cancel(id, queue))

    def reschedule(self, id: str, queue: str = "default", *, delay: Optional[Seconds] = None,
                   at: Optional[Time] = None, priority: Optional[int] = None) -> Optional[str]:
        """Has a ready or delayed job begin after `delay`, or at a time, or gives it another priority; all else
        stays. Returns the state it had, or None if it is in neither."""
        return self._run(self._state.reschedule(id, queue, reschedule_words(delay, at, priority)))

    def forget(self, id: str, queue: str = "default") -> bool:
        """Drops the result of a job that has ended. Returns whether there was one."""
        return self._run(self._state.forget(id, queue))

    def pause(self, queue: str = "default", seconds: Optional[Seconds] = None, by: str = "") -> bool:
        """Nothing of the queue is handed out until resume(), or for so many seconds. by: who pauses it, for
        people. Returns whether that changed anything: False if it was paused without an end before."""
        return self._run(self._state.pause(queue, seconds, by))

    def resume(self, queue: str = "default") -> bool:
        """Ends a pause. Returns whether there was one."""
        return self._run(self._state.resume(queue))

    def cron_set(self, schedule: NewSchedule, queue: str = "default") -> bool:
        """Makes a schedule, or changes it; a paused one stays paused. Returns whether that changed anything: what is
        so already stays so, and a deploy may say its schedules each time. laterd reads `at` and `zone` within a
        second; what is wrong with them stands in its log and in `later cron`."""
        return self._run(cron_steps.put(self._state, schedule, queue))

    def cron_delete(self, name: str, queue: str = "default") -> bool:
        """Takes a schedule away. Returns whether there was one. One of a configuration comes back."""
        return self._run(cron_steps.drop(self._state, name, queue))

    def cron_list(self, queue: str = "default") -> List[Schedule]:
        """Returns the schedules of a queue, the one that is due next first."""
        return self._run(cron_steps.look(self._state, queue))

    def search(self, queue: str = "default", state: Optional[str] = None, type: Optional[str] = None,
              text: Optional[str] = None, limit: int = 100) -> List[Found]:
        """Returns the jobs that meet all conditions, the newest of each state first, at most `limit` (1 to 500).
        type: one that ends in * is a prefix. text: somewhere in the document. Jobs that are done and kept
        are found only by their state. It looks at 100,000 jobs at most; `later search` looks at all."""
        return self._run(Walk(self._state, Search(state, type, text, limit)).run(queue))

    def events(self, queue: str = "default", after: str = "", limit: int = 500, timeout: float = 0) -> Events:
        """Returns the ends that a queue has told of after a bookmark, in the order of their times, at most `limit` (1 to
        1,000); "" is what is kept, "now" nothing before. If there is none, it waits for `timeout`. The queue tells if
        its laterd has queues.events_kept."""
        return self._run(self._state.events(Page(queue, after, limit), timeout))

    def wait(self, id: str, queue: str = "default", timeout: Optional[float] = None) -> Any:
        """Waits for the end of a job that was pushed with `result`, and returns its result.

        JobFailed: the job is dead. JobUnknown, at once: there is no such job and no result.
        TimeoutError: the job has not ended.
        """
        return self._run(self._state.wait(id, queue, timeout, block_of(self._redis)))

    def wait_many(self, ids: Sequence[str], queue: str = "default",
                  timeout: Optional[float] = None) -> List[Outcome]:
        """Waits for the ends of up to 1,000 jobs that were pushed with `result`, which should last at least as
        long as this timeout. Returns what has become of each, in their order."""
        return self._run(self._state.wait_many(ids, queue, timeout, block_of(self._redis)))

    def flow(self, name: str, jobs: Iterable[NewJob] = (), queue: str = "default",
             open: bool = False) -> List[Pushed]:
        """Pushes a whole flow: jobs that wait for each other, by `step`, `after` and `when`. What waits
        for what is checked before anything is sent. The same call again pushes only what is missing.
        open: more jobs of it are pushed later, until close_flow()."""
        passed = self._all_passed(jobs)
        return self._tell_all(passed, self._run(flow_steps.push(self._state, name, passed, queue, open)))

    def show_flow(self, name: str, queue: str = "default") -> Optional[Flow]:
        """Returns how a flow stands, or None if there is none of this name."""
        return self._run(flow_steps.look(self._state, name, queue))

    def wait_flow(self, name: str, queue: str = "default", timeout: Optional[float] = None) -> Flow:
        """Waits until a flow has ended or is blocked, and returns how it stands.

        FlowUnknown: there is no such flow. TimeoutError: it goes on.
        """
        return self._run(flow_steps.wait(self._state, name, queue, timeout))

    def kick_flow(self, name: str, queue: str = "default") -> int:
        """Kicks the dead jobs of a flow, so that it goes on. Returns how many there were."""
        return self._run(flow_steps.kick(self._state, name, queue))

    def cancel_flow(self, name: str, queue: str = "default") -> int:
        """Cancels the jobs of a flow that have not ended. Returns how many there were."""
        return self._run(flow_steps.cancel(self._state, name, queue))

    def close_flow(self, name: str, queue: str = "default") -> None:
        """Says that no more jobs of the flow will be pushed."""
        return self._run(flow_steps.close(self._state, name, queue))

    def _run(self, steps: "Steps[T]") -> T:
        send, value = steps.send, None
        try:
            while True:
                asked = send(value)
                try:
                    send, value = steps.send, self._ask(asked)
                except LOST as error:
                    send, value = steps.throw, error
        except StopIteration as end:
            result: T = end.value
            return result

    def _ask(self, asked: Any) -> Any:
        if isinstance(asked, float):
            return time.sleep(asked)
        try:
            return self._once(asked)
        except (redis.ConnectionError, redis.TimeoutError) as error:
            # Repeats the call under the same call id. If only the answer was lost, Redis gives it
            # again. What waits would wait for its whole time again. Who is refused is refused again.
            self._state.forget_connection()
            if isinstance(asked, Block) or is_denied(error):
                raise
            return self._once(asked)

    def _once(self, asked: Any) -> Any:
        if not isinstance(asked, Call):
            return self._redis.execute_command(*asked)
        try:
            return self._redis.execute_command(*asked.words)
        except redis.exceptions.NoScriptError:
            self._load(asked)
            return self._redis.execute_command(*asked.words)

    def _load(self, call: Call) -> None:
        where = {}
        if hasattr(self._redis, "get_node_from_key"):
            where["target_nodes"] = self._redis.get_node_from_key(call.keys[0])
        self._redis.execute_command("SCRIPT LOAD", call.script.text, **where)
