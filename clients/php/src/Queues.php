<?php

// Queues.php: the interface of Client and Testing\Fake, for programs that push.

namespace Laterd;

/** What a program needs of a Client: an interface to ask for, so that a test can give it a Testing\Fake. */
interface Queues
{
    public function push(string|NewJob $job, mixed $payload = null, string $queue = 'default', mixed ...$options): Pushed;

    /**
     * @param NewJob[] $jobs
     * @return Pushed[] in their order
     */
    public function pushMany(array $jobs, string $queue = 'default'): array;

    public function map(string $type, iterable $items, string $queue = 'default', ?int $chunk = null, ?string $flow = null,
        ?NewJob $then = null, ?NewJob $finally = null, ?NewJob $failed = null, mixed ...$options): Mapped;

    public function show(string $id, string $queue = 'default'): ?KnownJob;

    public function wait(string $id, string $queue = 'default', float $seconds = 60): ?Result;

    public function call(string $type, mixed $payload = null, string $queue = 'default', float $seconds = 60): ?Result;

    /**
     * @param string[] $ids
     * @return (?Result)[] in their order; null: it has not ended in that time
     */
    public function waitMany(array $ids, string $queue = 'default', float $seconds = 60): array;

    public function kick(string $id, string $queue = 'default'): ?string;

    public function cancel(string $id, string $queue = 'default'): ?string;

    public function reschedule(string $id, string $queue = 'default', ?float $in = null,
        float|\DateTimeInterface|null $at = null, ?int $priority = null): ?string;

    public function forget(string $id, string $queue = 'default'): bool;

    public function size(string $queue = 'default'): Size;

    public function pause(string $queue = 'default', ?float $seconds = null, string $by = ''): bool;

    public function resume(string $queue = 'default'): bool;

    public function cronSet(NewSchedule $schedule, string $queue = 'default'): bool;

    public function cronDelete(string $name, string $queue = 'default'): bool;

    /** @return Schedule[] */
    public function cronList(string $queue = 'default'): array;

    /** @return KnownJob[] */
    public function search(
        string $queue = 'default',
        ?string $state = null,
        ?string $type = null,
        ?string $text = null,
        int $limit = 100,
    ): array;

    public function events(string $queue = 'default', string $after = '', int $limit = 500, float $seconds = 0): Events;

    /**
     * @param NewJob[] $jobs
     * @return Pushed[] in their order
     */
    public function flow(string $name, array $jobs, string $queue = 'default', bool $open = false): array;

    public function showFlow(string $name, string $queue = 'default'): ?Flow;

    public function waitFlow(string $name, string $queue = 'default', float $seconds = 60): ?Flow;

    public function kickFlow(string $name, string $queue = 'default'): int;

    public function cancelFlow(string $name, string $queue = 'default'): int;

    public function closeFlow(string $name, string $queue = 'default'): void;
}
