# frozen_string_literal: true

require "json"

module Laterd
  # A payload that is JSON already. Its bytes are pushed unchanged.
  RawJSON = Struct.new(:text)

  # A job to push. Times and durations are seconds, and may have a fraction. What is not given has
  # laterd's default for the type.
  #
  #   id            the same id is the same job; by default a new one is made
  #   in, at        wait this long; wait until that Time or UNIX time. Not both
  #   priority      -100 to 100, higher first
  #   max_attempts, timeout, trace
  #   expires_at, expires_in   if it has not begun by that Time or UNIX time, or this long from now by
  #                 Redis's clock, it is dropped. Not both
  #   backoff       a number, a list of numbers, or { base:, max: }
  #   lock          the job runs only while it holds this lock
  #   result        how long the handler's result is kept
  #   unique_for    how long the id stays taken after the job has ended
  #   replace       replace a waiting job of this id
  #   again         like replace, but if the job runs, this one (or the last of several) is pushed
  #                 when it ends
  #   debounce      like in; each such push of the id puts the job off again
  #   max_wait      with debounce: at most this long after the first push
  #   throttle      how long from now the id stays taken: at most one job in that time
  class Job
    DEPTH_MAX = 127 # the document is one level more
    BYTES_MAX = 1_048_576
    EXPIRES_ROOM = 40 # bytes that expires_in adds to a document, in Redis
    OPTIONS = %i[id in at priority max_attempts timeout backoff expires_at trace lock result unique_for replace
                 again debounce max_wait throttle expires_in].freeze
    MEMBERS = %i[trace priority max_attempts timeout expires_at backoff lock result].freeze

    attr_reader :type, :payload, :id, :mode

    def initialize(type, payload = nil, **options)
      unknown = options.empty? ? [] : options.keys - OPTIONS
      raise Refused, "no such option: #{unknown.join(" ")}" unless unknown.empty?

      @type = type
      @payload = payload
      @options = options.compact
      @named = @options.delete(:id)
      @id = @named || Job.new_id
      @mode = options[:again] || options[:debounce] ? "again" : options[:replace] ? "replace" : "new"
      %i[at expires_at].each { |name| @options[name] = @options[name].to_f if @options[name].is_a?(Time) }
      check
    end

    # Returns the document, which laterd keeps byte for byte.
    def document
      bytes = +"{\"type\":\"#{type}\",\"id\":#{id.match?(/["\\]/) ? JSON.generate(id) : "\"#{id}\""}"
      members = @options.slice(*MEMBERS)
      members.delete(:priority) if members[:priority] == 0
      bytes << "," << JSON.generate(members)[1..-2] unless members.empty?
      bytes << ",\"payload\":" << payload_bytes unless payload.nil?
      bytes << "}"
      size = bytes.bytesize + (@options[:expires_in] ? EXPIRES_ROOM : 0)
      raise Refused, "too large: #{size} bytes, #{BYTES_MAX} allowed" if size > BYTES_MAX

      bytes
    end

    # Returns the times as scripts/push.lua takes them.
    def when
      "#{due}#{"!#{Job.decimal(@options[:expires_in])}" if @options[:expires_in]}"
    end

    # Returns the priority, and how long the id stays taken, as scripts/push.lua takes them.
    def rank
      seconds = @options[:throttle] || @options.fetch(:unique_for, 0)
      plus = "+" if @options[:throttle]
      "#{@options.fetch(:priority, 0)}#{"/#{plus}#{Job.decimal(seconds)}" if seconds.positive?}"
    end

    def due
      if @options[:debounce]
        most = @options[:max_wait] && "/#{Job.decimal(@options[:max_wait])}"
        return "+#{Job.decimal(@options[:debounce])}#{most}"
      end
      return "+#{Job.decimal(@options[:in])}" if @options.fetch(:in, 0).positive?

      @options.fetch(:at, 0).positive? ? Job.decimal(@options[:at]) : ""
    end
    private :due

    # Is it an ordinary job, for which push_now is enough?
    def plain?
      @options.empty? || mode == "new" && self.when == "" && rank == "0"
    end

    # Returns a new id: 14 random letters and digits, which are 83 bits. It is short because Redis
    # keeps it twice.
    def self.new_id
      [Random.urandom(11)].pack("m0")[0, 14].tr("+/", "01")
    end

    # Scripts take plain decimals, never 1e3.
    def self.decimal(number)
      format("%.6f", number).sub(/\.?0+\z/, "")
    end

    private

    def payload_bytes
      if payload.is_a?(RawJSON)
        text = payload.text.dup.force_encoding("UTF-8")
        demand(text.valid_encoding?, "payload: not UTF-8")
        demand(JSON.parse("[#{text}]", max_nesting: DEPTH_MAX + 1).size == 1, "payload: not one JSON value")
        return text
      end
      JSON.generate(payload, max_nesting: DEPTH_MAX)
    rescue JSON::JSONError, EncodingError => e
      raise Refused, "payload: #{e.message}"
    end

    def check
      demand(type.is_a?(String) && type.match?(/\A[A-Za-z0-9_.:-]{1,128}\z/), "type: 1 to 128 letters, digits and _ . : -")
      demand(id.is_a?(String) && id.match?(/\A[!-~]{1,200}\z/), "id: 1 to 200 printable ASCII characters without space")
      check_options unless @options.empty?
    end

    def check_options
      whole(:priority, -100, 100)
      whole(:max_attempts, 1, 1_000_000)
      check_times
      check_backoff
      check_text(:trace, "at most 256 bytes, no control characters") do |text|
        text.bytesize <= 256 && text.valid_encoding? && !text.match?(/[\u0000-\u001f\u007f]/)
      end
      check_text(:lock, "1 to 200 printable ASCII characters without space or brace") do |text|
        text.match?(/\A[!-z|~]{1,200}\z/)
      end
    end

    def check_times
      between(:in, 0, 315_360_000)
      between(:at, 0, 100_000_000_000)
      at = @options.fetch(:at, 0)
      demand(at.zero? || at >= 1_000_000_000, "at: before the year 2001; a delay is in")
      demand(!(@options.fetch(:in, 0).positive? && at.positive?), "in or at, not both")
      between(:timeout, 0, 604_800, above: true)
      check_life
      between(:result, 0, 86_400)
      between(:unique_for, 0, 1_000_000_000)
      check_turns
    end

    def check_life
      at, life = @options.values_at(:expires_at, :expires_in)
      between(:expires_at, -Float::MAX, Float::MAX)
      demand(at.nil? || at >= 1_000_000_000,
             "expires_at: #{at} is not a plausible UNIX time; for a duration use expires_in")
      return if life.nil?

      between(:expires_in, 0, 315_360_000, above: true)
      demand(at.nil?, "expires_at and expires_in: only one of them")
      demand(@options.fetch(:at, 0).zero?, "at and expires_in: give the time by expires_at")
      demand((@options[:debounce] || @options.fetch(:in, 0)) < life,
             "expires_in: #{life} seconds from now it is not due yet, and would be lost")
    end

    # Checks options that need an id, and options that exclude each other.
    def check_turns
      between(:debounce, 0, 315_360_000)
      between(:max_wait, 0, 315_360_000, above: true)
      between(:throttle, 0, 1_000_000_000, above: true)
      own = %i[debounce throttle again].find { |name| @options[name] }
      demand(own.nil? || @named, "#{own}: goes with an id: the same id is the same job")
      demand(!(@options[:debounce] && (@options[:in] || @options[:at])), "debounce, in or at, only one of them")
      demand(@options[:max_wait].nil? || @options[:debounce], "max_wait: goes with debounce")
      demand(!(@options[:throttle] && @options.fetch(:unique_for, 0).positive?), "throttle or unique_for, not both")
    end

    def check_backoff
      backoff = @options.fetch(:backoff, 0)
      waits = case backoff
              when Array then backoff
              when Hash then backoff.values
              else [backoff]
              end
      demand((1..32).cover?(waits.size), "backoff: a number, a list of 1 to 32 numbers, or base and max")
      demand(!backoff.is_a?(Hash) || (backoff.keys.map(&:to_s) - %w[base max]).empty?, "backoff: base and max")
      demand(waits.all? { |wait| number?(wait) && wait >= 0 }, "backoff: seconds, from 0")
    end

    def check_text(name, rule)
      text = @options[name]
      demand(text.nil? || text.is_a?(String) && yield(text), "#{name}: #{rule}")
    end

    def whole(name, min, max)
      value = @options.fetch(name, min)
      demand(value.is_a?(Integer) && value.between?(min, max), "#{name}: a whole number from #{min} to #{max}")
    end

    def between(name, min, max, above: false)
      value = @options[name]
      return if value.nil?

      demand(number?(value) && value.between?(min, max) && !(above && value == min),
             "#{name}: seconds, #{above ? "above" : "from"} #{min} to #{max}")
    end

    def number?(value)
      value.is_a?(Numeric) && value.real? && value.to_f.finite?
    end

    def demand(so, text)
      raise Refused, text unless so
    end
  end
end
