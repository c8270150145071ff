<?php

// Reserver.php: a worker by hand, for use without laterd: reserves, settles, migrates.

namespace Laterd;

/**
 * A worker by hand, for use without laterd: reserve, settle, and migrate now and then, unless a
 * laterd serves the queue. Nobody renews the lease meanwhile.
 */
final class Reserver
{
    private const BYTES_MAX = '262144';
    private const TURN = 1.0;       // seconds

    public function __construct(private Client $later)
    {
    }

    /** @return Reservation[] at most this many; if the queue is spread, from its first shard that
     * has any */
    public function reserve(string $queue, float $lease, int $limit = 1): array
    {
        foreach ($this->later->places($queue) as $place) {
            $token = substr(bin2hex(random_bytes(8)), 0, 16);
            $reply = $this->later->script('reserve', $place, [$token, NewJob::decimal($lease), $limit,
                self::BYTES_MAX, 0], ['held' => "reserved:$token"]);
            $found = array_map(
                fn ($job) => new Reservation($this, $place, $token, $job[0], (string) $job[1], $job[2]),
                array_chunk(array_slice($reply, 1), 3),
            );
            if ($found) {
                return $found;
            }
        }
        return [];
    }

    /** Waits at most this many seconds for work. If the queue is spread, it does not wait. */
    public function wait(string $queue, float $seconds): bool
    {
        $places = $this->later->places($queue);
        $end = Away::now() + $seconds;
        while (count($places) === 1 && ($left = $end - Away::now()) > 0) {
            // It waits in turns, since a connection's own time-out may be short.
            $turn = NewJob::decimal(max(0.01, min($left, self::TURN)));
            if ($this->later->ask($places[0], 'BLPOP', $this->later->key($places[0], 'wake'), $turn)) {
                return true;
            }
        }
        return false;
    }

    /** Makes ready what is due, and what was reserved and whose lease ran out. */
    public function migrate(string $queue): void
    {
        foreach ($this->later->places($queue) as $place) {
            do {
                $reply = $this->later->script('migrate', $place, [Bounds::JOBS_MAX]);
            } while ($reply[0] >= Bounds::JOBS_MAX);
            foreach (array_slice($reply, 4) as $token) {
                $this->later->script('lapse', $place, ['0', ''], ['held' => "reserved:$token"]);
            }
        }
    }

    /** @internal */
    public function settle(string $verb, Reservation $job, array $args): void
    {
        $lost = $this->later->script($verb, $job->place, [$job->id, ...$args], ['held' => "reserved:$job->token"]);
        if ($lost) {
            throw new Lost("$verb of $job->id: its reservation is lost");
        }
    }
}
