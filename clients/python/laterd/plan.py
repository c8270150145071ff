"""plan.py: a queue that is spread over several: doc/protocol.md, "Shards"."""
from binascii import crc_hqx
from dataclasses import dataclass, field
from typing import List

from .bounds import SHARDS_MAX


@dataclass
class Plan:
    """EPOCH COUNT FORMER… None means that the queue has one place, itself."""

    epoch: str = "0"
    count: int = 1
    former: List[int] = field(default_factory=list)

    @classmethod
    def parse(cls, text: str) -> "Plan":
        words = text.split(" ")
        counts = [int(word) for word in words[1:] if word.isdigit() and 1 <= int(word) <= SHARDS_MAX]
        return cls(words[0] or "0", counts[0] if counts else 1, counts[1:])

    def route(self, queue: str, job_id: str) -> List[str]:
        """Returns the places of an id: first those where it may still lie, last the one where it
        belongs."""
        last = place_of(queue, self.count, job_id)
        if not self.former:
            return [last]
        places = [place_of(queue, count, job_id) for count in self.former]
        return [place for place in dict.fromkeys(places) if place != last] + [last]

    def places(self, queue: str) -> List[str]:
        """Returns all places of a queue, also those of former counts. The plain queue is always one."""
        most = max([self.count, *self.former])
        return [queue] + ["%s/%d" % (queue, i) for i in range(most) if most > 1]


def place_of(queue: str, count: int, job_id: str) -> str:
    """crc_hqx is CRC16/XMODEM, as in Redis Cluster."""
    return "%s/%d" % (queue, crc_hqx(job_id.encode(), 0) % count) if count > 1 else queue
