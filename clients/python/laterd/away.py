"""away.py: a wait outlasts a Redis that is away: when it asks again, when it gives up, and with which error."""
import time
from typing import Optional

import redis
from redis.exceptions import (AuthenticationError, AuthorizationError, ClusterDownError, MasterDownError,
                              ReadOnlyError, RedisClusterException, TryAgainError)

# @errors wait: {UPPER} = {seconds}  # seconds {help}
AGAIN = 0.5  # seconds until a Redis that is away is asked again
PATIENCE = 30.0  # seconds without an answer after which a wait gives up
# @end
# What a Redis says that cannot serve now, or not here. For some of it redis-py has a class, and leaves the word out.
PASSING = (
    # @errors away: "{UPPER} ",  # {help}
    "BUSY ",  # a script runs longer than busy-reply-threshold
    "CLUSTERDOWN ",  # no master for the slot at the moment
    "LOADING ",  # it reads its file after a start
    "MASTERDOWN ",  # a replica that has lost its master
    "MISCONF ",  # it cannot write to its disk
    "NOREPLICAS ",  # min-replicas-to-write is not met
    "OOM ",  # maxmemory is reached
    "READONLY ",  # it has become a replica
    "TRYAGAIN ",  # the slot is being moved
    "UNBLOCKED ",  # its role has changed under a BLPOP
    # @end
    "command not allowed when used memory ",  # of OOM
)
# What Redis may throw into steps. The last is of a Cluster's client that finds no node; it is no RedisError.
LOST = (redis.RedisError, RedisClusterException)


# Words of a Redis that does not let us in. redis-py makes that a ConnectionError, and on a Unix socket, when awaited,
# wraps it into another one; older ones have no class for the last of them.
DENIES = (
    # @errors denied: "{UPPER} ",  # {help}
    "NOAUTH ",  # a password was set meanwhile
    "NOPERM ",  # the ACL lacks a command or a key
    "WRONGPASS ",  # the password may be rotated: read it again
    # @end
)


def is_denied(error: Optional[BaseException]) -> bool:
    return error is not None and (isinstance(error, (AuthenticationError, AuthorizationError))
                                  or str(error).startswith(DENIES) or is_denied(error.__cause__))


def is_away(error: Exception) -> bool:
    """May it pass by itself, since a server starts, or another one takes over?"""
    if is_denied(error):
        return False
    return str(error).startswith(PASSING) or isinstance(error, (
        redis.ConnectionError, redis.TimeoutError, RedisClusterException, ClusterDownError, MasterDownError,
        ReadOnlyError, TryAgainError))


class Away:
    """For one wait, which ends at `end`, if it does."""

    def __init__(self, end: Optional[float]):
        self.end = end
        self.since: Optional[float] = None

    def answers(self) -> None:
        self.since = None

    def pause(self, error: Exception) -> float:
        """Returns for how many seconds to wait before the next look. Raises the error if it does not pass, or if it
        is time to give up. After an answer there is always one look more, so that the wait's end is told as what it is:
        its time is up, or Redis is away."""
        now, first = time.monotonic(), self.since is None
        since = self.since or now
        left = since + PATIENCE - now
        if self.end is not None:
            left = min(left, self.end - now)
        if not is_away(error) or not first and left <= 0:
            if isinstance(error, RedisClusterException):
                raise redis.ConnectionError(str(error)) from error
            raise error
        self.since = since
        return min(AGAIN, max(left, 0.0))
