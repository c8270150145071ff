<?php

// Conditions.php: the conditions of search(), and whether a job fits them.

namespace Laterd;

/** What search() looks for; null: any. */
final class Conditions
{
    private const STATES = ['reserved', 'ready', 'delayed', 'dead', 'waiting'];

    public function __construct(
        private ?string $state = null,
        private ?string $type = null,
        private ?string $text = null,
        public readonly int $limit = 100,
    ) {
        if (!in_array($state, [null, 'done', ...self::STATES], true)) {
            throw new \InvalidArgumentException('state: done or one of ' . implode(', ', self::STATES) . ": $state");
        }
        if ($limit < 1 || $limit > Bounds::FOUND_MAX) {
            throw new \InvalidArgumentException('limit: from 1 to ' . Bounds::FOUND_MAX . ": $limit");
        }
        if ($type === '' || $text === '') {
            throw new \InvalidArgumentException('type, text: not empty');
        }
    }

    /** @return string[] those that are looked through; what is done and kept is found only if it is asked for */
    public function states(): array
    {
        return $this->state === null ? self::STATES : [$this->state];
    }

    /** Does the job meet the conditions? Its text is looked for as it is written and without escapes. */
    public function fit(string $document): bool
    {
        $job = json_decode($document); // null: a plain ZADD may be anything
        if ($this->type !== null && !$this->isType($job->type ?? null)) {
            return false;
        }
        return $this->text === null || str_contains($document, $this->text)
            || str_contains((string) json_encode($job, JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES), $this->text);
    }

    private function isType(mixed $type): bool
    {
        return is_string($type) && ($type === $this->type
            || str_ends_with($this->type, '*') && str_starts_with($type, substr($this->type, 0, -1)));
    }
}
