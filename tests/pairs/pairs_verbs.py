"""Each command of `later`, as pairs_commands.py tries it: how it is written, and what later(1) and
protocol.md say that it answers and does. The only place where these tests spell commands.

A row: its words, which rights it needs, and its oracle, which is asked before the command is run. The
oracle changes the model of the queue (World in pairs_commands.py) and returns the exit status and the
rows of the output, each by members that it must have; None for rows that it does not tell.

Needs: none (no Redis), look (later(1) and protocol.md promise it to who may only look), read, write,
push (Redis refuses it when it is full), note (so, too: it leaves a note in any case)."""

# ---- conditions: the words, and what they say of a job; None: the documents do not say

CONDITIONS = {
    "none": ("", lambda job: True),
    "type": ("--type t", lambda job: job["type"] == "t"),
    "other": ("--type oth?r", lambda job: job["type"] == "other"),
    "text": ("--text needle", lambda job: job["type"] == "t"),
    "where": ("--where payload.k=7", lambda job: job["type"] == "t"),
    "attempts": ("--attempts >0", lambda job: job["attempts"] > 0),
    "no-attempts": ("--attempts <=0", lambda job: job["attempts"] == 0),
    "priority": ("--priority >=1", lambda job: job["priority"] >= 1),
    "error": ("--error ^by.us$", lambda job: job["error"] == "by us"),
    "kind": ("--kind retry", lambda job: job["kind"] == "retry"),
    "host": ("--host nowhere", lambda job: False),
    "newer": ("--newer 1h", lambda job: None if job["state"] == "reserved" else job["state"] != "delayed"),
    "older": ("--older 1h", lambda job: None if job["state"] == "reserved" else False),
    "types": ("--type none --type t", lambda job: job["type"] == "t"),
    "not": ("--not type:t --not kind:retry", lambda job: job["type"] != "t" and job["kind"] != "retry"),
    "limit": ("-n 1", lambda job: True),
}
STATES = ["ready", "delayed", "reserved", "dead", "done"]


def chosen(w, states, state=None, named=False):
    """The ids of jobs that meet the row's condition, in one of these states."""
    jobs = [job for job in w.facts() if job["state"] in ([state] if state else states)
            and (job["state"] != "done" or state == "done")]
    test = CONDITIONS[w.row["condition"]][1]
    return [job["id"] for job in jobs if test(job)]


def limited(w, ids):
    return ids[:1] if w.row["condition"] == "limit" else ids


# ---- looking

def no_age(w, state):
    """Only a delayed job's due time is known, so nothing is older or newer."""
    return state == "delayed" and w.row["condition"] in ("newer", "older")


def looks_at(states, member):
    """count: how many there are; search, export: the jobs themselves."""
    def oracle(w, state=None):
        if no_age(w, state):
            return 64, []
        ids = chosen(w, states, state)
        if member == "count":
            return 0, [{"count": len(limited(w, ids))}]
        return 0, [{"id": w.shown(id)} for id in ids] if limited(w, ids) == ids else None  # which is first, is not said
    return oracle


def counts_by_state(w):
    ids = chosen(w, ALL)
    if no_age(w, None) or limited(w, ids) != ids:
        return None  # which of them is the first, the documents do not say of all states
    states = [job["state"] for job in w.facts() if job["id"] in ids and job["state"] != "done"]
    return 0, [{"by": "state", "value": state, "count": states.count(state)} for state in STATES[:4] if state in states]


def size(w):
    counts = {state: sum(job["state"] == state for job in w.facts()) for state in STATES[:4]}
    return 0, [{"queue": w.queue, **counts, "paused": w.model.paused}]


def peek(state):
    return lambda w: (0, [{"id": None if job["plain"] else job["id"], "state": state}
                          for job in w.facts() if job["state"] == state])


def show(w):
    jobs = [job for job in w.facts() if job["id"] == w.x]
    jobs = [job for job in jobs if job["state"] != "done"] or jobs
    return (0, [{"id": w.x, "state": jobs[0]["state"], "attempts": jobs[0]["attempts"]}]) if jobs else (66, [])


def result(w):
    job = w.model.jobs.get(w.x)
    if w.result == "done":
        return 0, [{"id": w.x, "state": "done", "value": [7.5]}]
    if job:
        return (65, [{"id": w.x, "state": "dead"}]) if job.state == "dead" else (75, [{"id": w.x, "state": "waiting"}])
    return 66, [{"id": w.x, "state": "gone"}]


def forget_result(w):
    answer, w.result = result(w), None if w.result == "done" else w.result
    return answer


# ---- pushing

def push(id, **how):
    def oracle(w):
        answer = w.push(w.x if id == "x" else id, **how)
        word, *state = answer.split()
        return 0, [{"result": word, **({"state": state[0]} if state else {})}]
    return oracle


def push_wait(w):
    w.push("z")
    return 75, None


# ---- acting

def by_id(verb):
    def oracle(w):
        was = getattr(w.model, verb)(w.x)
        return (0, [{"id": w.x, "state": was}]) if was else (66, [])
    return oracle


def by_condition(verb, states, done):
    def oracle(w, state=None):
        if no_age(w, state):
            return 64, []
        ids = chosen(w, states, state)
        if len(limited(w, ids)) < len(ids):
            return None  # which of them is the first, the documents do not say of all states
        for id in ids:
            w.act(verb, id)
        return 0, [{done: len(ids)}]
    return oracle


def acts_on_all(verb, states):
    """What is printed of several queues together, is not said."""
    def oracle(w, state=None):
        answer = by_condition(verb, states, verb)(w, state)
        return answer and (answer[0], None if answer[1] and answer[1][0][verb] else [])
    return oracle


def dry(states):
    return lambda w: (0, [{"count": len(limited(w, chosen(w, states)))}])


EDITED = '{"type":"t","payload":{"k":7,"s":"needle"},"trace":"edited"}'


MOVES = ["ready", "delayed", "dead"]


def move(w):
    job = w.model.jobs.get(w.x)
    return (75, []) if job and job.state == "reserved" else by_id("move")(w)


def edit(w):
    state = next((job["state"] for job in w.facts() if job["id"] == w.x and job["state"] != "done"), None)
    if state in (None, "reserved"):
        return (75 if state else 66), []
    w.model.jobs[w.x].document = EDITED
    return 0, [{"id": w.x, "state": state, "result": "edited"}]


def reschedule(seconds, priority):
    def oracle(w):
        was = w.model.reschedule(w.x, seconds, priority)
        return (0, [{"id": w.x, "state": was, "result": "changed"}]) if was in ("ready", "delayed") else (75 if was else 66, [])
    return oracle


def pause(paused, timed=False):
    def oracle(w):
        changed = w.model.paused != paused or timed  # the last pause of a queue counts
        w.model.paused = paused
        return 0, [{"queue": w.queue, "paused": paused, "changed": changed}]
    return oracle


# ---- working

def reserve(w):
    ids = [id for id in (w.x, w.plain) if w.reserve(id)]
    return (0, [{"id": id, "attempt": w.model.jobs[id].attempts + 1} for id in ids]) if ids else (75, [])


def settle(verb, seconds=0):
    def oracle(w):
        if verb == "touch":
            job = w.model.jobs.get(w.x)
            return (0 if job and job.state == "reserved" else 77), None
        return (0 if w.model.settle(w.x, verb, seconds) else 77), None
    return oracle


def says(status, *rows):
    return lambda w: (status, list(rows) if rows else None)


def if_held(free, held):
    return lambda w: (held if w.row["aside"] == "held" else free, None)


def lock_show(w):
    return 0, [{"lock": "l", "held": w.row["aside"] == "held"}]


def locks(w):
    return 0, [{"kind": "lock", "name": "l", "held": 1}, {"kind": "limit", "name": "m", "held": 1}] \
        if w.row["aside"] == "held" else []


def cron_verb(answer):
    return lambda w: (0, [{"queue": w.queue, "name": "c", "result": answer}]) if w.row["aside"] == "held" else (66, [])


def cron_run(w):
    if w.row["aside"] != "held":
        return 66, []
    w.extra["ready"] += 1
    w.model.count("pushed")
    return 0, [{"queue": w.queue, "name": "c", "result": "pushed"}]


def cron_list(w):
    return 0, [{"queue": w.queue, "name": "c", "state": "active"}] if w.row["aside"] == "held" else []


ALL = STATES[:4]
COMMANDS = {
    "push": ("push t --id z -q {q} 7", "push", push("z")),
    "push known": ("push t --id {x} -q {q} 7", "push", push("x")),
    "push replace": ("push t --id {x} -q {q} 7 --replace", "push", push("x", replace=True)),
    "push again": ("push t --id {x} -q {q} 7 --again", "push", push("x", again=True)),
    "push file": ("push --file {file} -q {q}", "push", push("x")),
    "push wait": ("push t --id z -q {q} 7 --wait 0.05", "push", push_wait),
    "wait": ("wait {x} -q {q} --timeout 0.05", "read", result),
    "wait everywhere": ("wait {x} --timeout 0.05 -q {q}", "read", result),
    "wait forget": ("wait {x} -q {q} --timeout 0 --forget", "write", forget_result),
    "wait not": ("wait {x} -q {q} --timeout 0", "read", result),
    "size names": ("size --names", "look", lambda w: (0, [{"queue": w.queue}])),
    "size groups": ("size {q} --groups -n 5", "look", says(0)),
    "size": ("size {q}", "look", size),
    "size all": ("size", "look", size),
    "size nosuch": ("size nosuch", "look", says(66)),
    **{f"peek {state}": (f"peek {{q}} --state {state}", "look", peek(state)) for state in STATES},
    "peek behind": ("peek {q} --state delayed --offset 99 -n 1", "look", says(0)),
    "show": ("show {x} -q {q}", "look", show),
    "show everywhere": ("show {x}", "look", show),
    "search count": ("search -q {q} --count {condition}", "read", looks_at(ALL, "count")),
    "search count all": ("search --all-queues --count {condition}", "read", lambda w: (
        (0, [{"queue": w.queue, "count": len(limited(w, chosen(w, ALL)))}] if chosen(w, ALL) else []))),
    "search count by": ("search -q {q} --count --by state {condition}", "read", counts_by_state),
    "search saved": ("search --saved", "read", says(0)),
    "search": ("search -q {q} {condition}", "read", looks_at(ALL, "id")),
    "search all": ("search --all-queues {condition}", "read", looks_at(ALL, "id")),
    **{f"search {state}": (f"search -q {{q}} --state {state} {{condition}}", "read",
                           lambda w, s=state: looks_at(STATES, "id")(w, s)) for state in STATES},
    **{f"export {state}": (f"export -q {{q}} --state {state} {{condition}}", "read",
                           lambda w, s=state: looks_at(STATES, "id")(w, s))
       for state in ("ready", "delayed", "dead", "done")},
    "export all": ("export --all-queues --state ready {condition} --rate 500", "read",
                   lambda w: looks_at(STATES, "id")(w, "ready")),
    "export dry": ("export -q {q} --state ready {condition} --dry-run", "read",
                   lambda w: looks_at(STATES, "count")(w, "ready")),
    "kick": ("kick {x} -q {q}", "write", by_id("kick")),
    "kick dry": ("kick {x} -q {q} --dry-run", "none", says(64)),
    "kick all": ("kick -q {q} --all --yes", "write", lambda w: by_condition("kick", ["delayed", "dead"], "kicked")(w)),
    "kick those": ("kick -q {q} {condition!} --yes --rate 500", "write", by_condition("kick", ["delayed", "dead"], "kicked")),
    "kick all those": ("kick --all-queues {condition!} --yes --rate 500", "write", acts_on_all("kick", ["delayed", "dead"])),
    "kick those dry": ("kick -q {q} {condition!} --dry-run", "read", dry(["delayed", "dead"])),
    "kick done dry": ("kick -q {q} --state done {condition} --dry-run", "read",
                      lambda w: (0, [{"count": len(limited(w, chosen(w, STATES, "done")))}])),
    "bury": ("bury {x} -q {q} --error why", "write", by_id("bury")),
    "bury those": ("bury -q {q} {condition!} --yes", "write", by_condition("bury", ["ready", "delayed"], "buried")),
    "bury all those": ("bury --all-queues {condition!} --yes --rate 500", "write", acts_on_all("bury", ["ready", "delayed"])),
    "bury those dry": ("bury -q {q} {condition!} --dry-run", "read", dry(["ready", "delayed"])),
    "cancel": ("cancel {x} -q {q}", "write", by_id("cancel")),
    "cancel dry": ("cancel {x} -q {q} --dry-run", "none", says(64)),
    "cancel those": ("cancel -q {q} {condition!} --yes", "write", by_condition("cancel", ALL, "cancelled")),
    "cancel all those": ("cancel --all-queues {condition!} --yes --rate 500", "write", acts_on_all("cancel", ALL)),
    "cancel those dry": ("cancel -q {q} {condition!} --dry-run", "read", dry(ALL)),
    **{f"cancel {state}": (f"cancel -q {{q}} --state {state} {{condition}} --yes", "write",
                           lambda w, s=state: by_condition("cancel", STATES, "cancelled")(w, s)) for state in STATES},
    "cancel all": ("cancel -q {q} --all --yes", "write", lambda w: by_condition("cancel", ALL, "cancelled")(w)),
    "bury all": ("bury -q {q} --all --yes", "write", lambda w: by_condition("bury", ["ready", "delayed"], "buried")(w)),
    "cancel all ready": ("cancel --all-queues --state ready {condition} --yes --rate 500", "write",
                         lambda w: acts_on_all("cancel", STATES)(w, "ready")),
    "cancel dead dry": ("cancel -q {q} --state dead {condition} --dry-run", "read",
                        lambda w: (0, [{"count": len(limited(w, chosen(w, STATES, "dead")))}])),
    "move": ("move {x} there -q {q}", "push", move),
    "move those": ("move -q {q} there {condition} --yes", "push", by_condition("move", MOVES, "moved")),
    "move all": ("move -q {q} there --all --yes --rate 500", "push", lambda w: by_condition("move", MOVES, "moved")(w)),
    "move all those": ("move --all-queues there {condition!} --yes", "push", acts_on_all("move", MOVES)),
    "move those dry": ("move -q {q} there {condition} --dry-run", "read", dry(MOVES)),
    "edit": ("edit {x} -q {q} --file {edited}", "push", edit),
    "edit in": ("edit {x} -q {q} --in 1d --priority 3", "write", reschedule(86400, 3)),
    "edit now": ("edit {x} -q {q} --in 0 --priority 2", "write", reschedule(0, 2)),
    "edit at": ("edit {x} -q {q} --at 2020-01-01 --priority 1", "write", reschedule(0, 1)),
    "pause": ("pause {q}", "write", pause(True)),
    "pause for": ("pause {q} --for 1h --by ann", "write", pause(True, True)),
    "pause type": ("pause {q} --type none.* --reason why --for 1h --by ann", "write",
                   lambda w: (0, [{"queue": w.queue, "type": "none.*", "paused": True, "changed": True}])),
    "resume type": ("resume {q} --type none.*", "write",
                    lambda w: (0, [{"queue": w.queue, "type": "none.*", "paused": False, "changed": False}])),
    "resume": ("resume {q}", "write", pause(False)),
    "set none": ("set limit type:none --max 1 --per 1m --for 1h --by ann", "look", lambda w: (66, [])),
    "set list": ("set", "look", lambda w: (0, [])),
    "unset": ("unset max_running type:none", "write",
              lambda w: (0, [{"kind": "max_running", "name": "type:none", "set": False, "changed": False}])),
    "pause host": ("pause --host away --for 1h", "write",
                   lambda w: (0, [{"host": "away", "quiet": True, "changed": True}])),
    "resume host": ("resume --host none", "write", lambda w: (0, [{"host": "none", "quiet": False, "changed": False}])),
    "forget": ("forget {q}", "write", says(75)),
    "forget nosuch": ("forget nosuch", "note", says(66)),
    "reserve waits": ("reserve {q} -n 9 --wait 0.05 --lease 1h", "write", reserve),
    "reserve": ("reserve {q} -n 9", "write", reserve),
    "ack": ("ack {x} --token {token} -q {q}", "write", settle("ack")),
    "release": ("release {x} --token {token} -q {q} --error by.us", "write", settle("release")),
    "release in": ("release {x} --token {token} -q {q} --error by.us --in 1d", "write", settle("release", 86400)),
    "release uncounted in": ("release {x} --token {token} -q {q} --uncounted --in 1d", "write", settle("return", 86400)),
    "release uncounted": ("release {x} --token {token} -q {q} --uncounted", "write", settle("return")),
    "bury token": ("bury {x} --token {token} -q {q}", "write", settle("bury")),
    "touch": ("touch {x} --token {token} -q {q} --lease 1h", "write", settle("touch")),
    "lock": ("lock l -- true", "write", if_held(0, 75)),
    "lock exit": ("lock l --conflict-exit 3 -- true", "write", if_held(0, 3)),
    "lock waits": ("lock l --ttl 5 --wait 0.05 -- true", "write", if_held(0, 75)),
    "lock show": ("lock l --show", "read", lock_show),
    "lock list": ("lock", "read", locks),
    "limit": ("limit m --max 1 --per 1h", "write", if_held(0, 75)),
    "limit fixed": ("limit n --max 1 --per 1h --window fixed --wait 1", "write", says(0)),
    "limit waits": ("limit m --max 1 --per 1h --wait 1", "write", if_held(0, 75)),
    "stock set": ("stock set s 3", "write", lambda w: (0, [{"item": "s", "total": 3,
                                                            "left": 2 if w.row["aside"] == "held" else 3}])),
    "stock claim": ("stock claim s you", "write", says(75)),
    "stock release": ("stock release s me", "write", if_held(66, 0)),
    "stock show": ("stock show s", "read", if_held(66, 0)),
    "cron": ("cron", "read", cron_list),
    "cron of": ("cron -q {q}", "read", cron_list),
    "cron set": ("cron set c @yearly t 7 -q {q}", "push", says(0, {"name": "c"})),
    "cron change": ("cron set c @monthly", "push", if_held(66, 0)),
    "cron set all": ("cron set c @yearly t 7 -q {q} --zone Europe/Berlin --catch-up none --overlap skip --spread 1m "
                     "--late 2m --expires-in 1h --priority 3 --group g --max-attempts 2 --retry-for 1h --timeout 5 --backoff 5 --result 60 --lock l --trace t --description d --on-dead d --on-done e --text "
                     "--from 2040-01-01T00:00:00Z --until 2050-01-01T00:00:00Z -n 3", "push",
                     says(0, {"name": "c"})),
    "cron run": ("cron run c", "push", cron_run),
    "cron pause": ("cron pause c", "write", cron_verb("paused")),
    "cron resume": ("cron resume c", "write", lambda w: (0 if w.row["aside"] == "held" else 66, None)),
    "cron delete": ("cron delete c", "write", cron_verb("deleted")),
    "cron next": ("cron next c -n 2 --from 2026-01-01T00:00:00Z", "read", if_held(66, 0)),
    "cron next expression": ("cron next @yearly -n 2", "none", says(0)),
    "status": ("status", "look", size),
    "status of": ("status {q}", "look", size),
    "status progress": ("status --progress {q}", "look", size),
    "status server": ("status --server", "look", says(0)),
    "status keys": ("status --server --keys", "read", says(0)),
    "status local": ("status --local -C {config}", "none", says(69)),
    "top": ("top --once --interval 1", "read", says(0)),
    "check": ("check {q}", "look", says(0)),
    "check all": ("check", "read", says(0)),
    "check acknowledge": ("check --acknowledge", "write", says(0)),
    "history": ("history {q} --by hour --since 1d", "read", says(0)),
    "history until": ("history {q} --since 2d --until 1d", "read", says(0)),
    "history type": ("history {q} --type t --by minute --since 1h", "read", says(0)),
    "history number": ("history --number 2 --since 1h", "read", says(0)),
    "history marks": ("history {q} --marks --since 1d", "read", says(0)),
    "events": ("events -q {q} --since 1d --timeout 0", "look", says(0)),
    "events of": ("events --type t -n 1 --bookmark {config}.{name} --timeout 0", "look", says(0)),
    "metrics": ("metrics", "read", says(0)),
    "metrics openmetrics": ("metrics --openmetrics", "read", says(0)),
    "new": ("new handler {name} --lang sh", "none", says(0)),
    "help": ("help push", "none", says(0)),
    "completion": ("completion bash", "none", says(0)),
}
PROGRAMS = ("status local", "lock", "lock exit", "lock waits", "lock show", "top", "push wait")  # not by `later serve`, or with an option that no line has
TEXT_ONLY = ("metrics", "metrics openmetrics", "new", "help", "completion", "top")
# What no row has, and why.
OUTSIDE = {"serve": "it is how the others are run", "flow": "has jobs of its own; cli_flow.sh, daemon_flow.sh",
           "work": "is a laterd, which waits for what others refuse; cli_work.sh, pairs_running.sh"}
OPTIONS_OUTSIDE = {"push": "pairs.py has them", "progress": "its lines come by time; cli_search.sh, cli_many.sh",
                   "after": "pages need many jobs; cli_search.sh", **dict.fromkeys(("save", "unsave", "columns"), "keeps a search, not jobs; cli_search.sh"), "ask": "somebody must answer; cli_many.sh", "lately": "what it asks goes by time; cli_lately.sh", "trouble": "what is trouble goes by time; cli_trouble.sh"}


def options_of(verb):
    """The options that the rows of a command have."""
    words = " ".join(words for words, _, _ in COMMANDS.values() if words.split(" ")[0] == verb)
    if "{condition" in words:
        words += " ".join(words for words, _ in CONDITIONS.values()) + " --state"
    short = {"queue": " -q ", "number": " -n "}
    return lambda name: f"--{name}" in words or short.get(name, "\n") in words
