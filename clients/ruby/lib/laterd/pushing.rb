# frozen_string_literal: true

module Laterd
  # What a client and a fake have in common: what is called before a push.
  module Pushing
    # Each job (NewJob) that is pushed is given to the block, which returns the job to push:
    #
    #   later.before_push { |job| job.with(context: { tenant: Tenant.current, **job.context }) }
    def before_push(&change)
      (@before_push ||= []) << change
      self
    end

    # Those of push_many, which takes no jobs of flows.
    # @private
    def passed_many(jobs)
      jobs = jobs.map { |job| passed(job) }
      raise Refused, "flow: not here; flow() pushes many jobs of a flow, push() one" if jobs.any?(&:flow)

      jobs
    end

    # @private
    def passed(job)
      @before_push ? @before_push.reduce(job) { |one, change| change.call(one) } : job
    end
  end
end
