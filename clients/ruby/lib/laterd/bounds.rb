# frozen_string_literal: true

# bounds.rb: the bounds that laterd and its clients have.

module Laterd
  # @private
  module Bounds
    # @bounds bound,call: {UPPER} = {number} # {help}
    JOBS_MAX = 500 # jobs in one call of any script
    BYTES_MAX = 262144 # bytes of documents in one call that pushes, which one job may exceed
    PART_MAX = 200 # jobs of a flow in one call
    FLOW_MAX = 1000000 # jobs of a flow
    SHARDS_MAX = 32 # shards of a queue
    DEPTH_MAX = 128 # arrays and objects of a document within each other
    DOCUMENT_MAX = 1048576 # bytes of a document, if laterd.conf does not say another limit
    EXPIRES_ROOM = 40 # bytes that a document grows by `expires_in`, in Redis
    PAUSE_MAX = 31536000 # seconds that what somebody says for a time may last: a year
    FOUND_MAX = 500 # jobs that one search finds
    LOOKED_MAX = 100000 # jobs that one search looks at
    WAITED_MAX = 1000 # jobs whose ends one call waits for
    ENDS_MAX = 1000 # ends that one call of events returns
    # @end
  end
end
