<?php

// Task.php: a type whose jobs are pushed by its program: what Handlers::task() returns.

namespace Laterd;

/** A type whose jobs are pushed by its program: what Handlers::task() returns. */
final class Task
{
    /** @internal */
    public function __construct(private Handlers $app, public readonly string $type)
    {
    }

    /** Pushes a job of the type, by $app->queues. The options have the names of those of NewJob. */
    public function later(mixed $payload = null, string $queue = 'default', mixed ...$options): Pushed
    {
        $queues = $this->app->queues ?? throw new \LogicException('later: $app->queues is not set; give it a Client');
        return $queues->push(new NewJob($this->type, $payload, ...$options), null, $queue);
    }
}
