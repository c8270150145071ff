# frozen_string_literal: true

# flow.rb: flows: jobs that wait for each other (doc/protocol.md, "Flows").

require_relative "bounds"

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

  # What a client does with flows. `link` is the part of it that this needs: script, announce, read_plan,
  # plan, by_plan.
  class Flows
    KEPT = "" # how long a flow is kept after its end is for its queue to say
    LOOK = 0.2 # seconds between two looks of wait
    COUNTS = %i[total open waiting dead done gone skipped].freeze

    # A job of a flow, its document, its place in the flow, and its queue.
    One = Struct.new(:job, :document, :number, :queue)

    class << self
      # Returns each job of the flow as a One; refuses a flow that cannot end.
      def plan(name, jobs, queue, open)
        NewJob.demand_label("flow", name)
        prepared(name, jobs, queue).tap { |plan| check(plan.map(&:job), open) }
      end

      def state_of(closed, counts)
        return "blocked" if counts[:open].zero? && counts[:dead].positive?
        return "open" unless closed
        return "running" if counts[:open] + counts[:waiting] > 0

        counts[:gone].positive? ? "ended" : "done"
      end

      private

      def prepared(name, jobs, home)
        jobs = jobs.to_a
        raise Refused, "a flow has at most #{Bounds::FLOW_MAX} jobs" if jobs.size > Bounds::FLOW_MAX

        NewJob.numbered(jobs) do |job, number|
          job = job.in_flow(name, number, home)
          One.new(job, job.document, number - 1, job.queue || home)
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

    def initialize(client, redis, prefix, link)
      @client = client
      @redis = redis
      @prefix = prefix
      @link = link
    end

    def push(name, jobs, queue, open)
      send_all(name, queue, Flows.plan(name, jobs, queue, open), !open)
    end

    # Adds a job to its flow, which stays open.
    def add(job, queue)
      send_all(job.flow, job.home || queue, [One.new(job, job.document, 0, queue)], false).first
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
      away = Away.new(ends)
      loop do
        flow = away.outlast do
          @link.check_protocol
          known(name, queue)
        end
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
      act(name, queue, "x", "kick") { |id, own| @client.kick(id, queue: own) }
    end

    # Those that wait go first: otherwise one that waits for a failure would run now.
    def cancel(name, queue)
      count = %w[w wox].sum do |states|
        act(name, queue, states, "cancel") { |id, own| @client.cancel(id, queue: own) }
      end
      close(name, queue)
      count
    end

    private

    def key(name, queue)
      NewJob.demand_label("flow", name)
      "#{@prefix}:{#{queue}}:flow:#{name}"
    end

    def known(name, queue)
      look(name, queue) || raise(FlowUnknown.new(name, queue))
    end

    # Acts on the jobs that are in one of these states, many in a call; returns for how many it could. One
    # that is not found there, since it runs or has moved, is left to the block.
    def act(name, queue, states, script, &block)
      known(name, queue)
      places = {}
      cursor = "0"
      loop do
        cursor, fields = @redis.call("HSCAN", key(name, queue), cursor, "MATCH", "j:*", "COUNT", 500)
        fields.each_slice(2) { |field, text| places[field[2..]] = lies_at(text) || queue if states.include?(text[0]) }
        break if cursor == "0"
      end
      places.keys.group_by { |id| places[id] }.sum do |place, ids|
        ids.each_slice(Bounds::PART_MAX).sum { |some| act_on(some, place, script, &block) }
      end
    end

    def act_on(ids, place, script)
      was = @link.script(script, place, ids)
      ids.zip(was).count { |id, state| !state.empty? || yield(id, place[%r{\A[^/]+}]) }
    end

    # `STATE STEP WHEN DELAY AFTER QUEUE:NUMBER`; the last is there if the job lies in another queue.
    def lies_at(text)
      place = text.split[5]
      place && place[/\A[^:]+/]
    end

    # ---- pushing

    # Pushes jobs into a flow, and closes it if they are all. Those that wait go first, so that nothing has
    # begun whose successor is not there; what goes to the flow's own queue goes last, so that it can close
    # the flow.
    def send_all(name, home, jobs, whole)
      jobs.map(&:queue).uniq.each { |queue| @link.read_plan(queue) }
      @link.announce(home)
      answers = {}
      parts = parts_of(jobs, home)
      closes = whole && parts.any? && parts.last.first.nil?
      parts.each do |place, part|
        next push_away(name, home, part, answers) if place

        push_part(name, part, home, closes && part.equal?(parts.last[1]), answers)
      end
      push_part(name, [], home, true, {}) if whole && !closes
      answers.sort.map(&:last)
    end

    # Returns the place of a job, nil if the flow's own queue takes it at once.
    def place_of(one, home)
      plan = @link.plan(one.queue)
      one.queue == home && plan.epoch == "0" ? nil : plan.route(one.queue, one.job.id).last
    end

    # Splits jobs into calls of bounded size, each for one place.
    def parts_of(jobs, home)
      turns = jobs.partition { |one| one.job.after.any? }
      turns = [turns.flatten(1)] if jobs.map { |one| place_of(one, home) }.uniq.size <= 1
      turns.flat_map do |turn|
        groups = turn.group_by { |one| place_of(one, home) }
        groups.sort_by { |place, _| place.to_s }.reverse.flat_map do |place, group|
          bounded(group).map { |part| [place, part] }
        end
      end
    end

    def bounded(group)
      bytes = count = 0
      group.slice_when do |before, one|
        count += 1
        bytes += before.document.bytesize
        full = count >= Bounds::PART_MAX || bytes + one.document.bytesize > Bounds::BYTES_MAX
        count = bytes = 0 if full
        full
      end.to_a
    end

    # To repeat it is safe: what is there is known.
    def push_part(name, part, queue, close, answers)
      args = part.flat_map do |one|
        job = one.job
        [job.id, job.step.to_s, job.after.join(","), job.fate, job.when, job.rank, one.document]
      end
      told = flow_call("flow_push", name, queue, [name, adder_of(part), close ? 1 : 0, KEPT, *args])
      part.zip(told) { |one, answer| take(one, answer, answers) }
      raise QueueFull.new(queue, answers.sort.map(&:last)) if told.include?("FULL")
    end

    def adder_of(part)
      part.first&.job&.adder.to_s
    end

    def flow_call(script, name, queue, args)
      told = @link.script(script, queue, args, name)
      return told if told.is_a?(Array)

      raise told == "CLOSED" ? FlowClosed.new(name) : Pushed.strange(told)
    end

    def take(one, answer, answers)
      answers[one.number] = Pushed.of(one.job.id, answer)
    end

    # Jobs of another queue, or of shards, are announced to the flow and parked there, until it has them
    # run.
    def push_away(name, home, part, answers)
      queue = part.first.queue
      @link.by_plan(queue) do
        left = part.reject { |one| answers.key?(one.number) }
        park(name, home, queue, join(name, home, left, answers), answers)
      end
      raise QueueFull.new(queue, answers.sort.map(&:last)) if part.any? { |one| answers[one.number].result == "full" }
    end

    # Returns the numbers under which the flow awaits jobs.
    def join(name, home, part, answers)
      args = part.flat_map do |one|
        job = one.job
        [job.id, job.step.to_s, job.after.join(","), job.fate, job.when, place_of(one, home)]
      end
      told = flow_call("flow_join", name, home, [name, adder_of(part), 0, KEPT, *args])
      part.zip(told).each_with_object({}.compare_by_identity) do |(one, answer), numbers|
        answer.start_with?("PARK ") ? numbers[one] = answer[5..] : take(one, answer, answers)
      end
    end

    # Former places are only searched.
    def park(name, home, queue, numbers, answers)
      plan = @link.plan(queue)
      waiting = numbers.keys.map { |one| [one, plan.route(queue, one.job.id)] }
      until waiting.empty?
        groups = waiting.group_by { |_, route| [route[0], route.size == 1 ? "new" : "seek"] }
        waiting = groups.flat_map do |(place, mode), group|
          @link.announce(place) if mode == "new"
          args = group.flat_map { |one, _| [one.job.id, numbers[one], one.job.rank, one.document] }
          told = @link.script("flow_park", place, ["#{mode}/#{plan.epoch}", name, home, *args])
          group.zip(told).filter_map do |(one, route), answer|
            answer == "ABSENT" ? [one, route.drop(1)] : take(one, answer, answers) && nil
          end
        end
      end
    end
  end
end
