<?php

namespace Laterd;

/** Thrown by a handler: not now. The job goes back without an attempt, for so many seconds. */
class ReturnJob extends Error
{
    public function __construct(string $why = 'not now', public float $in = 0)
    {
        parent::__construct($why);
    }
}
