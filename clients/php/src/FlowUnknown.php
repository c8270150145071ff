<?php

// FlowUnknown.php: the error for a flow that is not in the queue.

namespace Laterd;

/** There is no flow of this name in the queue. */
final class FlowUnknown extends Error
{
    public function __construct(string $flow, string $queue)
    {
        parent::__construct("no flow $flow in queue $queue");
    }
}
