# frozen_string_literal: true

require "digest"

module Laterd
  # One of laterd's scripts, which this gem carries: copies of those that laterd installs.
  class Script
    attr_reader :text, :sha

    @known = {}

    def self.named(name)
      @known[name] ||= new(File.read(File.join(__dir__, "scripts", "#{name}.lua"), encoding: "UTF-8"))
    end

    # KEYS are named in its head.
    def initialize(text)
      @text = text
      @sha = Digest::SHA1.hexdigest(text)
      @names = text.scan(/^-- KEYS +(.*)$/).flatten.flat_map(&:split)
    end

    # call: the id of the call, for the scripts that remember what they answered.
    def keys(prefix, place, call)
      @names.map { |name| "#{prefix}:{#{place}}:#{name == "call" ? "call:#{call}" : name}" }
    end
  end
end
