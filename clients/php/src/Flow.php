<?php

// Flow.php: how a flow stands, and how many of its jobs are in which state.

namespace Laterd;

/** How a flow stands: jobs that wait for each other (doc/protocol.md, "Flows"). */
final class Flow
{
    private const COUNTS = ['total', 'open', 'waiting', 'dead', 'done', 'gone', 'skipped'];

    /**
     * @param string $state `open`: more may be added; `running`; `blocked`: what is left waits for a dead
     * job, and a kick lets it go on; `done`; `ended`: some jobs are gone (cancelled, expired …)
     * @param float $made UNIX seconds
     * @param int $open jobs that are ready, delayed or reserved
     * @param int $skipped jobs that were to run after a failure that did not come
     */
    private function __construct(
        public string $name,
        public string $state,
        public bool $closed,
        public float $made,
        public int $total,
        public int $open,
        public int $waiting,
        public int $dead,
        public int $done,
        public int $gone,
        public int $skipped,
    ) {
    }

    /**
     * Returns the jobs, each of which waits for the one before.
     *
     * @return NewJob[]
     */
    public static function chain(NewJob ...$jobs): array
    {
        $chain = [];
        foreach (array_values($jobs) as $i => $job) {
            $chain[] = $job->with(
                ['step' => $job->step ?? (string) ($i + 1)] + ($i ? ['after' => [$chain[$i - 1]->step]] : []),
            );
        }
        return $chain;
    }

    /**
     * Returns the jobs and those that wait for all of them: `then` runs when all are done, `finally` when
     * all have ended in whatever way, `failed` when the first one is dead or gone.
     *
     * @param NewJob[] $jobs
     * @return NewJob[]
     */
    public static function batch(
        array $jobs,
        ?NewJob $then = null,
        ?NewJob $finally = null,
        ?NewJob $failed = null,
    ): array {
        $ends = array_filter(['done' => $then, 'ended' => $finally, 'failed' => $failed]);
        foreach ($ends as $when => $job) {
            $jobs[] = $job->with(['after' => ['*'], 'when' => $when]);
        }
        return array_values($jobs);
    }

    /** @internal the fields that parse() needs */
    public static function fields(): array
    {
        return ['closed', 'made', ...self::COUNTS, ...array_map(fn ($count) => "*$count", self::COUNTS)];
    }

    /** @internal */
    public static function parse(string $name, array $told): ?self
    {
        if (!is_string($told[0])) {
            return null;
        }
        $closed = $told[0] === '1';
        $counts = array_map(
            fn ($i) => (int) $told[$i + 2] + (int) $told[$i + 2 + count(self::COUNTS)],
            array_flip(self::COUNTS),
        );
        $state = match (true) {
            $counts['open'] === 0 && $counts['dead'] > 0 => 'blocked',
            !$closed => 'open',
            $counts['open'] + $counts['waiting'] > 0 => 'running',
            $counts['gone'] > 0 => 'ended',
            default => 'done',
        };
        return new self($name, $state, $closed, (float) $told[1], ...$counts);
    }
}
