# __main__.py: `python -m laterd`, the program that performs jobs with Handlers.
"""python -m laterd MODULE:NAME: performs jobs with the Handlers of this name.

laterd runs this program with its plugin exec (`lines = true`). By hand it tries a handler
once:

    python -m laterd mails:app mail.send '{"to": "a@b.c"}'     # the payload may be - for standard input
    python -m laterd mails:app                                 # lists the types

A laterd for this program alone, until ^C. What follows is for `later work`: queues, -p N, --entry:

    python -m laterd mails:app --work mail -p 50

Exit status: 0 done, 65 buried, 75 retry or return, 64 wrong usage.
"""
import argparse
import importlib
import json
import os
import sys
from typing import Any, Dict, List, NoReturn

from .answers import error_of, lines_of
from .handlers import Handlers, Job

STATUS = {
    # @answers answer: "{name}": {status},
    "done": 0,
    "retry": 75,
    "bury": 65,
    "return": 75,
    # @end
}


class Shown:
    """Takes the place of laterd, and prints what it is told to standard error."""

    def put(self, line: Dict[str, Any]) -> None:
        self.put_line(json.dumps(line))

    def put_line(self, line: str) -> None:
        print(line, file=sys.stderr)

    def look(self) -> None:
        pass


def unloaded(error: Exception) -> str:
    """What laterd is to keep of it: the message first, since a line of `later` has no more, and not our frame."""
    assert error.__traceback__
    return error_of(error.with_traceback(error.__traceback__.tb_next))


def load(name: str) -> Handlers:
    module, _, attribute = name.partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute or "app")
    except (ImportError, AttributeError) as error:
        if isinstance(error, ImportError) and error.name != module:
            sys.exit(unloaded(error))
        sys.exit("%s: %s" % (name, error))
    except Exception as error:
        sys.exit(unloaded(error))
    if not isinstance(found, Handlers):
        sys.exit("%s: is no laterd.Handlers" % name)
    return found


def work(name: str, words: List[str]) -> None:
    """Becomes `later work`, which starts a laterd that runs this program. Without -p, it gets ten jobs at once."""
    queues = [] if words and not words[0].startswith("-") else ["default"]
    many = [] if any(word.startswith(("-p", "--parallel")) for word in words) else ["-p", "10"]
    try:
        os.execvp("later", ["later", "work", *queues, *words, *many, "--lines", "--",
                            sys.executable, "-m", "laterd", name])
    except OSError as error:
        sys.exit("later: %s; it comes with laterd" % error.strerror)


def try_once(handlers: Handlers, type: str, payload: str, attempt: int) -> int:
    text = sys.stdin.read() if payload == "-" else payload
    try:
        document = {"type": type, "payload": json.loads(text)}
    except ValueError as error:
        print("PAYLOAD is no JSON: %s" % error, file=sys.stderr)
        return 64
    line = {"id": "try", "type": type, "queue": "default", "attempt": attempt, "max_attempts": 25,
            "time_left": 300.0, "document": document}
    answer = handlers.perform(Job(line, Shown()))  # type: ignore[arg-type]
    *notes, last = (json.loads(told) for told in lines_of({"id": "try", **answer}))
    for note in notes:
        print(note["text"], file=sys.stderr)
    if "error" in last:
        print("%s: %s" % (last["result"], last["error"]), file=sys.stderr)
    else:
        print(json.dumps(last.get("value")))
    return STATUS[last["result"]]


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(64, "%s: %s\n" % (self.prog, message))


def main() -> int:
    parser = Parser(prog="python -m laterd", description=__doc__,
                    formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", metavar="MODULE:NAME")
    parser.add_argument("type", metavar="TYPE", nargs="?")
    parser.add_argument("payload", metavar="PAYLOAD", nargs="?", default="null")
    parser.add_argument("--attempt", type=int, default=1)
    parser.add_argument("--max-jobs", type=int, default=0, help="the program ends after so many")
    parser.add_argument("--max-memory", type=int, default=0, metavar="MB")
    words = sys.argv[1:]
    if "--work" in words[1:2]:
        work(words[0], words[2:])
    args = parser.parse_args()
    handlers = load(args.name)
    if args.type:
        return try_once(handlers, args.type, args.payload, args.attempt)
    if not os.environ.get("LATER_ANSWERS"):
        print("\n".join(handlers.types))
        return 0
    handlers.run(args.max_jobs, args.max_memory << 20)
    return 0


if __name__ == "__main__":
    sys.exit(main())
