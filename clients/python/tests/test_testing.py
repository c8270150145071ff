"""test_testing.py: laterd.testing, as a user's tests use it: python3 -m unittest.

It is called in the folder above, and needs no redis-py.
"""
import asyncio
import base64
import contextlib
import contextvars
import dataclasses
import json
import unittest
import zlib

import laterd
from laterd.testing import AsyncFake, Fake, perform

app = laterd.Handlers()
queues = Fake()


class Busy(Exception):
    pass


@app.on("welcome")
def welcome(job):
    if job.payload["to"] == "busy":
        raise Busy("the mailer is busy")
    if job.payload["to"] == "bad":
        raise laterd.Bury("no such address")
    if job.payload["to"] == "later":
        raise laterd.Return("not yet", delay=60)
    job.progress(1, 2, "half")
    return {"sent": job.payload["to"], "attempt": job.attempt}


@app.on("odd")
def odd(job):
    return {"a", "set"}


@app.on("sums")
def sums(job):
    return job.values


@app.on("flow")
def flow(job):
    return job.flow


@app.on("feed.*")
async def feed(job):
    await asyncio.sleep(0)
    if job.payload:
        queues.push("feed.next", job.payload - 1)
    return job.payload


@app.on("pages")
def pages(job):
    for page in range(job.resumes or 0, 3):
        job.checkpoint(page + 1)
        if job.stopping:
            return None
        if job.payload == page and job.attempt == 1:
            raise ValueError("page %d" % page)
    return "from %s" % job.resumes


@app.on("again")
def again(job):
    return queues.push("again", id="a", again=job.payload).result


class Keeps(unittest.TestCase):
    def setUp(self):
        queues.__init__()

    def test_what_was_pushed(self):
        self.assertEqual(queues.push("welcome", {"to": ("a", "b")}, queue="mail", delay=60).result, "pushed")
        queues.push_many([laterd.NewJob("thumb", n, priority=n) for n in range(3)])
        queues.assert_pushed("welcome", {"to": ["a", "b"]}, queue="mail", delay=60, count=1)
        queues.assert_pushed("thumb", count=3)
        queues.assert_pushed("thumb", 2, priority=2)
        queues.assert_nothing_pushed("sum")
        self.assertEqual([one.payload for one in queues.pushed("thumb")], [0, 1, 2])
        for wrong in (lambda: queues.assert_pushed("sum"), lambda: queues.assert_pushed("thumb", 7),
                      lambda: queues.assert_pushed("thumb", count=2), queues.assert_nothing_pushed,
                      lambda: queues.assert_pushed("welcome", queue="default"),
                      lambda: queues.assert_pushed("welcome", delay=61)):
            with self.assertRaises(AssertionError):
                wrong()
        self.assertEqual(vars(queues.size("mail")), {"ready": 0, "delayed": 1, "reserved": 0, "dead": 0,
                                                     "paused": False, "oldest_ready": None})

    def test_numbers_that_no_reader_can_hold_are_refused(self):
        for payload in ([10 ** 400], laterd.RawJSON("[1%s]" % ("0" * 5000)), laterd.RawJSON("1e400")):
            with self.assertRaisesRegex(laterd.Refused, "^payload: a number is too large"):
                Fake().push("sum", payload)
        self.assertEqual(Fake().push("sum", ["9" * 400, 10 ** 300]).result, "pushed")

    def test_names_that_are_the_same_in_json_are_refused(self):
        for payload in ({1: "a", "1": "b"}, [{"x": ({None: 1, "null": 2},)}]):
            with self.assertRaisesRegex(laterd.Refused, "^payload: a member is there twice"):
                Fake().push("sum", payload)
        self.assertEqual(Fake().push("sum", {1: {1: 1}, "2": [{"1": 1}, {1: 2}]}).result, "pushed")

    def test_schedules_are_kept(self):
        fake, job = Fake(app), laterd.NewJob("sum", group="acme", expires_in=5)
        noon = laterd.NewSchedule("noon", "0 12 * * *", job, zone="Europe/Berlin", late=5)
        self.assertEqual([fake.cron_set(noon), fake.cron_set(noon), fake.cron_set(noon, queue="mail")], [True, False, True])
        self.assertTrue(fake.cron_set(dataclasses.replace(noon, job=dataclasses.replace(job, priority=1))))
        self.assertEqual(fake.cron_list(), [laterd.Schedule("noon", "0 12 * * *", "Europe/Berlin", None, False, "set")])
        self.assertEqual((fake.cron_delete("noon"), fake.cron_delete("noon"), fake.cron_list()), (True, False, []))
        for wrong in ({"at": "noon"}, {"job": "sum"}, {"zone": "Mars?"}, {"late": 0.5}, {"limit": 0}, {"name": "a b"}):
            with self.assertRaisesRegex(laterd.Refused, next(iter(wrong))):
                fake.cron_set(dataclasses.replace(noon, **wrong))

    def test_nothing_of_a_paused_queue_is_performed(self):
        inline = Fake(app)
        inline.pause(seconds=60)
        inline.push("feed.one", 0, id="a", result=60)
        self.assertEqual((inline.drain(app), inline.wait_many(["a", "b"])),
                         ([], [laterd.Outcome("a", "waiting"), laterd.Outcome("b", "gone")]))
        self.assertEqual([one.id for one in inline.search(type="feed.*")], ["a"])
        inline.resume()
        self.assertEqual(len(inline.drain(app)), 1)
        self.assertEqual(inline.wait_many(["a"]), [laterd.Outcome("a", "done", 0)])

    def test_bad_ones_are_refused_and_nothing_is_kept(self):
        for push in (lambda: queues.push("no good"), lambda: queues.push("a", float("nan")),
                     lambda: queues.push("a", queue="a b"), lambda: queues.push("a", debounce=5),
                     lambda: queues.push_many([laterd.NewJob("a"), laterd.NewJob("a", priority=101)])):
            with self.assertRaises(laterd.Refused):
                push()
        with self.assertRaises(TypeError):
            queues.push("a", dealy=5)
        queues.assert_nothing_pushed()

    def test_each_option_is_kept(self):
        options = {"priority": 2, "max_attempts": 3, "retry_for": 60, "timeout": 5, "backoff": [1, 2], "expires_at": 4e9, "result": 60,
                   "lock": "l", "group": "g", "trace": "t", "description": "d", "on_dead": "a", "on_done": "b@c"}
        queues.push("all", 1, id="all", **options)
        self.assertEqual(json.loads(queues.show("all").document), {"type": "all", "id": "all", "payload": 1, **options})
        whens = ({"expires_in": 60}, {"at": 4e9}, {"id": "d", "debounce": 5, "max_wait": 60})
        self.assertEqual([queues.show(queues.push("a", **when).id).state for when in whens], ["ready", "delayed", "delayed"])

    def test_an_id_is_one_job(self):
        queues.push("a", 1, id="x")
        self.assertEqual(vars(queues.push("a", 2, id="x")), {"id": "x", "result": "exists", "state": "ready"})
        self.assertEqual(queues.push("a", 3, id="x", replace=True).result, "replaced")
        self.assertEqual((queues.show("x").type, queues.show("x").payload), ("a", 3))
        self.assertTrue(queues.push("a", id="x", queue="other"))
        self.assertEqual(queues.cancel("x"), "ready")
        self.assertEqual((queues.cancel("x"), queues.kick("x"), queues.show("x")), (None, None, None))
        self.assertEqual(queues.push("a", id="x").result, "pushed")


class Flows(unittest.TestCase):
    """Orders: pay, then mail with what pay gave back; undo if pay fails; all: when all others have ended."""

    def setUp(self):
        queues.__init__()

    def order(self, to, name="order", **options):
        return queues.flow(name, [
            laterd.NewJob("welcome", {"to": to}, step="pay", max_attempts=1), laterd.NewJob("sums", step="mail", after="pay"),
            laterd.NewJob("flow", step="undo", after=["pay"], when="failed"),
            laterd.NewJob("flow", step="all", after="*", when="ended", delay=60)], **options)

    def states(self, *steps):
        return [(queues.show("order." + step) or queues.pushed()[i]).state for i, step in enumerate(steps)]

    def test_one_that_goes_well(self):
        self.assertEqual([(one.id, one.result, one.state) for one in self.order("a")],
                         [("order.pay", "pushed", ""), ("order.mail", "pushed", "waiting"),
                          ("order.undo", "pushed", "waiting"), ("order.all", "pushed", "waiting")])
        self.assertEqual(queues.show_flow("order").state, "running")
        self.assertEqual([one.value for one in queues.drain(app)],
                         [{"sent": "a", "attempt": 1}, {"pay": {"sent": "a", "attempt": 1}},
                          {"name": "order", "total": 3, "open": 0, "waiting": 0, "done": 2, "dead": 0, "gone": 0,
                           "skipped": 1, "failed": []}])
        flow = queues.wait_flow("order")
        self.assertEqual((flow.state, flow.total, flow.done, flow.skipped, flow.waiting), ("done", 4, 3, 1, 0))
        self.assertEqual([one.state for one in self.order("a")], ["done", "done", "skipped", "done"])

    def test_one_that_is_blocked_kicked_and_cancelled(self):
        self.order("bad")
        self.assertEqual([one.result for one in queues.drain(app)], ["bury", "done"])
        self.assertEqual(self.states("pay", "mail", "undo", "all"), ["dead", "waiting", "done", "waiting"])
        self.assertEqual(queues.wait_flow("order").state, "blocked")
        self.assertEqual((queues.kick_flow("order"), queues.show_flow("order").state), (1, "running"))
        with self.assertRaises(TimeoutError):
            queues.wait_flow("order")
        self.assertEqual(queues.cancel("order.pay"), "ready")
        self.assertIn("needs step pay of flow order, which was cancelled", queues.show("order.mail").error["text"])
        self.assertEqual([one.value["failed"] for one in queues.drain(app)], [["order.pay", "order.mail"]])
        self.assertEqual((queues.cancel_flow("order"), queues.show_flow("order").gone), (1, 2))

    def test_over_several_queues(self):
        queues.flow("wide", [laterd.NewJob("flow", step="a", queue="one"), laterd.NewJob("flow", step="b", after="a")])
        self.assertEqual((queues.show("wide.a", "one").state, queues.show("wide.b").state), ("ready", "waiting"))
        queues.flow("wide", [laterd.NewJob("flow")], queue="one", open=True)
        queues.push("flow", queue="two", flow="wide", step="c", home="one")
        self.assertEqual((queues.show_flow("wide").total, queues.show_flow("wide", "one").total), (2, 2))
        self.assertEqual(queues.cancel_flow("wide", "one"), 2)
        self.assertEqual(len(queues.drain(app)), 2)

    def test_who_may_add(self):
        self.order("a", open=True)
        self.assertEqual(queues.push("flow", flow="order", step="more", after="mail").state, "waiting")
        queues.drain(app)
        self.assertEqual((queues.show_flow("order").state, self.states("pay", "mail", "undo", "all")[3]), ("open", "waiting"))
        queues.close_flow("order")
        self.assertEqual(queues.drain(app)[0].value["done"], 3)
        with self.assertRaises(laterd.FlowClosed):
            queues.push("flow", flow="order", step="late")
        with self.assertRaises(laterd.FlowUnknown):
            queues.kick_flow("none")
        with self.assertRaises(laterd.Refused):
            queues.flow("circle", [laterd.NewJob("a", step="a", after="b"), laterd.NewJob("a", step="b", after="a")])
        self.assertIsNone(queues.show_flow("circle"))

    def test_a_running_job_adds_to_its_flow(self):
        adds = laterd.Handlers()
        adds.on("adds")(lambda job: queues.push("flow", flow="f", step="more", adder=job.id).result)
        adds.on("flow")(lambda job: job.flow)
        queues.flow("f", laterd.batch([laterd.NewJob("adds")], then=laterd.NewJob("flow", step="end")))
        self.assertEqual([one.value and one.value if one.value == "pushed" else one.value and one.value["total"]
                          for one in queues.drain(adds)], ["pushed", None, 2])

    def test_inline(self):
        inline = Fake(app)
        inline.flow("f", laterd.chain(laterd.NewJob("feed.a", 0), laterd.NewJob("sums", result=60)))
        self.assertEqual((inline.show_flow("f").state, inline.wait("f.2")), ("done", {"1": 0}))


class Around(unittest.TestCase):
    """Hooks, and what middleware carries along."""

    def setUp(self):
        self.app, self.heard, self.fake = laterd.Handlers(Fake()), [], None
        self.fake = self.app.queues
        tenant = contextvars.ContextVar("tenant", default=None)
        self.tenant = tenant

        @self.fake.before_push
        def carry(job):
            return dataclasses.replace(job, context={"tenant": tenant.get(), **job.context})

        @self.app.around
        @contextlib.contextmanager
        def with_tenant(job):
            token = tenant.set(job.context.get("tenant"))
            yield
            tenant.reset(token)

        @self.app.before
        def before(job):
            self.heard.append("before " + job.type)
            if job.payload == "no":
                raise laterd.Bury("not today")

        self.app.after(lambda job, value: self.heard.append("after %s %s %s" % (job.type, value, tenant.get())))
        self.app.failed(lambda job, error: self.heard.append("failed %s %s" % (job.type, error)))

    def test_context_goes_from_job_to_job(self):
        @self.app.on("first", "other.*")
        def first(job):
            last.later(context={"locale": "de"}, priority=5)
            return self.tenant.get()

        @self.app.on("last")
        async def last(job):
            return job.context

        self.tenant.set("shop")
        first.later({"n": 1}, id="f", trace="t")
        self.fake.assert_pushed("first", {"n": 1}, id="f", trace="t", context={"tenant": "shop"})
        self.tenant.set(None)
        self.assertEqual([one.value for one in self.fake.drain(self.app)], ["shop", {"tenant": "shop", "locale": "de"}])
        self.assertEqual(self.heard, ["before first", "after first shop shop", "before last",
                                      "after last {'tenant': 'shop', 'locale': 'de'} shop"])
        self.assertEqual(first.__name__, "first")

    def test_hooks_of_failures(self):
        def fails(job):
            raise (laterd.Return("later") if job.payload == "later" else ValueError("bad"))

        async def asynchronous(job):
            fails(job)

        self.app.on("sync", bury=(ValueError,))(fails)
        self.app.on("async")(asynchronous)
        self.app.after(lambda job, value: 1 / 0)
        self.app.on("fine")(lambda job: 7)
        for type, payload, result in (("sync", 1, "bury"), ("async", 1, "retry"), ("sync", "later", "return"),
                                      ("sync", "no", "bury"), ("fine", 1, "done")):
            with self.assertLogs("laterd") if type == "fine" else contextlib.nullcontext():
                self.assertEqual(perform(self.app, type, payload).result, result)
        self.assertEqual(self.heard, ["before sync", "failed sync bad", "before async", "failed async bad", "before sync",
                                      "before sync", "failed sync not today", "before fine", "after fine 7 None"])

    def test_given_up(self):
        @self.app.given_up("mail.*", "exact")
        def tell(job):
            return job.payload["id"]

        self.app.on("mail.*", retries=0)(lambda job: 1)
        self.assertEqual([one for one in self.app.hello["types"] if "on_dead" in one],
                         [{"name": "mail.*", "max_attempts": 1, "on_dead": "mail.given_up"}])
        self.assertEqual(perform(self.app, "mail.given_up", {"id": "x"}).value, "x")
        self.assertEqual(perform(self.app, "exact.given_up", {"id": "y"}).value, "y")
        for wrong in (lambda: self.app.on("exact", on_dead="alert")(len), lambda: self.app.given_up("exact")(len)):
            with self.assertRaises(laterd.Refused):
                wrong()

    def test_a_type_has_one_handler(self):
        @self.app.on("a", "b", payload=Mail)
        def first(job):
            return 1

        self.app.given_up("mail.*")(first)
        for type, register in (("b", self.app.on("c", "b")), ("mail.given_up", self.app.given_up("mail"))):
            with self.assertRaisesRegex(laterd.Refused, "^type %s has two handlers, at .*test_testing.py:[0-9]+ "
                                                        "and at .*test_testing.py:[0-9]+: remove one$" % type):
                register(lambda job: 2)
        for odd in ("mail send", "mail.*.x", ""):
            with self.assertRaisesRegex(laterd.Refused, "^on: .* is neither a type nor a prefix"):
                self.app.on(odd)(first)
        for wrong in (lambda: self.app.on(first), lambda: self.app.on()):
            with self.assertRaisesRegex(laterd.Refused, "on: name the types"):
                wrong()

    def test_each_type_keeps_its_own(self):
        def fails(job):
            raise ValueError("bad")

        self.app.on("a", bury=(ValueError,))(fails)
        self.app.on("b", bury=(KeyError,))(fails)
        self.assertEqual([perform(self.app, type).result for type in "ab"], ["bury", "retry"])

    def test_later_needs_a_client_and_a_type(self):
        lonely = laterd.Handlers()
        with self.assertRaisesRegex(laterd.LaterdError, "app.queues is not set"):
            lonely.on("a")(len).later()
        with self.assertRaisesRegex(laterd.LaterdError, "is no type"):
            self.app.on("a.*")(len).later()
        with self.assertRaises(TypeError):
            self.app.on("a")(len).later(dealy=5)
        with self.assertRaises(laterd.Refused):
            self.fake.push("a", context={"a": {1}})
        with self.assertRaisesRegex(laterd.Refused, "at: must be UNIX seconds, or a datetime"):
            self.fake.push("a", at="tomorrow")

    def test_call(self):
        self.assertEqual(Fake(app).call("feed.x", 0), 0)


class Performs(unittest.TestCase):
    def setUp(self):
        queues.__init__()

    def test_one(self):
        one = perform(app, "welcome", {"to": "a"}, attempt=2)
        self.assertEqual((one.result, one.value, one.progress), ("done", {"sent": "a", "attempt": 2}, [(1, 2, "half")]))
        one = perform(app, "welcome", {"to": "busy"})
        self.assertEqual((one.result, one.error.split("\n")[0].split(".")[-1]), ("retry", "Busy: the mailer is busy"))
        self.assertNotIn("event loop", one.error)
        self.assertEqual(perform(app, "welcome", {"to": "later"}).delay, 60)
        one = perform(app, "odd")
        self.assertEqual((one.result, one.error[:24]), ("bury", "its value is not JSON: T"))
        self.assertEqual(perform(app, "sums", values={"a": 1, "b": (2, 3)}).value, {"a": 1, "b": [2, 3]})
        self.assertEqual(perform(app, "nobody").result, "bury")

    def test_checkpoints(self):
        one = perform(app, "pages", 1)
        self.assertEqual((one.result, one.checkpoint), ("retry", 2))
        self.assertEqual(perform(app, "pages", resumes=2).value, "from 2")
        one = perform(app, "pages", stopping=True)
        self.assertEqual((one.result, one.delay, one.error, one.checkpoint), ("return", 0, "", 1))
        self.assertEqual(perform(app, "pages", resumes=3, stopping=True).value, "from 3")
        queues.push("pages", 1, id="paged", result=60)
        queues.drain(app)
        self.assertEqual(queues.show("paged").checkpoint, 2)
        queues.drain(app)
        self.assertEqual(queues.wait("paged"), "from 2")

    def test_drain_performs_what_its_jobs_push(self):
        queues.push("feed.first", 2, delay=60)
        queues.push("welcome", {"to": "a"}, priority=5, result=60, id="w")
        self.assertEqual([one.value for one in queues.drain(app)], [{"sent": "a", "attempt": 1}, 2, 1, 0])
        self.assertEqual({one.state for one in queues.jobs}, {"done"})
        self.assertEqual(queues.wait("w"), {"sent": "a", "attempt": 1})
        with self.assertRaisesRegex(laterd.JobUnknown, "no job .* in queue default, .*; push it with result=SECONDS"):
            queues.wait(queues.pushed("feed.first")[0].id)
        self.assertEqual(queues.drain(app), [])

    def test_middleware_that_returns_no_job_is_named(self):
        fake = Fake()

        @fake.before_push
        def silent(job):
            job.trace = "t"

        with self.assertRaisesRegex(laterd.LaterdError, "^before_push: silent must return the job$"):
            fake.push("a")

    def test_what_is_no_job_is_refused(self):
        for push, said in ((lambda: queues.push_many(laterd.NewJob("a")), "jobs: must be a list of them"),
                           (lambda: queues.push_many([{"type": "a"}]), "jobs: each must be a NewJob"),
                           (lambda: queues.flow("f", "a"), "jobs: each must be a NewJob"),
                           (lambda: queues.push(laterd.NewJob("a")), "push: a NewJob goes to push_job")):
            with self.assertRaisesRegex(laterd.Refused, said):
                push()

    def test_what_is_too_large_is_named(self):
        big = laterd.NewJob("big", "x" * (1 << 20), id="b")
        fake = Fake()
        for push, said in ((lambda: fake.push("big", big.payload), "too large: big: "),
                           (lambda: fake.push_many([laterd.NewJob("a"), big]), "job 2: too large: big, id b: "),
                           (lambda: fake.flow("f", [big]), "job 1: too large: big, id b: ")):
            with self.assertRaisesRegex(laterd.Refused, "^%sa document of [0-9]+ bytes, 1048576 allowed$" % said):
                push()
        self.assertEqual(fake.jobs, [])

    def test_retries_and_burials(self):
        queues.push("welcome", {"to": "busy"}, id="b", max_attempts=2)
        queues.push("welcome", {"to": "bad"}, id="c")
        queues.push("welcome", {"to": "later"}, id="d", max_attempts=1)
        self.assertEqual([one.result for one in queues.drain(app)], ["retry", "bury", "return"])
        self.assertEqual([queues.show(id).state for id in "bcd"], ["delayed", "dead", "delayed"])
        with self.assertRaises(TimeoutError):
            queues.wait("b")
        self.assertEqual([one.result for one in queues.drain(app)], ["retry", "return"])
        self.assertEqual([(queues.show(id).state, queues.show(id).attempts) for id in "bcd"],
                         [("dead", 2), ("dead", 1), ("delayed", 0)])
        with self.assertRaisesRegex(laterd.JobFailed, "the mailer is busy"):
            queues.wait("b")
        self.assertEqual((queues.kick("b"), queues.show("b").attempts), ("dead", 0))
        self.assertEqual(queues.push("welcome", id="c", replace=True).state, "dead")

    def test_hooks_tell_of_what_is_dead_or_done(self):
        hooked = laterd.Handlers()
        heard = []
        hooked.on("tries", retries=1, on_dead="policy", on_done="policy")(lambda job: 1 // job.payload)
        hooked.on("policy", "own", on_done="own")(lambda job: heard.append(job.payload))
        queues.push("tries", 0, id="a")
        queues.push("tries", 1, id="b", on_done="own@tell")
        self.assertEqual([one.result for one in queues.drain(hooked)], ["retry", "done", "done"])
        self.assertEqual([one.result for one in queues.drain(hooked)], ["retry", "done"])
        done, dead = heard[0], heard[1]
        self.assertEqual(done, {"id": "b", "type": "tries", "queue": "default", "ending": "done", "attempts": 1,
                                "error": None, "value": 1})
        self.assertEqual((dead["id"], dead["ending"], dead["attempts"], dead["error"]["kind"], dead["value"]),
                         ("a", "dead", 2, "retry", None))
        self.assertEqual([(one.type, one.queue, one.hook_of) for one in queues.jobs if one.hook_of],
                         [("own", "tell", "b"), ("policy", "default", "a")])

    def test_given_up_is_told_by_the_fake(self):
        hooked = laterd.Handlers()
        hooked.on("gives.up", retries=0)(lambda job: 1 // 0)
        hooked.given_up("gives.up")(lambda job: job.payload["type"])
        queues.push("gives.up", id="c")
        self.assertEqual([(one.result, one.value) for one in queues.drain(hooked)], [("retry", None), ("done", "gives.up")])

    def test_one_that_pushes_its_own_id(self):
        queues.push("again", True, id="a")
        self.assertEqual([one.value for one in queues.drain(app)], ["again", "exists"])

    def test_an_id_that_stays_taken(self):
        for id, options in (("t", {"throttle": 60}), ("u", {"unique_for": 60})):
            queues.push("feed.a", 0, id=id, **options)
            queues.drain(app)
            self.assertEqual(vars(queues.push("feed.a", id=id)), {"id": id, "result": "exists", "state": "ended"})
            self.assertEqual((queues.cancel(id), queues.cancel(id)), ("ended", None))
            self.assertEqual(queues.push("feed.a", 0, id=id).result, "pushed")

    def test_inline(self):
        inline = Fake(app)
        job = inline.push("welcome", {"to": "a"}, delay=60, result=60)
        self.assertEqual(inline.wait(job.id), {"sent": "a", "attempt": 1})

    def test_without_end(self):
        endless = laterd.Handlers()
        endless.on("a")(lambda job: queues.push("a"))
        queues.push("a")
        with self.assertRaisesRegex(laterd.LaterdError, "more and more"):
            queues.drain(endless)

    def test_inside_a_loop(self):
        async def main():
            client = AsyncFake(app)
            job = await client.push("feed.x", 0, result=60)
            return await client.wait(job.id), (await client.size()).ready, client.fake.pushed()[0].type

        self.assertEqual(asyncio.run(main()), (0, 0, "feed.x"))


@dataclasses.dataclass
class Mail:
    to: str
    copies: int = 1


class Model:
    """As one of pydantic."""

    @classmethod
    def model_validate(cls, members):
        return Mail(**{**members, "copies": int(members["copies"])})


class Own(unittest.TestCase):
    def test_waits_of_ones_own(self):
        asked = laterd.Handlers()

        def waits(job, error):
            return {"odd": float("nan"), "ours": None}.get(str(error), 10 * job.attempt)

        @asked.on("a", backoff=waits, bury=(KeyError,))
        def fails(job):
            raise job.payload

        def delay(error, attempt=3):
            asked.before(lambda job: setattr(job, "payload", error))
            tried = perform(asked, "a", attempt=attempt)
            return tried.result, tried.delay

        self.assertEqual(delay(ValueError("x")), ("retry", 30.0))
        self.assertEqual(delay(laterd.Retry("x", delay=5)), ("retry", 5.0))
        self.assertEqual(delay(laterd.Retry("x")), ("retry", 30.0))
        self.assertEqual(delay(laterd.Return("x", delay=1)), ("return", 1.0))
        self.assertEqual(delay(KeyError("x")), ("bury", None))
        self.assertEqual(delay(ValueError("ours")), ("retry", None))
        with self.assertLogs("laterd", "ERROR"):
            self.assertEqual(delay(ValueError("odd")), ("retry", None))
        self.assertNotIn("backoff", asked.policy("a"))

    def test_a_payload_is_sealed_on_its_way(self):
        sealed, seen = Fake(), []
        opens = laterd.Handlers()

        @sealed.before_push
        def seal(job):
            packed = base64.b85encode(zlib.compress(json.dumps(job.payload).encode())).decode()
            return dataclasses.replace(job, payload={"z": packed})

        @opens.before
        def open_it(job):
            job.payload = json.loads(zlib.decompress(base64.b85decode(job.payload["z"])))

        opens.on("a")(lambda job: seen.append(job.payload))
        sealed.push("a", {"card": "4111" * 100})
        self.assertEqual(list(sealed.jobs[0].payload), ["z"])
        self.assertLess(len(sealed.jobs[0].payload["z"]), 100)
        sealed.drain(opens)
        self.assertEqual(seen, [{"card": "4111" * 100}])
        pushed = sealed.push("a", {"card": "4111", "n": 1}, unique=["card"])
        self.assertEqual(pushed.id, laterd.unique_id("a", {"card": "4111"}))  # of the payload as it was given
        self.assertEqual(sealed.push("a", {"card": "4111"}, unique=True).result, "exists")

    def test_map_takes_items_as_they_come(self):
        fake, most = Fake(), 0

        def rows():
            nonlocal most
            for row in range(1001):
                most = max(most, row - 2 * len(fake.jobs))
                yield row

        self.assertEqual(fake.map("row", rows(), chunk=2, flow="f", then=laterd.NewJob("sum")), laterd.Mapped(502, 0))
        self.assertLess(most, 400)
        self.assertEqual([kept.payload for kept in fake.pushed("row")][-2:], [[998, 999], [1000]])
        self.assertEqual((fake.jobs[-1].type, fake.jobs[-1].state), ("sum", "waiting"))
        self.assertEqual(fake.map(laterd.NewJob("one", priority=5), range(3)), laterd.Mapped(3, 0))
        fake.assert_pushed("one", 2, priority=5)

    def test_events_tell_what_has_ended(self):
        fake = Fake(app)
        self.assertEqual(fake.events().bookmark, "default:0")
        fake.push("welcome", {"to": "a"}, id="a")
        fake.push("welcome", {"to": "bad"}, id="b")
        page = fake.events()
        self.assertEqual([(end.id, end.type, end.ending, end.state, end.kind, end.attempt) for end in page.ends],
                         [("a", "welcome", "done", "done", None, 1), ("b", "welcome", "bury", "dead", "buried", 1)])
        self.assertEqual(fake.events(after=page.bookmark).ends, [])
        fake.push("welcome", {"to": "later"}, id="c")  # goes back as if it had not begun
        fake.push("welcome", {"to": "busy"}, id="d")
        self.assertEqual([end.id for end in fake.events(after=page.bookmark).ends], ["d"])
        self.assertEqual([end.id for end in fake.events(after="default:1", limit=1).ends], ["b"])
        self.assertEqual(fake.events(after="now").bookmark, "default:3")

    def test_a_payload_has_a_type(self):
        typed = laterd.Handlers()
        typed.on("class", payload=Mail)(lambda job: [job.payload.to, job.payload.copies])

        @typed.on("model", payload=Model)
        async def model(job):
            return [job.payload.to, job.payload.copies]

        self.assertEqual(perform(typed, "class", {"to": "a"}).value, ["a", 1])
        self.assertEqual(perform(typed, "model", {"to": "a", "copies": "2"}).value, ["a", 2])
        for type, payload in (("class", {"too": "a"}), ("class", None), ("model", {"to": "a", "copies": "x"})):
            tried = perform(typed, type, payload)
            self.assertEqual(tried.result, "bury")
            self.assertIn("the payload is no", tried.error)


if __name__ == "__main__":
    unittest.main()
