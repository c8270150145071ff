<?php

namespace Laterd;

/** What became of a job that was pushed. */
final class Pushed
{
    /**
     * @param string $result `pushed`, `replaced`, `exists`, or `full` (in QueueFull only)
     * @param string $state of one that exists: `ready`, `delayed`, `reserved`, `dead`, `ended`
     */
    public function __construct(
        public string $id,
        public string $queue,
        public string $result,
        public string $state = '',
    ) {
    }

    /** Is it a new job? If not, one of this id was there, and nothing was changed. */
    public function isNew(): bool
    {
        return $this->result === 'pushed' || $this->result === 'replaced';
    }

    /** One of this id has failed for good: nothing will run until it is kicked. */
    public function isDead(): bool
    {
        return $this->state === 'dead';
    }
}
