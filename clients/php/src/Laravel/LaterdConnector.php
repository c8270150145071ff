<?php

// LaterdConnector.php: the connection `laterd` of Laravel's config/queue.php, with its members.

namespace Laterd\Laravel;

use Illuminate\Contracts\Container\Container;
use Illuminate\Queue\Connectors\ConnectorInterface;
use Laterd\Client;

/**
 * A connection of config/queue.php. All members may be missing:
 *
 *     'laterd' => [
 *         'driver' => 'laterd',
 *         'url' => env('LATER_REDIS_URL'),  // or 'connection' => 'default', one of config/database.php
 *         'password' => env('LATER_REDIS_PASSWORD'),
 *         'prefix' => 'later',              // laterd's option redis.prefix
 *         'type' => 'exec.laravel',         // of the jobs: the program that performs them
 *         'queue' => 'default',
 *         'retry_after' => 60,              // seconds that Laravel's own queue:work has a job, and ...
 *         'block_for' => null,              // ... the seconds for which it waits in Redis
 *         'after_commit' => false,
 *     ],
 */
class LaterdConnector implements ConnectorInterface
{
    public function __construct(private Container $app)
    {
    }

    public function connect(array $config)
    {
        return new LaterdQueue(
            $this->client($config),
            $config['queue'] ?? 'default',
            $config['type'] ?? 'exec.laravel',
            array_key_exists('retry_after', $config) ? $config['retry_after'] : 60,
            $config['block_for'] ?? null,
            $config['after_commit'] ?? false,
        );
    }

    private function client(array $config): Client
    {
        $prefix = $config['prefix'] ?? 'later';
        $name = $config['connection'] ?? null;
        return $name === null
            ? Client::connect($config['url'] ?? null, $config['password'] ?? null, $prefix)
            : new Client(fn () => $this->app->make('redis')->connection($name)->client(), $prefix);
    }
}
