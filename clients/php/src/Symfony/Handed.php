<?php

// Handed.php: the jobs that a laterd hands to a program of Symfony Messenger.

namespace Laterd\Symfony;

use Laterd\Handlers;
use Laterd\Job;
use Laterd\Lines;
use Laterd\Settlement;

/** The jobs that a laterd hands to this program, one at a time; it hears of the end of the one that is under way. */
final class Handed implements Settlement
{
    private \Generator $jobs;

    public function __construct()
    {
        $this->jobs = (new Handlers())->on('*', fn (Job $job) => null)->handed();
    }

    /** Is this a program of laterd's plugin exec? */
    public static function here(): bool
    {
        return (bool) getenv('LATER_ANSWERS');
    }

    /** Waits for the next job. Ends the program when there will be none.
     *
     * @return array{string, mixed, Settlement} its id, its payload, and who hears of its end */
    public function next(): array
    {
        if ($this->jobs->current() === null) {
            $this->jobs->next();
        }
        $job = $this->jobs->current() ?? exit(0);
        return [$job->id, $job->payload, $this];
    }

    public function done(): void
    {
        $this->jobs->send(['result' => 'done']);
    }

    public function retry(float $in, string $why): void
    {
        $this->jobs->send(['result' => 'retry', 'error' => Lines::text($why, Lines::ERROR_MAX), 'in' => $in]);
    }

    public function bury(string $why): void
    {
        $this->jobs->send(['result' => 'bury', 'error' => Lines::text($why, Lines::ERROR_MAX)]);
    }
}
