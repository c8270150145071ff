"""checks.py: results, and what Redis has done, for tests from outside that are written in Python.

A test prints one line: `ok NAME` or `not ok NAME: why`. python_tests (tests/system/lib.sh) makes TAP of them.
"""
import os
import subprocess

from patience import until


def run(*words, **options):
    """Returns what this `later` command prints."""
    return subprocess.run([os.environ['later_bin'], *words], check=False, capture_output=True, text=True, **options).stdout


def redis(*words):
    """Returns the answer of the Redis of $redis_socket."""
    return subprocess.run(['redis-cli', '-s', os.environ['redis_socket'], *words], check=False, capture_output=True, text=True).stdout.strip()


def check(holds, name, why=''):
    print(f'ok {name}' if holds else f'not ok {name}: {why}'.replace('\n', ' '), flush=True)
    return holds


def same(got, wanted, name):
    return check(got == wanted, name, f'got {got!r}, wanted {wanted!r}')


def calls():
    """Returns how often each command was performed by the Redis of $redis_socket, also within scripts."""
    info = subprocess.run(['redis-cli', '-s', os.environ['redis_socket'], 'INFO', 'commandstats'],
                          check=True, capture_output=True, text=True).stdout
    return {line.split(':')[0][8:]: int(line.split('calls=')[1].split(',')[0])
            for line in info.splitlines() if 'calls=' in line}


def performed(before, now):
    """Returns the commands that were performed between two calls(). Left out are this INFO, and PING: on a busy
    machine more often than else it is asked whether Redis is there."""
    return {name: number - before.get(name, 0) for name, number in now.items()
            if number != before.get(name, 0) and name not in ('info', 'ping')}


def wait_until(condition, seconds=20):
    """until() for at least a minute, so that only a hang reaches it."""
    return until(condition, max(seconds, 60))
