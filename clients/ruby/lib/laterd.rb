# frozen_string_literal: true

# Push jobs to the queues of laterd in Redis. See Laterd::Client.
module Laterd
end

require_relative "laterd/errors"
require_relative "laterd/job"
require_relative "laterd/plan"
require_relative "laterd/script"
require_relative "laterd/client"
