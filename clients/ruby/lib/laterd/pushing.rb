# frozen_string_literal: true

module Laterd
  # What a client and a fake have in common: what is called before and after a push.
  module Pushing
    # Each job (NewJob) that is pushed is given to the block, which returns the job to push:
    #
    #   later.before_push { |job| job.with(context: { tenant: Tenant.current, **job.context }) }
    def before_push(&change)
      (@before_push ||= []) << change
      self
    end

    # The block is told of each job that was pushed, and what became of it (Pushed). After an error it is not
    # called.
    def after_push(&tell)
      (@after_push ||= []) << tell
      self
    end

    # @private
    def told(job, pushed)
      @after_push&.each { |tell| tell.call(job, pushed) }
      pushed
    end

    # @private
    def told_many(jobs, pushed)
      jobs.zip(pushed) { |job, one| told(job, one) } if @after_push
      pushed
    end

    # Those of push_many, which takes no jobs of flows.
    # @private
    def passed_many(jobs)
      jobs = jobs.map { |job| passed(job) }
      raise Refused, "flow: not here; flow() pushes many jobs of a flow, push() one" if jobs.any?(&:flow)

      jobs
    end

    # That of push, which has its own word for the queue.
    # @private
    def passed_one(job)
      job = passed(job)
      raise Refused, "queue: for the jobs of push_many() and flow()" if job.queue

      job
    end

    # @private
    def passed(job)
      @before_push ? @before_push.reduce(job) { |one, change| change.call(one) } : job
    end
  end
end
