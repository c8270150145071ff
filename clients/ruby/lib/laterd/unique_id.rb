# frozen_string_literal: true

# unique_id.rb: an id that says what a job is: doc/protocol.md, "An id of type and payload".

require "digest"
require "json"

module Laterd
  # Returns the id that push gives a job of this type and payload (doc/protocol.md, "An id of type and
  # payload"). unique: as of NewJob.
  def self.unique_id(type, payload = nil, unique = true)
    UniqueId.of(type, payload, unique)
  end

  # @private
  module UniqueId
    WHOLE_MAX = (1 << 53) - 1 # above it, not every whole number is one of its own in a Float

    class << self
      def of(type, payload, unique)
        value = JSON.parse(NewJob.payload_bytes(payload), max_nesting: NewJob::DEPTH_MAX + 1)
        value = chosen(value, Array(unique)) unless unique == true
        Digest::SHA256.hexdigest(text([type, value]))[0, 32]
      end

      private

      def chosen(value, names)
        demand(!names.empty? && names.all? { |name| name.is_a?(String) || name.is_a?(Symbol) },
               "unique: true, or names of members of the payload")
        names.to_h do |name|
          demand(value.is_a?(Hash) && value.key?(name.to_s), "unique: the payload has no member #{name[0, 70]}")
          [name.to_s, value[name.to_s]]
        end
      end

      # Returns the JSON of RFC 8785, which is the same bytes in every language.
      def text(value)
        case value
        when Array then "[#{value.map { |one| text(one) }.join(",")}]"
        when Hash
          names = value.keys.sort_by { |name| name.encode("UTF-16BE").b }
          "{#{names.map { |name| "#{text(name)}:#{text(value[name])}" }.join(",")}}"
        when Float then number(value)
        else JSON.generate(value)
        end
      end

      def number(value)
        if !value.finite? || value == value.floor
          demand(value.abs <= WHOLE_MAX,
                 "unique: #{value}: above 2^53, not every language has the same number; make it text")
          return value.to_i.to_s
        end
        digits, exponent = value.to_s.split("e")
        return digits unless exponent

        digits = digits.delete_suffix(".0")
        return "#{digits}e#{exponent.to_i}" if exponent.to_i < -6

        "#{"-" if value.negative?}0.#{"0" * (-exponent.to_i - 1)}#{digits.delete("-.")}"
      end

      def demand(so, text)
        raise Refused, text unless so
      end
    end
  end
end
