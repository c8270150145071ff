<?php

/**
 * laravel.php: no-op jobs on Laravel's own Redis queue: pushes $JOBS, performs them as `queue:work redis --sleep=0`
 * does, prints one row. $REDIS_PORT on 127.0.0.1; $APP: a small application (tests/clients/laravel).
 */

use Illuminate\Queue\Events\JobProcessed;
use Illuminate\Queue\WorkerOptions;

$app = require $_SERVER['APP'] . '/boot.php';
require __DIR__ . '/nothing.php';
$app->make(Illuminate\Contracts\Console\Kernel::class)->bootstrap();
$app['config']->set('database.redis.default', ['host' => '127.0.0.1', 'port' => (int) $_SERVER['REDIS_PORT']]);
$jobs = (int) $_SERVER['JOBS'];
$queue = $app['queue']->connection('redis');
foreach (array_chunk(array_fill(0, $jobs, new Nothing(str_repeat('x', 20))), 1000) as $some) {
    $queue->bulk($some);
}

/** @return float[] seconds of a clock, of Redis's CPU and of our own */
function clocks(): array
{
    global $app;
    $redis = $app['redis']->connection()->info('cpu');
    $own = getrusage();
    return [hrtime(true) / 1e9, $redis['used_cpu_sys'] + $redis['used_cpu_user'],
        $own['ru_utime.tv_sec'] + $own['ru_stime.tv_sec'] + ($own['ru_utime.tv_usec'] + $own['ru_stime.tv_usec']) / 1e6];
}

$left = $jobs;
$before = clocks();
$app['events']->listen(JobProcessed::class, function () use (&$left, $before, $jobs): void {
    if (--$left > 0) {
        return;
    }
    [$seconds, $server, $worker] = array_map(fn ($then, $now) => $now - $then, $before, clocks());
    printf("{\"bench\":\"peer\",\"peer\":\"laravel\",\"jobs\":%d,\"rate\":%.0f,\"server_us\":%.3f,\"worker_us\":%.3f}\n",
        $jobs, $jobs / $seconds, $server / $jobs * 1e6, $worker / $jobs * 1e6);
    exit(0);
});
$app['queue.worker']->daemon('redis', 'default', new WorkerOptions(sleep: 0));
