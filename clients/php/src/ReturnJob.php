<?php

// ReturnJob.php: what a handler throws that cannot run the job now: it is no attempt.

namespace Laterd;

/** Thrown by a handler that cannot run the job now. The job is returned for this many seconds, which
 * is no attempt. */
class ReturnJob extends Error
{
    public function __construct(string $why = 'not now', public float $in = 0)
    {
        is_finite($in) or throw new \InvalidArgumentException("in: $in is no number of seconds");
        parent::__construct($why);
    }
}
