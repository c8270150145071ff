# test_testing.rb: laterd/testing, as a user's tests use it: rake test. It needs no gem redis.
require "minitest/autorun"
require "laterd/testing"
require "zlib"

QUEUES = Struct.new(:fake).new
APP = Laterd::Handlers.new
APP.on("welcome") do |job|
  case job.payload["to"]
  when "busy" then raise "the mailer is busy"
  when "bad" then raise Laterd::Bury, "no such address"
  when "later" then raise Laterd::Return.new("not yet", in: 60)
  end
  job.progress(1, 2, "half")
  { sent: job.payload["to"], attempt: job.attempt }
end
APP.on("pages") do |job|
  ((job.resumes || 0)..2).each do |page|
    job.checkpoint(page + 1)
    break if job.stopping?
    raise "page #{page}" if job.payload == page && job.attempt == 1
  end && "from #{job.resumes.inspect}"
end
APP.on("odd") { Object.new }
APP.on("feed.*") do |job|
  QUEUES.fake.push("feed.next", job.payload - 1) if job.payload.positive?
  job.payload
end
APP.on("sums", &:values)
APP.on("flow", &:flow)
APP.on("again") { |job| QUEUES.fake.push("again", nil, id: "a", again: !job.payload.nil?).result }

class TestingTest < Minitest::Test
  ANY = Laterd::Testing::ANY

  def setup
    QUEUES.fake = Laterd::Testing::Fake.new
  end

  def queues
    QUEUES.fake
  end

  def perform(*words, **options)
    Laterd::Testing.perform(APP, *words, **options)
  end

  def test_hooks_tell_of_what_is_dead_or_done
    app = Laterd::Handlers.new
    heard = []
    hear = ->(job) { heard << [job.type, *job.payload.values_at("id", "type", "queue", "ending", "attempts", "value"), job.payload.dig("error", "kind")] }
    app.on("tries", retries: 1, on_dead: "policy", on_done: "policy") { |job| 7 / job.payload }
    app.on("gone", retries: 0) { raise "gone" }
    app.given_up("gone", &hear)
    app.on("policy", on_done: "own", &hear)
    app.on("own", &hear)
    queues.push("tries", 0, id: "a")
    queues.push("tries", 1, id: "b", on_done: "own@tell")
    queues.push("gone", id: "c")
    2.times { queues.drain(app) }
    assert_equal [["own", "b", "tries", "default", "done", 1, 7, nil],
                  ["gone.given_up", "c", "gone", "default", "dead", 1, nil, "retry"],
                  ["policy", "a", "tries", "default", "dead", 2, nil, "retry"]], heard
    assert_equal %w[b@tell c@default a@default],
                 queues.jobs.select(&:hook_of).map { |job| "#{job.hook_of}@#{job.queue}" }
  end

  def test_what_was_pushed
    assert_equal "pushed", queues.push("welcome", { to: ["a"] }, queue: "mail", in: 60).result
    queues.push_many(Array.new(3) { |n| Laterd::NewJob.new("thumb", n, priority: n) })
    queues.assert_pushed("welcome", { to: ["a"] }, queue: "mail", in: 60, count: 1)
    queues.assert_pushed("thumb", count: 3)
    queues.assert_pushed("thumb", 2, priority: 2)
    queues.assert_nothing_pushed("sum")
    assert_equal [0, 1, 2], queues.pushed("thumb").map(&:payload)
    [-> { queues.assert_pushed("sum") }, -> { queues.assert_pushed("thumb", 7) }, -> { queues.assert_nothing_pushed },
     -> { queues.assert_pushed("thumb", count: 2) }, -> { queues.assert_pushed("welcome", queue: "default") },
     -> { queues.assert_pushed("welcome", in: 61) }].each { |wrong| assert_raises(Minitest::Assertion, &wrong) }
    size = queues.size(queue: "mail")
    assert_equal [0, 1, 0, 0, false, nil], [size.ready, size.delayed, size.reserved, size.dead, size.paused, size.oldest_ready]
  end

  def test_each_option_is_kept
    options = { priority: 2, max_attempts: 3, retry_for: 60, timeout: 5, backoff: [1, 2], expires_at: 4e9, result: 60, lock: "l",
                group: "g", trace: "t", description: "d", on_dead: "a", on_done: "b@c" }
    queues.push("all", 1, id: "all", **options)
    assert_equal({ type: "all", id: "all", payload: 1, **options }, JSON.parse(queues.show("all").document, symbolize_names: true))
    whens = [{ expires_in: 60 }, { at: 4e9 }, { id: "d", debounce: 5, max_wait: 60 }]
    assert_equal %w[ready delayed delayed], whens.map { |one| queues.show(queues.push("a", **one).id).state }
    queues.flow("wide", [Laterd::NewJob.new("flow")], queue: "one", open: true)
    queues.push("flow", queue: "two", flow: "wide", step: "c", home: "one")
    assert_equal 2, queues.show_flow("wide", queue: "one").total
  end

  def test_schedules_are_kept
    job = Laterd::NewJob.new("sum", nil, group: "acme", expires_in: 5)
    noon = lambda do |name: "noon", at: "0 12 * * *", job: Laterd::NewJob.new("sum", nil, group: "acme"), **more|
      Laterd::NewSchedule.new(name, at, job, zone: "Europe/Berlin", **more)
    end
    assert_equal [true, false, true], [queues.cron_set(noon.()), queues.cron_set(noon.()), queues.cron_set(noon.(), queue: "mail")]
    assert_equal [true, true], [queues.cron_set(noon.(job: job)), queues.cron_set(noon.(job: job.with(priority: 1)))]
    assert_equal [{ name: "noon", at: "0 12 * * *", zone: "Europe/Berlin", next: nil, paused: false, origin: "set" }],
                 queues.cron_list.map(&:to_h)
    assert_equal [true, false, []], [queues.cron_delete("noon"), queues.cron_delete("noon"), queues.cron_list]
    times = noon.(job: job, late: 90.0, spread: 60, from: Time.at(1_767_225_600, 500, :millisecond), until: 4_102_444_800.5)
    assert_equal "at=0 12 * * *\nzone=Europe/Berlin\nspread=60\nlate=90\ngroup=acme\nexpires_in=5\nfrom=1767225601\n" \
                 "until=4102444800\n\n{\"type\":\"sum\",\"group\":\"acme\"}", times.definition
    { at: "noon", job: "sum", late: 0.5, limit: 0, name: "a b", catch_up: "often", overlap: nil, from: 90, spread: -1 }
      .each { |option, wrong| assert_match(/^#{option}: .*, not #{Regexp.escape(wrong.inspect)}$/, assert_raises(Laterd::Refused) { noon.(option => wrong) }.message) }
    assert_match(/^zone: /, assert_raises(Laterd::Refused) { Laterd::NewSchedule.new("noon", "@daily", job, zone: "Mars?") }.message)
    assert_equal "no such option: tz", assert_raises(Laterd::Refused) { noon.(tz: "UTC") }.message
    [{ id: "x" }, { in: 5 }, { flow: "f", step: "s" }, { unique: true }].each do |own|
      wrong = noon.(job: Laterd::NewJob.new("sum", nil, **own))
      assert_match(/: not for a job of a schedule/, assert_raises(Laterd::Refused) { queues.cron_set(wrong) }.message)
    end
  end

  def test_nothing_of_a_paused_queue_is_performed
    inline = Laterd::Testing::Fake.new(APP)
    inline.pause(seconds: 60)
    inline.push("feed.one", 0, id: "a", result: 60)
    assert_equal [], inline.drain(APP)
    assert_equal %w[waiting gone], inline.wait_many(%w[a b]).map(&:state)
    assert_equal %w[a], inline.search(type: "feed.*").map(&:id)
    inline.resume
    assert_equal 1, inline.drain(APP).size
    assert_equal [Laterd::Outcome.new(id: "a", state: "done", value: 0)], inline.wait_many(%w[a])
  end

  def test_bad_ones_are_refused_and_nothing_is_kept
    [-> { queues.push("no good") }, -> { queues.push("a", Float::NAN) }, -> { queues.push("a", queue: "a b") },
     -> { queues.push("a", debounce: 5) }, -> { queues.push("a", dealy: 5) }].each do |push|
      assert_raises(Laterd::Refused, &push)
    end
    queues.assert_nothing_pushed
  end

  def test_an_id_is_one_job
    queues.push("a", 1, id: "x")
    assert_equal Laterd::Pushed.new("x", "exists", "ready"), queues.push("a", 2, id: "x")
    assert_equal "replaced", queues.push("a", 3, id: "x", replace: true).result
    assert_equal ["a", 3], [queues.show("x").type, queues.show("x").payload]
    assert queues.push("a", id: "x", queue: "other").new?
    assert_equal "ready", queues.cancel("x")
    assert_equal [nil, nil, nil], [queues.cancel("x"), queues.kick("x"), queues.show("x")]
    assert_equal "pushed", queues.push("a", id: "x").result
  end

  def test_one
    one = perform("welcome", { to: "a" }, attempt: 2)
    assert_equal ["done", { "sent" => "a", "attempt" => 2 }, [[1, 2, "half"]]], [one.result, one.value, one.progress]
    one = perform("welcome", { to: "busy" })
    assert_equal "retry", one.result
    assert_match(/the mailer is busy/, one.error)
    assert_equal 60, perform("welcome", { to: "later" }).delay
    assert_equal "bury", perform("odd").result
    assert_equal "bury", perform("nobody").result
  end

  def test_checkpoints
    one = perform("pages", 1)
    assert_equal ["retry", 2], [one.result, one.checkpoint]
    assert_equal "from 2", perform("pages", resumes: 2).value
    one = perform("pages", stopping: true)
    assert_equal ["return", 0, "", 1], [one.result, one.delay, one.error, one.checkpoint]
    assert_equal "from 3", perform("pages", resumes: 3, stopping: true).value
    queues.push("pages", 1, id: "paged", result: 60)
    queues.drain(APP)
    assert_equal 2, queues.show("paged").checkpoint
    queues.drain(APP)
    assert_equal "from 2", queues.wait("paged")
  end

  def test_drain_performs_what_its_jobs_push
    queues.push("feed.first", 2, in: 60)
    queues.push("welcome", { to: "a" }, priority: 5, result: 60, id: "w")
    assert_equal [{ "sent" => "a", "attempt" => 1 }, 2, 1, 0], queues.drain(APP).map(&:value)
    assert_equal ["done"], queues.jobs.map(&:state).uniq
    assert_equal({ "sent" => "a", "attempt" => 1 }, queues.wait("w"))
    assert_raises(Laterd::JobUnknown) { queues.wait(queues.pushed("feed.first").first.id) }
    assert_empty queues.drain(APP)
  end

  def states
    %w[b c d].map { |id| queues.show(id) }.map { |one| [one.state, one.attempts] }
  end

  def test_retries_and_burials
    queues.push("welcome", { to: "busy" }, id: "b", max_attempts: 2)
    queues.push("welcome", { to: "bad" }, id: "c")
    queues.push("welcome", { to: "later" }, id: "d", max_attempts: 1)
    assert_equal %w[retry bury return], queues.drain(APP).map(&:result)
    assert_equal [["delayed", 1], ["dead", 1], ["delayed", 0]], states
    assert_raises(Laterd::TimeoutError) { queues.wait("b") }
    assert_equal %w[retry return], queues.drain(APP).map(&:result)
    assert_equal [["dead", 2], ["dead", 1], ["delayed", 0]], states
    assert_match(/the mailer is busy/, assert_raises(Laterd::JobFailed) { queues.wait("b") }.message)
    assert_equal "dead", queues.kick("b")
    assert_equal 0, queues.show("b").attempts
    assert queues.push("welcome", id: "c", replace: true).dead?
  end

  def test_one_that_pushes_its_own_id
    queues.push("again", true, id: "a")
    assert_equal %w[again exists], queues.drain(APP).map(&:value)
  end

  def test_an_id_that_stays_taken
    { "t" => { throttle: 60 }, "u" => { unique_for: 60 } }.each do |id, options|
      queues.push("feed.a", 0, id: id, **options)
      queues.drain(APP)
      assert_equal Laterd::Pushed.new(id, "exists", "ended"), queues.push("feed.a", 0, id: id)
      assert_equal ["ended", nil], [queues.cancel(id), queues.cancel(id)]
      assert_equal "pushed", queues.push("feed.a", 0, id: id).result
    end
  end

  def test_inline
    inline = Laterd::Testing::Fake.new(APP)
    assert_equal({ "sent" => "a", "attempt" => 1 }, inline.wait(inline.push("welcome", { to: "a" }, in: 60, result: 60).id))
  end

  def test_without_end
    endless = Laterd::Handlers.new.on("a") { queues.push("a") && nil }
    queues.push("a")
    assert_match(/more and more/, assert_raises(Laterd::Error) { queues.drain(endless) }.message)
  end

  # Orders: pay, then mail with what pay gave back; undo if pay fails; all: when all others have ended.
  def order(to, **options)
    queues.flow("order", [
      Laterd::NewJob.new("welcome", { to: to }, step: "pay", max_attempts: 1),
      Laterd::NewJob.new("sums", step: "mail", after: "pay"),
      Laterd::NewJob.new("flow", step: "undo", after: ["pay"], when: "failed"),
      Laterd::NewJob.new("flow", step: "all", after: "*", when: "ended", in: 60)
    ], **options)
  end

  def state(step)
    queues.show("order.#{step}")&.state
  end

  def test_a_flow_that_goes_well
    assert_equal [["order.pay", nil], ["order.mail", "waiting"], ["order.undo", "waiting"], ["order.all", "waiting"]],
                 order("a").map { |one| [one.id, one.state] }
    assert_equal "running", queues.show_flow("order").state
    assert_equal [{ "sent" => "a", "attempt" => 1 }, { "pay" => { "sent" => "a", "attempt" => 1 } },
                  { "name" => "order", "total" => 3, "open" => 0, "waiting" => 0, "done" => 2, "dead" => 0, "gone" => 0,
                    "skipped" => 1, "failed" => [] }], queues.drain(APP).map(&:value)
    flow = queues.wait_flow("order")
    assert_equal ["done", 4, 3, 1, 0], [flow.state, flow.total, flow.done, flow.skipped, flow.waiting]
    assert_equal %w[done done skipped done], order("a").map(&:state)
  end

  def test_a_flow_that_is_blocked_kicked_and_cancelled
    order("bad")
    assert_equal %w[bury done], queues.drain(APP).map(&:result)
    assert_equal ["dead", "waiting", nil, "waiting"], %w[pay mail undo all].map { |step| state(step) }
    assert_equal "blocked", queues.wait_flow("order").state
    assert_equal [1, "running"], [queues.kick_flow("order"), queues.show_flow("order").state]
    assert_raises(Laterd::TimeoutError) { queues.wait_flow("order") }
    assert_equal "ready", queues.cancel("order.pay")
    assert_match(/\Aneeds step pay of flow order, which was cancelled/, queues.show("order.mail").error["text"])
    assert_equal [%w[order.pay order.mail]], queues.drain(APP).map { |one| one.value["failed"] }
    assert_equal [1, 2], [queues.cancel_flow("order"), queues.show_flow("order").gone]
  end

  def test_who_may_add_to_a_flow
    order("a", open: true)
    assert_equal "waiting", queues.push("flow", flow: "order", step: "more", after: "mail").state
    queues.drain(APP)
    assert_equal %w[open waiting], [queues.show_flow("order").state, state("all")]
    queues.close_flow("order")
    assert_equal 3, queues.drain(APP).first.value["done"]
    assert_raises(Laterd::FlowClosed) { queues.push("flow", flow: "order", step: "late") }
    assert_raises(Laterd::FlowUnknown) { queues.kick_flow("none") }
    circle = [["a", "b"], ["b", "a"]].map { |step, after| Laterd::NewJob.new("a", step: step, after: after) }
    assert_raises(Laterd::Refused) { queues.flow("circle", circle) }
    assert_nil queues.show_flow("circle")
  end

  def test_a_running_job_adds_to_its_flow
    adds = Laterd::Handlers.new.on("flow") { |job| job.flow && job.flow["total"] }
    adds.on("adds") { |job| queues.push("flow", flow: "f", step: "more", adder: job.id).result }
    queues.flow("f", Laterd.batch([Laterd::NewJob.new("adds")], then: Laterd::NewJob.new("flow", step: "end")))
    assert_equal ["pushed", nil, 2], queues.drain(adds).map(&:value)
  end

  def test_a_flow_inline
    inline = Laterd::Testing::Fake.new(APP)
    inline.flow("f", Laterd.chain(Laterd::NewJob.new("feed.a", 0), Laterd::NewJob.new("sums", result: 60)))
    assert_equal ["done", { "1" => 0 }], [inline.show_flow("f").state, inline.wait("f.2")]
  end
end

# Hooks, and what middleware carries along.
class AroundTest < Minitest::Test
  attr_reader :app, :fake, :heard

  def setup
    @heard = heard = []
    @fake = Laterd::Testing::Fake.new
    @fake.before_push { |job| job.with(context: { "tenant" => Thread.current[:tenant], **job.context }) }
    @app = Laterd::Handlers.new(queues: @fake)
    app.around do |job, perform|
      Thread.current[:tenant] = job.context["tenant"]
      perform.call
    ensure
      Thread.current[:tenant] = nil
    end
    app.before do |job|
      heard << "before #{job.type}"
      raise Laterd::Bury, "not today" if job.payload == "no"
    end
    app.after { |job, value| heard << "after #{job.type} #{JSON.generate(value)} #{Thread.current[:tenant]}" }
    app.failed { |job, error| heard << "failed #{job.type} #{error.message}" }
  end

  def test_context_goes_from_job_to_job
    last = app.task("last", &:context)
    first = app.task("first") do
      last.later(context: { "locale" => "de" }, priority: 5)
      Thread.current[:tenant]
    end
    Thread.current[:tenant] = "shop"
    first.later({ n: 1 }, id: "f", trace: "t")
    Thread.current[:tenant] = nil
    fake.assert_pushed("first", { n: 1 }, trace: "t", context: { "tenant" => "shop" })
    assert_equal ["shop", { "tenant" => "shop", "locale" => "de" }], fake.drain(app).map(&:value)
    assert_equal ["before first", 'after first "shop" shop', "before last",
                  'after last {"tenant":"shop","locale":"de"} shop'], heard
  end

  def test_hooks_of_failures
    fails = ->(job) { raise job.payload == "later" ? Laterd::Return.new("later") : ArgumentError.new("bad") }
    app.on("a", function: fails, bury: [ArgumentError]).on("b", function: fails, bury: [KeyError]).on("fine") { 7 }
    app.after { raise "in a hook" }
    results = [["a", 1], ["b", 1], %w[a later], %w[a no], ["fine", 1]].map { |words| Laterd::Testing.perform(app, *words).result }
    assert_equal %w[bury retry return bury done], results # each type keeps its own
    assert_equal ["before a", "failed a bad", "before b", "failed b bad", "before a", "before a", "failed a not today",
                  "before fine", "after fine 7 "], heard
  end

  def test_a_type_has_one_handler
    app.on("a", "b") { 1 }
    app.given_up("mail.*") { 1 }
    here = /.*test_testing.rb:\d+/
    { "b" => -> { app.on("b") { 2 } }, "a" => -> { app.task("a") { 2 } },
      "mail.given_up" => -> { app.given_up("mail") { 2 } } }.each do |type, register|
      assert_match(/\Atype #{type} has two handlers, at #{here} and at #{here}: remove one\z/,
                   assert_raises(Laterd::Refused, &register).message)
    end
  end

  def test_middleware_that_returns_no_job_is_named
    fake.before_push { |job| job.type && nil }
    assert_equal "before_push: the block must return the job", assert_raises(Laterd::Error) { fake.push("a") }.message
  end

  def test_handlers_are_registered_whole
    { -> { app.on { 1 } } => "on: texts, the types, not []", -> { app.on(:a) { 1 } } => "on: texts, the types, not [:a]",
      -> { app.on("a", function: 5) } => "on: a block or a function", -> { app.before } => "before: a block",
      -> { fake.before_push } => "before_push: a block", -> { fake.after_push } => "after_push: a block" }.each do |asked, why|
      assert_equal why, assert_raises(ArgumentError, &asked).message
    end
    ["mail send", "mail.*.x", ""].each do |odd|
      assert_equal "on: #{odd} is neither a type nor a prefix of types that ends in *", assert_raises(Laterd::Refused) { app.on(odd) { 1 } }.message
    end
    app.on("buries", bury: ArgumentError) { raise ArgumentError }
    assert_equal "bury", Laterd::Testing.perform(app, "buries").result
  end

  def test_given_up
    app.given_up("mail.*", "exact") { |job| job.payload["id"] }.on("mail.*", retries: 0) { 1 }
    assert_equal [{ name: "mail.*", max_attempts: 1, on_dead: "mail.given_up" }],
                 app.hello[:types].select { |type| type.key?(:on_dead) }
    assert_equal %w[x y], [["mail.given_up", "x"], ["exact.given_up", "y"]].map { |type, id|
      Laterd::Testing.perform(app, type, { id: id }).value
    }
    assert_raises(Laterd::Refused) { app.on("exact", on_dead: "alert") { 1 } }
    app.on("other.given_up") { 1 }
    assert_raises(Laterd::Refused) { app.given_up("other") { 1 } }
  end

  def test_waits_of_ones_own
    error = nil
    asked = Laterd::Handlers.new
    thrown = { "odd" => Float::NAN, "ours" => nil }
    waits = ->(job, e) { thrown.fetch(e.message) { 10 * job.attempt } }
    asked.on("a", backoff: waits, bury: [KeyError]) { raise error }
    tried = lambda do |one|
      error = one
      Laterd::Testing.perform(asked, "a", attempt: 3).then { |it| [it.result, it.delay] }
    end
    assert_equal ["retry", 30.0], tried.call(RuntimeError.new("x"))
    assert_equal ["retry", 5.0], tried.call(Laterd::Retry.new("x", in: 5))
    assert_equal ["return", 1.0], tried.call(Laterd::Return.new("x", in: 1))
    assert_equal ["bury", nil], tried.call(KeyError.new("x"))
    assert_equal ["retry", nil], tried.call(RuntimeError.new("ours"))
    assert_equal ["retry", nil], tried.call(RuntimeError.new("odd"))
    assert_equal({}, asked.policy("a"))
  end

  def test_a_payload_is_sealed_on_its_way
    seen = []
    fake.before_push { |job| Laterd::NewJob.new(job.type, { z: [Zlib.deflate(JSON.generate(job.payload))].pack("m0") }) }
    opens = Laterd::Handlers.new
    opens.before { |job| job.payload = JSON.parse(Zlib.inflate(job.payload["z"].unpack1("m0"))) }
    opens.on("a") { |job| seen << job.payload }
    fake.push("a", { card: "4111" * 100 })
    assert_equal ["z"], fake.jobs.first.payload.keys
    fake.drain(opens)
    assert_equal [{ "card" => "4111" * 100 }], seen.map(&:itself)
    carrying = Laterd::Testing::Fake.new.before_push { |job| job.with(context: { n: 1 }) }
    assert_equal Laterd.unique_id("a", { card: "4111" }), carrying.push("a", { card: "4111", n: 1 }, unique: :card).id
    assert_equal "exists", carrying.push("a", { card: "4111" }, unique: true).result
  end

  def test_map_takes_items_as_they_come
    most = 0
    rows = Enumerator.new do |out|
      1001.times do |row|
        most = [most, row - 2 * fake.jobs.size].max
        out << row
      end
    end
    told = fake.map("row", rows, chunk: 2, flow: "f", then: Laterd::NewJob.new("sum"))
    assert_equal [502, 0], told.to_a
    assert_operator most, :<, 400
    assert_equal [1000], fake.pushed("row").last.payload
    assert_equal "waiting", fake.jobs.last.state
    assert_equal 3, fake.map("one", 1..3, priority: 5).pushed
  end

  def test_events_tell_what_has_ended
    telling = Laterd::Testing::Fake.new(APP)
    { "a" => "a", "b" => "bad" }.each { |id, to| telling.push("welcome", { to: to }, id: id) }
    page = telling.events
    assert_equal [["a", "welcome", "done", "done", nil, 1], ["b", "welcome", "bury", "dead", "buried", 1]],
                 page.ends.map { |one| one.to_h.values_at(:id, :type, :ending, :state, :kind, :attempt) }
    { "c" => "later", "d" => "busy" }.each { |id, to| telling.push("welcome", { to: to }, id: id) } # c goes back
    assert_equal ["d"], telling.events(after: page.bookmark).ends.map(&:id)
    assert_equal ["b"], telling.events(after: "default:1", limit: 1).ends.map(&:id)
    assert_equal "default:3", telling.events(after: "now").bookmark
  end

  def test_what_nobody_knows_is_refused
    user = Object.new
    { -> { fake.push("a", delay: 5) } => "no such option: delay; it is `in`, in seconds",
      -> { fake.push("a", colour: 5) } => "no such option: colour",
      -> { fake.push("a", queue: :mail) } => "queue: text of 1 to 64 letters, digits and _ . -, not :mail",
      -> { fake.push_many({ type: "a" }) } => 'jobs: each must be a Laterd::NewJob, not [:type, "a"]',
      -> { fake.push_many(7) } => "jobs: each must be a Laterd::NewJob, not 7",
      -> { fake.flow("f", ["a"]) } => 'jobs: each must be a Laterd::NewJob, not "a"',
      -> { fake.push(:mail) } => "type: 1 to 128 letters, digits and _ . : -, not :mail",
      -> { fake.push("a", in: "5m") } => 'in: seconds, from 0 to 315360000, not "5m"',
      -> { fake.push("a", backoff: [1, "2"]) } => 'backoff: seconds, from 0, not [1, "2"]',
      -> { fake.map("row", 5) } => "items: must be an Enumerable, not 5",
      -> { fake.push("a", user) } => "payload: a Object is no JSON",
      -> { fake.push("a", ["#<fine>", { by: user }]) } => "payload: a Object is no JSON",
      -> { fake.push("a", [{ x: { a: 1, "a" => 2 } }]) } => "payload: a member is there twice",
      -> { fake.push("a", context: { who: 10**400 }) } => "context: a number is too large" }.each do |asked, why|
      assert_equal why, assert_raises(Laterd::Refused, &asked).message
    end
    ["5m", "1/2", Float::NAN, 1i].each do |wait|
      assert_match(/\Ain: .* is no number of seconds\z/, assert_raises(ArgumentError) { Laterd::Retry.new("x", in: wait) }.message)
    end
    assert_equal 0.25, Laterd::Retry.new("x", in: 1/4r).delay.to_f
    assert_equal "pushed", fake.push("a", ["#<fine>", { "#<fine>" => :"#<fine>" }, Time.now]).result
    assert_equal "pushed", fake.push("a", { a: [{ "a" => 10**300 }], "b" => "9" * 400 }).result
  end

  def test_what_is_too_large_is_named
    big = Laterd::NewJob.new("big", "x" * (1 << 20), id: "b")
    { -> { fake.push("big", big.payload) } => "too large: big: a document of",
      -> { fake.push("big", big.payload, in: 5) } => "too large: big: a document of",
      -> { fake.push_many([Laterd::NewJob.new("a"), big]) } => "job 2: too large: big, id b: a document of",
      -> { fake.flow("f", [big]) } => "job 1: too large: big, id b: a document of" }.each do |asked, why|
      assert_match(/\A#{why} \d+ bytes, 1048576 allowed\z/, assert_raises(Laterd::Refused, &asked).message)
    end
    assert_equal [], fake.jobs
  end

  def test_errors_say_what_and_where
    fake.flow("f", [], queue: "q")
    closed = "flow f is closed: only a running job of it may add to it"
    { -> { fake.flow("f", [Laterd::NewJob.new("a")], queue: "q") } => closed,
      -> { fake.push("a", flow: "f", queue: "q") } => closed,
      -> { fake.kick_flow("g", queue: "q") } => "no flow g in queue q",
      -> { fake.wait("x") } => "no job x in queue default, and no result of it; push it with result: SECONDS to keep one" }.each do |asked, why|
      assert_equal why, assert_raises(Laterd::Error, &asked).message
    end
  end

  def test_later_needs_a_client_and_a_type
    lonely = Laterd::Handlers.new
    assert_match(/app.queues is not set/, assert_raises(Laterd::Error) { lonely.task("a") { 1 }.later }.message)
    assert_raises(ArgumentError) { lonely.task("a.*") { 1 } }
    assert_raises(Laterd::Refused) { fake.push("a", context: [1]) }
    assert_raises(Laterd::Refused) { fake.push("a", context: { a: Float::NAN }) }
    assert_equal 0, Laterd::Testing::Fake.new(APP).call("feed.x", 0)
  end
end
