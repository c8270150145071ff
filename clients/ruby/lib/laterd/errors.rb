# frozen_string_literal: true

module Laterd
  # What this gem raises. Errors of Redis itself are Redis::BaseError, unchanged.
  class Error < StandardError; end

  # A bad job or queue name: nothing was sent.
  class Refused < ArgumentError; end

  # This Redis holds queues of another protocol than this client speaks.
  class WrongProtocol < Error; end

  # The queue has as many jobs as laterd's option queues.max_jobs allows: try again later.
  class QueueFull < Error
    # Of all jobs of the call, in their order; of some the result is "full".
    attr_reader :answers

    def initialize(queue, answers)
      super("the queue #{queue} is full")
      @answers = answers
    end
  end

  # wait: the job has ended without success; it is dead. error: as of show, or nil.
  class JobFailed < Error
    attr_reader :id, :error

    def initialize(id, error)
      super("#{id}: #{error&.fetch("text", nil) || "dead"}")
      @id = id
      @error = error
    end
  end

  # wait: no job of this id, and no result of it.
  class JobUnknown < Error; end

  # wait: its time is up; the job goes on.
  class TimeoutError < Error; end
end
