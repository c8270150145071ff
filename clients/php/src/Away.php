<?php

// Away.php: what a wait makes of a Redis that is away: when it asks again, and when it gives up.

namespace Laterd;

use Laterd\Redis\Url;

/** @internal For one wait. */
final class Away
{
    private const AGAIN = 0.5; // seconds until a Redis that is away is asked again
    private const MOST = 30.0; // seconds without a break; then the wait ends with the error
    /** What Redis says that cannot serve now, or not here; some of these an Unreachable has */
    private const PASSING = ['BUSY', 'MISCONF', 'NOREPLICAS', 'OOM', 'TRYAGAIN', 'UNBLOCKED'];

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
        return max(0.0, min(self::AGAIN, self::MOST - $away));
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
