# frozen_string_literal: true

# pushing.rb: what a client and a fake have in common: hooks before and after a push, map, call, wait_many.

module Laterd
  # What a client and a fake have in common.
  module Pushing
    # Each job (NewJob) that is pushed is given to the block, which returns the job to push:
    #
    #   later.before_push { |job| job.with(context: { tenant: Tenant.current, **job.context }) }
    def before_push(&change)
      raise ArgumentError, "before_push: a block" unless change

      (@before_push ||= []) << change
      self
    end

    # The block is told of each job that was pushed, and what became of it (Pushed). After an error it is not
    # called.
    def after_push(&tell)
      raise ArgumentError, "after_push: a block" unless tell

      (@after_push ||= []) << tell
      self
    end

    # Pushes a job for each item, as they come from wherever they are: a call for 200 of them, and no more in memory.
    # chunk: so many items are the payload of a job, as an Array. flow: the jobs are a flow of this name, for whose end
    # then:, finally: and failed: wait, as of Laterd.batch. The options are those of NewJob. The same call again pushes
    # what is missing, if it is a flow, or unique. Returns how many jobs were new, and how many were known (Mapped).
    def map(type, items, queue: "default", chunk: nil, flow: nil, **options)
      ends = options.slice(:then, :finally, :failed).compact
      check_map(items, chunk, flow, ends, options)
      told = Mapped.new(0, 0)
      number = 0
      push = lambda do |jobs, open|
        # In a flow they have the ids that flow would give them, so that the same again is the same.
        jobs = jobs.map { |job| job.in_flow(flow, number += 1, queue) } if flow
        told.count(flow ? self.flow(flow, jobs, queue: queue, open: open) : push_many(jobs, queue: queue))
      end
      options = options.except(:then, :finally, :failed)
      (chunk ? items.each_slice(chunk) : items).each_slice(MAP_PART) do |part|
        push.call(part.map { |payload| NewJob.new(type, payload, **options) }, true)
      end
      push.call(Laterd.batch([], **ends), false) if flow
      told
    end

    MAP_PART = 200 # jobs of a call
    RESULT_KEPT = 60 # seconds, after a caller has given up

    # Pushes one job, waits for its end, and returns its result: see wait. After a TimeoutError the job goes on.
    def call(type, payload = nil, queue: "default", timeout: 60)
      wait(push(type, payload, queue: queue, result: timeout + RESULT_KEPT).id, queue: queue, timeout: timeout)
    end

    # Waits for the ends of up to 1,000 jobs that were pushed with result:, which should last at least as long as
    # this timeout. Returns what has become of each, in their order.
    def wait_many(ids, queue: "default", timeout: nil)
      ends = timeout && now + timeout
      Asked.ids(ids).map do |id|
        Asked.outcome(id) { wait(id, queue: queue, timeout: ends && [0, ends - now].max) }
      end
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
      jobs = listed(jobs).map { |job| passed(job) }
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
    def listed(jobs)
      jobs = jobs.respond_to?(:map) ? jobs.to_a : [jobs]
      wrong = jobs.find { |job| !job.is_a?(NewJob) }
      raise Refused, "jobs: each must be a Laterd::NewJob, not #{wrong.inspect[0, 80]}" if wrong

      jobs
    end

    # @private
    def passed(job)
      return job unless @before_push

      @before_push.reduce(job) do |one, change|
        change.call(one).tap { |said| raise Error, "before_push: the block must return the job" unless said.is_a?(NewJob) }
      end
    end

    private

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end

    def check_map(items, chunk, flow, ends, options)
      raise Refused, "items: must be an Enumerable, not #{items.inspect[0, 80]}" unless items.respond_to?(:each_slice)
      raise Refused, "map: each job has an id of its own; unique makes one" if options[:id] || options[:step]
      raise Refused, "chunk: a whole number from 1" unless chunk.nil? || (chunk.is_a?(Integer) && chunk.positive?)
      raise Refused, "then, finally and failed: go with flow" if flow.nil? && !ends.empty?
    end
  end
end
