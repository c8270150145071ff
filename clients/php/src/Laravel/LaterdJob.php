<?php

// LaterdJob.php: a job of laterd's as Laravel's worker is given it.

namespace Laterd\Laravel;

use Illuminate\Container\Container;
use Illuminate\Contracts\Queue\Job as JobContract;
use Illuminate\Queue\Jobs\Job;
use Laterd\Lost;
use Laterd\Settlement;

class LaterdJob extends Job implements JobContract
{
    public function __construct(
        Container $container,
        private Settlement $settlement,
        private string $body,
        private int $attempt,
        private string $id,
        string $connectionName,
        string $queue,
    ) {
        $this->container = $container;
        $this->connectionName = $connectionName;
        $this->queue = $queue;
    }

    public function getJobId()
    {
        return $this->id;
    }

    public function getRawBody()
    {
        return $this->body;
    }

    /** Includes the attempts that a job had in Laravel's own queue, before it was moved here. */
    public function attempts()
    {
        return ($this->payload()['attempts'] ?? 0) + $this->attempt;
    }

    public function delete()
    {
        parent::delete();
        if (!$this->hasFailed()) {
            self::settle(fn () => $this->settlement->done());
        }
    }

    public function release($delay = 0)
    {
        parent::release($delay);
        self::settle(fn () => $this->settlement->retry(max(0, $this->secondsUntil($delay)), 'released'));
    }

    /** The job is among Laravel's failed jobs and among laterd's dead ones. Either can bring it
     * back. */
    public function fail($e = null)
    {
        $settled = $this->isDeleted();
        try {
            parent::fail($e);
        } finally {
            if (!$settled) {
                $why = $e ? get_class($e) . ': ' . $e->getMessage() : 'failed by its job';
                self::settle(fn () => $this->settlement->bury($why));
            }
        }
    }

    /** Like Laravel's own drivers it is silent if `retry_after` is over: by then the job is another
     * worker's. */
    private static function settle(callable $settle): void
    {
        try {
            $settle();
        } catch (Lost) {
        }
    }
}
