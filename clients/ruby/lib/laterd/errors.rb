# frozen_string_literal: true

# errors.rb: the errors of the gem: Refused, QueueFull, FlowClosed, JobFailed ...

module Laterd
  # The errors of this gem. Errors of Redis itself are Redis::BaseError, and passed on unchanged.
  class Error < StandardError; end

  # A bad job or queue name. Nothing was sent.
  class Refused < ArgumentError; end

  # This Redis holds queues of another protocol than this client speaks, or a push was answered by an unknown word.
  class WrongProtocol < Error; end

  # From cancel: the job went from one state to the next faster than it could be cancelled.
  class Moving < Error; end

  # The queue has as many jobs as laterd's option queues.max_jobs allows. Try again later.
  class QueueFull < Error
    # The results of all jobs of the call, in their order. Those without room are "full".
    attr_reader :answers

    def initialize(queue, answers)
      super("the queue #{queue} is full")
      @answers = answers
    end
  end

  # Only a running job of the flow may add to it (adder:). Nothing was pushed by this call.
  class FlowClosed < Error
    def initialize(flow)
      super("flow #{flow} is closed: only a running job of it may add to it")
    end
  end

  # There is no flow of this name in the queue.
  class FlowUnknown < Error
    def initialize(flow, queue)
      super("no flow #{flow} in queue #{queue}")
    end
  end

  # From wait: the job is dead. error: as in show, or nil.
  class JobFailed < Error
    attr_reader :id, :error

    def initialize(id, error)
      super("#{id}: #{error&.fetch("text", nil) || "dead"}")
      @id = id
      @error = error
    end
  end

  # From wait: there is no job of this id, and no result of one.
  class JobUnknown < Error
    def initialize(id, queue)
      super("no job #{id} in queue #{queue}, and no result of it; push it with result: SECONDS to keep one")
    end
  end

  # From wait: the time is over, and the job has not ended.
  class TimeoutError < Error; end
end
