# frozen_string_literal: true

# testing.rb: for tests of programs that use laterd: Fake, which keeps what is pushed, and perform.

require "digest"
require_relative "../laterd"
require_relative "asked"
require_relative "testing_flows"

module Laterd
  # For tests of programs that use laterd: they run without Redis, and without the gem for it.
  #
  #   require "laterd/testing"
  #
  #   queues = Laterd::Testing::Fake.new                                    # in the place of a Laterd::Client
  #   queues.push("mail.send", { to: "a@b.c" }, queue: "mail")
  #   queues.assert_pushed("mail.send", { to: "a@b.c" }, queue: "mail")
  #   queues.drain(app)                                                     # performs what was pushed
  #   raise unless Laterd::Testing.perform(app, "mail.send", {}).result == "bury"
  #
  # What is pushed is checked as the real client checks it, and a handler gets what JSON makes of its
  # payload. Time does not pass: a delay is kept but not waited for, and an id that stays taken stays so.
  # Jobs of a flow wait for each other, and get values. What the handlers say of their types counts, and a job that is
  # dead or done pushes what its on_dead or on_done says.
  module Testing
    MAX_ATTEMPTS = 25 # as laterd is configured by default
    DRAINED_MAX = 10_000 # a handler may push without end
    ANY = Object.new.freeze # any payload
    ENDED = %w[done cancelled skipped].freeze

    # What became of one attempt: "done", "retry", "bury" or "return"; progress: each as [done, total, text];
    # checkpoint: the last one that it has left.
    Attempt = Struct.new(:result, :value, :error, :delay, :progress, :checkpoint, keyword_init: true)

    # Takes the place of laterd.
    class Heard
      attr_reader :progress, :checkpoint

      def initialize
        @progress = []
      end

      def put(line)
        @progress << line[:progress].values_at(:done, :total, :text) if line[:progress]
        @checkpoint = line[:checkpoint] if line.key?(:checkpoint)
      end
    end
    private_constant :Heard

    class << self
      # Performs one job with its handler, and returns what became of it. values: what steps of its flow gave
      # back. resumes: a checkpoint. stopping: laterd stops. The options are those of NewJob.
      def perform(app, type, payload = nil, queue: "default", attempt: 1, values: {}, resumes: nil, stopping: false,
                  **options)
        attempt_of(app, NewJob.new(type, payload, **options), queue, attempt, options[:max_attempts] || MAX_ATTEMPTS,
                   { "values" => values, "checkpoint" => resumes }, stopping)
      end

      # @private
      def attempt_of(app, job, queue, attempt, most, given, stopping = false)
        heard = Heard.new
        line = { "id" => job.id, "type" => job.type, "queue" => queue, "attempt" => attempt, "max_attempts" => most,
                 "time_left" => 300.0, "token" => "test", **JSON.parse(JSON.generate(given), max_nesting: false),
                 "document" => JSON.parse(job.document, max_nesting: false) }
        performed = Job.new(line, heard)
        performed.stop if stopping
        told = app.perform(performed)
        last = JSON.parse(Answers.lines({ id: job.id, **told }).last, max_nesting: false)
        Attempt.new(result: last["result"], value: last["value"], error: last["error"] || "", delay: last["in"],
                    progress: heard.progress, checkpoint: heard.checkpoint)
      end
    end

    # A job that was pushed to a Fake. state: ready, delayed, reserved, dead, waiting; done, cancelled, skipped
    # (not needed in its flow).
    class Kept
      attr_reader :job, :queue, :payload
      attr_reader :hook_of # pushed since the job of this id is dead, or done
      attr_accessor :state, :attempts, :error, :value, :successor, :tie, :home # the flow in which it waits, or has
      attr_accessor :policy # what its program says of its type
      attr_accessor :checkpoint # the last one that it has left

      def initialize(job, queue, hook_of: nil)
        @job, @queue, @tie, @hook_of = job, queue, job, hook_of
        @policy = {}
        @payload = JSON.parse(job.document, max_nesting: false)["payload"]
        @state = due
        @attempts = 0
      end

      # Its state when it may run.
      def due(at = job.when.partition("!").first)
        at != "+0" && at.start_with?("+") || at.to_f > Time.now.to_f ? "delayed" : "ready"
      end

      def id
        job.id
      end

      def options
        job.options
      end

      def type
        job.type
      end

      def priority
        options[:priority] || 0
      end

      def most
        options[:max_attempts] || policy[:max_attempts] || MAX_ATTEMPTS
      end

      # Changes options of a job that is there.
      def change(**options)
        @job = job.with(id: id, **options)
      end

      # As show tells it.
      def known
        KnownJob.new(id: id, state: state, attempts: attempts, priority: priority, error: error,
                     document: job.document, checkpoint: checkpoint)
      end

      # The job that tells of its end, or nil.
      def hook
        return if hook_of || !%w[done dead].include?(state)

        on, dead = :"on_#{state}", state == "dead"
        type, to = (options[on] || policy[on])&.split("@")
        told = { id: id, type: self.type, queue: queue, ending: state, attempts: attempts, error: dead ? error : nil,
                 value: dead ? nil : value }
        of = id.size > 160 ? Digest::SHA1.hexdigest(id) : id
        now = Process.clock_gettime(Process::CLOCK_REALTIME, :microsecond)
        type && Kept.new(NewJob.new(type, told, id: "#{of}.#{state}.#{now}"), to || queue, hook_of: id)
      end
    end

    # Keeps what is pushed, in the place of a Laterd::Client. With an app, each job is performed as it is pushed.
    class Fake
      include Pushing

      attr_reader :jobs # all, in the order of their pushes

      def initialize(app = nil)
        @app = app
        @jobs = []
        @by_id = {} # the last one of each queue and id
        @taken = {} # ids that stay taken
        @ends = []
        @flows = {} # by queue and name
        @woken = [] # whose time in a flow has come
        @paused = {} # queues, and whether only resume ends it
        @crontab = {} # by queue and name: definitions
      end

      # ---- what a client can

      def push(type, payload = nil, queue: "default", **options)
        NewJob.demand_label("queue", queue)
        kept = Kept.new(passed_one(NewJob.new(type, payload, **options)), queue)
        told(kept.job, kept.job.flow ? add(kept) : keep(kept))
      end

      # jobs: of NewJob
      def push_many(jobs, queue: "default")
        NewJob.demand_label("queue", queue)
        NewJob.numbered(passed_many(jobs)) { |job| Kept.new(job, job.queue || queue) }.map { |kept| told(kept.job, keep(kept)) }
      end

      def show(id, queue: "default")
        find(id, queue)&.known
      end

      # It never waits: so call is only for inline.
      def wait(id, queue: "default", timeout: nil) # rubocop:disable Lint/UnusedMethodArgument
        kept = find(id, queue)
        raise JobFailed.new(id, kept.error) if kept&.state == "dead"
        raise TimeoutError, "#{id} has not ended; drain performs it" if kept

        last = @by_id[[queue, id]]
        return last.value if last&.state == "done" && last.options[:result]

        raise JobUnknown.new(id, queue)
      end

      def size(queue: "default")
        NewJob.demand_label("queue", queue)
        states = jobs.select { |kept| kept.queue == queue }.map(&:state).tally
        ready, delayed, reserved, dead = %w[ready delayed reserved dead].map { |state| states.fetch(state, 0) }
        Size.new(ready: ready, delayed: delayed, reserved: reserved, dead: dead, paused: @paused.key?(queue),
                 oldest_ready: ready.positive? ? 0.0 : nil)
      end

      # Nothing of the queue is performed until resume: time does not pass.
      def pause(queue: "default", seconds: nil, by: nil)
        NewJob.demand_label("queue", queue)
        ends = Asked.pause_words(seconds, by).first.positive?
        (ends || !@paused[queue]).tap { @paused[queue] = !ends }
      end

      # What was pushed meanwhile is performed by drain, also inline.
      def resume(queue: "default")
        NewJob.demand_label("queue", queue)
        !@paused.delete(queue).nil?
      end

      # Kept, and no more: time does not pass.
      def cron_set(schedule, queue: "default")
        NewJob.demand_label("queue", queue)
        made = schedule.definition
        (@crontab[[queue, schedule.name]] != made).tap { @crontab[[queue, schedule.name]] = made }
      end

      def cron_delete(name, queue: "default")
        NewJob.demand_label("name", name)
        NewJob.demand_label("queue", queue)
        !@crontab.delete([queue, name]).nil?
      end

      # By their names.
      def cron_list(queue: "default")
        NewJob.demand_label("queue", queue)
        mine = @crontab.select { |(home, _), _| home == queue }.sort
        Schedule.listed(["", "", *mine.flat_map { |(_, name), made| [name, "inf", "", made[/.*?\n(?=\n)/m], "origin=set"] }])
      end

      # All ends are kept.
      def events(queue: "default", after: "", limit: 500, timeout: 0)
        EventPage.new(queue, after, limit).tell_of(@ends.select { |one| one.queue == queue })
      end

      # No job that is done is kept.
      def search(queue: "default", **conditions)
        NewJob.demand_label("queue", queue)
        conditions = Asked::Conditions.new(**conditions)
        found = (conditions.states - ["done"]).flat_map do |state|
          pushed(queue: queue).reverse.select { |kept| kept.state == state && conditions.fit?(kept.job.document) }
        end
        found.first(conditions.limit).map(&:known)
      end

      def kick(id, queue: "default")
        kept = find(id, queue)
        return unless kept && %w[dead delayed].include?(kept.state)

        kept.attempts = 0 if kept.state == "dead"
        kept.state.tap do
          kept.state = "ready"
          settle_flows
        end
      end

      def reschedule(id, queue: "default", in: nil, at: nil, priority: nil)
        words = Asked.reschedule_words(in: binding.local_variable_get(:in), at: at, priority: priority)
        kept = find(id, queue)
        return unless kept && %w[ready delayed].include?(kept.state)

        kept.state.tap do
          kept.state = kept.due(words.first) unless words.first.empty?
          kept.change(priority: priority) if priority
        end
      end

      def forget(id, queue: "default")
        kept = find(id, queue) || @by_id[[queue, id]]
        return false unless kept && %w[done dead].include?(kept.state) && kept.options[:result]

        kept.change(result: nil)
        true
      end

      def cancel(id, queue: "default")
        kept = find(id, queue)
        return @taken.delete([queue, id]) && "ended" unless kept

        kept.state.tap do
          kept.state = "cancelled"
          settle_flows
        end
      end

      # jobs: of NewJob
      def flow(name, jobs = [], queue: "default", open: false)
        NewJob.demand_label("queue", queue)
        jobs = listed(jobs).map { |job| passed(job) }
        plan = Flows.plan(name, jobs, queue, open).map { |one| Kept.new(one.job, one.queue) }
        flow = @flows[[queue, name]] ||= KeptFlow.new(name)
        raise FlowClosed.new(name) if flow.closed && plan.any? { |kept| !flow.jobs.key?(kept.id) }

        pushed = plan.map { |kept| join(flow, kept) }
        flow.closed ||= !open
        settle_flows
        perform_woken
        told_many(jobs, pushed)
      end

      def show_flow(name, queue: "default")
        NewJob.demand_label("queue", queue)
        NewJob.demand_label("flow", name)
        @flows[[queue, name]]&.stands
      end

      def wait_flow(name, queue: "default", timeout: nil) # rubocop:disable Lint/UnusedMethodArgument
        flow = known(name, queue).stands
        return flow unless %w[open running].include?(flow.state)

        raise TimeoutError, "flow #{name} is #{flow.state}; drain performs its jobs"
      end

      def kick_flow(name, queue: "default")
        known(name, queue).jobs.values.select { |kept| kept.state == "dead" }.count { |kept| kick(kept.id, queue: kept.queue) }
      end

      def cancel_flow(name, queue: "default")
        flow = known(name, queue)
        count = [%w[waiting], %w[waiting ready delayed reserved dead]].sum do |states|
          flow.jobs.values.count { |kept| states.include?(kept.state) && cancel(kept.id, queue: kept.queue) }
        end
        close_flow(name, queue: queue)
        count
      end

      def close_flow(name, queue: "default")
        known(name, queue).closed = true
        settle_flows
        perform_woken
      end

      # ---- what a test wants to know

      # Returns what was pushed, whatever has become of it.
      def pushed(type = nil, queue: nil)
        jobs.select { |kept| [nil, kept.type].include?(type) && [nil, kept.queue].include?(queue) }
      end

      # Raises unless such a job was pushed: as often as `count` says, otherwise at least once.
      def assert_pushed(type, payload = ANY, queue: nil, count: nil, **options)
        same = JSON.parse(JSON.generate([payload.equal?(ANY) ? nil : payload])).first
        such = pushed(type, queue: queue).select do |kept|
          (payload.equal?(ANY) || kept.payload == same) && options.all? { |name, value| kept.options[name] == value }
        end
        return true if count ? such.size == count : such.any?

        all = jobs.map { |kept| "#{kept.queue} #{kept.type} #{kept.payload.inspect}" }
        raise failure("#{type} was pushed so #{such.size} times; there are: #{all.empty? ? "none" : all.join(", ")}")
      end

      def assert_nothing_pushed(type = nil, queue: nil)
        such = pushed(type, queue: queue)
        raise failure("pushed: #{such.map(&:type).join(", ")}") if such.any?

        true
      end

      # Performs each job that is ready or delayed once, the highest priority first, then those that were
      # pushed meanwhile. One that is to be tried again waits for the next drain.
      def drain(app, queue: nil)
        attempts = []
        lines = Hash.new { |all, priority| all[priority] = [] } # those that had no turn yet
        begun = {}.compare_by_identity
        seen = 0
        loop do
          (jobs[seen..] + @woken.slice!(0..)).each { |kept| lines[kept.priority] << kept }
          seen = jobs.size
          line = lines.reject { |_, waiting| waiting.empty? }.max_by(&:first)&.last
          return attempts unless line

          kept = line.shift
          next unless [nil, kept.queue].include?(queue) && may_run?(kept) && !begun[kept]
          raise Error, "drain: #{DRAINED_MAX} jobs were performed, and they push more and more" if attempts.size == DRAINED_MAX

          begun[kept] = true
          attempts << perform(app, kept)
        end
      end

      private

      def failure(text)
        (defined?(Minitest::Assertion) ? Minitest::Assertion : RuntimeError).new(text)
      end

      def find(id, queue)
        NewJob.demand_label("queue", queue)
        kept = @by_id[[queue, id]]
        kept unless kept.nil? || ENDED.include?(kept.state)
      end

      def may_run?(kept)
        %w[ready delayed].include?(kept.state) && !@paused.key?(kept.queue)
      end

      def known(name, queue)
        NewJob.demand_label("queue", queue)
        NewJob.demand_label("flow", name)
        @flows[[queue, name]] || raise(FlowUnknown.new(name, queue))
      end

      # Adds a job to its flow, as push does.
      def add(kept)
        name = kept.job.flow
        flow = @flows[[kept.job.home || kept.queue, name]] ||= KeptFlow.new(name)
        raise FlowClosed.new(name) if flow.closed && !flow.jobs.key?(kept.id) && flow.jobs[kept.job.adder]&.state != "reserved"

        pushed = join(flow, kept)
        settle_flows
        perform_woken
        pushed
      end

      def join(flow, kept)
        old = flow.jobs[kept.id] || find(kept.id, kept.queue)
        flow.add(old || kept, kept.job)
        return Pushed.new(kept.id, "exists", old.state == "cancelled" ? "gone" : old.state) if old

        waits = kept.job.after.any?
        kept.home = flow
        waits ? kept.state = "waiting" : @woken << kept
        @jobs << kept
        @by_id[[kept.queue, kept.id]] = kept
        Pushed.new(kept.id, "pushed", waits ? "waiting" : nil)
      end

      def settle_flows
        loop do
          changed = @flows.each_value.map do |flow|
            flow.settle do |kept|
              kept.state = kept.due
              @woken << kept
            end
          end
          break if changed.none?
        end
      end

      # Inline: those whose time has come.
      def perform_woken
        while @app && (kept = @woken.shift)
          perform(@app, kept) if may_run?(kept)
        end
      end

      def keep(kept)
        id, old = kept.id, find(kept.id, kept.queue)
        return Pushed.new(id, "exists", "ended") if !old && @taken[[kept.queue, id]]

        if old&.state == "reserved" && kept.job.mode == "again"
          old.successor = kept
          return Pushed.new(id, "again", "")
        end
        return Pushed.new(id, "exists", old.state) if old && (kept.job.mode == "new" || %w[dead reserved waiting].include?(old.state))

        replace(old, kept) if old
        @jobs << kept
        @by_id[[kept.queue, id]] = kept
        perform(@app, kept) if @app && may_run?(kept)
        perform_woken
        Pushed.new(id, old ? "replaced" : "pushed", "")
      end

      def replace(old, kept)
        old.state = "cancelled"
        @flows.each_value do |flow| # it takes the other's place there, too
          next unless flow.jobs[kept.id].equal?(old)

          kept.tie, kept.home = old.tie, old.home
          flow.replace(old, kept)
        end
      end

      def perform(app, kept)
        kept.policy = app.policy(kept.type)
        kept.state = "reserved"
        kept.attempts += 1
        attempt = Testing.attempt_of(app, kept.job, kept.queue, kept.attempts, kept.most,
                                     { **(kept.home&.heard(kept.tie) || {}), "checkpoint" => kept.checkpoint })
        kept.checkpoint = attempt.checkpoint unless attempt.checkpoint.nil?
        if kept.state == "reserved" # else it was cancelled meanwhile
          settle(kept, attempt)
          note_end(kept, attempt.result)
          hook = kept.hook
          keep(hook) if hook
        end
        successor, kept.successor = kept.successor, nil
        keep(successor) if successor && ENDED.include?(kept.state)
        settle_flows
        attempt
      end

      def note_end(kept, ending)
        return if ending == "return"

        kind = kept.error["kind"] unless ending == "done"
        @ends << End.new(kept.queue, kept.id, kept.type, ending, kept.state, Time.now.to_f, "test", kind, kept.attempts)
      end

      def settle(kept, attempt)
        if attempt.result == "done"
          kept.state, kept.value = "done", attempt.value
          @taken[[kept.queue, kept.id]] = true if kept.options[:unique_for] || kept.options[:throttle]
          return
        end
        dead = attempt.result == "bury" || attempt.result == "retry" && kept.attempts >= kept.most
        kind = attempt.result == "bury" ? "buried" : attempt.result
        kept.error = { "at" => Time.now.to_f, "attempt" => kept.attempts, "kind" => kind, "text" => attempt.error, "host" => "test" }
        kept.state = dead ? "dead" : "delayed"
        kept.attempts -= 1 if attempt.result == "return"
      end
    end
  end
end
