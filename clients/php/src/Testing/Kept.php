<?php

namespace Laterd\Testing;

use Laterd\NewJob;

/** A job that was pushed to a Fake. */
final class Kept
{
    private const MAX_ATTEMPTS = 25; // as laterd is configured by default

    /** ready, delayed, reserved, dead, waiting; done, cancelled, skipped (not needed in its flow) */
    public string $state;
    public int $attempts = 0;
    public ?array $error = null;
    public mixed $value = null;
    /** pushed with `again` while this one ran */
    public ?Kept $successor = null;
    /** the flow in which it waits, or has waited */
    public ?KeptFlow $home = null;
    /** what ties it to that */
    public NewJob $tie;
    public readonly string $id;
    public readonly string $type;
    public readonly mixed $payload;

    public function __construct(public readonly NewJob $job, public readonly string $queue)
    {
        $this->id = $job->id;
        $this->type = $job->type;
        $this->payload = json_decode($job->document(), true)['payload'] ?? null;
        $this->tie = $job;
        $this->state = $this->due();
    }

    /** Its state when it may run. */
    public function due(): string
    {
        return explode('!', $this->job->when())[0] === '' ? 'ready' : 'delayed';
    }

    public function most(): int
    {
        return $this->job->maxAttempts ?? self::MAX_ATTEMPTS;
    }

    /** Is it in its queue still? */
    public function isThere(): bool
    {
        return !in_array($this->state, ['done', 'cancelled', 'skipped'], true);
    }

    /** May it be performed? */
    public function waits(): bool
    {
        return in_array($this->state, ['ready', 'delayed'], true);
    }

    /** Its record, as Redis would have it. */
    public function record(): string
    {
        return "a=$this->attempts\np={$this->job->priority}\n"
            . ($this->error ? 'e=' . json_encode($this->error) . "\n" : '');
    }
}
