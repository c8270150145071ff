<?php

// QueueFull.php: the error when a queue has as many jobs as queues.max_jobs allows.

namespace Laterd;

/** The queue has as many jobs as laterd's option queues.max_jobs allows: try again later. */
final class QueueFull extends Error
{
    /** @param Pushed[] $answers of all jobs of the call, in their order; those without room have the
     * result `full` */
    public function __construct(string $queue, public array $answers)
    {
        parent::__construct("the queue $queue is full");
    }
}
