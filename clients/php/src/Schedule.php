<?php

// Schedule.php: a schedule that is in Redis, as cronList() tells of it.

namespace Laterd;

/** A schedule that is in Redis. */
final class Schedule
{
    private const ROW = 5; // elements of the answer of cron_look for each

    /**
     * @param ?float $next when it is due, UNIX seconds; null: never, or it is paused; a Fake does not know
     * @param string $origin `set`, or `config:HOST:ID`: it stands in the configuration of that laterd
     */
    private function __construct(
        public readonly string $name,
        public readonly string $at,
        public readonly string $zone,
        public readonly ?float $next,
        public readonly bool $paused,
        public readonly string $origin,
    ) {
    }

    /**
     * @internal the answer of the script `cron_look`
     * @return self[]
     */
    public static function listed(array $reply): array
    {
        return array_map(function ($told) {
            [$name, $next, , $lines, $state] = $told;
            $noted = self::noted($lines) + ['at' => '', 'zone' => 'UTC'] + self::noted($state) + ['paused' => '', 'origin' => ''];
            return new self($name, $noted['at'], $noted['zone'], $next === 'inf' ? null : (float) $next,
                $noted['paused'] === '1', $noted['origin']);
        }, array_chunk(array_slice($reply, 2), self::ROW));
    }

    private static function noted(string $lines): array
    {
        preg_match_all('/^([a-z_]+)=(.*)$/m', $lines, $found);
        return array_combine($found[1], $found[2]);
    }
}
