<?php

// Job.php: a job as its handler is given it: payload, progress, checkpoint, cancelled.

namespace Laterd;

/** A job that is being performed. */
final class Job
{
    public readonly string $id;
    public readonly string $type;
    public readonly string $queue;
    public readonly int $attempt; // counts from 1
    public readonly int $maxAttempts;
    public readonly ?string $token;
    public readonly ?string $trace;
    /** For a job with `lock`: the fencing number. Whatever the lock protects should refuse a lower
     * one. */
    public readonly ?int $lockFence;
    /** The payload as it was pushed, with objects as arrays; a hook may open what middleware has sealed. */
    public mixed $payload;
    public readonly array $document;
    /** What middleware has carried along. */
    public readonly array $context;
    /** What the steps that it has waited for gave back, by step; null for one that gave nothing. */
    public readonly array $values;
    /** If it has waited for all others (`*`): the flow's name, its counts, and `failed`. */
    public readonly ?array $flow;
    /** The checkpoint that an earlier attempt has left; null if there is none. */
    public readonly mixed $resumes;
    private bool $left = false;  // it has left a checkpoint
    private bool $knows = false; // it has been told that laterd stops
    private float $end;

    /** @param string $line as laterd writes it */
    public function __construct(private string $line, private Lines $lines)
    {
        $job = json_decode($line, true, 512, JSON_THROW_ON_ERROR);
        $this->id = $job['id'];
        $this->type = $job['type'];
        $this->queue = $job['queue'] ?? 'default';
        $this->attempt = $job['attempt'] ?? 1;
        $this->maxAttempts = $job['max_attempts'] ?? 25;
        $this->token = $job['token'] ?? null;
        $this->trace = $job['trace'] ?? null;
        $this->lockFence = $job['lock_fence'] ?? null;
        $this->values = $job['values'] ?? [];
        $this->flow = $job['flow'] ?? null;
        $this->resumes = $job['checkpoint'] ?? null;
        $this->document = $job['document'];
        $this->payload = $job['document']['payload'] ?? null;
        $this->context = $job['document']['context'] ?? [];
        $this->end = Away::now() + ($job['time_left'] ?? 300);
    }

    /** Returns the seconds until TimeIsUp. */
    public function timeLeft(): float
    {
        return $this->end - Away::now();
    }

    /** Has the job been cancelled? A long job should ask now and then, and give up. */
    public function cancelled(): bool
    {
        return $this->lines->isTold('cancel', $this->id);
    }

    /**
     * Does laterd stop, as at a deploy? A function that has seen this, has left a checkpoint and returns null goes
     * on in another laterd at once, and has not used up an attempt.
     */
    public function stopping(): bool
    {
        return $this->knows = $this->lines->isTold('stopping', $this->id);
    }

    /**
     * Leaves a checkpoint, any JSON up to 64 KiB: the next attempt finds the last one in $resumes, whatever ends
     * this one.
     */
    public function checkpoint(mixed $state): void
    {
        $this->lines->checkpoint($this->id, $state);
        $this->left = true;
    }

    /** @internal Returns the value of its function, or throws if the attempt is to go on elsewhere. */
    public function end(mixed $value): mixed
    {
        return $value === null && $this->knows && $this->left ? throw new GoesOn() : $value;
    }

    public function progress(float $done, float $total, string $text = ''): void
    {
        $this->lines->write(['id' => $this->id, 'progress' => ['done' => $done, 'total' => $total, 'text' => Lines::text($text)]]);
    }

    /** @param string $level `error`, `warn`, `info` or `debug` */
    public function log(string $level, string $text): void
    {
        $this->lines->write(['log' => $level, 'text' => Lines::text($text), 'id' => $this->id]);
    }

    /** Returns the payload with objects, for when {} and [] must be told apart. */
    public function payloadObject(): mixed
    {
        return json_decode($this->line, false, 512, JSON_THROW_ON_ERROR)->document->payload ?? null;
    }
}
