# frozen_string_literal: true

# plan.rb: a queue that is spread over several: doc/protocol.md, "Shards".

module Laterd
  # Over how many shards a queue is spread: doc/protocol.md, "Shards".
  class Plan
    attr_reader :epoch

    # text: the value of the key `shards` of the plain queue; nil if it is not spread.
    def initialize(text = nil)
      @epoch, count, *formers = text.to_s.split
      @epoch ||= "0"
      @count = (count || 1).to_i
      @formers = formers.map(&:to_i)
    end

    # Returns the places to look for an id, in order. It is pushed to the last one.
    def route(queue, id)
      return [queue] if @count <= 1 && @formers.empty?

      last = place(queue, @count, id)
      @formers.map { |count| place(queue, count, id) }.uniq - [last] + [last]
    end

    # Returns all places of a queue, also those of former counts. The plain queue is always one.
    def places(queue)
      most = [@count, *@formers].max
      [queue] + (most > 1 ? Array.new(most) { |i| "#{queue}/#{i}" } : [])
    end

    # CRC16/XMODEM, which Redis Cluster uses for slots.
    def self.crc16(bytes)
      bytes.each_byte.reduce(0) do |crc, byte|
        8.times.reduce(crc ^ byte << 8) { |value, _| (value & 0x8000 == 0 ? value << 1 : value << 1 ^ 0x1021) & 0xffff }
      end
    end

    private

    def place(queue, count, id)
      count > 1 ? "#{queue}/#{Plan.crc16(id) % count}" : queue
    end
  end
end
