<?php

// Bounds.php: the bounds that laterd and its clients have.

namespace Laterd;

/** @internal */
final class Bounds
{
    // @bounds bound,call: public const {UPPER} = {number}; // {help}
    public const JOBS_MAX = 500; // jobs in one call of any script
    public const BYTES_MAX = 262144; // bytes of documents in one call that pushes, which one job may exceed
    public const PART_MAX = 200; // jobs of a flow in one call
    public const FLOW_MAX = 1000000; // jobs of a flow
    public const SHARDS_MAX = 32; // shards of a queue
    public const DEPTH_MAX = 128; // arrays and objects of a document within each other
    public const DOCUMENT_MAX = 1048576; // bytes of a document, if laterd.conf does not say another limit
    public const EXPIRES_ROOM = 40; // bytes that a document grows by `expires_in`, in Redis
    public const PAUSE_MAX = 31536000; // seconds that what somebody says for a time may last: a year
    public const FOUND_MAX = 500; // jobs that one search finds
    public const LOOKED_MAX = 100000; // jobs that one search looks at
    public const WAITED_MAX = 1000; // jobs whose ends one call waits for
    public const ENDS_MAX = 1000; // ends that one call of events returns
    // @end
}
