<?php

// Pushing.php: what a client and a fake have in common: hooks before and after a push, map(), call(), waitMany().

namespace Laterd;

/** What a client and a fake have in common. */
trait Pushing
{
    /** @var \Closure[] */
    private array $before = [];
    /** @var \Closure[] */
    private array $after = [];

    /**
     * Each job that is pushed is given to the function, which returns the job to push.
     *
     *     $later->beforePush(fn (NewJob $job) => $job->with(['context' => ['tenant' => tenant()] + $job->context]));
     *
     * @param callable(NewJob): NewJob $change
     */
    public function beforePush(callable $change): static
    {
        $this->before[] = $change(...);
        return $this;
    }

    /**
     * The function is told of each job that was pushed, and what became of it. After an error it is not called.
     *
     * @param callable(NewJob, Pushed): mixed $tell
     */
    public function afterPush(callable $tell): static
    {
        $this->after[] = $tell(...);
        return $this;
    }

    /**
     * Pushes a job for each item, as they come from wherever they are: a call for 200 of them, and no more in memory.
     * The same call again pushes what is missing, if it is a flow, or `unique`.
     *
     * @param ?int $chunk so many items are the payload of a job, as a list
     * @param ?string $flow the jobs are a flow of this name, for whose end then, finally and failed wait, as of
     * Flow::batch()
     * @param $options of NewJob, by their names
     */
    public function map(string $type, iterable $items, string $queue = 'default', ?int $chunk = null, ?string $flow = null,
        ?NewJob $then = null, ?NewJob $finally = null, ?NewJob $failed = null, mixed ...$options): Mapped
    {
        $wrong = match (true) {
            isset($options['id']) || isset($options['step']) => 'map: each job has an id of its own; unique makes one',
            $chunk !== null && $chunk < 1 => "chunk: a whole number from 1: $chunk",
            $flow === null && ($then ?? $finally ?? $failed) !== null => 'then, finally and failed: go with flow',
            default => null,
        };
        if ($wrong !== null) {
            throw new \InvalidArgumentException($wrong);
        }
        [$told, $number] = [new Mapped(), 0];
        // In a flow they have the ids that flow() would give them, so that the same again is the same.
        $inFlow = function (NewJob $job) use ($flow, $queue, &$number) {
            return $job->inFlow($flow, ++$number, $queue);
        };
        foreach (Mapped::chunks($chunk === null ? $items : Mapped::chunks($items, $chunk), 200) as $part) {
            $jobs = array_map(fn ($payload) => new NewJob($type, $payload, ...$options), $part);
            $told->count($flow === null ? $this->pushMany($jobs, $queue)
                : $this->flow($flow, array_map($inFlow, $jobs), $queue, true));
        }
        if ($flow !== null) {
            $told->count($this->flow($flow, array_map($inFlow, Flow::batch([], $then, $finally, $failed)), $queue));
        }
        return $told;
    }

    /** Pushes one job and waits for its end: see wait(). If that returns null, the job goes on. */
    public function call(string $type, mixed $payload = null, string $queue = 'default', float $seconds = 60): ?Result
    {
        $kept = 60; // seconds, after the caller has given up
        return $this->wait($this->push($type, $payload, $queue, result: $seconds + $kept)->id, $queue, $seconds);
    }

    /**
     * Waits for the ends of up to 1,000 jobs that were pushed with `result`, which should last at least as long
     * as this time.
     *
     * @param string[] $ids
     * @return (?Result)[] in their order; null: it has not ended in that time
     */
    public function waitMany(array $ids, string $queue = 'default', float $seconds = 60): array
    {
        if (count($ids) < 1 || count($ids) > Bounds::WAITED_MAX) {
            throw new \InvalidArgumentException('ids: 1 to ' . Bounds::WAITED_MAX);
        }
        $end = Away::now() + $seconds;
        return array_map(fn ($id) => $this->wait($id, $queue, max(0, $end - Away::now())), array_values($ids));
    }

    private function told(NewJob $job, Pushed $pushed): Pushed
    {
        foreach ($this->after as $tell) {
            $tell($job, $pushed);
        }
        return $pushed;
    }

    /** Those of pushMany(), which takes no jobs of flows. */
    private function changedMany(array $jobs): array
    {
        $jobs = array_map($this->changed(...), array_values($jobs));
        if (array_filter($jobs, fn ($job) => $job->flow !== null)) {
            throw new \InvalidArgumentException('flow: not here; flow() pushes many jobs of a flow, push() one');
        }
        return $jobs;
    }

    /** That of push(), which has its own word for the queue. */
    private function changedOne(NewJob $job): NewJob
    {
        $job = $this->changed($job);
        if ($job->queue !== null) {
            throw new \InvalidArgumentException('queue: for the jobs of pushMany() and flow()');
        }
        return $job;
    }

    private function changed(NewJob $job): NewJob
    {
        return array_reduce($this->before, fn ($one, $change) => $change($one), $job);
    }
}
