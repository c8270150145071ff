<?php

// Kept.php: a job that was pushed to a Fake.

namespace Laterd\Testing;

use Laterd\KnownJob;
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
    /** the last one that it has left */
    public mixed $checkpoint = null;
    /** pushed with `again` while this one ran */
    public ?Kept $successor = null;
    /** the flow in which it waits, or has waited */
    public ?KeptFlow $home = null;
    /** what ties it to that */
    public NewJob $tie;
    public readonly string $id;
    public readonly string $type;
    public readonly mixed $payload;

    /** what its program says of its type */
    public array $policy = [];

    /** @param $hookOf pushed since the job of this id is dead, or done */
    public function __construct(
        public NewJob $job,
        public readonly string $queue,
        public readonly ?string $hookOf = null,
    ) {
        $this->id = $job->id;
        $this->type = $job->type;
        $this->payload = json_decode($job->document(), true)['payload'] ?? null;
        $this->tie = $job;
        $this->state = $this->due();
    }

    /** Its state when it may run. */
    public function due(?string $when = null): string
    {
        $when ??= explode('!', $this->job->when())[0];
        return $when !== '+0' && str_starts_with($when, '+') || (float) $when > microtime(true) ? 'delayed' : 'ready';
    }

    public function most(): int
    {
        return $this->job->maxAttempts ?? $this->policy['max_attempts'] ?? self::MAX_ATTEMPTS;
    }

    /** The job that tells of its end. */
    public function hook(): ?self
    {
        $dead = $this->state === 'dead';
        if ($this->hookOf !== null || !$dead && $this->state !== 'done') {
            return null;
        }
        $hook = ($dead ? $this->job->onDead : $this->job->onDone) ?? $this->policy["on_$this->state"] ?? null;
        if ($hook === null) {
            return null;
        }
        [$type, $queue] = explode('@', $hook) + [1 => $this->queue];
        $of = strlen($this->id) > 160 ? sha1($this->id) : $this->id;
        $told = ['id' => $this->id, 'type' => $this->type, 'queue' => $this->queue, 'ending' => $this->state,
            'attempts' => $this->attempts, 'error' => $dead ? $this->error : null, 'value' => $dead ? null : $this->value];
        return new self(new NewJob($type, $told, "$of.$this->state." . (int) (microtime(true) * 1e6)), $queue, $this->id);
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

    /** As show() tells it. */
    public function known(): KnownJob
    {
        return new KnownJob($this->id, $this->state, null, $this->record(), $this->job->document());
    }

    /** Its record, as Redis would have it. */
    private function record(): string
    {
        return "a=$this->attempts\np={$this->job->priority}\n"
            . ($this->error ? 'e=' . json_encode($this->error) . "\n" : '')
            . ($this->checkpoint !== null ? 'm=' . json_encode($this->checkpoint) . "\n" : '');
    }
}
