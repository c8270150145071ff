# frozen_string_literal: true

# told.rb: what a client is told of jobs and queues: Pushed, KnownJob, Outcome, Size.

require "json"

module Laterd
  # The result of a push. result: "pushed", "replaced", "again" (one of this id runs, and this one is pushed when it ends),
  # "exists". state, if it exists: "ready", "delayed", "reserved", "dead", "ended".
  Pushed = Struct.new(:id, :result, :state) do
    # What an answer of a script that pushes means; without room it is "full".
    # @private
    def self.of(id, answer)
      word, state = answer.split
      return new(id, "pushed", "waiting") if word == "WAITING"
      return new(id, word.downcase, state) if %w[PUSHED REPLACED AGAIN EXISTS FULL].include?(word)

      raise strange(answer)
    end

    # An answer that means nothing here; what became of the job is not known.
    # @private
    def self.strange(answer)
      WrongProtocol.new("the answer #{answer.to_s[0, 40].inspect} to a push is not known to this client, which is older than " \
                        "its scripts: take the client that came with the laterd that serves the queue")
    end

    # Is it a new job? If not, a job of this id existed, and nothing was changed.
    def new?
      %w[pushed replaced again].include?(result)
    end

    # Has a job of this id failed for good? Then nothing runs until it is kicked (`later kick`).
    def dead?
      state == "dead"
    end
  end

  # What map has done: how many jobs were new, and how many were known.
  Mapped = Struct.new(:pushed, :known) do
    # @private
    def count(all)
      self.pushed += all.count(&:new?)
      self.known += all.count { |one| !one.new? }
    end
  end

  # A job that is in Redis. state: "ready", "delayed", "reserved", "dead", or "done" if its type's
  # option `keep` keeps it. error: why it failed last. progress: how far it has come; a Fake keeps none.
  # checkpoint: where its next attempt goes on. log: what it has logged, if its queue keeps that.
  KnownJob = Struct.new(:id, :state, :attempts, :priority, :error, :document, :progress, :checkpoint, :log,
                        keyword_init: true) do
    def type
      JSON.parse(document)["type"]
    end

    def payload
      JSON.parse(document)["payload"]
    end
  end

  # What has become of a job that was waited for, with others. state: "done": it has a value; "dead": it has an
  # error; "gone": there is no such job and no result; "waiting": the time was up, and it goes on.
  Outcome = Struct.new(:id, :state, :value, :error, keyword_init: true)

  # How many jobs of a queue are in each state. paused: with shards, all of them. oldest_ready: seconds
  # for which the oldest ready job has waited, or nil.
  Size = Struct.new(:ready, :delayed, :reserved, :dead, :paused, :oldest_ready, keyword_init: true)
end
