<?php

namespace Laterd;

/** Thrown by a handler that cannot run the job now. The job is returned for this many seconds, which
 * is no attempt. */
class ReturnJob extends Error
{
    public function __construct(string $why = 'not now', public float $in = 0)
    {
        parent::__construct($why);
    }
}
