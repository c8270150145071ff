"""script.py: the scripts that a client calls: copies of those that laterd installs.

clients/carry.sh makes them when the source tree or the package is built. So a client needs no
file of laterd's at run time.
"""
import hashlib
import os
import re
from typing import Any, List, Sequence

# Keys that differ from call to call, as they are called in Redis.
OWN = {"call": "call:%s", "held": "reserved:%s", "flow": "flow:%s", "unknown": "flow:%s:unknown"}
_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "scripts")


class Block(List[Any]):
    """The words of a command that waits in Redis. It is not repeated when its connection breaks: who waits looks, and
    waits for what is left of his time."""


class Script:
    """One script: its text, its digest, and the keys that its head names."""

    def __init__(self, name: str):
        with open(os.path.join(_FOLDER, name + ".lua"), "rb") as file:
            self.text = file.read()
        self.sha = hashlib.sha1(self.text).hexdigest()
        head = re.findall(rb"^-- KEYS +(.*)$", self.text, re.M)
        assert head, name
        self.keys = b" ".join(head).decode().split()
        self._own = [i for i, key in enumerate(self.keys) if key in OWN]
        self._last = ("", [""])

    def call(self, prefix: str, queue: str, args: Sequence[Any], own: str = "") -> "Call":
        """Returns the call for one place of a queue. own: the id of the call, the token, or the name
        of the flow, where the script has a key for one."""
        stem = "%s:{%s}:" % (prefix, queue)
        last, keys = self._last  # the keys of the last place are cached; other threads may do the same
        if last != stem:
            keys = [stem + key for key in self.keys]
            self._last = (stem, keys)
        if self._own:
            keys = list(keys)
        for i in self._own:
            keys[i] = stem + OWN[self.keys[i]] % own
        return Call(self, keys, list(args))


class Call:
    """A script with its keys and arguments."""

    def __init__(self, script: Script, keys: List[str], args: List[Any]):
        self.script, self.keys, self.args = script, keys, args

    @property
    def words(self) -> List[Any]:
        return ["EVALSHA", self.script.sha, len(self.keys)] + self.keys + self.args


CANCEL = Script("cancel")
CRON_LOOK = Script("cron_look")
CRON_MOVE = Script("cron_move")
CRON_PUT = Script("cron_put")
FLOW_JOIN = Script("flow_join")
FLOW_PARK = Script("flow_park")
FLOW_PUSH = Script("flow_push")
KICK = Script("kick")
PAUSE = Script("pause")
PEEK = Script("peek")
PUSH = Script("push")
PUSH_NOW = Script("push_now")
RESCHEDULE = Script("reschedule")
RESUME = Script("resume")
SHOW = Script("show")
SIZE = Script("size")
