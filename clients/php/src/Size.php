<?php

// Size.php: how many jobs of a queue are in each state.

namespace Laterd;

/** How many jobs of a queue are in each state. */
final class Size
{
    /**
     * @param bool $paused with shards: all of them
     * @param ?float $oldestReady seconds for which the oldest ready job has waited
     */
    private function __construct(
        public int $ready,
        public int $delayed,
        public int $reserved,
        public int $dead,
        public bool $paused,
        public ?float $oldestReady,
    ) {
    }

    /** @internal the replies of the script `size`, of all places of a queue */
    public static function sum(array $parts): self
    {
        $sums = array_map(fn ($i) => (int) array_sum(array_column($parts, $i)), range(0, 4));
        $ages = array_map('floatval', array_filter(array_column($parts, 5), 'strlen'));
        return new self($sums[0], $sums[1], $sums[2], $sums[3], $sums[4] === count($parts), $ages ? max($ages) : null);
    }
}
