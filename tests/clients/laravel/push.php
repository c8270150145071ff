<?php

/** push.php CLASS...: dispatches one job of each class of jobs.php, named after it; `=SECONDS`
 * delays it. */

$app = require __DIR__ . '/boot.php';
$app->make(Illuminate\Contracts\Console\Kernel::class)->bootstrap();
foreach (array_slice($argv, 1) as $word) {
    [$class, $delay] = explode('=', $word) + [1 => null];
    dispatch((new $class(strtolower($class)))->delay($delay));
}
