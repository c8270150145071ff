"""aio.py: pushes jobs over redis.asyncio.Redis or redis.asyncio.RedisCluster."""
import asyncio
from typing import Any, Iterable, List, Optional, Sequence

import redis

from . import cron_steps, flow_steps
from .asked import Search, reschedule_words
from .away import LOST, is_denied
from .client import block_of, refuse_prefix
from .crontab import NewSchedule, Schedule
from .document import NewJob, Seconds, Time
from .events import Events, Page
from .flows import Flow
from .pushing import Awaited
from .script import Block, Call
from .search_steps import Walk
from .steps import State, Steps, T
from .told import Found, Outcome, Pushed, Size


class Client(Awaited):
    """Like laterd.Client, but awaited; `client` is one of redis.asyncio.

    queues = laterd.aio.Client(redis.asyncio.Redis(...))
    await queues.push("mail.send", {"to": "a@b.c"})
    """

    def __init__(self, client: Any, prefix: str = "later"):
        refuse_prefix(client)
        self._redis = client
        self._state = State(prefix)

    async def push_job(self, job: NewJob, queue: str = "default") -> Pushed:
        job = self._passed(job)
        return self._tell(job, await self._run(self._state.push(job, queue)))

    async def push_many(self, jobs: Sequence[NewJob], queue: str = "default") -> List[Pushed]:
        passed = self._all_passed(jobs)
        return self._tell_all(passed, await self._run(self._state.push_many(passed, queue)))

    async def show(self, id: str, queue: str = "default") -> Optional[Found]:
        return await self._run(self._state.show(id, queue))

    async def size(self, queue: str = "default") -> Size:
        return await self._run(self._state.size(queue))

    async def kick(self, id: str, queue: str = "default") -> Optional[str]:
        return await self._run(self._state.kick(id, queue))

    async def cancel(self, id: str, queue: str = "default") -> Optional[str]:
        return await self._run(self._state.cancel(id, queue))

    async def reschedule(self, id: str, queue: str = "default", *, delay: Optional[Seconds] = None,
                         at: Optional[Time] = None, priority: Optional[int] = None) -> Optional[str]:
        return await self._run(self._state.reschedule(id, queue, reschedule_words(delay, at, priority)))

    async def forget(self, id: str, queue: str = "default") -> bool:
        return await self._run(self._state.forget(id, queue))

    async def pause(self, queue: str = "default", seconds: Optional[Seconds] = None, by: str = "") -> bool:
        return await self._run(self._state.pause(queue, seconds, by))

    async def resume(self, queue: str = "default") -> bool:
        return await self._run(self._state.resume(queue))

    async def cron_set(self, schedule: NewSchedule, queue: str = "default") -> bool:
        return await self._run(cron_steps.put(self._state, schedule, queue))

    async def cron_delete(self, name: str, queue: str = "default") -> bool:
        return await self._run(cron_steps.drop(self._state, name, queue))

    async def cron_list(self, queue: str = "default") -> List[Schedule]:
        return await self._run(cron_steps.look(self._state, queue))

    async def search(self, queue: str = "default", state: Optional[str] = None, type: Optional[str] = None,
                    text: Optional[str] = None, limit: int = 100) -> List[Found]:
        return await self._run(Walk(self._state, Search(state, type, text, limit)).run(queue))

    async def events(self, queue: str = "default", after: str = "", limit: int = 500, timeout: float = 0) -> Events:
        return await self._run(self._state.events(Page(queue, after, limit), timeout))

    async def wait(self, id: str, queue: str = "default", timeout: Optional[float] = None) -> Any:
        return await self._run(self._state.wait(id, queue, timeout, block_of(self._redis)))

    async def wait_many(self, ids: Sequence[str], queue: str = "default",
                        timeout: Optional[float] = None) -> List[Outcome]:
        return await self._run(self._state.wait_many(ids, queue, timeout, block_of(self._redis)))

    async def flow(self, name: str, jobs: Iterable[NewJob] = (), queue: str = "default",
             open: bool = False) -> List[Pushed]:
        passed = self._all_passed(jobs)
        return self._tell_all(passed, await self._run(flow_steps.push(self._state, name, passed, queue, open)))

    async def show_flow(self, name: str, queue: str = "default") -> Optional[Flow]:
        return await self._run(flow_steps.look(self._state, name, queue))

    async def wait_flow(self, name: str, queue: str = "default", timeout: Optional[float] = None) -> Flow:
        return await self._run(flow_steps.wait(self._state, name, queue, timeout))

    async def kick_flow(self, name: str, queue: str = "default") -> int:
        return await self._run(flow_steps.kick(self._state, name, queue))

    async def cancel_flow(self, name: str, queue: str = "default") -> int:
        return await self._run(flow_steps.cancel(self._state, name, queue))

    async def close_flow(self, name: str, queue: str = "default") -> None:
        await self._run(flow_steps.close(self._state, name, queue))

    async def _run(self, steps: "Steps[T]") -> T:
        send, value = steps.send, None
        try:
            while True:
                asked = send(value)
                try:
                    send, value = steps.send, await self._ask(asked)
                except LOST as error:
                    send, value = steps.throw, error
        except StopIteration as end:
            result: T = end.value
            return result

    async def _ask(self, asked: Any) -> Any:
        if isinstance(asked, float):
            return await asyncio.sleep(asked)
        try:
            return await self._once(asked)
        except (redis.ConnectionError, redis.TimeoutError) as error:
            self._state.forget_connection()
            if isinstance(asked, Block) or is_denied(error):
                raise
            return await self._once(asked)

    async def _once(self, asked: Any) -> Any:
        if not isinstance(asked, Call):
            return await self._execute(*asked)
        try:
            return await self._execute(*asked.words)
        except redis.exceptions.NoScriptError:
            await self._load(asked)
            return await self._execute(*asked.words)

    async def _load(self, call: Call) -> None:
        where = {}
        if hasattr(self._redis, "get_node_from_key"):
            where["target_nodes"] = self._redis.get_node_from_key(call.keys[0])
        await self._execute("SCRIPT LOAD", call.script.text, **where)

    async def _execute(self, *words: Any, **where: Any) -> Any:
        try:
            return await self._redis.execute_command(*words, **where)
        except AttributeError as error:
            if not isinstance(error.__context__, (OSError, asyncio.TimeoutError)):
                raise
            # redis-py 4.3 means to name the host of a Unix socket that broke.
            raise redis.ConnectionError(str(error.__context__)) from error
