# frozen_string_literal: true

# laterd.rb: what `require "laterd"` loads; the client and the gem redis come at first use.

# Push jobs to the queues of laterd in Redis, and perform them. See Laterd::Client and Laterd::Handlers.
# The gem redis is loaded at the first use of the client, so a program of handlers that pushes nothing
# does without it.
module Laterd
  autoload :Client, File.join(__dir__, "laterd/client.rb")
end

Object.autoload(:Redis, "redis")

require_relative "laterd/crontab"
require_relative "laterd/errors"
require_relative "laterd/new_job"
require_relative "laterd/events"
require_relative "laterd/flow"
require_relative "laterd/handlers"
require_relative "laterd/pushing"
require_relative "laterd/told"
