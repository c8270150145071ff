# frozen_string_literal: true

# driver.rb: the Ruby client, or its Fake, driven by judge.py. README.md says what is spoken.

$LOAD_PATH.unshift File.expand_path("../../clients/ruby/lib", __dir__)
require "laterd"
require "laterd/testing"

# As redis-namespace is, which is not always installed: the original is in `redis`.
Namespaced = Struct.new(:namespace, :redis)

def open_redis(place)
  nodes = place["nodes"]&.map { |host, port| { host: host, port: port } }
  case place["kind"]
  when "single" then Redis.new(path: place["socket"], password: place["password"])
  when "sentinel" then Redis.new(url: "redis://#{place["master"]}", sentinels: nodes, role: :master)
  when "cluster" then Redis.new(cluster: place["nodes"].map { |host, port| "redis://#{host}:#{port}" })
  end
end

def patience(seconds)
  Laterd::Client # which loads it
  Laterd::Away.send(:remove_const, :PATIENCE)
  Laterd::Away.const_set(:PATIENCE, seconds)
end

def client(place)
  return Laterd::Testing::Fake.new if place["kind"] == "fake"

  patience(place["patience"]) if place["patience"]
  redis = open_redis(place)
  redis = Namespaced.new(place["client_prefix"], redis) if place["client_prefix"]
  Laterd::Client.new(redis, prefix: place.fetch("prefix", "later"))
end

# Returns the type, the payload and the options.
def parts(members)
  members = members.transform_keys(&:to_sym)
  type = members.delete(:type)
  payload = members.delete(:payload)
  payload = Laterd::RawJSON.new(members.delete(:payload_json)) if members.key?(:payload_json)
  [type, payload, members]
end

def job(members)
  type, payload, options = parts(members)
  Laterd::NewJob.new(type, payload, **options)
end

def ends_of(call)
  call.slice("then", "finally", "failed").to_h { |name, one| [name.to_sym, job(one)] }
end

# The jobs as they are, a chain, or a batch.
def flow_jobs(call)
  return Laterd.chain(*call["chain"].map { |one| job(one) }) if call["chain"]

  call["batch"] ? Laterd.batch(call["batch"].map { |one| job(one) }, **ends_of(call)) : call["jobs"].map { |one| job(one) }
end

def told(pushed)
  pushed.to_h.compact
end

def known(found)
  found.to_h.compact.merge(document: JSON.parse(found.document))
end

def answer(call)
  queue = call["queue"]
  if call["open"]
    $later = client(call["open"])
    carried = call["open"]["context"]
    if carried
      $heard = [] # after pushes
      $later.before_push { |job| job.with(context: carried.merge(job.context)) }
      $later.after_push { |job, pushed| $heard << "#{job.type} #{pushed.id} #{pushed.result}" }
    end
    {}
  elsif call["heard"]
    { heard: $heard }
  elsif call["push"]
    type, payload, options = parts(call["push"])
    told($later.push(type, payload, queue: queue, **options))
  elsif call["events"]
    said = $later.events(queue: queue, after: call["events"], **call.slice("limit", "timeout").transform_keys(&:to_sym))
    { ends: said.ends.map(&:to_h), missed: said.missed, bookmark: said.bookmark }
  elsif call["map"]
    options = call["map"].transform_keys(&:to_sym)
    $later.map(options.delete(:type), call["items"].each, queue: queue, chunk: call["chunk"], flow: call["flow"],
               **ends_of(call), **options).to_h
  elsif call["flow"]
    { results: $later.flow(call["flow"], flow_jobs(call), queue: queue, open: call.key?("stays_open")).map { |one| told(one) } }
  elsif (verb = %w[show wait kick cancel close].find { |one| call.key?("#{one}_flow") })
    more = verb == "wait" ? { timeout: call["timeout"] } : {}
    answer = $later.public_send("#{verb}_flow", call["#{verb}_flow"], queue: queue, **more)
    answer.is_a?(Integer) ? { count: answer } : answer.respond_to?(:state) ? answer.to_h : { state: nil }
  elsif call["push_many"]
    { results: $later.push_many(call["push_many"].map { |one| job(one) }, queue: queue).map { |one| told(one) } }
  elsif call["call"]
    { value: $later.call(*call["call"].values_at("type", "payload"), queue: queue, timeout: call["timeout"]) }
  elsif call["wait"]
    { value: $later.wait(call["wait"], queue: queue, timeout: call["timeout"]) }
  elsif call["wait_many"]
    { results: $later.wait_many(call["wait_many"], queue: queue, timeout: call["timeout"]).map(&:to_h) }
  elsif call["pause"]
    { changed: $later.pause(queue: queue, **call["pause"].transform_keys(&:to_sym)) }
  elsif call["resume"]
    { changed: $later.resume(queue: queue) }
  elsif call["search"]
    { jobs: $later.search(queue: queue, **call["search"].transform_keys(&:to_sym)).map { |one| known(one) } }
  elsif call["size"]
    $later.size(queue: queue).to_h
  elsif call["reschedule"]
    how = call.slice("in", "at", "priority").transform_keys(&:to_sym)
    { state: $later.reschedule(call["reschedule"], queue: queue, **how) }
  elsif call["cron_set"]
    name, at, one, said = call["cron_set"].then { |all| [*all.values_at("name", "at", "job"), all.except("name", "at", "job")] }
    { changed: $later.cron_set(Laterd::NewSchedule.new(name, at, job(one), **said.transform_keys(&:to_sym)), queue: queue) }
  elsif call["cron_delete"]
    { changed: $later.cron_delete(call["cron_delete"], queue: queue) }
  elsif call["cron_list"]
    { schedules: $later.cron_list(queue: queue).map(&:to_h) }
  elsif call["forget"]
    { changed: $later.forget(call["forget"], queue: queue) }
  elsif call["kick"]
    { state: $later.kick(call["kick"], queue: queue) }
  elsif call["cancel"]
    { state: $later.cancel(call["cancel"], queue: queue) }
  else
    found = $later.show(call["show"], queue: queue)
    found ? known(found) : { state: nil }
  end
end

KINDS = { Laterd::Refused => "refused", Laterd::FlowClosed => "closed", Laterd::FlowUnknown => "unknown", Laterd::QueueFull => "full",
          Laterd::WrongProtocol => "protocol", Laterd::JobFailed => "failed", Laterd::JobUnknown => "unknown",
          Laterd::TimeoutError => "timeout", Redis::BaseError => "redis" }.freeze
$stdout.sync = true
$stdin.set_encoding("UTF-8")
while (line = $stdin.gets)
  begin
    said = answer(JSON.parse(line, max_nesting: 200))
  rescue *KINDS.keys => e
    said = { error: KINDS.find { |kind, _| e.is_a?(kind) }.last, text: e.message }
  end
  puts JSON.generate(said, max_nesting: 200)
end
