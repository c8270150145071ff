"""patience.py: waiting for a condition, for the tests that are in Python."""
import time


def until(condition, seconds):
    """Returns the value of a condition once it holds, or None when the time is over. Asked ever less often, since most
    ask a process or a browser, which on a machine where tests run side by side takes what the others need."""
    end, pause = time.monotonic() + seconds, 0.02
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            return None
        time.sleep(pause)
        pause = min(pause * 1.2, 0.1)
