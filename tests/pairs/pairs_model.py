"""What doc/protocol.md and later(1) say of one queue: the oracle of pairs.py. It was written from the
documents, not from the scripts. A time is a pair, the earliest and the latest that it can be; a rule
notes in `why` where it stands."""

COUNTERS = ("moved pushed duplicate replaced done expired cancelled purged released returned buried"
            " buried_waiting kicked refused").split()


def plus(time, seconds):
    return time[0] + seconds, time[1] + seconds


class Job:
    """A job, or the one that is to follow it. due: when it may begin; score: as in `show`."""

    def __init__(self, document, priority=0, life=("none", 0), until=None, due=None, first=None):
        self.document, self.priority, self.life, self.until = document, priority, life, until
        self.due, self.first, self.next = due, first, None
        self.state, self.score, self.attempts, self.error = "ready", None, 0, None


class Queue:
    def __init__(self):
        self.jobs, self.taken, self.place, self.max_jobs = {}, {}, {}, {}
        self.paused, self.why, self.now, self.began = False, "", None, None
        self.counters = dict.fromkeys(COUNTERS, 0)

    def at(self, now):
        """Redis's clock was between these two while the next command ran."""
        self.now, self.began = now, self.began or now[0]
        for id in [i for i, until in self.taken.items() if self.past(until)]:
            del self.taken[id]

    def past(self, time):
        assert self.now[1] < time[0] or self.now[0] > time[1], "too close to decide: a slow machine"
        return self.now[0] > time[1]

    def count(self, *names):
        for name in names:
            self.counters[name] += 1

    def settle_place(self, job, base):
        """protocol.md, Time and scores."""
        job.state, job.score = "ready", plus(base, -1000000 * job.priority)

    def wait_or_ready(self, job):
        job.state = "delayed" if job.due else "ready"
        if job.due:
            job.score = job.due
        else:
            self.settle_place(job, self.now)

    # ---- push

    def push(self, id, push, place):
        """push: dict of the options' meanings, see pairs.py. Returns the answer."""
        job = self.jobs.get(id)
        again = push["again"] or push["debounce"]
        if id in self.taken:
            self.why = "protocol.md, push and EXISTS: an id can stay taken"
            self.count("duplicate")
            return "exists ended"
        if job and job.state in ("ready", "delayed") and (push["replace"] or again):
            self.why = "protocol.md, push: modes replace and again"
            self.count("replaced")
            self.jobs[id] = self.new(push, job)
            return "replaced"
        if job and job.state == "reserved" and again:
            if job.life[0] == "throttle" and not self.past(job.until):
                self.why = "protocol.md, push: AGAIN, while the running job takes the id"
                self.count("duplicate")
                return "exists reserved"
            self.why = "protocol.md, push: AGAIN"
            job.next = self.new(push, job.next)
            return "again"
        if job:
            self.why = "protocol.md, push and EXISTS"
            self.count("duplicate")
            return "exists " + job.state
        if place in self.max_jobs and self.at_place(place) >= self.max_jobs[place]:
            self.why = "protocol.md, push: FULL"
            self.count("refused")
            return "full"
        self.why = "protocol.md, push"
        self.count("pushed")
        self.jobs[id], self.place[id] = self.new(push), place
        return "pushed"

    def at_place(self, place):
        return sum(self.place[id] == place for id in self.jobs)

    def new(self, push, before=None):
        """protocol.md, push: when, priority."""
        kind, seconds = push["life"]
        job = Job(dict(push["document"]), push["priority"], push["life"],
                  plus(self.now, seconds) if kind == "throttle" else None)
        if push["expires_in"]:
            job.document["expires_at"] = plus(self.now, push["expires_in"])
        if push["delay"]:
            job.due = plus(self.now, push["delay"])
        if push["at"] and not self.past((push["at"],) * 2):
            job.due = (push["at"],) * 2
        if push["max_wait"]:
            job.first = before.first if before and before.first else self.now
            last = plus(job.first, push["max_wait"])
            if last[0] < job.due[0]:
                job.due = last
        if job.due and push["max_wait"] and self.past_or_now(job.due):
            base, job.due = job.due, None
            self.settle_place(job, base)
        else:
            self.wait_or_ready(job)
        return job

    def past_or_now(self, time):
        return time[0] <= self.now[1]

    # ---- what ends a job, or an attempt

    def drop(self, id, counter):
        self.count(counter)
        return self.jobs.pop(id)

    def end(self, id, counter):
        """Done, or expired: its id stays taken, or the next one follows."""
        job = self.drop(id, counter)
        self.why = "protocol.md, push: AGAIN, when the running job has ended"
        if job.next:
            self.count("pushed")
            self.follow(id, job)
            return
        self.why = "protocol.md, push and EXISTS: unique_for"
        if job.life[0] == "unique":
            self.taken[id] = plus(self.now, job.life[1])
        elif job.life[0] == "throttle" and not self.past(job.until):
            self.taken[id] = job.until

    def follow(self, id, job):
        """It goes into `delayed` with its own time, priority and document."""
        self.jobs[id] = job.next
        job.next.state = "delayed"
        job.next.score = job.next.due or None  # without a delay: at once, so in the past

    def to_dead(self, id, attempt):
        job = self.jobs[id]
        if job.next:
            self.why = "protocol.md, push: AGAIN stands in for a burial"
            self.count("released", "replaced")
            self.follow(id, job)
            return
        self.why = "protocol.md, bury; Attempts"
        self.count("buried")
        job.attempts += attempt
        job.state, job.score = "dead", self.now

    def settle(self, id, verb, seconds=0):
        """ack, release, return, bury by the token of its reserve. Returns the answer."""
        job = self.jobs.get(id)
        self.why = "later(1), Working: " + verb
        if not job or job.state != "reserved":
            return None
        job.first = None if verb != "return" else job.first
        if verb == "ack":
            self.end(id, "done")
        elif verb == "bury":
            job.error = "by us"
            self.to_dead(id, 1)
        else:
            self.count({"release": "released", "return": "returned"}[verb])
            if verb == "release":
                job.attempts, job.error = job.attempts + 1, "by us"
            job.due = plus(self.now, seconds) if seconds else None
            if job.due:
                job.state, job.score = "delayed", job.due
            elif verb == "return":
                job.state, job.score = "ready", job.before
            else:
                self.settle_place(job, self.now)
        return verb

    def reserve(self, id):
        """Returns whether the job was handed out."""
        job = self.jobs.get(id)
        self.why = "later(1), reserve: makes ready what is due"
        if job and job.state == "delayed" and (job.score is None or self.past(job.score)):
            if job.score:
                self.settle_place(job, job.score)
            else:
                job.state = "ready"
        if not job or job.state != "ready" or self.paused:
            return False
        self.why = "later(1), reserve: a job that must not run"
        expires = job.document.get("expires_at")
        if expires and not job.attempts and self.past(expires if type(expires) is tuple else (expires,) * 2):
            self.end(id, "expired")
            return self.reserve(id)  # it looks for another one
        if job.attempts >= job.document.get("max_attempts", 25):
            self.to_dead(id, 0)
            return self.reserve(id)
        self.why = "protocol.md, reserve"
        job.state, job.before, job.score = "reserved", job.score, None
        return True

    # ---- by hand

    def kick(self, id):
        job = self.jobs.get(id)
        self.why = "protocol.md, kick"
        if not job or job.state not in ("dead", "delayed"):
            return None
        was, job.due = job.state, None
        if was == "dead":
            job.attempts, job.first = 0, None
        self.settle_place(job, self.now)
        self.count("kicked")
        return was

    def reschedule(self, id, seconds, priority):
        job = self.jobs.get(id)
        self.why = "later(1), edit"
        was = job and job.state
        if was not in ("ready", "delayed"):
            return was
        turn = self.now if was == "delayed" else plus(job.score, 1000000 * job.priority)
        job.priority, job.due = priority, plus(self.now, seconds) if seconds else None
        if job.due:
            job.state, job.score = "delayed", job.due
        else:
            self.settle_place(job, turn)
        return was

    def bury(self, id):
        job = self.jobs.get(id)
        self.why = "later(1), bury; protocol.md, act"
        if not job or job.state not in ("ready", "delayed"):
            return None
        was = job.state
        self.count("buried", "buried_waiting")
        job.state, job.score, job.error = "dead", self.now, "by hand"
        return was

    def cancel(self, id):
        self.why = "protocol.md, cancel"
        if id in self.taken:
            del self.taken[id]
            return "ended"
        return self.drop(id, "cancelled").state if id in self.jobs else None

    def move(self, id):
        """Into another queue."""
        job = self.jobs.get(id)
        self.why = "later(1), move"
        if not job or job.state not in ("ready", "delayed", "dead"):
            return None
        return self.drop(id, "moved").state

    def cancel_all(self, state):
        self.why = "later(1), cancel"
        return len([self.drop(id, "cancelled") for id in [i for i in self.jobs if self.jobs[i].state == state]])
