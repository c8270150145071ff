<?php

// Mapped.php: what map() has done: how many jobs were new, and how many were known.

namespace Laterd;

/** What map() has done: how many jobs were new, and how many were known. */
final class Mapped
{
    public int $pushed = 0;
    public int $known = 0;

    /** @internal @param Pushed[] $pushed */
    public function count(array $pushed): void
    {
        $new = count(array_filter($pushed, fn ($one) => $one->isNew()));
        $this->pushed += $new;
        $this->known += count($pushed) - $new;
    }

    /** @internal the items, so many at a time */
    public static function chunks(iterable $items, int $size): \Generator
    {
        $chunk = [];
        foreach ($items as $item) {
            $chunk[] = $item;
            if (count($chunk) === $size) {
                yield $chunk;
                $chunk = [];
            }
        }
        if ($chunk) {
            yield $chunk;
        }
    }
}
