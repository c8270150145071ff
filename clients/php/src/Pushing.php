<?php

namespace Laterd;

/** What a client and a fake have in common: what is called before and after a push. */
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
