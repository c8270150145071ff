# frozen_string_literal: true

# testing_flows.rb: flows in a Fake: what becomes of jobs that wait (doc/protocol.md, "Flows").

require_relative "flow"

module Laterd
  module Testing
    # A flow that was pushed to a Fake: what becomes of jobs that wait, as doc/protocol.md says ("Flows").
    class KeptFlow
      LETTERS = { "waiting" => "w", "ready" => "o", "delayed" => "o", "reserved" => "o", "dead" => "x", "done" => "d",
                  "cancelled" => "g", "skipped" => "s" }.freeze
      COUNTS = { open: "o", waiting: "w", dead: "x", done: "d", gone: "g", skipped: "s" }.freeze
      FATES = { "g" => "was cancelled, purged, expired or trimmed", "s" => "was not needed",
                "u" => "does not exist" }.freeze

      attr_reader :name, :jobs # by id; a known job may be of several flows
      attr_accessor :closed

      def initialize(name)
        @name = name
        @closed = false
        @made = Time.now.to_f
        @jobs = {}
        @steps = {}
        @stars = {} # ids of those that wait for all without `*`
      end

      # tie: the job as it was pushed to this flow, which for a known one is not how it was made
      def add(kept, tie)
        jobs[kept.id] = kept
        @steps[tie.step] = kept if tie.step
        @stars[kept.id] = true if tie.after == ["*"]
      end

      # The later one takes the other's place.
      def replace(old, kept)
        jobs[kept.id] = kept
        @steps.transform_values! { |one| one.equal?(old) ? kept : one }
      end

      def stands
        counts = counts_of(jobs.values)
        Flow.new(name: name, state: Flows.state_of(closed, counts), closed: closed, made: @made, **counts)
      end

      # Returns what one that has waited gets: the members of its line.
      def heard(tie)
        if tie.after == ["*"]
          failed = plain.select { |kept| %w[x g].include?(LETTERS[kept.state]) }.map(&:id)
          return { "flow" => { "name" => name, **counts_of(plain).transform_keys(&:to_s), "failed" => failed } }
        end
        { "values" => @steps.slice(*tie.after).transform_values(&:value) }
      end

      # Decides about those that wait, whose time has come; the block gets those that may run. Returns
      # whether any job has changed.
      def settle
        jobs.values.select { |kept| kept.state == "waiting" && kept.home.equal?(self) }.count do |kept|
          fate, why = kept.tie.after == ["*"] ? all(kept.tie) : some(kept.tie)
          case fate
          when :run then yield kept
          when :skip then kept.state = "skipped"
          when :bury
            kept.state = "dead"
            kept.error = { "at" => Time.now.to_f, "attempt" => 0, "kind" => "flow", "text" => why, "host" => "" }
          end
          fate
        end.positive?
      end

      private

      def plain
        jobs.reject { |id, _| @stars[id] }.values
      end

      def counts_of(kept)
        letters = kept.map { |one| LETTERS[one.state] }
        { total: letters.size, **COUNTS.transform_values { |letter| letters.count(letter) } }
      end

      def over?(letters)
        (letters & %w[o w]).empty?
      end

      # Returns :run, :skip, or :bury and why; nil: it goes on waiting.
      def all(tie)
        letters = plain.map { |kept| LETTERS[kept.state] }
        over, gone = closed && over?(letters), letters.count("g")
        case tie.fate
        when "failed" then gone.positive? || letters.include?("x") ? :run : (:skip if over)
        when "ended" then (:run if over)
        else
          return [:bury, "needs all jobs of flow #{name}, and #{gone} of them are gone"] if gone.positive?

          :run if over && !letters.include?("x")
        end
      end

      def some(tie)
        letters = tie.after.map { |step| @steps[step] ? LETTERS[@steps[step].state] : closed ? "u" : "w" }
        case tie.fate
        when "failed" then (letters & %w[x g u]).any? ? :run : (:skip if over?(letters))
        when "ended" then (:run if over?(letters))
        else
          at = letters.index { |letter| FATES[letter] }
          return [:bury, "needs step #{tie.after[at]} of flow #{name}, which #{FATES[letters[at]]}"] if at

          :run if letters.uniq == ["d"]
        end
      end
    end
  end
end
