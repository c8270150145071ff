# frozen_string_literal: true

# asked.rb: what pause, reschedule, search, wait_many are asked, for clients and fakes.

require "json"

require_relative "bounds"

module Laterd
  # What pause, reschedule, search and wait_many are asked: checked here for clients and for fakes.
  # @private
  module Asked
    # Returns how the script takes them: milliseconds, 0 without an end, and who pauses.
    def self.pause_words(seconds, by)
      good = seconds.nil? || seconds.is_a?(Numeric) && seconds.real? && seconds.to_f.between?(0.001, Bounds::PAUSE_MAX)
      raise Refused, "seconds: from 0.001 to #{Bounds::PAUSE_MAX}" unless good
      raise Refused, "by: 1 to 64 printable ASCII characters without space" \
        unless by.nil? || by.is_a?(String) && by.match?(NewJob::WORD) && by.size <= 64

      [(seconds.to_f * 1000).round, by.to_s]
    end

    # Returns how the script takes them, with "" for what stays.
    def self.reschedule_words(**how)
      how = how.compact
      raise Refused, "reschedule: in, at or priority" if how.empty?

      job = NewJob.new("reschedule", nil, **how)
      stays = !how.key?(:in) && !how.key?(:at)
      [job.when.empty? && !stays ? "+0" : job.when, how.key?(:priority) ? job.rank : ""]
    end

    def self.ids(ids)
      raise Refused, "ids: a list of 1 to #{Bounds::WAITED_MAX}" unless ids.is_a?(Array) && ids.size.between?(1, Bounds::WAITED_MAX)

      ids
    end

    # Returns what has become of a job: the block waits for it.
    def self.outcome(id)
      Outcome.new(id: id, state: "done", value: yield)
    rescue JobFailed => e
      Outcome.new(id: id, state: "dead", error: e.error)
    rescue JobUnknown
      Outcome.new(id: id, state: "gone")
    rescue TimeoutError
      Outcome.new(id: id, state: "waiting")
    end

    # The conditions of a search.
    class Conditions
      STATES = %w[reserved ready delayed dead waiting].freeze

      attr_reader :limit

      def initialize(state: nil, type: nil, text: nil, limit: 100)
        raise Refused, "state: done or one of #{STATES.join(", ")}" unless [nil, "done", *STATES].include?(state)
        raise Refused, "limit: a whole number from 1 to #{Bounds::FOUND_MAX}" \
          unless limit.is_a?(Integer) && limit.between?(1, Bounds::FOUND_MAX)

        { type: type, text: text }.each do |name, value|
          raise Refused, "#{name}: must be text" unless value.nil? || value.is_a?(String) && !value.empty?
        end
        @state, @type, @text, @limit = state, type, text, limit
      end

      # Those that are looked through. What is done and kept is found only if it is asked for.
      def states
        @state ? [@state] : STATES
      end

      # Does the job meet the conditions? Its text is looked for as it is written and without escapes.
      def fit?(document)
        job = read(document)
        return false unless @type.nil? || type?(job.is_a?(Hash) && job["type"])

        @text.nil? || document.include?(@text) || JSON.generate(job, max_nesting: false).include?(@text)
      end

      private

      def read(document)
        JSON.parse(document, max_nesting: false)
      rescue JSON::ParserError
        nil # a plain ZADD may be anything
      end

      def type?(type)
        type.is_a?(String) && (type == @type || @type.end_with?("*") && type.start_with?(@type.chop))
      end
    end
  end
end
