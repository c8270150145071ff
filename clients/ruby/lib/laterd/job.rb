# frozen_string_literal: true

# job.rb: a job as its handler is given it: payload, progress, checkpoint, cancelled?

require_relative "answers"

module Laterd
  # A job as its handler is given it: id, type, queue, attempt (from 1), max_attempts, token, trace as
  # laterd tells them; document, payload and context as they were pushed, parsed. lock_fence, of a job with a
  # lock: the number of its taking; whoever guards a thing refuses a lower one. values: what the steps
  # that it has waited for gave back, by step. flow: if it has waited for all others ("*"), the flow's name,
  # its counts, and "failed". resumes: the checkpoint that an earlier attempt has left, or nil.
  class Job
    PROGRESS_EVERY = 0.1 # seconds between two progress lines of a job

    attr_reader :id, :type, :queue, :attempt, :max_attempts, :token, :trace, :lock_fence, :document,
                :context, :values, :flow, :resumes
    attr_accessor :payload # a hook may open what middleware has sealed

    # line: what laterd has written, parsed. answers: takes what the job says.
    def initialize(line, answers)
      @id, @type, @document = line.values_at("id", "type", "document")
      @queue, @token, @trace, @lock_fence = line.values_at("queue", "token", "trace", "lock_fence")
      @attempt = line.fetch("attempt", 1)
      @max_attempts = line.fetch("max_attempts", 1)
      @payload = @document["payload"]
      @context = @document["context"] || {}
      @values = line.fetch("values", {})
      @flow = line["flow"]
      @resumes = line["checkpoint"]
      @end = Job.now + line.fetch("time_left", 0)
      @told = -PROGRESS_EVERY
      @answers = answers
      @cancelled = @stops = false
      @knows = @left = false # it has been told that laterd stops; it has left a checkpoint
    end

    def self.now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end

    # Is it asked to stop? Then its result will not count.
    def cancelled?
      @cancelled
    end

    # Returns the seconds until it is asked to stop.
    def time_left
      [@end - Job.now, 0].max
    end

    # Reports progress. It is cheap, since most calls send nothing.
    def progress(done, total = 0, text = "")
      return if Job.now - @told < PROGRESS_EVERY

      @told = Job.now
      far = { done: Answers.number(done), total: Answers.number(total), text: Answers.text(text) }
      @answers.put({ id: id, progress: far })
    end

    # Writes a line of laterd's log, with the job's fields. level: :error, :warn, :info, :debug.
    def log(text, level = :info)
      @answers.put({ log: level.to_s, text: Answers.text(text), id: id })
    end

    # Leaves a checkpoint, any JSON up to 64 KiB: the next attempt finds the last one in `resumes`, whatever ends
    # this one. Raises an ArgumentError if it is no JSON, or longer.
    def checkpoint(state)
      @answers.put({ id: id, checkpoint: Answers.checked("checkpoint", state) })
      @left = true
    end

    # Does laterd stop, as at a deploy? A handler that has seen this, has left a checkpoint and returns nil goes
    # on in another laterd at once, and has not used up an attempt.
    def stopping?
      @knows ||= @stops
      @stops
    end

    # @private laterd stops
    def stop
      @stops = true
    end

    # @private is the attempt to go on elsewhere?
    def goes_on?(value)
      value.nil? && @knows && @left
    end

    # @private laterd asks for its end
    def cancel
      @cancelled = true
    end
  end
end
