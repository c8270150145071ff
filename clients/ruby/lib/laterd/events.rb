# frozen_string_literal: true

# events.rb: ends of jobs, as a queue tells of them: doc/protocol.md, "Events".

require "json"

require_relative "bounds"

module Laterd
  # An attempt that has ended. ending: done, retry, timeout, crash, bury, expired …: doc/protocol.md, "Attempts".
  # state: what the job is now: done, expired, dead, delayed, ready. at: UNIX seconds. kind: of its error. ms: how long
  # it took. waited: for how many seconds it had been ready.
  End = Struct.new(:queue, :id, :type, :ending, :state, :at, :host, :kind, :attempt, :ms, :waited)

  # What events has found: the ends in the order of their times; how many were missed, as they are no longer kept (nil:
  # they are counted anew, since the queue was forgotten or Redis has lost some); what the next call goes on after.
  Events = Struct.new(:ends, :missed, :bookmark)

  # One call of events: what it goes on after, by place (the queue, or a shard), and what it has found.
  # @private
  class EventPage
    ENTRIES = 10 # of a place in one answer
    LOOK = 0.2 # seconds between two looks
    BOOKMARK = %r{\A[A-Za-z0-9_./-]+:[0-9]{1,15}( [A-Za-z0-9_./-]+:[0-9]{1,15})*\z}.freeze

    def initialize(queue, after, limit)
      NewJob.demand_label("queue", queue)
      raise Refused, "limit: a whole number from 1 to #{Bounds::ENDS_MAX}" unless limit.is_a?(Integer) && limit.between?(1, Bounds::ENDS_MAX)

      @queue, @limit, @ends, @missed = queue, limit, [], 0
      @numbers = Hash.new { |numbers, place| numbers[place] = 0 }
      @from_now = after == "now"
      @follows = !@from_now && after != "" # what is not there is missed
      read_bookmark(after) if @follows
    end

    # Waits for the first ones, if there are none.
    def read(redis, prefix, places, timeout)
      ends = Process.clock_gettime(Process::CLOCK_MONOTONIC) + timeout
      loop do
        places.each { |place| read_from(redis, "#{prefix}:{#{place}}:events", place, (@limit.to_f / places.size).ceil) }
        left = ends - Process.clock_gettime(Process::CLOCK_MONOTONIC)
        return told if !@ends.empty? || @from_now || left <= 0

        sleep [LOOK, left].min
      end
    end

    # Of a fake, which has all ends of the queue.
    def tell_of(ends)
      last = @numbers[@queue]
      @ends = @from_now ? [] : ends[last, @limit] || []
      @numbers[@queue] = @from_now ? ends.size : last + @ends.size
      told
    end

    private

    def read_bookmark(after)
      raise Refused, "after: a bookmark, now or nothing" unless after.is_a?(String) && after.match?(BOOKMARK)

      after.split.each do |word|
        place, number = word.split(":")
        raise Refused, "after: the bookmark is of another queue" unless place.split("/").first == @queue

        @numbers[place] = number.to_i
      end
    end

    def read_from(redis, key, place, share)
      taken = 0
      while taken < share && !@from_now
        entries = redis.xrange(key, (@numbers[place] + 1).to_s, "+", count: ENTRIES)
        taken += take(place, entries, share - taken)
        break if entries.size < ENTRIES
      end
      check_last(redis, key, place, share) if taken.zero? && (@from_now || @numbers[place].positive?)
    end

    # Nothing is there after the last one: perhaps they are counted anew.
    def check_last(redis, key, place, share)
      id, = redis.xrevrange(key, "+", "-", count: 1).first
      number = id.to_i
      if @from_now
        @numbers[place] = number
      elsif number < @numbers[place]
        @numbers[place] = 0
        @missed = nil
        read_from(redis, key, place, share)
      end
    end

    # Takes what it has not told of yet, and returns how many ends.
    def take(place, entries, share)
      taken = 0
      entries.each do |id, fields|
        last, micro = id.split("-").map(&:to_i)
        lines = (fields["ends"] || "-").dup.force_encoding("UTF-8").split("\n", -1)
        first = last - lines.size + 1
        @missed += [0, first - @numbers[place] - 1].max if @follows && @missed
        lines.each.with_index(first) do |line, number|
          return taken if taken == share
          next if number <= @numbers[place]

          taken += 1
          @numbers[place] = number
          tell(line, micro / 1e6, fields.fetch("host", ""))
        end
      end
      taken
    end

    def tell(line, at, host)
      said = JSON.parse(line)
      @ends << End.new(@queue, *said.fetch_values("id", "type", "ending", "state"), at, host,
                       *said.values_at("kind", "attempt", "ms", "waited"))
    rescue JSON::JSONError, KeyError, NoMethodError
      nil # another program wrote it
    end

    def told
      Events.new(@ends.sort_by(&:at), @missed, @numbers.sort.map { |place, number| "#{place}:#{number}" }.join(" "))
    end
  end
end
