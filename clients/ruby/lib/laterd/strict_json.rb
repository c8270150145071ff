# frozen_string_literal: true

# strict_json.rb: what JSON.parse takes, and laterd buries: doc/protocol.md, "The document".

require "json"

module Laterd
  # @private
  module StrictJSON
    TEXTS = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?/m.freeze
    SUSPECT = /\\u0000|[0-9]{309}/.freeze # of what JSON.generate has made; the digits are more than a number has that a Float holds

    class << self
      # Raises JSON::ParserError for a member that is there twice, a name with a NUL, half a surrogate pair, and a number
      # that is infinite. text: JSON.
      def check(text, max_nesting)
        value = JSON.parse(text, max_nesting: max_nesting)
        written = text.scan(TEXTS).count { |(colon)| colon }
        fail!("a member is there twice") if members(value) != written
      end

      # May text that JSON.generate has made of the value be refused? :a and "a" are the same name.
      def suspect?(value, text)
        text.match?(SUSPECT) || mixed?(value)
      end

      private

      # Returns how many members it has, at all depths.
      def members(value)
        case value
        when Hash then value.sum { |name, one| 1 + member(name) + members(one) }
        when Array then value.sum { |one| members(one) }
        when String then value.valid_encoding? ? 0 : fail!("half a surrogate pair")
        when Numeric then value.to_f.infinite? ? fail!("a number is too large") : 0
        else 0
        end
      end

      def member(name)
        members(name)
        name.include?("\0") ? fail!("a name with a NUL") : 0
      end

      def mixed?(value)
        case value
        when Hash then value.size > 1 && !value.each_key.all?(value.first[0].class) || value.each_value.any? { |one| mixed?(one) }
        when Array then value.any? { |one| mixed?(one) }
        else false
        end
      end

      def fail!(why)
        raise JSON::ParserError, why
      end
    end
  end
end
