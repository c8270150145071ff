<?php

// LaterdQueue.php: Laravel's queue in laterd: push, later, bulk, pop, size.

namespace Laterd\Laravel;

use Illuminate\Contracts\Queue\ClearableQueue;
use Illuminate\Contracts\Queue\Queue as QueueContract;
use Illuminate\Queue\Queue;
use Laterd\Client;
use Laterd\Json;
use Laterd\NewJob;
use Laterd\Pushed;
use Laterd\Reserver;

/**
 * Laravel's queue in laterd. A job's document has Laravel's payload as its payload and Laravel's
 * uuid as its id.
 */
class LaterdQueue extends Queue implements QueueContract, ClearableQueue
{
    private const ATTEMPTS_MAX = 1000000;
    private const FOR_EVER = 1e9;

    /** What the latest payload was encoded from, so that it need not be decoded again. */
    private array $members = [];

    public function __construct(
        private Client $later,
        private string $default,
        private string $type,
        private ?float $retryAfter = 60,
        private ?float $blockFor = null,
        $dispatchAfterCommit = false,
    ) {
        $this->dispatchAfterCommit = $dispatchAfterCommit;
    }

    public function getClient(): Client
    {
        return $this->later;
    }

    /** Counts ready, delayed and reserved jobs. */
    public function size($queue = null)
    {
        $size = $this->later->size($this->getQueue($queue));
        return $size->ready + $size->delayed + $size->reserved;
    }

    public function pendingSize($queue = null)
    {
        return $this->later->size($this->getQueue($queue))->ready;
    }

    public function delayedSize($queue = null)
    {
        return $this->later->size($this->getQueue($queue))->delayed;
    }

    public function reservedSize($queue = null)
    {
        return $this->later->size($this->getQueue($queue))->reserved;
    }

    /** Since when the oldest ready job has waited: a delayed one, since it was due. UNIX seconds, or null. */
    public function creationTimeOfOldestPendingJob($queue = null)
    {
        $waited = $this->later->size($this->getQueue($queue))->oldestReady;
        return $waited === null ? null : (int) (microtime(true) - $waited);
    }

    public function push($job, $data = '', $queue = null)
    {
        return $this->later(null, $job, $data, $queue);
    }

    public function later($delay, $job, $data = '', $queue = null)
    {
        $payload = $this->createPayload($job, $this->getQueue($queue), $data, $delay);
        $options = ['members' => $this->members];
        return $this->enqueueUsing(
            $job,
            $payload,
            $queue,
            $delay,
            fn ($payload, $queue, $delay) => $this->pushRaw($payload, $queue, $options + ['delay' => $delay]),
        );
    }

    public function pushRaw($payload, $queue = null, array $options = [])
    {
        $queue = $this->getQueue($queue);
        $job = $this->newJob($payload, $options['delay'] ?? 0, $options['members'] ?? null);
        return $this->idOf($job, $this->later->push($job, queue: $queue), $queue);
    }

    /** All jobs go in one call, except those that wait for a transaction. */
    public function bulk($jobs, $data = '', $queue = null)
    {
        $new = $told = [];
        foreach ((array) $jobs as $job) {
            $delay = $this->delayOf($job);
            if ($this->shouldDispatchAfterCommit($job)) {
                $this->later($delay, $job, $data, $queue);
                continue;
            }
            $payload = $this->createPayload($job, $this->getQueue($queue), $data, $delay);
            $new[] = $this->newJob($payload, $delay, $this->members);
            $told[] = compact('queue', 'job', 'payload', 'delay');
            $this->raise('raiseJobQueueingEvent', end($told));
        }
        foreach ($this->pushJobs($new, $this->getQueue($queue)) as $i => $jobId) {
            $this->raise('raiseJobQueuedEvent', $told[$i] + compact('jobId'));
        }
    }

    /** Laravel 13 has an attribute for it, too. */
    private function delayOf($job): mixed
    {
        return !is_object($job) ? null : (method_exists($this, 'getAttributeValue')
            ? $this->getAttributeValue($job, \Illuminate\Queue\Attributes\Delay::class, 'delay') : $job->delay ?? null);
    }

    /** Raises an event, if this Laravel has it. What it is told is another thing in each version, so it goes by
     * the names of the parameters. */
    private function raise(string $event, array $told): void
    {
        if (method_exists($this, $event)) {
            $asked = (new \ReflectionMethod($this, $event))->getParameters();
            $this->$event(...array_map(fn ($one) => $told[$one->getName()], $asked));
        }
    }

    /** Used by Laravel's own `queue:work`. laterd hands jobs to `laterd:perform` instead. */
    public function pop($queue = null)
    {
        $reserver = new Reserver($this->later);
        $name = $this->getQueue($queue);
        $lease = $this->retryAfter ?? self::FOR_EVER;
        $reserver->migrate($name);
        $reserved = $reserver->reserve($name, $lease)[0] ?? null;
        if (!$reserved && $this->blockFor !== null && $reserver->wait($name, $this->blockFor)) {
            $reserved = $reserver->reserve($name, $lease)[0] ?? null;
        }
        return $reserved ? new LaterdJob(
            $this->container,
            $reserved,
            json_encode(json_decode($reserved->document)->payload),
            $reserved->attempt,
            $reserved->id,
            $this->connectionName ?? '',
            $queue ?: $this->default,
        ) : null;
    }

    /** Drops ready and delayed jobs. A running job belongs to a worker, so it stays. */
    public function clear($queue)
    {
        return $this->later->purge($this->getQueue($queue));
    }

    /** Laravel puts names of Redis queues on a Cluster into braces. They are removed here. Laravel 13 takes a case of
     * an enum, and may have a queue forwarded to another. */
    public function getQueue($queue)
    {
        if ($queue instanceof \UnitEnum) {
            $queue = $queue instanceof \BackedEnum ? $queue->value : $queue->name;
        }
        $name = preg_replace('/^\{(.*)\}$/', '$1', $queue ?: $this->default);
        return method_exists($this, 'resolveQueue') ? $this->resolveQueue($name) : $name;
    }

    /**
     * Turns a payload of Laravel's, of this connection or another, into a job of laterd's.
     *
     * @param ?array $members what it was encoded from, if known
     */
    public function newJob(string $payload, $delay = 0, ?array $members = null): NewJob
    {
        $members ??= json_decode($payload, true);
        if (!is_array($members)) {
            throw new \InvalidArgumentException('no payload of Laravel\'s: ' . json_last_error_msg());
        }
        $at = $delay instanceof \DateTimeInterface;
        $name = $members['displayName'] ?? null;
        return new NewJob(
            $this->type,
            new Json($payload, check: false),
            $members['uuid'] ?? $members['id'] ?? null,
            in: $delay && !$at ? max(0, $this->secondsUntil($delay)) : 0,
            at: $at ? $delay : null,
            maxAttempts: $this->maxAttempts($members),
            timeout: $members['timeout'] ?? null ?: null,
            description: is_string($name) ? NewJob::describe($name) : null, // its class: the type of all is one
        );
    }

    /**
     * This is one more than Laravel's tries, so that Laravel gives up first and calls failed(). If
     * the worker's options or a time limit say how often, laterd does not count.
     */
    private function maxAttempts(array $members): int
    {
        $tries = $members['maxTries'] ?? 0;
        return $tries > 0 && empty($members['retryUntil'])
            ? max(1, $tries + 1 - ($members['attempts'] ?? 0))
            : self::ATTEMPTS_MAX;
    }

    /** @return string[] their ids */
    public function pushJobs(array $jobs, string $queue): array
    {
        return array_map(fn ($job, $pushed) => $this->idOf($job, $pushed, $queue), $jobs,
            $this->later->pushMany($jobs, $queue));
    }

    /**
     * A job that failed for good and is pushed again, as by queue:retry, takes the place of the dead
     * one. It is not kicked, since the new payload has a new `retryUntil` and no `attempts`: with the
     * old ones Laravel would fail it at once. Until it is pushed, it is among Laravel's failed jobs.
     */
    private function idOf(NewJob $job, Pushed $pushed, string $queue): string
    {
        if ($pushed->isDead()) {
            $this->later->cancel($pushed->id, $queue);
            $this->later->push($job, queue: $queue);
        }
        return $pushed->id;
    }

    protected function createPayloadArray($job, $queue, $data = '')
    {
        return $this->members = ['attempts' => 0] + parent::createPayloadArray($job, $queue, $data);
    }
}
