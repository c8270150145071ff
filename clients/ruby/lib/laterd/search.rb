# frozen_string_literal: true

# search.rb: looks through the sets of a queue, the newest first, a page at a time.

require_relative "bounds"

module Laterd
  # Looks through the sets of a queue, the newest first, a page at a time. What moves meanwhile may be missed, but
  # nothing is found twice.
  # @private
  class Search
    PAGE = 500

    # script: runs one, as Client does. The block makes what is told of a job.
    def initialize(redis, prefix, script, conditions, &known)
      @redis, @prefix, @script, @conditions, @known = redis, prefix, script, conditions, known
      @found = {}
      @left = Bounds::LOOKED_MAX
    end

    def run(places)
      places.product(@conditions.states).each do |place, state|
        sets(place, state).each { |key, token| look_through(place, state, key, token) }
      end
      @found.values
    end

    private

    # The keys of the sets of a state, each with its token: reserved jobs are under tokens.
    def sets(place, state)
      key = "#{@prefix}:{#{place}}:#{state}"
      state == "reserved" ? @redis.zrange(key, 0, -1).map { |token| ["#{key}:#{token}", token] } : [[key, ""]]
    end

    def look_through(place, state, key, token)
      left = over? ? 0 : @redis.zcard(key)
      while left.positive? && !over?
        from = [0, left - PAGE].max
        page(place, state, token, from, left).reverse_each { |member| look(state, *member) }
        left = from
      end
    end

    # A reply may have fewer than asked: it is bounded in bytes, too.
    def page(place, state, token, from, to)
      members = []
      while from + members.size < to
        reply = @script.call("peek", place, [state, from + members.size, to - from - members.size], token)
        break if reply.empty?

        members.concat(reply.each_slice(4).to_a)
      end
      members
    end

    def look(state, id, _score, record, document)
      return if over?

      @left -= 1
      record, document = [record, document].map { |text| text.dup.force_encoding("UTF-8") }
      key = id.empty? ? "{#{document}" : id
      @found[key] = @known.call(id, state, record, document) if !@found.key?(key) && @conditions.fit?(document)
    end

    def over?
      @left.zero? || @found.size == @conditions.limit
    end
  end
end
