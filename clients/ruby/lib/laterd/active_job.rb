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
          ::ActiveJob::Base.execute(job.payload.merge("provider_job_id" => job.id))
          nil # what `perform` returns is no result: it need not be JSON
        end
      end

      # @private what is pushed for a job of Active Job
      def new_job(job, timestamp = nil)
        options = { priority: PRIORITIES.include?(job.priority || 0) ? -(job.priority || 0) : refuse(job) }
        options[:at] = timestamp if timestamp
        NewJob.new(job.class.name, job.serialize, **options)
      end

      private

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
        push([job], job.queue_name)
      end

      def enqueue_at(job, timestamp)
        push([job], job.queue_name) { timestamp }
      end

      # perform_all_later, from 7.1 on; returns how many it has pushed.
      def enqueue_all(jobs)
        jobs.group_by(&:queue_name).sum { |queue, some| push(some, queue) { |job| job.scheduled_at&.to_f } }
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

      def push(jobs, queue)
        made = jobs.map { |job| Laterd::ActiveJob.new_job(job, block_given? ? yield(job) : nil) }
        pushed = Laterd::ActiveJob.client.push_many(made, queue: queue)
        jobs.zip(pushed) { |job, one| job.provider_job_id = one.id }
        pushed.size
      rescue Laterd::QueueFull => e
        raise defined?(::ActiveJob::EnqueueError) ? ::ActiveJob::EnqueueError.new(e.message) : e
      end
    end
  end
end
