# frozen_string_literal: true

require "redis"

module Laterd
  # What became of a job that was pushed. result: "pushed", "replaced", "again" (it runs, and this
  # one is pushed when that has ended), "exists"; state, of one that exists: "ready", "delayed", "reserved", "dead", "ended".
  Pushed = Struct.new(:id, :result, :state) do
    # Is it a new job? If not, one of this id was there, and nothing was changed.
    def new?
      %w[pushed replaced again].include?(result)
    end

    # One of this id has failed for good: nothing will run until it is kicked (`later kick`).
    def dead?
      state == "dead"
    end
  end

  # A job as laterd has it. state: "ready", "delayed", "reserved", "dead"; error: why it failed last.
  KnownJob = Struct.new(:id, :state, :attempts, :priority, :error, :document, keyword_init: true) do
    def payload
      JSON.parse(document)["payload"]
    end
  end

  # Pushes jobs into laterd's queues.
  #
  #   later = Laterd::Client.new(Redis.new(path: "/var/lib/laterd/redis.sock"))
  #   later.push("mail.send", { to: "a@b.c" }, queue: "mail", in: 60)
  #
  # redis: of the gem redis, one server, Sentinels or a Cluster. A Redis::Namespace is taken off it.
  class Client
    PROTOCOL = "2"
    REMEMBERED = 60   # seconds; a call is repeated at once, or not at all
    JOBS_MAX = 500    # in a call; and bytes, unless one job is larger
    BYTES_MAX = 262_144
    PLANS_MAX = 20    # heard one after the other, before it is given up
    LOADS_MAX = 5     # of a script, one after the other
    PAUSE = 0.05      # seconds
    BLOCK = 5.0       # seconds of one call that waits: a job may go without leaving anything

    def initialize(redis, prefix: "later")
      @redis = redis.respond_to?(:namespace) ? redis.redis : redis
      @prefix = prefix
      @plans = Hash.new { |plans, queue| plans[queue] = Plan.new }
      @announced = {}
      @checked = false
      @calls_left = 0
    end

    # Pushes one job; the options are those of Job. Look at the answer: an id that is known changes
    # nothing. Raises QueueFull.
    def push(type, payload = nil, queue: "default", **options)
      demand_queue(queue)
      job = Job.new(type, payload, **options)
      push_plainly(job, queue) || push_many([job], queue: queue).first
    end

    # Pushes many, up to 500 in a call. Answers in their order; QueueFull comes when all were tried.
    def push_many(jobs, queue: "default")
      demand_queue(queue)
      jobs = jobs.map { |job| [job, job.document] } # all are checked before any is pushed
      answers = {}
      open = routed(jobs, queue, answers)
      tries = 0
      until open.empty?
        begin
          open = round(jobs, queue, open, answers)
        rescue Redis::CommandError => e
          raise unless e.message.start_with?("RESHARD ") && tries < PLANS_MAX

          sleep(PAUSE) if (tries += 1) > 3
          read_plan(queue)
          open = routed(jobs, queue, answers)
        end
      end
      answers = answers.sort.map(&:last)
      answers.any? { |answer| answer.result == "full" } ? raise(QueueFull.new(queue, answers)) : answers
    end

    # What laterd has of a job; nil: nothing, it has ended or never was.
    def show(id, queue: "default")
      demand_queue(queue)
      read_plan(queue).route(queue, id).each do |place|
        state, _, record, document = script("show", place, [id])
        return known(id, state, utf8(record), utf8(document)) unless state == ""
      end
      nil
    end

    # What a job has given back that was pushed with result:; waits for its end. JobFailed: it is dead.
    # JobUnknown, at once: there is no job of this id, and no result. TimeoutError: the job goes on.
    # Other threads wait for the connection meanwhile: take a client of its own for it.
    def wait(id, queue: "default", timeout: nil)
      demand_queue(queue)
      ends = timeout && now + timeout
      loop do
        key, element = look_for_result(id, queue)
        left = [ends && ends - now, BLOCK].compact.min
        raise TimeoutError, "#{id} has not ended; it goes on" if element.nil? && left <= 0

        element ||= @redis.blmove(key, key, "LEFT", "LEFT", timeout: [left, 0.001].max.round(3))
        return value_of(id, element) if element
      end
    end

    private

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end

    # Where it will be told, and what is told already. First the element, then the state: one that was
    # there before a job that is not over is of an earlier life of that id.
    def look_for_result(id, queue)
      read_plan(queue).route(queue, id).reverse_each do |place|
        key = "#{@prefix}:{#{place}}:result:#{id}"
        element = @redis.lindex(key, 0)
        state, _, record, = script("show", place, [id])
        raise JobFailed.new(id, known(id, state, utf8(record), "").error) if state == "dead"

        @redis.lrem(key, 1, element) if state != "" && element
        return [key, nil] if state != ""

        element = @redis.lindex(key, 0) # it may have ended in between, and the first was older
        return [key, element] if element
      end
      raise JobUnknown, "no job #{id} in queue #{queue}, and no result of it"
    end

    def value_of(id, element)
      head, rest = utf8(element).split("\n", 2)
      value = JSON.parse(rest)
      JSON.parse(head)["state"] == "done" ? value : raise(JobFailed.new(id, value))
    end

    # What is in Redis is UTF-8, whatever the locale is.
    def utf8(text)
      text.dup.force_encoding("UTF-8")
    end

    def demand_queue(queue)
      return if queue.is_a?(String) && queue.match?(/\A[A-Za-z0-9_.-]{1,64}\z/)

      raise Refused, "queue: 1 to 64 letters, digits and _ . -"
    end

    def known(id, state, record, document)
      noted = record.scan(/^([a-z]+)=(.*)$/).to_h
      KnownJob.new(id: id, state: state, attempts: noted["a"].to_i, priority: noted["p"].to_i,
                   error: noted["e"] && JSON.parse(noted["e"]), document: document)
    end

    # The places that jobs have to go to, one after the other.
    def routed(jobs, queue, answers)
      jobs.each_index.reject { |n| answers.key?(n) }.to_h { |n| [n, @plans[queue].route(queue, jobs[n][0].id)] }
    end

    # One call at each place where a job is to go next. Answers what has to go on from there.
    def round(jobs, queue, open, answers)
      again = {}
      batches(jobs, open).each do |place, mode, numbers|
        told = push_at(place, mode, @plans[queue].epoch, numbers.map { |n| jobs[n] })
        numbers.zip(told) do |n, answer|
          result, state = answer.downcase.split
          result == "absent" ? again[n] = open[n].drop(1) : answers[n] = Pushed.new(jobs[n][0].id, result, state)
        end
      end
      again
    end

    # What goes in one call: the same place and mode, and no more than a call may have.
    def batches(jobs, open)
      modes = open.group_by do |n, places|
        own = jobs[n][0].mode
        [places[0], places.size == 1 ? own : own == "new" ? "seek" : "seek-#{own}"]
      end
      modes.flat_map do |(place, mode), group|
        bytes = count = 0
        group.map(&:first).slice_when do |_, n|
          count += 1
          bytes += jobs[n][1].bytesize
          full = count >= JOBS_MAX || bytes > BYTES_MAX
          count = bytes = 0 if full
          full
        end.map { |numbers| [place, mode, numbers] }
      end
    end

    # The usual job; nil: push has to look closer.
    def push_plainly(job, queue)
      place, further = @plans[queue].route(queue, job.id)
      return if further || !job.plain?

      document = job.document
      announce(place)
      answer = script("push_now", place, [@plans[queue].epoch, job.id, document, new_number], @calls)
      answer == "PUSHED" ? Pushed.new(job.id, "pushed") : nil
    end

    # An id of one call, under which Redis remembers what it has answered.
    def new_call
      Random.urandom(12).unpack1("H*")
    end

    # The number of a call of push_now, which Redis remembers in the set @calls: another one after 500
    # calls, or a minute. Threads, and processes after a fork, may share one.
    def new_number
      now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      if @calls_left <= 0 || now >= @calls_until
        @calls = new_call
        @calls_left = JOBS_MAX
        @calls_until = now + REMEMBERED
      end
      @calls_left -= 1
      10**17 + Random.urandom(8).unpack1("Q") % (9 * 10**17)
    end

    def push_at(place, mode, epoch, batch)
      announce(place) unless mode.start_with?("seek")
      script("push", place, [REMEMBERED, "#{mode}/#{epoch}",
                             *batch.flat_map { |one, text| [one.id, one.when, one.rank, text] }], new_call)
    end

    # So that `later size` finds the queue.
    def announce(place)
      check_protocol
      @announced[place] ||= @redis.call("SADD", "#{@prefix}:queues", place) && true
    end

    def read_plan(queue)
      check_protocol
      @plans[queue] = Plan.new(@redis.get("#{@prefix}:{#{queue}}:shards"))
    end

    # A script. Where Redis does not know it, nothing has run, and it is loaded.
    def script(name, place, args, call = "none")
      check_protocol
      script = Script.named(name)
      keys = script.keys(@prefix, place, call)
      tries = 0
      begin
        @redis.call("EVALSHA", script.sha, keys.size, *keys, *args)
      rescue Redis::CommandError => e
        raise unless e.message.start_with?("NOSCRIPT") && tries < LOADS_MAX

        sleep(PAUSE * tries) # a node of a Cluster that is just being connected to may have missed it
        tries += 1
        @redis.script(:load, script.text)
        retry
      end
    end

    def check_protocol
      return if @checked

      number = @redis.get("#{@prefix}:protocol")
      raise WrongProtocol, "this Redis holds protocol #{number}, and this client knows #{PROTOCOL}" \
        unless [nil, PROTOCOL].include?(number)

      @checked = true
    end
  end
end
