<?php

namespace Laterd;

/** Thrown by a handler: the attempt has failed, try again in so many seconds; null: by the backoff. */
class RetryJob extends Error
{
    public function __construct(string $why = 'the handler asked for it', public ?float $in = null, ?\Throwable $cause = null)
    {
        parent::__construct($why, 0, $cause);
    }
}
