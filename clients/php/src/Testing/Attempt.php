<?php

// Attempt.php: what became of one attempt, as Fake::perform() gives it.

namespace Laterd\Testing;

/** What became of one attempt. */
final class Attempt
{
    /**
     * @param string $result the answer: `done`, `retry` …
     * @param ?float $in seconds until the next one, if the handler said so
     * @param array[] $progress each with done, total and text
     * @param mixed $checkpoint the last one that it has left
     */
    public function __construct(
        public readonly string $result,
        public readonly mixed $value,
        public readonly string $error,
        public readonly ?float $in,
        public readonly array $progress,
        public readonly mixed $checkpoint = null,
    ) {
    }
}
