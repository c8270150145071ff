# frozen_string_literal: true

require "digest"

module Laterd
  # One of laterd's scripts. This gem contains copies of those that laterd installs.
  class Script
    # Of keys that differ from call to call, the name in Redis; what follows it is the call's.
    OWN = { "call" => "call", "held" => "reserved" }.freeze

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
      @own = @names.index { |name| OWN.key?(name) }
    end

    # own: the id of the call, or the token, where the script has a key for one.
    def keys(prefix, place, own)
      stem = "#{prefix}:{#{place}}:"
      last = @last # the keys of the last place are cached; other threads may do the same
      last = @last = [stem, @names.map { |name| stem + name }].freeze unless last && last[0] == stem
      keys = last[1].dup
      keys[@own] = "#{stem}#{OWN[@names[@own]]}:#{own}" if @own
      keys
    end
  end
end
