<?php

// Outcome.php: the outcome of a Laravel job, which is told to laterd when the job is over.

namespace Laterd\Laravel;

use Laterd\BuryJob;
use Laterd\RetryJob;
use Laterd\Settlement;

/** The outcome of a job that laterd handed out, reported when the job is over. The last call
 * counts. */
class Outcome implements Settlement
{
    private ?\Closure $end = null;

    public function done(): void
    {
        $this->end = fn () => null;
    }

    public function retry(float $in, string $why): void
    {
        $this->end = fn (?\Throwable $cause) => throw new RetryJob($cause ? '' : $why, $in, $cause);
    }

    public function bury(string $why): void
    {
        $this->end = fn (?\Throwable $cause) => throw new BuryJob($cause ? '' : $why, 0, $cause);
    }

    /** @param ?\Throwable $cause what the job threw */
    public function tell(?\Throwable $cause): void
    {
        ($this->end ?? fn () => throw new RetryJob('the job was neither deleted nor released', null, $cause))($cause);
    }
}
