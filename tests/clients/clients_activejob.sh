#!/bin/sh
# Rails' Active Job with its adapter for laterd: the real framework pushes and performs.
. "${top_srcdir:=.}/tests/system/lib.sh"
needs ruby
if ! ruby -e 'require "active_job"; require "redis"' 2>/dev/null; then
    echo "1..0 # SKIP ruby-activejob or ruby-redis is not installed"
    exit 0
fi
start_redis 'appendonly no'
clients=$(cd "$top_srcdir" && pwd)/clients
PATH=$(cd "$(dirname "$later_bin")" && pwd):$PATH RUBYLIB=$clients/ruby/lib NOTES=$work/notes
export PATH RUBYLIB NOTES
: >"$NOTES"
cd "$work" || exit 99

cat >environment.rb <<RUBY
require "laterd/active_job"
require "time"
Laterd::ActiveJob.client = Laterd::Client.new(Redis.new(path: "$redis_socket"))
ActiveJob::Base.queue_adapter = :laterd
ActiveJob::Base.logger = nil

class Notes < ActiveJob::Base
  def note(*words)
    File.write(ENV["NOTES"], "#{self.class} #{words.join(" ")}\n", mode: "a")
  end
end

class GreetJob < Notes
  def perform(who, at:, how: nil)
    note(who, at.class, how.inspect, executions, queue_name)
  end
end

class Busy < StandardError; end
class Gone < StandardError; end

class TriesJob < Notes
  retry_on(Busy, wait: 0, attempts: 3) { |job, error| job.note("gave up", error.message) }
  discard_on(Gone) { |job, error| job.note("discarded", error.message) }

  def perform(what)
    note(what, executions)
    raise what == "busy" ? Busy : Gone, what
  end
end

class OnceJob < Notes
  retry_on(Busy, wait: 0, attempts: 3)

  def laterd_options
    { id: "once-#{arguments.first}", timeout: 60, description: "once" }
  end

  def perform(what)
    note(what, executions, Laterd.current_job.id)
    raise Busy, what if executions == 1
  end
end

class OddJob < Notes
  def laterd_options
    { unique: true }
  end
end

module Admin
  class BreaksJob < Notes
    def perform
      note("breaks")
      raise "broken"
    end
  end
end
RUBY
cat >jobs.rb <<'RUBY'
require_relative "environment"
Laterd::ActiveJob.handlers.run
RUBY
cat >shop.rb <<'RUBY'
require_relative "environment"
job = GreetJob.perform_later("ann", at: Time.now, how: :softly)
puts job.provider_job_id == job.job_id ? "one id" : "its own id"
late = GreetJob.set(wait: 3600, queue: "low", priority: -7).perform_later("bob", at: Date.today)
found = Laterd::ActiveJob.client.show(late.provider_job_id, queue: "low")
puts [found.state, found.priority, JSON.parse(found.document)["type"]].join(" ")
Laterd::ActiveJob.client.kick(late.provider_job_id, queue: "low")
TriesJob.perform_later("busy")
TriesJob.perform_later("gone")
Admin::BreaksJob.perform_later
begin
  GreetJob.set(priority: 101).perform_later("cleo", at: 1)
rescue Laterd::Refused => e
  puts e.message
end
jobs = %w[dan eve].map { |who| GreetJob.new(who, at: 1) }
jobs.last.queue_name = "low"
# As from 7.1 on.
jobs.each { |job| job.singleton_class.attr_accessor(:successfully_enqueued, :enqueue_error) }
puts ActiveJob::Base.queue_adapter.enqueue_all(jobs)
puts jobs.map(&:successfully_enqueued).join(" ")
OnceJob.perform_later("x")
found = Laterd::ActiveJob.client.show("once-x")
puts JSON.parse(found.document).slice("timeout", "description").values.join(" ")
OnceJob.perform_later("x")
puts Laterd::ActiveJob.client.search(type: "OnceJob").size
begin
  OddJob.perform_later
rescue Laterd::Refused => e
  puts e.message
end
nightly = -> { Laterd::ActiveJob.cron_set("nightly", "@every 2s", GreetJob.new("tick", at: 2), overlap: "skip") }
puts nightly.call, nightly.call, Laterd::ActiveJob.client.cron_list.map(&:name)
RUBY

run timeout 600 ruby shop.rb
is "$out" "$(printf '%s\n' 'its own id' 'delayed 7 GreetJob' 'priority: -100..100, lower first: 101' 2 \
    'true true' '60 once' 1 'laterd_options: unique: give an id; the payload has the id of Active Job, too' true false nightly)" \
    "what is pushed, and refused; a job's own options; a schedule"
[ "$status" -eq 0 ] || printf '%s\n' "$err" | sed 's/^/# /'
ruby jobs.rb --work default low -p 2 >worked 2>&1 </dev/null &
worker=$!
own "$worker"

# notes WORDS NAME
notes()
{
    wait_until 60 grep -qx "$1" "$NOTES"
    is "$(grep -cx "$1" "$NOTES")" 1 "$2"
}
notes 'GreetJob ann Time :softly 1 default' "a job with a Time and a symbol"
notes 'GreetJob bob Date nil 1 low' "one for later, of another queue"
notes 'GreetJob eve Integer nil 1 low' "one of many"
notes 'OnceJob x 1 once-x' "an id of its own, pushed twice: it runs once"
notes 'OnceJob x 2 once-x' "and is tried again under it"
wait_until 60 grep -qx 'GreetJob tick Integer nil 1 default' "$NOTES"
like "$(cat "$NOTES")" 'GreetJob tick Integer nil 1 default' "a job of a schedule"
for n in 1 2 3; do notes "TriesJob busy $n" "retry_on: attempt $n"; done
notes 'TriesJob gave up busy' "retry_on: then its block"
notes 'TriesJob discarded gone' "discard_on: its block"
is "$(grep -c 'TriesJob gone' "$NOTES")" 1 "discard_on: it ran once"
wait_until 60 grep -qx 'Admin::BreaksJob breaks' "$NOTES" # it may be tried again at any time
like "$(cat "$NOTES")" 'Admin::BreaksJob breaks' "a job of a module"
broken()
{
    later search -q default --type Admin::BreaksJob --json >found 2>/dev/null
    grep -q broken found
}
wait_until 60 broken
like "$(cat found)" 'broken' "an error that it does not handle is laterd's"
kill -TERM "$worker"
wait "$worker"
is "$?" 0 "the worker ends when it is asked"

# Without Redis: the same adapter, on a fake.
cat >fake.rb <<'RUBY'
require_relative "environment"
require "laterd/testing"
Laterd::ActiveJob.client = fake = Laterd::Testing::Fake.new
GreetJob.perform_later("fay", at: 1)
fake.assert_pushed("GreetJob")
puts fake.drain(Laterd::ActiveJob.handlers).map(&:result).join

# A full queue: what had room is told from what had none.
fake.define_singleton_method(:push_many) do |jobs, **|
  raise Laterd::QueueFull.new("default", jobs.each_index.map { |n| Laterd::Pushed.new("j#{n}", n.zero? ? "pushed" : "full", "") })
end
jobs = [1, 2].map { |n| GreetJob.new("gil", at: n) }
jobs.each { |job| job.singleton_class.attr_accessor(:successfully_enqueued, :enqueue_error) }
puts GreetJob.queue_adapter.enqueue_all(jobs), jobs.map(&:successfully_enqueued).join(" "), jobs.last.enqueue_error.message

# An error in a Rails application: frames of gems are left out.
module Rails
  def self.backtrace_cleaner
    Class.new { def clean(frames) = frames.grep(/fake[.]rb/) }.new
  end
end
class DeepJob < ActiveJob::Base
  def perform
    [1].each { raise "deep" }
  end
end
error = Laterd::Testing.perform(Laterd::ActiveJob.handlers, "DeepJob", DeepJob.new.serialize).error
puts error.include?("deep") && error.lines.drop(1).all? { |line| line.include?("fake.rb") }

# What Active Job 8.1's Continuable asks between two steps.
class StepsJob < ActiveJob::Base
  def perform
    puts self.class.queue_adapter.stopping?, self.class.queue_adapter.stopping?(self)
  end
end
[true, false].each do |stopping|
  Laterd::Testing.perform(Laterd::ActiveJob.handlers, "StepsJob", StepsJob.new.serialize, stopping: stopping)
end
puts StepsJob.queue_adapter.stopping?
RUBY
run timeout 600 ruby fake.rb
is "$out" "$(printf '%s\n' 'done' 1 'true false' 'the queue default is full' true true true false false false)" "with a fake; a full queue; the frames of an error; whether laterd stops"
is "$(later check default low | cut -f 3 | sort -u)" ok "later check holds"
finish
