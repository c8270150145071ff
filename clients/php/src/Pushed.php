<?php

// Pushed.php: what became of a push: pushed, replaced, again, exists, full.

namespace Laterd;

/** What became of a job that was pushed. */
final class Pushed
{
    /**
     * @param string $result `pushed`, `replaced`, `again` (one of this id runs, and this one is pushed when
     * it ends), `exists`, or `full` (only in QueueFull)
     * @param string $state of a job that exists: `ready`, `delayed`, `reserved`, `dead`, `ended`
     */
    public function __construct(
        public string $id,
        public string $queue,
        public string $result,
        public string $state = '',
    ) {
    }

    /** @internal what an answer of a script that pushes means */
    public static function of(string $id, string $queue, string $answer): self
    {
        [$word, $state] = explode(' ', "$answer ");
        return match ($word) {
            'WAITING' => new self($id, $queue, 'pushed', 'waiting'),
            'PUSHED', 'REPLACED', 'AGAIN', 'EXISTS', 'FULL' => new self($id, $queue, strtolower($word), $state),
            default => throw WrongProtocol::answered($answer),
        };
    }

    /** Is it a new job? If not, a job of this id existed, and nothing was changed. */
    public function isNew(): bool
    {
        return in_array($this->result, ['pushed', 'replaced', 'again'], true);
    }

    /** Has a job of this id failed for good? Then nothing runs until it is kicked. */
    public function isDead(): bool
    {
        return $this->state === 'dead';
    }
}
