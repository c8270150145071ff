<?php

// queue.php: the connections of Laravel's queue that the test compares: laterd, redis.

return [
    'default' => 'laterd',
    'connections' => [
        'laterd' => ['driver' => 'laterd', 'connection' => 'default'],
        'redis' => ['driver' => 'redis', 'connection' => 'default', 'queue' => 'default', 'retry_after' => 3600],
    ],
    'failed' => ['driver' => 'null'],
];
