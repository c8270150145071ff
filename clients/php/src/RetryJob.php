<?php

// RetryJob.php: what a handler throws to have its job tried again.

namespace Laterd;

/** Thrown by a handler: the attempt has failed. Tries again in this many seconds; null: after the
 * backoff. */
class RetryJob extends Error
{
    public function __construct(string $why = 'the handler asked for it', public ?float $in = null, ?\Throwable $cause = null)
    {
        is_finite($in ?? 0) or throw new \InvalidArgumentException("in: $in is no number of seconds");
        parent::__construct($why, 0, $cause);
    }
}
