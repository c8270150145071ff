"""testing_flows.py: flows in a Fake: what becomes of jobs that wait (doc/protocol.md, "Flows")."""
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Set, Tuple

from .document import Prepared
from .flows import Flow, state_of

if TYPE_CHECKING:
    from .testing import Kept

LETTERS = {"waiting": "w", "ready": "o", "delayed": "o", "reserved": "o", "dead": "x", "done": "d", "cancelled": "g",
           "skipped": "s"}
COUNTS = {"open": "o", "waiting": "w", "dead": "x", "done": "d", "gone": "g", "skipped": "s"}
FATES = {"g": "was cancelled, purged, expired or trimmed", "s": "was not needed", "u": "does not exist"}


def counts_of(letters: List[str]) -> Dict[str, int]:
    return {"total": len(letters), **{name: letters.count(letter) for name, letter in COUNTS.items()}}


@dataclass(eq=False)
class KeptFlow:
    """A flow that was pushed to a Fake."""

    name: str
    closed: bool = False
    made: float = field(default_factory=time.time)
    jobs: "Dict[str, Kept]" = field(default_factory=dict)  # by id; a known job may be of several flows
    steps: "Dict[str, Kept]" = field(default_factory=dict)
    stars: Set[str] = field(default_factory=set)  # ids of those that wait for all without `*`

    def add(self, kept: "Kept", tie: Prepared) -> None:
        """tie: how it was pushed to this flow, which for a known job is not how it was made."""
        self.jobs[kept.id] = kept
        if tie.step:
            self.steps[tie.step] = kept
        if tie.after == "*":
            self.stars.add(kept.id)

    def letters(self, starred: Optional[bool] = None) -> List[str]:
        """Returns a letter for the state of each of its jobs; of those with `*`, or without, if asked."""
        return [LETTERS[one.state] for one in self.jobs.values() if starred in (None, one.id in self.stars)]

    def flow(self) -> Flow:
        counts = counts_of(self.letters())
        return Flow(self.name, state_of(self.closed, counts), self.closed, self.made, **counts)

    def heard(self, kept: "Kept") -> Dict[str, Any]:
        """Returns what one that has waited gets: the members of its line."""
        after = kept.made.after
        if after == "*":
            failed = [id for id, one in self.jobs.items() if LETTERS[one.state] in "xg" and id not in self.stars]
            return {"flow": {"name": self.name, **counts_of(self.letters(False)), "failed": failed}}
        return {"values": {step: self.steps[step].value for step in after.split(",") if step in self.steps}} if after else {}

    def settle(self, run: "Callable[[Kept], None]") -> bool:
        """Decides about those that wait, whose time has come. Returns whether any job has changed."""
        changed = False
        for kept in list(self.jobs.values()):
            if kept.state == "waiting" and kept.home is self:
                fate, why = (self._all if kept.made.after == "*" else self._some)(kept)
                changed = changed or fate != "wait"
                if fate == "run":
                    run(kept)
                elif fate == "skip":
                    kept.state = "skipped"
                elif fate == "bury":
                    kept.state = "dead"
                    kept.error = {"at": time.time(), "attempt": 0, "kind": "flow", "text": why, "host": ""}
        return changed

    def _all(self, kept: "Kept") -> Tuple[str, str]:
        letters = self.letters(False)
        gone = letters.count("g")
        over = self.closed and not {"o", "w"} & set(letters)
        if kept.made.fate == "failed":
            return "run" if gone or "x" in letters else "skip" if over else "wait", ""
        if kept.made.fate == "done" and gone:
            return "bury", "needs all jobs of flow %s, and %d of them are gone" % (self.name, gone)
        return "run" if over and (kept.made.fate == "ended" or "x" not in letters) else "wait", ""

    def _some(self, kept: "Kept") -> Tuple[str, str]:
        steps = kept.made.after.split(",")
        letters = [LETTERS[self.steps[step].state] if step in self.steps else "u" if self.closed else "w"
                   for step in steps]
        over = not {"o", "w"} & set(letters)
        if kept.made.fate == "failed":
            return "run" if {"x", "g", "u"} & set(letters) else "skip" if over else "wait", ""
        if kept.made.fate == "ended":
            return "run" if over else "wait", ""
        for step, letter in zip(steps, letters):
            if letter in FATES:
                return "bury", "needs step %s of flow %s, which %s" % (step, self.name, FATES[letter])
        return "run" if set(letters) == {"d"} else "wait", ""
