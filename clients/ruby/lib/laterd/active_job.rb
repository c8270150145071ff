# frozen_string_literal: true

# active_job.rb: the queue adapter of Rails' Active Job: pushes and performs its jobs.

require "active_job"

require_relative "../laterd"

module Laterd
  # Rails' Active Job on laterd, from version 6.1 on.
  #
  #   require "laterd/active_job"
  #   Laterd::ActiveJob.client = Laterd::Client.new(Redis.new(path: "/var/lib/laterd/redis.sock"))
  #   config.active_job.queue_adapter = :laterd
  #
  # Its jobs have their class as type, so laterd.conf and `later` know them by it.
  module ActiveJob
    PRIORITIES = (-100..100).freeze
    # What each push of a job makes anew.
    OF_ONE_PUSH = %w[job_id provider_job_id enqueued_at scheduled_at].freeze

    class << self
      # A Client, or a Testing::Fake in a test.
      attr_writer :client

      def client
        @client || raise(Error, "Laterd::ActiveJob.client is not set; give it a client")
      end

      # Returns the handlers that perform the application's jobs, for a program of two lines:
      #
      #   require_relative "config/environment"
      #   Laterd::ActiveJob.handlers.run
      def handlers
        Handlers.new.on("*") do |job|
          ::ActiveJob::Base.execute({ "job_id" => job.id, **job.payload, "provider_job_id" => job.id })
          nil # what `perform` returns is no result: it need not be JSON
        rescue StandardError => e
          e.set_backtrace(application_frames(e.backtrace)) if e.backtrace
          raise
        end
      end

      # Makes a schedule of this job, in its queue, or changes it: Client#cron_set. A deploy may say it each time. The
      # options are those of NewSchedule.
      #
      #   Laterd::ActiveJob.cron_set("nightly", "0 3 * * mon-fri", ReportJob.new(full: true), zone: "Europe/Berlin")
      def cron_set(name, expression, job, **options)
        payload = job.serialize.except(*OF_ONE_PUSH)
        made = NewJob.new(job.class.name, payload, **options_of(job))
        client.cron_set(NewSchedule.new(name, expression, made, **options), queue: job.queue_name)
      end

      # @private what is pushed for a job of Active Job
      def new_job(job, timestamp = nil)
        options = options_of(job)
        options[:at] = timestamp if timestamp
        # A job that retry_on pushes again runs still, under this id.
        options[:again] = true if options[:id] && job.executions.positive?
        NewJob.new(job.class.name, job.serialize, **options)
      end

      private

      def options_of(job)
        more = job.respond_to?(:laterd_options) ? job.laterd_options.to_h : {}
        raise Refused, "laterd_options: unique: give an id; the payload has the id of Active Job, too" if more[:unique]

        { priority: PRIORITIES.include?(job.priority || 0) ? -(job.priority || 0) : refuse(job), **more }
      end

      # Returns where an error was raised, without what lies in gems, if there is anything else: only the first lines
      # of it are kept.
      def application_frames(frames)
        return frames unless defined?(::Rails) && ::Rails.respond_to?(:backtrace_cleaner)

        [frames.first, *::Rails.backtrace_cleaner.clean(frames.drop(1))]
      end

      def refuse(job)
        raise Refused, "priority: #{PRIORITIES}, lower first: #{job.priority}"
      end
    end
  end
end

module ActiveJob
  module QueueAdapters
    # See Laterd::ActiveJob. A lower priority goes first, as with Active Job's other adapters.
    class LaterdAdapter
      def enqueue(job)
        push(job, nil)
      end

      def enqueue_at(job, timestamp)
        push(job, timestamp)
      end

      # perform_all_later, from 7.1 on; returns how many it has pushed, and tells each job.
      def enqueue_all(jobs)
        jobs.group_by(&:queue_name).sum { |queue, some| push_some(some, queue) }
      end

      # Is a job pushed after the transaction in which it is asked for? From 7.2 on.
      def enqueue_after_transaction_commit?
        true
      end

      # Does laterd stop, as at a deploy? A job with steps (ActiveJob::Continuable, from 8.1 on) asks this between
      # two of them; then it ends, and pushes itself again.
      def stopping?(_job = nil)
        Laterd.current_job&.stopping? || false
      end

      private

      def push(job, timestamp)
        pushed, = Laterd::ActiveJob.client.push_many([Laterd::ActiveJob.new_job(job, timestamp)], queue: job.queue_name)
        job.provider_job_id = pushed.id
      rescue Laterd::QueueFull => e
        raise enqueue_error(e)
      end

      def push_some(jobs, queue)
        made = jobs.map { |job| Laterd::ActiveJob.new_job(job, job.scheduled_at&.to_f) }
        tell(jobs, Laterd::ActiveJob.client.push_many(made, queue: queue))
      rescue Laterd::QueueFull => e
        tell(jobs, e.answers, enqueue_error(e))
      end

      # Returns how many of the jobs were pushed.
      def tell(jobs, pushed, error = nil)
        jobs.zip(pushed).count do |job, one|
          full = one.result == "full"
          job.successfully_enqueued = !full if job.respond_to?(:successfully_enqueued=)
          job.enqueue_error = error if full && job.respond_to?(:enqueue_error=)
          job.provider_job_id = one.id unless full
          !full
        end
      end

      def enqueue_error(error)
        defined?(::ActiveJob::EnqueueError) ? ::ActiveJob::EnqueueError.new(error.message) : error
      end
    end
  end
end
