# frozen_string_literal: true

module Laterd
  # How a flow stands (doc/protocol.md, "Flows"), and how many of its jobs are in which state. state:
  # "open": more may be added; "running"; "blocked": what is left waits for a dead job, and a kick lets it
  # go on; "done"; "ended": some jobs are gone (cancelled, expired …). open: jobs that are ready, delayed or
  # reserved. skipped: jobs that were to run after a failure that did not come.
  Flow = Struct.new(:name, :state, :closed, :made, :total, :open, :waiting, :dead, :done, :gone, :skipped,
                    keyword_init: true)

  # Returns the jobs, each of which waits for the one before.
  def self.chain(*jobs)
    before = nil
    jobs.each.with_index(1).map do |job, number|
      more = { step: job.step || number.to_s }
      more[:after] = [before] if before
      before = more[:step]
      job.with(**more)
    end
  end

  # Returns the jobs and those that wait for all of them: then: runs when all are done, finally: when all
  # have ended in whatever way, failed: when the first one is dead or gone.
  def self.batch(jobs, **ends)
    fates = { then: "done", finally: "ended", failed: "failed" }
    unknown = ends.keys - fates.keys
    raise ArgumentError, "unknown keywords: #{unknown.join(" ")}" unless unknown.empty?

    jobs.to_a + fates.filter_map { |name, fate| ends[name]&.with(after: "*", when: fate) }
  end

  # What a client does with flows. The block runs a script of it.
  class Flows
    KEPT = 86_400 # seconds that a flow is kept after its end
    JOBS_MAX = 200 # per call
    BYTES_MAX = 1_048_576
    FLOW_MAX = 1_000_000
    LOOK = 0.2 # seconds between two looks of wait
    COUNTS = %i[total open waiting dead done gone skipped].freeze

    class << self
      # Returns each job of the flow with its document and its place; refuses a flow that cannot end.
      def plan(name, jobs, open)
        NewJob.demand_label("flow", name)
        prepared(name, jobs).tap { |plan| check(plan.map(&:first), open) }
      end

      def state_of(closed, counts)
        return "blocked" if counts[:open].zero? && counts[:dead].positive?
        return "open" unless closed
        return "running" if counts[:open] + counts[:waiting] > 0

        counts[:gone].positive? ? "ended" : "done"
      end

      private

      def prepared(name, jobs)
        jobs = jobs.to_a
        raise Refused, "a flow has at most #{FLOW_MAX} jobs" if jobs.size > FLOW_MAX

        jobs.each_with_index.map do |job, number|
          job = job.in_flow(name, number + 1)
          [job, job.document, number]
        rescue Refused => e
          raise Refused, "job #{number + 1}: #{e.message}"
        end
      end

      # Refuses a flow that cannot end: steps of one name, or that nobody has, and circles.
      def check(jobs, open)
        steps = {}
        jobs.each.with_index(1) do |job, number|
          raise Refused, "job #{number}: step: another job is #{job.step}, too" if job.step && steps.key?(job.step)

          steps[job.step] = { star: job.after == ["*"], waiters: [] } if job.step
        end
        left = jobs.each.with_index(1).map do |job, number|
          known = job.after == ["*"] ? [] : job.after.select { |step| check_step(steps[step], step, number, open) }
          known.each { |step| steps[step][:waiters] << number - 1 }
          known.size
        end
        check_circle(jobs, steps, left)
      end

      # Is there this step? If not, it may come later, if the flow is open.
      def check_step(step, name, number, open)
        raise Refused, "job #{number}: after: there is no step #{name}" unless step || open
        raise Refused, "job #{number}: after: step #{name} waits for all jobs, this one too" if step && step[:star]

        step
      end

      def check_circle(jobs, steps, left)
        free = left.each_index.select { |n| left[n].zero? }
        free.each do |n| # which grows
          steps.dig(jobs[n].step, :waiters)&.each { |waiter| free << waiter if (left[waiter] -= 1).zero? }
        end
        return if free.size == jobs.size

        stuck = left.each_index.select { |n| left[n].positive? }.first(10).map { |n| jobs[n].step || "job #{n + 1}" }
        raise Refused, "after: a circle: #{stuck.join(", ")} wait for each other"
      end
    end

    def initialize(client, redis, prefix, &script)
      @client = client
      @redis = redis
      @prefix = prefix
      @script = script
    end

    def push(name, jobs, queue, open)
      jobs = Flows.plan(name, jobs, open)
      answers = {}
      parts = parts_of(jobs)
      parts.each { |part| push_part(name, part, queue, !open && part.equal?(parts.last), answers) }
      answers.sort.map(&:last)
    end

    # Adds a job to its flow, which stays open.
    def add(job, queue)
      answers = {}
      push_part(job.flow, [[job, job.document, 0]], queue, false, answers)
      answers[0]
    end

    def look(name, queue)
      fields = COUNTS.flat_map { |count| [count, "*#{count}"] }
      closed, made, *told = @redis.call("HMGET", key(name, queue), "closed", "made", *fields)
      return if closed.nil?

      counts = COUNTS.zip(told.each_slice(2).map { |two| two.sum(&:to_i) }).to_h
      Flow.new(name: name, state: Flows.state_of(closed == "1", counts), closed: closed == "1", made: made.to_f, **counts)
    end

    def wait(name, queue, timeout)
      ends = timeout && Process.clock_gettime(Process::CLOCK_MONOTONIC) + timeout
      loop do
        flow = known(name, queue)
        return flow unless %w[open running].include?(flow.state)
        raise TimeoutError, "flow #{name} is #{flow.state}; it goes on" \
          if ends && Process.clock_gettime(Process::CLOCK_MONOTONIC) >= ends

        sleep(LOOK)
      end
    end

    def close(name, queue)
      known(name, queue)
      push_part(name, [], queue, true, {})
    end

    def kick(name, queue)
      act(name, queue, "x") { |id| @client.kick(id, queue: queue) }
    end

    # Those that wait go first: otherwise one that waits for a failure would run now.
    def cancel(name, queue)
      count = %w[w wox].sum { |states| act(name, queue, states) { |id| @client.cancel(id, queue: queue) } }
      close(name, queue)
      count
    end

    private

    def key(name, queue)
      NewJob.demand_label("flow", name)
      "#{@prefix}:{#{queue}}:flow:#{name}"
    end

    def known(name, queue)
      look(name, queue) || raise(FlowUnknown, "no flow #{name} in queue #{queue}")
    end

    # Acts on the jobs that are in one of these states; returns for how many it could.
    def act(name, queue, states)
      known(name, queue)
      ids = []
      cursor = "0"
      loop do
        cursor, fields = @redis.call("HSCAN", key(name, queue), cursor, "MATCH", "j:*", "COUNT", 500)
        fields.each_slice(2) { |field, text| ids << field[2..] if states.include?(text[0]) }
        break if cursor == "0"
      end
      ids.uniq.count { |id| yield id }
    end

    # To repeat it is safe: what is there is known.
    def push_part(name, part, queue, close, answers)
      args = part.flat_map do |job, document, _|
        [job.id, job.step.to_s, job.after.join(","), job.fate, job.when, job.rank, document]
      end
      told = @script.call("flow_push", queue, [name, part.dig(0, 0)&.adder.to_s, close ? 1 : 0, KEPT, *args], name)
      raise FlowClosed, "flow #{name} is closed: only a running job of it may add to it" unless told.is_a?(Array)

      part.zip(told) do |(job, _, number), answer|
        result, state = answer.downcase.split
        result, state = "pushed", result if result == "waiting"
        answers[number] = Pushed.new(job.id, result, state)
      end
      raise QueueFull.new(queue, answers.sort.map(&:last)) if told.include?("FULL")
    end

    # First those that wait, so that nothing has begun whose successor is not there.
    def parts_of(jobs)
      parts = [[]]
      bytes = 0
      jobs.partition { |job, _| job.after.any? }.flatten(1).each do |one|
        if parts.last.size >= JOBS_MAX || parts.last.any? && bytes + one[1].bytesize > BYTES_MAX
          parts << []
          bytes = 0
        end
        parts.last << one
        bytes += one[1].bytesize
      end
      parts
    end
  end
end
