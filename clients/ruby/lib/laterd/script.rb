# frozen_string_literal: true

require "digest"

module Laterd
  # One of laterd's scripts. This gem contains copies of those that laterd installs.
  class Script
    attr_reader :text, :sha

    @known = {}

    def self.named(name)
      @known[name] ||= new(File.read(File.join(__dir__, "scripts", "#{name}.lua"), encoding: "UTF-8"))
    end

    # The names of its KEYS are in its head.
    def initialize(text)
      @text = text
      @sha = Digest::SHA1.hexdigest(text)
      @names = text.scan(/^-- KEYS +(.*)$/).flatten.flat_map(&:split)
      @call = @names.index("call")
    end

    # call: the id of the call, for scripts that remember their answers.
    def keys(prefix, place, call)
      stem = "#{prefix}:{#{place}}:"
      last = @last # the keys of the last place are cached; other threads may do the same
      last = @last = [stem, @names.map { |name| stem + name }].freeze unless last && last[0] == stem
      keys = last[1].dup
      keys[@call] = "#{stem}call:#{call}" if @call
      keys
    end
  end
end
