# frozen_string_literal: true

# answers.rb: what a program of handlers writes to laterd, a JSON object a line: later-job(3).

require "json"

module Laterd
  # What a program of handlers writes to laterd, one JSON object per line: later-job(3), section exec.
  # laterd takes no other line, so what a handler says is made fit for one here.
  class Answers
    # @answers said: {UPPER}_MAX = {most} # {help}
    ERROR_MAX = 1000 # bytes of an error that are kept
    TEXT_MAX = 16384 # bytes of a text for the log that a client sends
    VALUE_MAX = 65536 # bytes of a value or a checkpoint
    LEVELS_MAX = 128 # levels of a value or a checkpoint
    # @end
    PLAIN = [String, Symbol, Integer, TrueClass, FalseClass, NilClass].freeze

    # The value is JSON, but laterd does not keep it.
    class TooMuch < StandardError; end

    class << self
      # Returns a text that laterd takes: UTF-8 without NUL, and cut to this many bytes.
      def text(said, most = TEXT_MAX)
        unicode(said.to_s).tr("\0", "\ufffd").byteslice(0, most).scrub("")
      end

      # Returns a number that JSON has: 0 if it is none.
      def number(said)
        float = Float(said)
        float.finite? ? said.is_a?(Integer) ? said : float : 0
      rescue TypeError, ArgumentError, RangeError
        0
      end

      # Returns why a handler has failed: the message first, then where, as much as laterd keeps. Frames of
      # laterd's own below the handler's are left out.
      def error(error)
        frames = (error.backtrace || []).take_while { |frame| !frame.start_with?(__dir__) }
        cause = error.cause ? ["Caused by: #{error(error.cause)}"] : []
        text(["#{error.class}: #{text(error.message)}", *frames.map { |frame| "  #{text(frame)}" }, *cause].join("\n"),
             ERROR_MAX)
      end

      # Returns what JSON makes of a value that laterd would keep.
      def checked(what, value)
        JSON.parse(value(value), max_nesting: false)
      rescue StandardError => e
        raise ArgumentError, "#{what}: #{e.message}"
      end

      # Returns the lines for an answer. The handler has done its work, so a value that cannot be sent has
      # nothing run again: what is no JSON buries the job if somebody wants it, and what is too much for
      # laterd is left out, with a line for the log.
      def lines(answer)
        rest = answer.reject { |name, _| name == :value }
        return [JSON.generate(rest)] unless answer.key?(:value)

        ["#{JSON.generate(rest).chop},\"value\":#{value(answer[:value])}}"]
      rescue TooMuch => e
        [JSON.generate({ log: "error", text: "its value is not sent: #{e.message}", id: rest[:id] }), JSON.generate(rest)]
      rescue StandardError => e
        [JSON.generate({ **rest, result: "bury", error: text("its value is not JSON: #{text(e.message)}", ERROR_MAX), done: true })]
      end

      private

      # Makes it UTF-8, if it is of another encoding that can be.
      def convert(said)
        said.encoding != Encoding::BINARY && said.encode!("UTF-8", invalid: :replace, undef: :replace)
      rescue EncodingError
        false
      end

      # Returns the value as JSON.
      def value(value)
        bytes = JSON.generate(fit(value, 0), max_nesting: LEVELS_MAX)
        raise TooMuch, "it has #{bytes.bytesize} bytes of JSON, and at most #{VALUE_MAX} are kept" if bytes.bytesize > VALUE_MAX

        bytes
      end

      # Returns the value with its texts made fit. JSON would make a text of any object, and leave halves of
      # characters as they are.
      def fit(value, level)
        case value
        when String, Symbol then unicode(value.to_s)
        when Array then inside(level) { value.map { |part| fit(part, level + 1) } }
        when Hash then inside(level) { value.to_h { |name, part| [unicode(name.to_s), fit(part, level + 1)] } }
        when Float, *PLAIN then value
        else raise TypeError, "a #{value.class} is no JSON"
        end
      end

      def inside(level)
        raise TooMuch, "it is deeper than #{LEVELS_MAX} levels" if level >= LEVELS_MAX

        yield
      end

      def unicode(text)
        return text if text.encoding == Encoding::UTF_8 && text.valid_encoding?

        text = text.dup
        text.force_encoding("UTF-8") unless text.encoding == Encoding::UTF_8 || convert(text)
        text.scrub("\ufffd")
      end
    end

    # io: descriptor 3, or whatever takes its place.
    def initialize(io)
      @io = io
      @mutex = Mutex.new
    end

    # May be called from any thread.
    def put(line)
      text = Answers.lines(line).map { |one| "#{one}\n" }.join
      @mutex.synchronize do
        @writer = Thread.current
        @io.write(text)
      ensure
        @writer = nil
      end
      put_off, @put_off = @put_off, nil
      raise put_off if put_off
    end

    # Raises the error, from a signal: but only behind a line that is half written.
    def interrupt(error)
      raise error unless @writer == Thread.current

      @put_off = error
    end
  end
end
