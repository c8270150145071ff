<?php

// KnownJob.php: a job that is in Redis, as show() and search() tell of it.

namespace Laterd;

/** A job that is in Redis. */
final class KnownJob
{
    public int $attempts;
    public int $priority;
    /** @var ?array why it failed last: at, attempt, kind, text, host */
    public ?array $error;
    /** @var ?array how far it has come: at, done, total, text; a Fake keeps none */
    public ?array $progress;
    /** where its next attempt goes on; null at its beginning */
    public mixed $checkpoint;
    /** @var ?array what it has logged, if its queue keeps that: dropped, lines; a Fake keeps none */
    public ?array $log;

    /**
     * @param string $state `ready`, `delayed`, `reserved`, `dead`; `done` if it is kept
     * @param ?float $score when it is due, or was buried; null if it is reserved
     */
    public function __construct(
        public string $id,
        public string $state,
        public ?float $score,
        string $record,
        public string $document,
    ) {
        preg_match_all('/^([a-z]+)=(.*)$/m', $record, $lines);
        $noted = array_combine($lines[1], $lines[2]);
        $this->attempts = (int) ($noted['a'] ?? 0);
        $this->priority = (int) ($noted['p'] ?? 0);
        [$this->error, $this->progress, $this->checkpoint, $this->log] = array_map(
            fn ($tag) => isset($noted[$tag]) ? json_decode($noted[$tag], true) : null, ['e', 'g', 'm', 'o']);
    }

    public function type(): ?string
    {
        return json_decode($this->document, true)['type'] ?? null;
    }

    public function payload(): mixed
    {
        return json_decode($this->document, true)['payload'] ?? null;
    }
}
