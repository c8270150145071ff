<?php

// Search.php: looks through the sets of a queue, the newest first, a page at a time.

namespace Laterd;

/**
 * Looks through the sets of a queue, the newest first, a page at a time. What moves meanwhile may be missed,
 * but nothing is found twice.
 *
 * @internal
 */
final class Search
{
    private const PAGE = 500;

    /** @var array<string, KnownJob> */
    private array $found = [];
    private int $left = Bounds::LOOKED_MAX;

    public function __construct(private Client $client, private Conditions $conditions)
    {
    }

    /** @return KnownJob[] */
    public function run(string $queue): array
    {
        foreach ($this->client->places($queue) as $place) {
            foreach ($this->conditions->states() as $state) {
                foreach ($this->sets($place, $state) as [$key, $token]) {
                    $this->lookThrough($place, $state, $key, $token);
                }
            }
        }
        return array_values($this->found);
    }

    /** The keys of the sets of a state, each with its token: reserved jobs are under tokens. */
    private function sets(string $place, string $state): array
    {
        $key = $this->client->key($place, $state);
        return $state !== 'reserved' ? [[$key, '']]
            : array_map(fn ($token) => ["$key:$token", $token], $this->client->ask($place, 'ZRANGE', $key, '0', '-1'));
    }

    private function lookThrough(string $place, string $state, string $key, string $token): void
    {
        $end = $this->isOver() ? 0 : (int) $this->client->ask($place, 'ZCARD', $key);
        while ($end > 0 && !$this->isOver()) {
            $begin = max(0, $end - self::PAGE);
            foreach (array_reverse($this->page($place, $state, $token, $begin, $end)) as $member) {
                $this->look($state, $member);
            }
            $end = $begin;
        }
    }

    /** A reply may have fewer than asked: it is bounded in bytes, too. */
    private function page(string $place, string $state, string $token, int $begin, int $end): array
    {
        $page = [];
        while ($begin + count($page) < $end) {
            $args = [$state, $begin + count($page), $end - $begin - count($page)];
            $reply = $this->client->script('peek', $place, $args, ['held' => "reserved:$token"]);
            if (!$reply) {
                break;
            }
            array_push($page, ...array_chunk($reply, 4));
        }
        return $page;
    }

    private function look(string $state, array $member): void
    {
        if ($this->isOver()) {
            return;
        }
        $this->left--;
        [$id, $score, $record, $document] = $member;
        $key = $id !== '' ? $id : '{' . $document;
        if (!isset($this->found[$key]) && $this->conditions->fit($document)) {
            $this->found[$key] = new KnownJob($id, $state, $state === 'reserved' ? null : (float) $score, $record, $document);
        }
    }

    private function isOver(): bool
    {
        return $this->left === 0 || count($this->found) === $this->conditions->limit;
    }
}
