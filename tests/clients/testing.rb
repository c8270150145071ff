# laterd/testing, as a user's tests use it: clients_testing.sh runs them where there is no gem redis.
require "minitest/autorun"
require "laterd/testing"

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
APP.on("odd") { Object.new }
APP.on("feed.*") do |job|
  QUEUES.fake.push("feed.next", job.payload - 1) if job.payload.positive?
  job.payload
end
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
    assert_equal 3, queues.show("x").payload
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
end
