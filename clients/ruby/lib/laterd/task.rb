# frozen_string_literal: true

# task.rb: a type whose jobs are pushed by its program: what Handlers#task returns.

require_relative "errors"

module Laterd
  # A type whose jobs are pushed by its program: what Handlers#task returns.
  Task = Struct.new(:app, :type) do
    # Pushes a job of the type, by app.queues. The options are those of Client#push.
    def later(payload = nil, **options)
      raise Error, "later: app.queues is not set; give it a client" unless app.queues

      app.queues.push(type, payload, **options)
    end
  end
end
