<?php

// Events.php: ends of jobs, as a queue tells of them: doc/protocol.md, "Events".

namespace Laterd;

/** Ends of jobs, as a queue tells of them (doc/protocol.md, "Events"): what events() has found. */
final class Events
{
    private const ENTRIES = 10; // of a place in one answer
    private const BOOKMARK = '~^[\w./-]+:[0-9]{1,15}( [\w./-]+:[0-9]{1,15})*$~D';

    /** @var End[] in the order of their times */
    public array $ends = [];
    /** How many are no longer kept. Null: they are counted anew, since the queue was forgotten or Redis has lost some. */
    public ?int $missed = 0;
    /** What the next call goes on after. */
    public string $bookmark = '';

    /** @var array<string, int> the last number, by place: the queue, or a shard */
    private array $numbers = [];
    private bool $fromNow;
    private bool $follows; // what is not there is missed

    /** @internal */
    public function __construct(private string $queue, string $after, private int $limit)
    {
        Client::checkQueue($queue);
        $this->fromNow = $after === 'now';
        $this->follows = $after !== '' && !$this->fromNow;
        if ($limit < 1 || $limit > Bounds::ENDS_MAX || $this->follows && !preg_match(self::BOOKMARK, $after)) {
            throw new \InvalidArgumentException('after: a bookmark, now or nothing; limit: from 1 to ' . Bounds::ENDS_MAX);
        }
        foreach ($this->follows ? explode(' ', $after) : [] as $word) {
            [$place, $number] = explode(':', $word);
            if (explode('/', $place)[0] !== $queue) {
                throw new \InvalidArgumentException("after: the bookmark is of another queue: $place");
            }
            $this->numbers[$place] = (int) $number;
        }
    }

    /** @internal Waits for the first ones, if there are none */
    public function read(Client $client, float $seconds): self
    {
        $until = microtime(true) + $seconds;
        $places = $client->places($this->queue);
        while (true) {
            foreach ($places as $place) {
                $this->readFrom($client, $place, (int) ceil($this->limit / count($places)));
            }
            $left = $until - microtime(true);
            if ($this->ends || $this->fromNow || $left <= 0) {
                return $this->told();
            }
            usleep((int) (1e6 * min(0.2, $left)));
        }
    }

    private function readFrom(Client $client, string $place, int $share): void
    {
        $key = $client->key($place, 'events');
        $taken = 0;
        while ($taken < $share && !$this->fromNow) {
            $entries = $client->ask($place, 'XRANGE', $key, $this->last($place) + 1, '+', 'COUNT', self::ENTRIES);
            $taken += $this->take($place, $entries, $share - $taken);
            if (count($entries) < self::ENTRIES) {
                break;
            }
        }
        if ($taken > 0 || !$this->fromNow && $this->last($place) === 0) {
            return;
        }
        $number = (int) ($client->ask($place, 'XREVRANGE', $key, '+', '-', 'COUNT', '1')[0][0] ?? 0);
        if ($this->fromNow) {
            $this->numbers[$place] = $number;
        } elseif ($number < $this->last($place)) {
            [$this->numbers[$place], $this->missed] = [0, null];
            $this->readFrom($client, $place, $share);
        }
    }

    /** Takes what it has not told of yet, and returns how many ends. */
    private function take(string $place, array $entries, int $share): int
    {
        $taken = 0;
        foreach ($entries as [$id, $words]) {
            [$number, $micro] = explode('-', $id);
            $fields = array_column(array_chunk($words, 2), 1, 0);
            $lines = explode("\n", $fields['ends'] ?? '');
            $n = (int) $number - count($lines);
            if ($this->follows && $this->missed !== null) {
                $this->missed += max(0, $n - $this->last($place));
            }
            foreach ($lines as $line) {
                if ($taken === $share) {
                    return $taken;
                }
                if (++$n > $this->last($place)) {
                    $taken++;
                    $this->numbers[$place] = $n;
                    $this->tell($line, $micro / 1e6, $fields['host'] ?? '');
                }
            }
        }
        return $taken;
    }

    private function tell(string $line, float $at, string $host): void
    {
        $said = json_decode($line, true);
        if (isset($said['id'], $said['ending'], $said['state'])) { // else another program wrote it
            $this->ends[] = new End($this->queue, $said['id'], $said['type'] ?? null, $said['ending'], $said['state'], $at,
                $host, $said['kind'] ?? null, $said['attempt'] ?? null, $said['ms'] ?? null, $said['waited'] ?? null);
        }
    }

    private function last(string $place): int
    {
        return $this->numbers[$place] ??= 0;
    }

    /** @internal of a fake, which has all ends of the queue @param End[] $ends */
    public function tellOf(array $ends): self
    {
        $last = $this->last($this->queue);
        $this->ends = $this->fromNow ? [] : array_slice($ends, $last, $this->limit);
        $this->numbers[$this->queue] = $this->fromNow ? count($ends) : $last + count($this->ends);
        return $this->told();
    }

    private function told(): self
    {
        usort($this->ends, fn ($a, $b) => $a->at <=> $b->at);
        ksort($this->numbers);
        $words = array_map(fn ($place) => "$place:{$this->numbers[$place]}", array_keys($this->numbers));
        $this->bookmark = implode(' ', $words);
        return $this;
    }
}
