# frozen_string_literal: true

# script.rb: the scripts that a client calls: copies of laterd's, made by clients/carry.sh.

require "digest"

module Laterd
  # One of laterd's scripts. This gem contains copies of those that laterd installs.
  class Script
    # Keys that differ from call to call, as they are called in Redis.
    OWN = { "call" => "call:%s", "held" => "reserved:%s", "flow" => "flow:%s", "unknown" => "flow:%s:unknown" }.freeze

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
      @own = @names.each_index.select { |i| OWN.key?(@names[i]) }
    end

    # own: the id of the call, the token, or the name of the flow, where the script has a key for one.
    def keys(prefix, place, own)
      stem = "#{prefix}:{#{place}}:"
      last = @last # the keys of the last place are cached; other threads may do the same
      last = @last = [stem, @names.map { |name| stem + name }].freeze unless last && last[0] == stem
      keys = last[1].dup
      @own.each { |i| keys[i] = stem + format(OWN[@names[i]], own) }
      keys
    end
  end
end
