<?php

namespace Laterd;

/** A job that is in Redis. */
final class KnownJob
{
    public int $attempts;
    public int $priority;
    /** @var ?array why it failed last: at, attempt, kind, text, host */
    public ?array $error;

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
        $this->error = isset($noted['e']) ? json_decode($noted['e'], true) : null;
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
