<?php

// PerformCommand.php: artisan laterd:perform: performs Laravel's jobs under laterd.

namespace Laterd\Laravel;

use Illuminate\Console\Command;
use Illuminate\Contracts\Debug\ExceptionHandler;
use Illuminate\Queue\Events\JobExceptionOccurred;
use Illuminate\Queue\Events\JobFailed;
use Illuminate\Queue\Events\Looping;
use Illuminate\Queue\Worker;
use Illuminate\Queue\WorkerOptions;
use Illuminate\Support\Facades\Facade;
use Laterd\Handlers;
use Laterd\Job;
use Laterd\ReturnJob;
use Laterd\TimeIsUp;

/**
 * The program of laterd's plugin exec that performs Laravel's jobs, with Laravel's own Worker
 * class:
 *
 *     laravel = { argv = ( "/usr/bin/php", "/srv/app/artisan", "laterd:perform" ); lines = true; dir = "/srv/app"; };
 */
class PerformCommand extends Command
{
    private const PAUSE = 10.0; // seconds, while the application is down for maintenance or its queue paused

    protected $signature = 'laterd:perform
        {connection=laterd : The queue connection, for its jobs and events}
        {--tries=1 : Attempts of a job that does not say; 0: any number}
        {--backoff=0 : Seconds before the next attempt of a job that does not say; or a list, 1,10,60}
        {--memory=128 : Ends when it has grown beyond so many MiB}
        {--max-jobs=0 : Ends after so many jobs}
        {--force : Performs in maintenance mode, too}';
    protected $description = "Perform jobs that laterd hands over (a program of its plugin exec)";

    public function handle(): int
    {
        $app = $this->laravel;
        $worker = $app['queue.worker'];
        $worker->setName('default');
        if ($app->bound('cache')) {
            $worker->setCache($app['cache']->driver());
        }
        $this->listen();
        $begun = $this->restartedAt();
        (new Handlers())
            ->on('*', fn (Job $job) => $this->perform($worker, $job))
            ->run((int) $this->option('max-jobs'), (int) $this->option('memory') << 20,
                fn () => $this->restartedAt() === $begun);
        return 0;
    }

    /** What Laravel's worker does by its command queue:work and its alarm: here it has neither. */
    private function listen(): void
    {
        $this->laravel['events']->listen(JobExceptionOccurred::class, function ($event): void {
            if ($event->exception instanceof TimeIsUp && $event->job->shouldFailOnTimeout()) {
                $event->job->fail($event->exception);
            }
        });
        $this->laravel['events']->listen(JobFailed::class, function ($event): void {
            $this->laravel['queue.failer']->log($event->connectionName, $event->job->getQueue(),
                $event->job->getRawBody(), $event->exception);
        });
    }

    private function perform(Worker $worker, Job $job): void
    {
        $name = $this->argument('connection');
        $this->maybe($name, $job->queue);
        $outcome = new Outcome();
        $laravels = new LaterdJob($this->laravel, $outcome, json_encode($job->payloadObject()), $job->attempt,
            $job->id, $name, $job->queue);
        $options = new WorkerOptions('default', $this->option('backoff'), (int) $this->option('memory'), 0, 0,
            (int) $this->option('tries'), (bool) $this->option('force'));
        $this->reset();
        $cause = null;
        try {
            $worker->process($name, $laravels, $options);
        } catch (\Throwable $e) {
            $cause = $e;
            $this->laravel[ExceptionHandler::class]->report($e);
        }
        $outcome->tell($cause);
    }

    /** If the application is down for maintenance, its queue is paused (queue:pause of Laravel 12), or one of its
     * listeners says no, the job is returned. That is no attempt. */
    private function maybe(string $name, string $queue): void
    {
        if (!$this->option('force') && $this->laravel->isDownForMaintenance()) {
            throw new ReturnJob('the application is down for maintenance', in: self::PAUSE);
        }
        $manager = $this->laravel['queue'];
        if (method_exists($manager, 'isPaused') && $manager->isPaused($name, $queue)) {
            throw new ReturnJob('the queue is paused: artisan queue:continue', in: self::PAUSE);
        }
        if ($this->laravel['events']->until(new Looping($name, $queue)) === false) {
            throw new ReturnJob('a listener of Looping said no', in: 1);
        }
    }

    /** Does what Laravel's worker does between two jobs. */
    private function reset(): void
    {
        if (method_exists($this->laravel, 'forgetScopedInstances')) {
            $this->laravel->forgetScopedInstances();
        }
        Facade::clearResolvedInstances();
    }

    /** The time that `queue:restart` sets. */
    private function restartedAt(): mixed
    {
        return $this->laravel->bound('cache') ? $this->laravel['cache']->driver()->get('illuminate:queue:restart') : null;
    }
}
