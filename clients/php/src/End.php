<?php

// End.php: an attempt that has ended, as events() tells of it.

namespace Laterd;

/** An attempt that has ended: see events(). */
final class End
{
    /**
     * @param string $ending done, retry, timeout, crash, bury, expired …: doc/protocol.md, "Attempts"
     * @param string $state what the job is now: done, expired, dead, delayed, ready
     * @param float $at UNIX seconds
     * @param ?string $kind of its error
     * @param ?float $ms how long it took
     * @param ?float $waited for how many seconds it had been ready
     */
    public function __construct(
        public string $queue,
        public string $id,
        public ?string $type,
        public string $ending,
        public string $state,
        public float $at,
        public string $host,
        public ?string $kind = null,
        public ?int $attempt = null,
        public ?float $ms = null,
        public ?float $waited = null,
    ) {
    }
}
