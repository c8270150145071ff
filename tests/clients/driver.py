#!/usr/bin/python3
"""driver.py [async]: the Python client, or its Fake, driven by judge.py."""
import asyncio
import dataclasses
import importlib
import inspect
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../clients/python"))
import laterd
import redis
import redis.asyncio
from redis.asyncio.sentinel import Sentinel as AsyncSentinel
from redis.sentinel import Sentinel

ASYNC = sys.argv[1:] == ["async"]
HEARD = []  # after pushes, of those whose client has a context


def client_of(place, is_async):
    if place["kind"] == "fake":
        return laterd.testing.AsyncFake() if is_async else laterd.testing.Fake()
    module, sentinel = (redis.asyncio, AsyncSentinel) if is_async else (redis, Sentinel)
    if place["kind"] == "single":
        client = module.Redis(unix_socket_path=place["socket"], password=place.get("password"))
    elif place["kind"] == "sentinel":
        client = sentinel(place["nodes"]).master_for(place["master"])
    else:
        client = module.RedisCluster(host=place["nodes"][0][0], port=place["nodes"][0][1])
    if "client_prefix" in place:  # redis-py has none: as kombu's
        client.global_keyprefix = place["client_prefix"]
    module = laterd.aio if is_async else laterd
    return module.Client(client, prefix=place.get("prefix", "later"))


def connect(place, is_async=ASYNC):
    made = client_of(place, is_async)
    if "patience" in place:
        importlib.import_module("laterd.away").PATIENCE = place["patience"]
    if "context" in place:
        made.before_push(lambda job: dataclasses.replace(job, context={**place["context"], **(job.context or {})}))
        HEARD.clear()
        made.after_push(lambda job, pushed: HEARD.append("%s %s %s" % (job.type, pushed.id, pushed.result)))
    return made


def job_of(members):
    members = dict(members)
    if "payload_json" in members:
        members["payload"] = laterd.RawJSON(members.pop("payload_json"))
    if "in" in members:
        members["delay"] = members.pop("in")
    return laterd.NewJob(**members)


def ends_of(call):
    return {name.replace("finally", "finally_"): job_of(call[name]) for name in ("then", "finally", "failed") if name in call}


def flow_jobs(call):
    """The jobs as they are, a chain, or a batch."""
    if "chain" in call:
        return laterd.chain(*map(job_of, call["chain"]))
    if "batch" in call:
        return laterd.batch(map(job_of, call["batch"]), **ends_of(call))
    return [job_of(job) for job in call.get("jobs", [])]


def known(found):
    return {**vars(found), "document": json.loads(found.document)}


async def do(client, call):
    async def get(result):
        return await result if inspect.isawaitable(result) else result

    queue = call["queue"]
    if "heard" in call:
        return {"heard": HEARD}
    if "push" in call:
        job = job_of(call["push"])
        options = {name: value for name, value in vars(job).items() if name not in ("type", "payload", "queue")}
        return vars(await get(client.push(job.type, job.payload, queue=queue, **options)))
    for what in ("show_flow", "wait_flow", "kick_flow", "cancel_flow", "close_flow"):
        if what in call:
            more = {"timeout": call["timeout"]} if what == "wait_flow" else {}
            answer = await get(getattr(client, what)(call[what], queue=queue, **more))
            return {"count": answer} if isinstance(answer, int) else vars(answer) if answer else {"state": None}
    if "events" in call:
        said = await get(client.events(queue, call["events"], **{name: call[name] for name in ("limit", "timeout") if name in call}))
        return {"ends": list(map(vars, said.ends)), "missed": said.missed, "bookmark": said.bookmark}
    if "map" in call:
        return vars(await get(client.map(job_of(call["map"]), iter(call["items"]), queue, chunk=call.get("chunk"),
                                         flow=call.get("flow"), **ends_of(call))))
    if "flow" in call:
        many = await get(client.flow(call["flow"], flow_jobs(call), queue=queue, open="stays_open" in call))
        return {"results": list(map(vars, many))}
    if "push_many" in call:
        many = await get(client.push_many([job_of(one) for one in call["push_many"]], queue=queue))
        return {"results": list(map(vars, many))}
    if "call" in call:
        return {"value": await get(client.call(call["call"]["type"], call["call"]["payload"], queue=queue,
                                               timeout=call["timeout"]))}
    if "wait" in call:
        return {"value": await get(client.wait(call["wait"], queue, call["timeout"]))}
    if "wait_many" in call:
        return {"results": [vars(one) for one in await get(client.wait_many(call["wait_many"], queue, call["timeout"]))]}
    if "pause" in call:
        return {"changed": await get(client.pause(queue, **call["pause"]))}
    if "resume" in call:
        return {"changed": await get(client.resume(queue))}
    if "search" in call:
        return {"jobs": [known(one) for one in await get(client.search(queue, **call["search"]))]}
    if "size" in call:
        return vars(await get(client.size(queue)))
    if "reschedule" in call:
        how = {"delay" if name == "in" else name: call[name] for name in ("in", "at", "priority") if name in call}
        return {"state": await get(client.reschedule(call["reschedule"], queue, **how))}
    if "cron_set" in call:
        said = {"from_" if name == "from" else name: value for name, value in call["cron_set"].items()}
        return {"changed": await get(client.cron_set(laterd.NewSchedule(**{**said, "job": job_of(said["job"])}), queue))}
    if "cron_delete" in call:
        return {"changed": await get(client.cron_delete(call["cron_delete"], queue))}
    if "cron_list" in call:
        return {"schedules": list(map(vars, await get(client.cron_list(queue))))}
    if "forget" in call:
        return {"changed": await get(client.forget(call["forget"], queue))}
    if "kick" in call or "cancel" in call:
        act = client.kick if "kick" in call else client.cancel
        return {"state": await get(act(call.get("kick") or call["cancel"], queue=queue))}
    found = await get(client.show(call["show"], queue=queue))
    return known(found) if found else {"state": None}


async def main():
    client = answer = None
    kinds = {laterd.Refused: "refused", TypeError: "refused", laterd.QueueFull: "full", laterd.FlowClosed: "closed",
             laterd.WrongProtocol: "protocol", laterd.PrefixRefused: "prefix", laterd.Moving: "redis",
             laterd.JobFailed: "failed", laterd.JobUnknown: "unknown", laterd.FlowUnknown: "unknown",
             redis.RedisError: "redis", TimeoutError: "timeout"}
    loop = asyncio.get_running_loop()
    while True:
        line = await loop.run_in_executor(None, sys.stdin.readline)
        if not line:
            break
        call = json.loads(line)
        try:
            if "open" in call:
                client = None
                client = connect(call["open"])
                answer = {}
            elif client:  # otherwise it was refused, and the answer stays the same
                answer = await do(client, call)
        except tuple(kinds) as error:
            answer = {"error": next(kinds[kind] for kind in kinds if isinstance(error, kind)),
                      "text": str(error)}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
