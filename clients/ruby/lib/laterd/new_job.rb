# frozen_string_literal: true

# new_job.rb: a job to push: its options, their checks, and the document made of it.

require "json"

require_relative "bounds"
require_relative "strict_json"
require_relative "unique_id"

module Laterd
  # A payload that is JSON already. Its bytes are pushed unchanged, and looked through before.
  RawJSON = Struct.new(:text)

  # A job to push. Durations are seconds, and may have a fraction; UNIX seconds may be a Time. What is
  # not given has laterd's default for the type.
  #
  # @options option: #   {name}: {help} ({value})
  #   id: the same id is the same job (text)
  #   priority: -100 to 100, higher first (whole number)
  #   in: how long until it may run (seconds)
  #   at: not before this time (UNIX seconds)
  #   max_attempts: failed attempts after which it is buried (whole number)
  #   retry_for: how long after its first failure it is tried again; what fails later is buried (seconds, above 0)
  #   timeout: how long one attempt may run (seconds, above 0)
  #   backoff: wait before each next attempt, or a list of waits (seconds, a list of them, or base and max)
  #   expires_at: if it has not begun by then, it is dropped (UNIX seconds)
  #   expires_in: if it has not begun this long from now, it is dropped (seconds, above 0)
  #   result: how long its result is kept (seconds, above 0)
  #   lock: it runs only while it holds this lock (text)
  #   group: whose job it is: groups share a queue fairly (text)
  #   trace: logged with each line of the job (text)
  #   description: what it is, for people who look at it (text)
  #   on_dead: push a job of this type when it is dead (TYPE, or TYPE@QUEUE)
  #   on_done: push a job of this type when it is done (TYPE, or TYPE@QUEUE)
  #   flow: the flow that it belongs to (name)
  #   step: its name in the flow (name)
  #   after: steps of the flow that it waits for; *: all jobs without * (list of names, or *)
  #   when: how they must end: all done, all ended, or one failed (done, ended or failed)
  #   adder: the running job of the flow that adds this one to it (text)
  #   home: the queue that its flow lies in, if that is another one (name)
  #   queue: among the jobs of a whole flow: the queue that it goes into (name)
  #   unique_for: the id stays taken this long after the job has ended (seconds)
  #   replace: replace a job of this id that waits (yes or no)
  #   again: replace a job of this id that waits; if it runs, run this after it (yes or no)
  #   debounce: begin after this long without another push of the id (seconds)
  #   max_wait: with debounce: but at the latest this long after the first push (seconds, above 0)
  #   throttle: the id stays taken this long from now, at least until the job ends (seconds, above 0)
  # @end
  #   unique: its id is a hash of type and payload (true), or of these members of it: what is pushed twice is one job
  #   context: what middleware carries along (locale, tenant …): a Hash of JSON; laterd hands it on
  class NewJob
    DEPTH_MAX = Bounds::DEPTH_MAX - 1 # the document is one level more
    # @options pattern: {UPPER} = /\A{regex}\z/.freeze
    TYPE = /\A[A-Za-z0-9_.:-]{1,128}\z/.freeze
    LABEL = /\A[A-Za-z0-9_.-]{1,64}\z/.freeze
    WORD = /\A[!-~]+\z/.freeze
    NAME = /\A[!-z|~]+\z/.freeze
    HOOK = /\A[A-Za-z0-9_.:-]{1,128}(@[A-Za-z0-9_.-]{1,64})?\z/.freeze
    # @end
    # @options wait.list: {UPPER}_MAX = {most} # {help}
    LIST_MAX = 32 # waits, one after the other; the last one is used again and again
    # @end
    WAITS = [
      # @options member: "{name}", # {help}
      "base", # wait before the second attempt, doubled before each further one
      "max", # longest wait
      # @end
    ].freeze
    # Of each option its kind and its range.
    MEMBERS = {
      # @options document: {name}: [:{kind}, {least}, {most}],
      id: [:word, 1, 200],
      priority: [:whole, -100, 100],
      max_attempts: [:count, 1, 1000000],
      retry_for: [:span, 0, 315360000],
      timeout: [:span, 0, 604800],
      backoff: [:waits, 0, 1e300],
      expires_at: [:time, 1e9, 1e300],
      result: [:span, 0, 315360000],
      lock: [:name, 1, 200],
      group: [:name, 1, 64],
      trace: [:text, 0, 256],
      description: [:text, 0, 200],
      on_dead: [:hook, 1, 193],
      on_done: [:hook, 1, 193],
      flow: [:label, 1, 64],
      step: [:label, 1, 64],
      after: [:steps, 1, 100],
      when: [:fate, 1, 6],
      # @end
    }.freeze
    OPTIONS = {
      **MEMBERS,
      context: [:carried, 0, 0],
      # @options line,item,tie,part: {name}: [:{kind}, {least}, {most}],
      in: [:seconds, 0, 315360000],
      at: [:time, 1e9, 1e11],
      expires_in: [:span, 0, 315360000],
      adder: [:word, 1, 200],
      home: [:label, 1, 64],
      queue: [:label, 1, 64],
      unique_for: [:seconds, 0, 1000000000],
      replace: [:flag, 0, 1],
      again: [:flag, 0, 1],
      debounce: [:seconds, 0, 315360000],
      max_wait: [:span, 0, 315360000],
      throttle: [:span, 0, 1000000000],
      # @end
    }.freeze

    # These go with an id.
    NAMED = [
      # @options named: :{name},
      :unique_for,
      :again,
      :debounce,
      :throttle,
      # @end
    ].freeze

    # What a schedule decides, or what a job of a schedule cannot be.
    UNSCHEDULED = [
      # @options one: :{name},
      :in,
      :at,
      :expires_at,
      :flow,
      :step,
      :after,
      :when,
      :adder,
      :home,
      :queue,
      :unique_for,
      :replace,
      :again,
      :debounce,
      :max_wait,
      :throttle,
      # @end
    ].freeze

    attr_reader :type, :payload, :id, :mode, :options

    def initialize(type, payload = nil, **options)
      NewJob.demand_known(options) unless options.empty?
      @type = type
      @payload = payload
      @options = options.compact
      @named = name(@options.delete(:id), @options.delete(:unique))
      @options[:after] = [@options[:after]] if @options[:after].is_a?(String)
      @id = @named || (flow && step ? "#{flow}.#{step}" : NewJob.new_id)
      @mode = options[:again] || options[:debounce] ? "again" : options[:replace] ? "replace" : "new"
      %i[at expires_at].each { |name| @options[name] = @options[name].to_f if @options[name].is_a?(Time) }
      check
    end

    # What ties it to its flow.
    def flow
      @options[:flow]
    end

    def step
      @options[:step]
    end

    def after
      @options[:after] || []
    end

    def fate
      @options.fetch(:when, "done")
    end

    def adder
      @options[:adder]
    end

    def context
      @options[:context] || {}
    end

    def home
      @options[:home]
    end

    def queue
      @options[:queue]
    end

    # Returns the same job with other options.
    def with(**more)
      NewJob.new(type, payload, **(@named ? { id: @named } : {}), **@options, **more)
    end

    # Returns the same job as the one of this number, from 1, in a flow. Without id and step it is known
    # by its number, so that the same jobs again are the same.
    def in_flow(name, number, place)
      demand([nil, name].include?(flow), "flow: is not #{name}")
      demand([nil, place].include?(home), "home: is not #{place}")
      @named || step ? with(flow: name) : with(flow: name, id: "#{name}:#{number}")
    end

    # Returns the document, which laterd keeps byte for byte.
    def document
      check_tie
      members = @options.slice(*MEMBERS.keys)
      members.delete(:priority) if members[:priority] == 0
      written(",\"id\":#{id.match?(/["\\]/) ? JSON.generate(id) : "\"#{id}\""}", members)
    end

    # Returns the document for a schedule: each of its jobs gets an id, and the schedule has the priority.
    # @private
    def scheduled_document
      demand(!@named, "id or unique: not for a job of a schedule")
      other = UNSCHEDULED.find { |name| ![nil, false, 0].include?(@options[name]) }
      demand(other.nil?, "#{other}: not for a job of a schedule")
      written("", @options.slice(*MEMBERS.keys - [:priority]))
    end

    def written(head, members)
      bytes = +"{\"type\":\"#{type}\"#{head}"
      bytes << "," << JSON.generate(members)[1..-2] unless members.empty?
      bytes << ",\"context\":" << NewJob.json("context", context) unless context.empty?
      bytes << ",\"payload\":" << NewJob.payload_bytes(payload) unless payload.nil?
      bytes << "}"
      size = bytes.bytesize + (@options[:expires_in] ? Bounds::EXPIRES_ROOM : 0)
      raise Refused, "too large: #{type}#{", id #{id}" if @named}: a document of #{size} bytes, #{Bounds::DOCUMENT_MAX} allowed" if size > Bounds::DOCUMENT_MAX

      bytes
    end
    private :written

    # Returns what the block makes of each job and its number, from 1, which an error tells.
    # @private
    def self.numbered(jobs)
      jobs.map.with_index(1) do |job, number|
        yield job, number
      rescue Refused => e
        raise Refused, "job #{number}: #{e.message}"
      end
    end

    # Returns the times as scripts/push.lua takes them.
    def when
      "#{due}#{"!#{NewJob.decimal(@options[:expires_in])}" if @options[:expires_in]}"
    end

    # Returns the priority, how long the id stays taken, and the group, in the form of the script.
    def rank
      seconds = @options[:throttle] || @options.fetch(:unique_for, 0)
      plus = "+" if @options[:throttle]
      taken = "/#{plus}#{NewJob.decimal(seconds)}" if seconds.positive?
      "#{@options.fetch(:priority, 0)}#{taken}#{"@#{@options[:group]}" if @options[:group]}"
    end

    def due
      if @options[:debounce]
        most = @options[:max_wait] && "/#{NewJob.decimal(@options[:max_wait])}"
        return "+#{NewJob.decimal(@options[:debounce])}#{most}"
      end
      return "+#{NewJob.decimal(@options[:in])}" if @options.fetch(:in, 0).positive?

      @options.fetch(:at, 0).positive? ? NewJob.decimal(@options[:at]) : ""
    end
    private :due

    # Is it an ordinary job, for which push_now is enough?
    def plain?
      @options.empty? || mode == "new" && self.when == "" && rank == "0" && flow.nil?
    end

    # Returns a new id: 14 random letters and digits, which are 83 bits. It is short because Redis
    # keeps it twice.
    def self.new_id
      [Random.urandom(11)].pack("m0")[0, 14].tr("+/", "01")
    end

    # What other queues call it.
    MEANT = { delay: "`in`, in seconds", wait: "`in`, in seconds", interval: "`in`, in seconds", wait_until: "`at`",
              retry: "`max_attempts`", attempts: "`max_attempts`", jid: "`id`", job_id: "`id`", args: "the payload" }.freeze

    # @private
    def self.demand_known(options)
      unknown = options.keys - OPTIONS.keys - [:unique]
      return if unknown.empty?

      meant = MEANT[unknown.first]
      raise Refused, "no such option: #{unknown.join(" ")}#{"; it is #{meant}" if meant}"
    end

    def self.demand_label(name, value)
      return if value.is_a?(String) && value.match?(LABEL)

      raise Refused, "#{name}: text of 1 to 64 letters, digits and _ . -, not #{value.inspect[0, 80]}"
    end

    # Scripts take plain decimals, never 1e3.
    def self.decimal(number)
      format("%.6f", number).sub(/\.?0+\z/, "")
    end

    # @private
    def self.payload_bytes(payload)
      return json("payload", payload) unless payload.is_a?(RawJSON)

      text = payload.text.dup.force_encoding("UTF-8")
      raise Refused, "payload: not UTF-8" unless text.valid_encoding?
      StrictJSON.check(text, DEPTH_MAX)
      text
    rescue JSON::JSONError, EncodingError => e
      raise Refused, "payload: #{e.message}"
    end

    # Returns an object of which JSON has made a text like #<User:0x00>, by which nobody finds it again.
    # @private
    def self.nameless_in(value)
      case value
      when String, Symbol then nil
      when Array then value.each { |part| (found = nameless_in(part)) && (return found) } && nil
      when Hash then nameless_in(value.to_a.flatten(1))
      else value if JSON.generate(value).start_with?('"#<')
      end
    end

    # @private
    def self.json(name, value)
      json = JSON.generate(value, max_nesting: DEPTH_MAX)
      nameless = nameless_in(value) if json.include?('"#<')
      raise Refused, "#{name}: a #{nameless.class} is no JSON" if nameless

      StrictJSON.check(json, DEPTH_MAX) if StrictJSON.suspect?(value, json)
      json
    rescue JSON::JSONError, EncodingError => e
      raise Refused, "#{name}: #{e.message}"
    end

    private

    def name(id, unique)
      return id unless unique

      demand(id.nil?, "id and unique: only one of them")
      UniqueId.of(type, payload, unique)
    end

    def check
      must(type, type.is_a?(String) && type.match?(TYPE), "type: 1 to 128 letters, digits and _ . : -")
      must(id, id.is_a?(String) && id.match?(WORD) && id.size <= 200, "id: 1 to 200 printable ASCII characters without space")
      check_options unless @options.empty?
    end

    def check_options
      @options.each { |name, value| check_option(name, value, *OPTIONS[name]) }
      check_life
      check_turns
    end

    def check_option(name, value, kind, least, most)
      case kind
      when :word, :name
        must(value, value.is_a?(String) && value.match?(kind == :word ? WORD : NAME) && value.size <= most,
             "#{name}: 1 to #{most} printable ASCII characters without space#{" or brace" if kind == :name}")
      when :hook
        must(value, value.is_a?(String) && value.match?(HOOK),
             "#{name}: a type, or TYPE@QUEUE")
      when :text then must(value, line?(value, most), "#{name}: at most #{most} bytes, no control characters")
      when :whole, :count
        must(value, value.is_a?(Integer) && value.between?(least, most), "#{name}: a whole number from #{least} to #{most}")
      when :seconds, :span
        must(value, number?(value) && value.between?(least, most) && (kind == :seconds || value > least),
             "#{name}: seconds, #{kind == :span ? "above" : "from"} #{least} to #{most}")
      when :time
        demand(number?(value) && value >= least && value < most,
               "#{name}: #{value} is not a plausible UNIX time; for a duration use #{name.to_s.sub(/at\z/, "in")}")
      when :waits then check_waits(name, value, least, most)
      when :carried then must(value, value.is_a?(Hash), "#{name}: a Hash")
      when :flag then must(value, [true, false].include?(value), "#{name}: true or false")
      when :label then NewJob.demand_label(name, value)
      when :steps then check_steps(name, value, least, most)
      when :fate then must(value, %w[done ended failed].include?(value), "#{name}: done, ended or failed")
      end
    end

    def check_steps(name, value, least, most)
      return if value == ["*"]

      must(value, value.is_a?(Array) && value.size.between?(least, most), "#{name}: a list of 1 to #{most} steps, or *")
      value.each { |step| NewJob.demand_label(name, step) }
    end

    # Checks what ties it to a flow. Some of what a push can do, the push into a flow cannot.
    def check_tie
      return if @options.empty?

      alone = flow ? nil : %i[step after when adder home].find { |name| @options[name] }
      demand(alone.nil?, "#{alone}: goes with flow")
      return unless flow

      other = %i[expires_in unique_for replace again debounce throttle].find { |name| @options[name] }
      demand(other.nil?, "#{other}: not for a job of a flow")
      demand(@options[:when].nil? || @options[:after], "when: goes with after")
    end

    def check_waits(name, value, least, most)
      parts = value.is_a?(Hash) ? value.values : Array(value)
      must(value, (1..LIST_MAX).cover?(parts.size), "#{name}: a number, a list of 1 to #{LIST_MAX} numbers, or an object")
      must(value, !value.is_a?(Hash) || (value.keys.map(&:to_s) - WAITS).empty?, "#{name}: some of #{WAITS.join(", ")}")
      must(value, parts.all? { |wait| number?(wait) && wait.between?(least, most) }, "#{name}: seconds, from #{least}")
    end

    def check_life
      at, expires_at, life = @options.values_at(:at, :expires_at, :expires_in)
      return if life.nil?

      demand(expires_at.nil?, "expires_at and expires_in: only one of them")
      demand(at.nil?, "at and expires_in: give the time by expires_at")
      demand((@options[:debounce] || @options.fetch(:in, 0)) < life,
             "expires_in: #{life} seconds from now it is not due yet, and would be lost")
    end

    # Checks options that need an id, and options that exclude each other.
    def check_turns
      demand(!(@options.fetch(:in, 0).positive? && @options[:at]), "in or at, not both")
      nameless = @named ? nil : NAMED.find { |name| ![nil, false, 0].include?(@options[name]) }
      demand(nameless.nil?, "#{nameless}: goes with id or unique: the same id is the same job")
      demand(!(@options[:debounce] && (@options[:in] || @options[:at])), "debounce, in or at, only one of them")
      demand(@options[:max_wait].nil? || @options[:debounce], "max_wait: goes with debounce")
      demand(!(@options[:throttle] && @options.fetch(:unique_for, 0).positive?), "throttle or unique_for, not both")
    end

    def line?(value, most)
      value.is_a?(String) && value.bytesize <= most && value.valid_encoding? &&
        !value.match?(/[\u0000-\u001f\u007f]/)
    end

    def number?(value)
      value.is_a?(Numeric) && value.real? && value.to_f.finite?
    end

    def must(value, so, text)
      demand(so, so || "#{text}, not #{value.inspect[0, 80]}")
    end

    def demand(so, text)
      raise Refused, text unless so
    end
  end
end
