<?php

// Away.php: what a wait makes of a Redis that is away: when it asks again, and when it gives up.

namespace Laterd;

use Laterd\Redis\Url;

/** @internal For one wait. */
final class Away
{
    // @errors wait: private const {UPPER} = {seconds}; // seconds {help}
    private const AGAIN = 0.5; // seconds until a Redis that is away is asked again
    private const PATIENCE = 30.0; // seconds without an answer after which a wait gives up
    // @end
    /** What Redis says that cannot serve now, or not here; of some of these our drivers make an Unreachable */
    private const PASSING = [
        // @errors away: '{UPPER}', // {help}
        'BUSY', // a script runs longer than busy-reply-threshold
        'CLUSTERDOWN', // no master for the slot at the moment
        'LOADING', // it reads its file after a start
        'MASTERDOWN', // a replica that has lost its master
        'MISCONF', // it cannot write to its disk
        'NOREPLICAS', // min-replicas-to-write is not met
        'OOM', // maxmemory is reached
        'READONLY', // it has become a replica
        'TRYAGAIN', // the slot is being moved
        'UNBLOCKED', // its role has changed under a BLPOP
        // @end
    ];

    private ?float $since = null;

    /** @param float $end of the wait, as of now() */
    public function __construct(private float $end)
    {
    }

    public static function now(): float
    {
        return hrtime(true) / 1e9;
    }

    /** Is it away for now? A function that connects throws what its library throws. */
    public static function is(\Throwable $e): bool
    {
        return match (true) {
            $e instanceof Unreachable => true,
            $e instanceof Refused => in_array(strtok($e->getMessage(), ' '), self::PASSING, true),
            $e instanceof \RedisException, $e instanceof \RedisClusterException,
            $e instanceof \Predis\CommunicationException => Url::refused($e) === null,
            default => false,
        };
    }

    /** Returns the seconds until a Redis is asked again that has been away for so long; 0: not any more. */
    public static function pause(float $away): float
    {
        return max(0.0, min(self::AGAIN, self::PATIENCE - $away));
    }

    /** A call has worked. */
    public function over(): void
    {
        $this->since = null;
    }

    /**
     * A call has failed. Returns, after a pause, if the wait goes on; else throws the error. After an answer there is
     * always one look more, which tells whether the time is up or Redis is away.
     */
    public function outlast(\Throwable $e): void
    {
        $now = self::now();
        $left = $this->end - $now;
        $pause = self::pause($now - ($this->since ?? $now));
        if (!self::is($e) || $pause <= 0 || $left <= 0 && $this->since !== null) {
            throw $e;
        }
        $this->since ??= $now;
        usleep((int) (1e6 * max(0.0, min($pause, $left))));
    }
}
