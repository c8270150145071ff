"""aio.py: pushes jobs over redis.asyncio.Redis or redis.asyncio.RedisCluster."""
import asyncio
from typing import Any, Iterable, List, Sequence

import redis

from . import flow_steps
from .away import LOST, is_denied
from .awaiting import awaited
from .client import Client as Blocking
from .client import refuse_prefix
from .document import NewJob
from .pushing import Awaited
from .script import Block, Call
from .steps import State, Steps, T
from .told import Pushed


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

    async def flow(self, name: str, jobs: Iterable[NewJob] = (), queue: str = "default",
             open: bool = False) -> List[Pushed]:
        passed = self._all_passed(jobs)
        return self._tell_all(passed, await self._run(flow_steps.push(self._state, name, passed, queue, open)))

    show = awaited(Blocking.show)
    size = awaited(Blocking.size)
    kick = awaited(Blocking.kick)
    cancel = awaited(Blocking.cancel)
    reschedule = awaited(Blocking.reschedule)
    forget = awaited(Blocking.forget)
    pause = awaited(Blocking.pause)
    resume = awaited(Blocking.resume)
    cron_set = awaited(Blocking.cron_set)
    cron_delete = awaited(Blocking.cron_delete)
    cron_list = awaited(Blocking.cron_list)
    search = awaited(Blocking.search)
    events = awaited(Blocking.events)
    wait = awaited(Blocking.wait)
    wait_many = awaited(Blocking.wait_many)
    show_flow = awaited(Blocking.show_flow)
    wait_flow = awaited(Blocking.wait_flow)
    kick_flow = awaited(Blocking.kick_flow)
    cancel_flow = awaited(Blocking.cancel_flow)
    close_flow = awaited(Blocking.close_flow)

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
