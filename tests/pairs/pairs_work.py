"""What runs while pairs_running.py operates: a configuration, jobs of each kind, and the notes that
their handlers make. The plugin check notes serial and event jobs (check.c), the programs here the rest:
`begun` and `ended` have a line each for an attempt: id, attempt, a word, when it began (when it ended), process."""
import json
import sys

PROGRAM = """id=$LATER_ID attempt=$LATER_ATTEMPT start=$(date +%s.%N)
echo "$id $attempt exec $start $$" >>"$NOTES/begun"
sleep 0.3
echo "$id $attempt exec $start $(date +%s.%N) $$" >>"$NOTES/ended"
"""
LINES = """import json, os, sys, time
notes = os.environ["NOTES"]

def note(name, *words):
    with open(notes + "/" + name, "a") as file:
        file.write(" ".join(map(str, words)) + "\\n")

answers = open(3, "w", buffering=1)
for line in sys.stdin:
    job = json.loads(line)
    start = time.time()
    note("begun", job["id"], job["attempt"], "lines", start, os.getpid())
    time.sleep(0.2)
    note("ended", job["id"], job["attempt"], "lines", start, time.time(), os.getpid())
    print(json.dumps({"id": job["id"], "result": "done"}), file=answers)
"""
# The parts of the configuration, and what a reload makes of them: by option of laterd.conf(5).
BASE = {
    "workers": "workers = 3;",
    "queues": 'queues = ( { name = "a"; }, { name = "s"; shards = 2; }, { name = "c"; } );',
    "types": 'types = ( { name = "exec.alone"; exclusive = "type"; }, { name = "exec.permit"; max_running = 2; },'
             ' { name = "exec.kept"; keep = 60; result = 60.0; } );',
    "limits": 'limits = ( { type = "exec.limit"; max = 2; per = 1.0; } );',
    "cron": 'cron = ( { name = "every"; every = 1.0; type = "exec.once"; queue = "c"; catch_up = "all"; } );',
    "pools": "", "log": "", "keep": "", "groups": "",
    "times": "lease = 12.0; drain = 60.0; grace = 2.0; crash_max = 20;"
             " retry = { max_attempts = 40; base = 0.1; max = 0.2; jitter = 0.0; };",
}
CHANGES = {
    "workers": {"workers": "workers = 2;"},
    "queues": {"queues": 'queues = ( { name = "a"; weight = 3; max_running = 50; max_jobs = 10000; events_kept = 90; logs_kept = 9; },'
                         ' { name = "s"; shards = 3; weight = 2; }, { name = "c"; weight = 1; } );'},
    "queue gone": {"queues": 'queues = ( { name = "s"; shards = 2; }, { name = "c"; } );'},
    "types": {"types": 'types = ( { name = "exec.alone"; exclusive = "type"; timeout = 99.0; timeout_max = 200.0; },'
                       ' { name = "exec.permit"; max_running = 1; max_attempts = 30; attempts_max = 50; wait_min = 0.0; },'
                       ' { name = "do"; base = 0.2; max = 0.4; jitter = 0.1; }, { name = "event"; backoff = ( 0.1, 0.2 ); },'
                       ' { name = "exec.kept"; keep = 60; result = 60.0; } );'},
    "limits": {"limits": 'limits = ( { type = "exec.limit"; max = 2; per = 1.0; }, { queue = "c"; max = 90; per = 1.0; },'
                         ' { type = "do"; member = "do"; max = 90; per = 1.0; window = "fixed"; },'
                         ' { queue = "a"; by = "group"; max = 90; per = 1.0; } );'},
    "groups": {"groups": 'groups = ( { queue = "a"; max_running = 2; }, { queue = "a"; group = "heavy"; weight = 4.0; } );'},
    "cron": {"cron": 'cron = ( { name = "every"; every = 1.0; type = "exec.once"; queue = "c"; catch_up = "all"; },'
                     ' { name = "other"; at = "* * * * *"; zone = "Europe/Berlin"; type = "note"; queue = "c";'
                     ' payload = "7"; overlap = "skip"; spread = 1.0; late = 90.0; priority = 3; expires_in = 60.0;'
                     ' from = "1000000000"; until = "4000000000"; limit = 1000000000;'
                     ' max_attempts = 3; timeout = 9.0; } );'},
    "pools": {"workers": "", "queues": "", "pools":
              'pools = ( { name = "p"; queues = ( { name = "s"; shards = 2; } ); workers = 1; memory_max = 4000;'
              ' files_max = 500; }, { name = "r"; queues = ( { name = "a"; }, { name = "c"; } ); workers = 2; } );'},
    "times": {"times": "lease = 10.0; timeout = 200.0; timeout_max = 900.0; drain = 50.0; grace = 3.0; crash_max = 30;"
                       " events = 500; unknown_max = 60.0; retry = { max_attempts = 30; base = 0.2; max = 0.3;"
                       " jitter = 0.1; attempts_max = 99; wait_min = 0.0; };"
                       " recycle = { jobs = 20; memory = 1000; age = 300.0; };"},
    "log": {"log": 'log = { level = "debug"; format = "text"; rate = 5000; }; history = "off";'},
    "keep": {"keep": "keep = { max = 500; }; flows = { keep = 600; }; dead = { max = 500; days = 3; }; document = { max = 100000; };"},
}
# Options of laterd.conf(5) that no reload changes, and why.
FIXED = {"redis.url": "needs a restart", "redis.password_file": "needs a restart", "redis.prefix": "needs a restart",
         "state_dir": "needs a restart", "stop_after": "cli_work.sh", "plugins.dir": "daemon_reload.sh", "plugins.load": "daemon_reload.sh",
         "plugins.config": "daemon_reload.sh", **{f"{list_}.{name}": "pushes jobs of its own; daemon_hooks.sh"
                                                   for list_ in ("queues", "types") for name in ("on_dead", "on_done")}}


def jobs():
    """Lines for push --file, and how often each job runs."""
    found = []

    def add(kind, count, queue, type, payload=None, runs=1, **members):
        for i in range(count):
            found.append(({"id": f"{kind}-{i}", "queue": queue, "type": type, "payload": payload, **members}, runs))
    add("plain", 4, "a", "do", {"do": "sleep", "for": 0.3})
    add("shard", 6, "s", "do", {"do": "sleep", "for": 0.1})
    add("event", 4, "a", "event", {"for": 0.4})
    add("once", 3, "a", "exec.once")
    add("line", 4, "s", "exec.line")
    add("many", 4, "a", "exec.many")
    add("alone", 3, "a", "exec.alone")
    add("permit", 4, "s", "exec.permit")
    add("limit", 5, "a", "exec.limit")
    add("locked", 3, "a", "do", {"do": "sleep", "for": 0.2}, lock="L")
    add("heavy", 4, "a", "do", {"do": "sleep", "for": 0.1}, group="heavy")
    add("quiet", 2, "a", "exec.once", group="quiet")
    add("retry", 2, "a", "do", {"do": "retry", "in": 0.2, "upto": 1}, runs=2)
    add("result", 2, "a", "exec.once", result=3600)
    add("kept", 2, "a", "exec.kept")
    add("delayed", 2, "s", "do", {"do": "sleep", "for": 0.1}, **{"in": 1})
    return found


AGAIN = {"id": "again-0", "queue": "a", "type": "exec.once", "again": True}
BOUNCE = {"id": "bounce-0", "queue": "s", "type": "do", "payload": {"do": "done"}, "debounce": 0.4, "max_wait": 5}


def config(folder, socket, prefix, parts, state="state"):
    """The text of laterd.conf."""
    def program(*words, more=""):
        return f"{{ argv = ( {', '.join(json.dumps(word) for word in words)} ); env = {{ NOTES = \"{folder}\"; }}; {more} }}"
    once = program("/bin/sh", folder + "/program")
    programs = {name: once for name in ("once", "alone", "permit", "limit", "kept")}
    programs["line"] = program(sys.executable, folder + "/lines", more="lines = true;")
    programs["many"] = program(sys.executable, folder + "/lines", more="lines = true; parallel = 2;")
    exec_config = " ".join(f"{name} = {text};" for name, text in programs.items())
    return (f'redis = {{ url = "unix:{socket}"; prefix = "{prefix}"; }};\nstate_dir = "{folder}/{state}";\n'
            f'plugins = {{ dir = "{folder}/jobs"; config = {{ check = {{ dir = "{folder}"; }}; exec = {{ {exec_config} }}; }}; }};\n'
            + "\n".join(parts.values()) + "\n")


def options_of_parts():
    """The options of laterd.conf(5) that the parts above have, as far as their names tell."""
    return " ".join(text for change in CHANGES.values() for text in change.values()) + " ".join(BASE.values())
