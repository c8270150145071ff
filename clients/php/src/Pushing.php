<?php

namespace Laterd;

/** What a client and a fake have in common: what is called before a push. */
trait Pushing
{
    /** @var \Closure[] */
    private array $before = [];

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

    private function changed(NewJob $job): NewJob
    {
        return array_reduce($this->before, fn ($one, $change) => $change($one), $job);
    }
}
