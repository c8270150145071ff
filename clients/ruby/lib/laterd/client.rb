# frozen_string_literal: true

# client.rb: pushes jobs over redis-rb, and asks for them: show, wait, search, flows; sets schedules.

require "redis"

require_relative "asked"
require_relative "away"
require_relative "bounds"
require_relative "crontab"
require_relative "flow"
require_relative "new_job"
require_relative "plan"
require_relative "pushing"
require_relative "script"
require_relative "search"
require_relative "told"

module Laterd
  # Pushes jobs into laterd's queues.
  #
  #   later = Laterd::Client.new(Redis.new(path: "/var/lib/laterd/redis.sock"))
  #   later.push("mail.send", { to: "a@b.c" }, queue: "mail", in: 60)
  #
  # redis: a client of the gem redis, for one server, Sentinels or a Cluster. A Redis::Namespace is
  # removed from it.
  class Client
    include Pushing

    PROTOCOL = "2"
    REMEMBERED = 60   # seconds; a call is repeated at once or not at all
    PLANS_MAX = 20    # changes of plan in a row before it gives up
    HOLDERS_MAX = 20  # the same for changes of a job's holder
    LOADS_MAX = 5     # the same for loads of a script
    NAP = 0.05        # seconds
    BLOCK = 5.0       # seconds of one waiting call; a job may end without leaving anything

    def initialize(redis, prefix: "later")
      @redis = redis.respond_to?(:namespace) ? redis.redis : redis
      raise ArgumentError, "a Redis of the gem redis is needed, not a #{redis.class}" unless @redis.respond_to?(:evalsha)

      @prefix = prefix
      @plans = Hash.new { |plans, queue| plans[queue] = Plan.new }
      @announced = {}
      @checked = false
      @calls_left = 0
      @flows = Flows.new(self, @redis, @prefix, link)
    end

    # Pushes one job. The options are those of NewJob. Check the result: if the id is known, nothing
    # changes. Raises QueueFull.
    def push(type, payload = nil, queue: "default", **options)
      NewJob.demand_label("queue", queue)
      job = passed_one(NewJob.new(type, payload, **options))
      return told(job, @flows.add(job, queue)) if job.flow

      told(job, push_plainly(job, queue) || push_all([[job, job.document]], queue).first)
    end

    # Pushes many jobs, up to 500 per call, each into its own `queue` if it has one. Returns results in their
    # order. With QueueFull, all were tried.
    def push_many(jobs, queue: "default")
      NewJob.demand_label("queue", queue)
      jobs = passed_many(jobs)
      told_many(jobs, push_all(NewJob.numbered(jobs) { |job| [job, job.document] }, queue)) # all are checked before any is pushed
    end

    def push_all(jobs, queue)
      answers = {}
      jobs.each_index.group_by { |n| jobs[n][0].queue || queue }.each do |name, numbers|
        by_plan(name) do
          open = routed(jobs, numbers, name, answers)
          open = round(jobs, name, open, answers) until open.empty?
        end
      end
      answers = answers.sort.map(&:last)
      full = answers.index { |answer| answer.result == "full" }
      full ? raise(QueueFull.new(jobs[full][0].queue || queue, answers)) : answers
    end
    private :push_all

    # Returns what Redis knows of a job, or nil if the job has ended or never existed.
    def show(id, queue: "default")
      read_plan(queue).route(queue, id).each do |place|
        state, _, record, document = script("show", place, [id])
        return known(id, state, utf8(record), utf8(document)) unless state == ""
      end
      nil
    end

    # Counts the jobs of a queue, in all its shards.
    def size(queue: "default")
      parts = read_plan(queue).places(queue).map { |place| script("size", place, []) }
      sums = parts.map { |part| part.first(5).map(&:to_i) }.transpose.map(&:sum)
      ages = parts.map { |part| part[5] }.reject(&:empty?).map(&:to_f)
      Size.new(**%i[ready delayed reserved dead].zip(sums).to_h, paused: sums[4] == parts.size, oldest_ready: ages.max)
    end

    # Makes a dead or delayed job ready. A dead one starts afresh. Returns the state it came from, or nil
    # if it is in neither.
    def kick(id, queue: "default")
      act(id, queue) { |place| script("kick", place, [id]).first }
    end

    # Drops a job, whatever its state; the handler of one that runs is stopped. Returns the state that it
    # had, or nil if there is none of this id. "ended": its id was taken still, and is free now.
    def cancel(id, queue: "default")
      act(id, queue) { |place| cancel_at(id, place) }
    end

    # Has a ready or delayed job begin after in: seconds, or at: a time, or gives it another priority; all else
    # stays. Returns the state it had, or nil if it is in neither.
    def reschedule(id, queue: "default", in: nil, at: nil, priority: nil)
      words = Asked.reschedule_words(in: binding.local_variable_get(:in), at: at, priority: priority)
      act(id, queue) do |place|
        state = script("reschedule", place, [id, *words])
        %w[ready delayed].include?(state) ? state : "" # of another one nothing was done
      end
    end

    # Drops the result of a job that has ended. Returns whether there was one.
    def forget(id, queue: "default")
      !act(id, queue) { |place| @redis.del("#{@prefix}:{#{place}}:result:#{id}").positive? ? "forgotten" : "" }.nil?
    end

    # Nothing of the queue is handed out until resume, or for so many seconds. by: who pauses it, for people.
    # Returns whether that changed anything: false if it was paused without an end before.
    def pause(queue: "default", seconds: nil, by: nil)
      set_pause(queue, "pause", Asked.pause_words(seconds, by))
    end

    # Ends a pause. Returns whether there was one.
    def resume(queue: "default")
      set_pause(queue, "resume", [])
    end

    # Makes a schedule of a NewSchedule, or changes it; a paused one stays paused. Returns whether that changed anything:
    # what is so already stays so, and a deploy may say its schedules each time. laterd reads `at` and `zone` within a
    # second, and says in its log and by `later status --trouble` what is wrong with them.
    def cron_set(schedule, queue: "default")
      definition = schedule.definition
      NewJob.demand_label("queue", queue)
      answer, = script("cron_put", queue, [schedule.name, definition, "?", "set"]) # ?: laterd works out when it is due
      announce(queue)
      answer == "PUT"
    end

    # Takes a schedule away. Returns whether there was one. One of a configuration comes back.
    def cron_delete(name, queue: "default")
      NewJob.demand_label("name", name)
      NewJob.demand_label("queue", queue)
      script("cron_move", queue, ["drop", name, ""]) == [1]
    end

    # Returns the schedules of a queue, each a Schedule, the one that is due next first.
    def cron_list(queue: "default")
      NewJob.demand_label("queue", queue)
      found = []
      loop do
        page = Schedule.listed(script("cron_look", queue, [found.size, Bounds::JOBS_MAX]))
        return found.to_h { |one| [one.name, one] }.values if page.empty? # one that is fired meanwhile may come twice

        found.concat(page)
      end
    end

    # Returns the jobs that meet all conditions, the newest of each state first, at most limit: (1 to 500).
    # type: one that ends in * is a prefix. text: somewhere in the document. Jobs that are done and kept are
    # found only by their state. It looks at 100,000 jobs at most; `later search` looks at all.
    def search(queue: "default", **conditions)
      conditions = Asked::Conditions.new(**conditions)
      places = read_plan(queue).places(queue)
      Search.new(@redis, @prefix, method(:script), conditions) { |*told| known(*told) }.run(places)
    end

    # Returns the ends that a queue has told of after a bookmark, in the order of their times, at most limit: (1 to
    # 1,000); "" is what is kept, "now" nothing before. If there is none, it waits for timeout: seconds. The queue tells if
    # its laterd has queues.events_kept.
    def events(queue: "default", after: "", limit: 500, timeout: 0)
      page = EventPage.new(queue, after, limit)
      page.read(@redis, @prefix, read_plan(queue).places(queue), timeout)
    end

    # Waits for the end of a job that was pushed with result:, and returns its result. JobFailed:
    # the job is dead. JobUnknown, at once: there is no such job and no result. TimeoutError: the
    # job has not ended. It waits on a connection of its own, so other threads can go on.
    def wait(id, queue: "default", timeout: nil)
      ends = timeout && now + timeout
      away = Away.new(ends)
      own = nil
      behind = true # what comes may be of an earlier job
      loop do
        away.outlast do
          key, element, followed = look_for_result(id, queue)
          away.answered
          behind &&= followed
          left = [ends && ends - now, BLOCK].compact.min
          raise TimeoutError, "#{id} has not ended; it goes on" if element.nil? && left <= 0

          own ||= element ? nil : waiting_connection
          came = element.nil? && own.call("BLMOVE", key, key, "LEFT", "LEFT", [left, 0.001].max.round(3))
          element ||= came unless behind
          return value_of(id, element) if element
        end
      end
    ensure
      own&.close
    end

    # Pushes a whole flow: jobs that wait for each other, by step:, after: and when:. What waits for what is
    # checked before anything is sent. The same call again pushes only what is missing. open: more jobs
    # of it are pushed later, until close_flow. Raises FlowClosed, QueueFull.
    def flow(name, jobs, queue: "default", open: false)
      NewJob.demand_label("queue", queue)
      jobs = listed(jobs).map { |job| passed(job) }
      told_many(jobs, @flows.push(name, jobs, queue, open))
    end

    # Returns how a flow stands, or nil if there is none of this name.
    def show_flow(name, queue: "default")
      flows(queue).look(name, queue)
    end

    # Waits until a flow has ended or is blocked, and returns how it stands. FlowUnknown, as from the next
    # three: there is no such flow. TimeoutError: it goes on.
    def wait_flow(name, queue: "default", timeout: nil)
      NewJob.demand_label("queue", queue)
      @flows.wait(name, queue, timeout)
    end

    # Kicks the dead jobs of a flow, so that it goes on. Returns how many there were.
    def kick_flow(name, queue: "default")
      flows(queue).kick(name, queue)
    end

    # Cancels the jobs of a flow that have not ended. Returns how many there were.
    def cancel_flow(name, queue: "default")
      flows(queue).cancel(name, queue)
    end

    # Says that no more jobs of the flow will be pushed.
    def close_flow(name, queue: "default")
      flows(queue).close(name, queue)
    end

    private

    # A connection of its own, as @redis.dup, for a call that waits for at most BLOCK. When it breaks the call fails:
    # redis-rb repeats its own blmove for ever, each time with the whole time.
    def waiting_connection
      options = @redis.instance_variable_get(:@options)
      return @redis.dup unless options.is_a?(Hash)

      answer = options[:read_timeout] || options[:timeout] || BLOCK
      @redis.class.new(options.merge(reconnect_attempts: 0, read_timeout: answer + BLOCK))
    end

    # What flows need of it.
    Link = Struct.new(:script, :announce, :read_plan, :plan, :by_plan, :check_protocol) do
      members.each { |name| define_method(name) { |*args, &block| self[name].call(*args, &block) } }
    end
    private_constant :Link

    def link
      Link.new(method(:script), method(:announce), method(:read_plan), @plans.method(:[]), method(:by_plan),
               method(:check_protocol))
    end

    def flows(queue)
      NewJob.demand_label("queue", queue)
      check_protocol
      @flows
    end

    # Follows the plan that is known. If it is stale, Redis says so, and the new plan is followed.
    def by_plan(queue)
      tries = 0
      begin
        yield
      rescue Redis::CommandError => e
        raise unless e.message.start_with?("RESHARD ") && tries < PLANS_MAX

        sleep(NAP) if (tries += 1) > 3
        read_plan(queue)
        retry
      end
    end

    # Returns the key under which the result comes, the result if it is there, and whether the job runs
    # and another of its id follows it. The element is read before the state: an element that was there
    # while the job is not over belongs to an earlier job of that id.
    def look_for_result(id, queue)
      read_plan(queue).route(queue, id).reverse_each do |place|
        key = "#{@prefix}:{#{place}}:result:#{id}"
        element = @redis.lindex(key, 0)
        state, _, record, = script("show", place, [id])
        raise JobFailed.new(id, known(id, state, utf8(record), "").error) if state == "dead"

        over = ["", "done"].include?(state) # done: it is kept
        @redis.lrem(key, 1, element) if !over && element
        return [key, nil, state == "reserved" && utf8(record).match?(/^n=/)] unless over

        element = @redis.lindex(key, 0) # it may have ended in between, and the first was older
        return [key, element, false] if element && !head_of(element)["again"] # else of an earlier job
      end
      raise JobUnknown.new(id, queue)
    end

    def head_of(element)
      JSON.parse(utf8(element).split("\n", 2).first)
    end

    def value_of(id, element)
      value = JSON.parse(utf8(element).split("\n", 2).last)
      head_of(element)["state"] == "done" ? value : raise(JobFailed.new(id, value))
    end

    # Returns what the block says at the first place that has the job, or nil.
    def act(id, queue)
      read_plan(queue).route(queue, id).each do |place|
        state = yield place
        return state unless state.empty?
      end
      nil
    end

    # The plain queue comes first, and then the plan is read: whoever adds shards writes the plan and then copies
    # the plain queue's pause to them, so that one of the two sees the other.
    def set_pause(queue, script, words)
      NewJob.demand_label("queue", queue)
      changed = script(script, queue, words)
      read_plan(queue).places(queue).drop(1).each { |place| changed |= script(script, place, words) }
      changed == 1
    end

    # A reserved job is under a token, which its id does not tell. While it is looked for, the job may
    # come under another one, or become ready.
    def cancel_at(id, place)
      token = ""
      HOLDERS_MAX.times do
        state, = script("cancel", place, [id], token)
        return state unless state.empty?
        return "" if ["", "done"].include?(script("show", place, [id]).first)

        token = holder(id, place)
      end
      raise Moving, "#{id}: it changes its state faster than it can be cancelled"
    end

    # Returns the token that holds a reserved job, or nothing.
    def holder(id, place)
      key = "#{@prefix}:{#{place}}:reserved"
      @redis.zrange(key, 0, -1).find { |token| @redis.zscore("#{key}:#{token}", id) } || ""
    end

    # What is in Redis is UTF-8, in any locale.
    def utf8(text)
      text.dup.force_encoding("UTF-8")
    end

    def known(id, state, record, document)
      noted = record.scan(/^([a-z]+)=(.*)$/).to_h
      error, progress, checkpoint, log = noted.values_at("e", "g", "m", "o").map do |text|
        text && JSON.parse(text, max_nesting: false)
      end
      KnownJob.new(id: id, state: state, attempts: noted["a"].to_i, priority: noted["p"].to_i, error: error,
                   document: document, progress: progress, checkpoint: checkpoint, log: log)
    end

    # Returns the places where each job has to go, in order.
    def routed(jobs, numbers, queue, answers)
      numbers.reject { |n| answers.key?(n) }.to_h { |n| [n, @plans[queue].route(queue, jobs[n][0].id)] }
    end

    # Makes one call at each place where jobs go next. Returns the jobs that go on from there.
    def round(jobs, queue, open, answers)
      again = {}
      batches(jobs, open).each do |place, mode, numbers|
        told = push_at(place, mode, @plans[queue].epoch, numbers.map { |n| jobs[n] })
        numbers.zip(told) do |n, answer|
          answer == "ABSENT" ? again[n] = open[n].drop(1) : answers[n] = Pushed.of(jobs[n][0].id, answer)
        end
      end
      again
    end

    # Groups jobs into calls: each has one place and one mode, and no more jobs and bytes than
    # allowed.
    def batches(jobs, open)
      modes = open.group_by do |n, places|
        own = jobs[n][0].mode
        [places[0], places.size == 1 ? own : own == "new" ? "seek" : "seek-#{own}"]
      end
      modes.flat_map do |(place, mode), group|
        bytes = count = 0
        group.map(&:first).slice_when do |before, n|
          count += 1
          bytes += jobs[before][1].bytesize
          full = count >= Bounds::JOBS_MAX || bytes + jobs[n][1].bytesize > Bounds::BYTES_MAX
          count = bytes = 0 if full
          full
        end.map { |numbers| [place, mode, numbers] }
      end
    end

    # Pushes an ordinary job. If it returns nil, push has to do it.
    def push_plainly(job, queue)
      place, further = @plans[queue].route(queue, job.id)
      return if further || !job.plain?

      document = job.document
      announce(place)
      answer = script("push_now", place, [@plans[queue].epoch, job.id, document, new_number], @calls)
      return Pushed.new(job.id, "pushed") if answer == "PUSHED"
      raise Pushed.strange(answer) unless answer == "ASK"
    end

    # Makes an id of a call, under which Redis remembers its answer.
    def new_call
      Random.urandom(12).unpack1("H*")
    end

    # Makes the number of a call of push_now, which Redis remembers in the set @calls. A new set is
    # used after 500 calls or a minute. Threads, and processes after a fork, may share one.
    def new_number
      now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      if @calls_left <= 0 || now >= @calls_until
        @calls = new_call
        @calls_left = Bounds::JOBS_MAX
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

    # Enters the queue in later:queues, so that `later size` finds it.
    def announce(place)
      check_protocol
      @announced[place] ||= @redis.call("SADD", "#{@prefix}:queues", place) && true
    end

    def read_plan(queue)
      NewJob.demand_label("queue", queue)
      check_protocol
      @plans[queue] = Plan.new(@redis.get("#{@prefix}:{#{queue}}:shards"))
    end

    # Runs a script. If Redis does not know the script, nothing has run; then it is loaded.
    def script(name, place, args, own = "none")
      check_protocol
      script = Script.named(name)
      keys = script.keys(@prefix, place, own)
      tries = 0
      begin
        @redis.call("EVALSHA", script.sha, keys.size, *keys, *args)
      rescue Redis::CommandError => e
        raise unless e.message.start_with?("NOSCRIPT") && tries < LOADS_MAX

        sleep(NAP * tries) # a load may have missed a node of a Cluster that was just being reconnected
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
