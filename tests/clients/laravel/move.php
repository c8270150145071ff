<?php

/** move.php COUNT: puts jobs into Laravel's own Redis queue: ready, delayed, and one whose worker is
 * gone. */

$app = require __DIR__ . '/boot.php';
$app->make(Illuminate\Contracts\Console\Kernel::class)->bootstrap();
$queue = $app['queue']->connection('redis');
$queue->push(new Tried('moved-tried'));
for ($i = 0; $i < 2; $i++) {
    $queue->pop()?->release(-1); // each pop of Laravel's counts one
    $queue->migrateExpiredJobs('queues:default:delayed', 'queues:default');
}
$job = $queue->pop();
$app['redis']->connection()->zadd('queues:default:reserved', time() - 10, $job->getReservedJob());
for ($i = 1; $i <= $argv[1]; $i++) {
    $i % 3 ? $queue->push(new Slow("moved-$i")) : $queue->later(2, new Slow("moved-$i"));
}
