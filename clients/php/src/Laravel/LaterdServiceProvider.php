<?php

// LaterdServiceProvider.php: registers the queue driver and the commands in Laravel.

namespace Laterd\Laravel;

use Illuminate\Support\ServiceProvider;

/** The queue driver `laterd`. QUEUE_CONNECTION=laterd is enough; config/queue.php may set more. */
class LaterdServiceProvider extends ServiceProvider
{
    private const CONNECTION = ['driver' => 'laterd', 'queue' => 'default', 'after_commit' => false];

    public function register(): void
    {
        $config = $this->app['config'];
        $config->set('queue.connections.laterd', $config->get('queue.connections.laterd', []) + self::CONNECTION);
        $this->callAfterResolving('queue', function ($manager): void {
            $manager->addConnector('laterd', fn () => new LaterdConnector($this->app));
        });
    }

    public function boot(): void
    {
        if ($this->app->runningInConsole()) {
            $this->commands([PerformCommand::class, MoveCommand::class]);
        }
    }
}
