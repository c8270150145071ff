<?php

// Plan.php: a queue that is spread over several: doc/protocol.md, "Shards".

namespace Laterd;

/** Over how many shards a queue is spread: doc/protocol.md, "Shards". */
final class Plan
{
    /** @param int[] $formers former counts, under which jobs may still lie */
    private function __construct(
        public string $epoch = '0',
        private int $count = 1,
        private array $formers = [],
    ) {
    }

    /** @param ?string $text value of the key `shards` of the plain queue; null if it is not
     * spread */
    public static function parse(?string $text): self
    {
        $words = $text ? explode(' ', $text) : [];
        return count($words) < 2 ? new self($words[0] ?? '0')
            : new self($words[0], (int) $words[1], array_map('intval', array_slice($words, 2)));
    }

    /** Returns the places to look for an id, in order. It is pushed to the last one. */
    public function route(string $queue, string $id): array
    {
        $places = array_map(fn ($count) => self::place($queue, $count, $id), $this->formers);
        $last = self::place($queue, $this->count, $id);
        return [...array_diff(array_unique($places), [$last]), $last];
    }

    /** Returns all places of a queue, including those of former counts. */
    public function places(string $queue): array
    {
        $span = max([$this->count, ...$this->formers]);
        return [$queue, ...($span > 1 ? array_map(fn ($i) => "$queue/$i", range(0, $span - 1)) : [])];
    }

    private static function place(string $queue, int $count, string $id): string
    {
        return $count > 1 ? $queue . '/' . self::crc16($id) % $count : $queue;
    }

    /** CRC16/XMODEM, which Redis Cluster uses for slots. */
    public static function crc16(string $bytes): int
    {
        $crc = 0;
        for ($i = 0, $n = strlen($bytes); $i < $n; $i++) {
            $crc ^= ord($bytes[$i]) << 8;
            for ($bit = 0; $bit < 8; $bit++) {
                $crc = ($crc & 0x8000 ? $crc << 1 ^ 0x1021 : $crc << 1) & 0xffff;
            }
        }
        return $crc;
    }
}
