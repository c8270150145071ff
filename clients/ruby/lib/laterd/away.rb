# frozen_string_literal: true

# away.rb: a wait outlasts a Redis that is away: when it asks again, when it gives up, and with which error.

module Laterd
  # For one wait, which ends at `ends` of the monotonic clock, if it does.
  # @private
  class Away
    # @errors wait: {UPPER} = {seconds} # seconds {help}
    AGAIN = 0.5 # seconds until a Redis that is away is asked again
    PATIENCE = 30.0 # seconds without an answer after which a wait gives up
    # @end
    # The first words of what is said by a server that cannot serve now, or not here.
    PASSING = [
      # @errors away: "{UPPER}", # {help}
      "BUSY", # a script runs longer than busy-reply-threshold
      "CLUSTERDOWN", # no master for the slot at the moment
      "LOADING", # it reads its file after a start
      "MASTERDOWN", # a replica that has lost its master
      "MISCONF", # it cannot write to its disk
      "NOREPLICAS", # min-replicas-to-write is not met
      "OOM", # maxmemory is reached
      "READONLY", # it has become a replica
      "TRYAGAIN", # the slot is being moved
      "UNBLOCKED", # its role has changed under a BLPOP
      # @end
    ].freeze
    # Those of one that does not let us in: redis-rb 5 makes a refused password a CannotConnectError.
    DENIES = Regexp.union([
      # @errors denied: "{UPPER} ", # {help}
      "NOAUTH ", # a password was set meanwhile
      "NOPERM ", # the ACL lacks a command or a key
      "WRONGPASS ", # the password may be rotated: read it again
      # @end
    ]).freeze

    # May it pass by itself?
    def self.passes?(error)
      return error.errors.values.any? { |one| passes?(one) } if error.class.name == "Redis::Cluster::CommandErrorCollection"
      return false if error.message.match?(DENIES)

      error.is_a?(Redis::BaseConnectionError) || PASSING.include?(error.message[/\A\S+/]) ||
        %w[Redis::Cluster::InitialSetupError Redis::Cluster::NodeMightBeDown].include?(error.class.name)
    end

    def initialize(ends)
      @ends = ends
    end

    # Calls the block, and again while Redis is away. Returns what it returns.
    def outlast(&block)
      block.call.tap { answered }
    rescue Redis::BaseError => e
      sleep(pause(e))
      retry
    end

    # Redis is there.
    def answered
      @since = nil
    end

    private

    # Returns for how many seconds to wait before the next look. Raises the error if it does not pass, or if it is time
    # to give up. After an answer there is always one look more, so that the wait's end is told as what it is: its time
    # is up, or Redis is away.
    def pause(error)
      now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      since = @since || now
      left = [since + PATIENCE, @ends].compact.min - now
      raise error if !Away.passes?(error) || @since && left <= 0

      @since = since
      left.clamp(0, AGAIN)
    end
  end
end
