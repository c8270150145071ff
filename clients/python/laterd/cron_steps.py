"""cron_steps.py: sets, deletes and lists schedules; steps as in steps.py."""
from typing import List

from .bounds import JOBS_MAX
from .crontab import NewSchedule, Schedule, schedules_of
from .document import check_label, check_queue
from .script import CRON_LOOK, CRON_MOVE, CRON_PUT
from .steps import State, Steps
from .told import text_of


def put(state: State, schedule: NewSchedule, queue: str) -> Steps[bool]:
    """`?`: laterd works out when it is due."""
    definition = schedule.definition()
    check_queue(queue)
    yield from state.greet()
    reply = yield CRON_PUT.call(state.prefix, queue, [schedule.name, definition, "?", "set"])
    yield from state.announce(queue)
    return text_of(reply[0]) == "PUT"


def drop(state: State, name: str, queue: str) -> Steps[bool]:
    check_label("name", name)
    check_queue(queue)
    yield from state.greet()
    reply = yield CRON_MOVE.call(state.prefix, queue, ["drop", name, ""])
    return int(reply[0]) == 1


def look(state: State, queue: str) -> Steps[List[Schedule]]:
    """By pages, in the order of their next ticks. One that is fired meanwhile may be listed twice."""
    check_queue(queue)
    yield from state.greet()
    found: List[Schedule] = []
    while True:
        page = schedules_of((yield CRON_LOOK.call(state.prefix, queue, [len(found), JOBS_MAX])))
        if not page:
            return list({one.name: one for one in found}.values())
        found += page
