<?php

namespace Laterd;

/** Thrown by a handler: the attempt has failed. Tries again in this many seconds; null: after the
 * backoff. */
class RetryJob extends Error
{
    public function __construct(string $why = 'the handler asked for it', public ?float $in = null, ?\Throwable $cause = null)
    {
        parent::__construct($why, 0, $cause);
    }
}
