<?php

// Performs jobs of the type @NAME@. By hand: php handler.php @NAME@ '{"name":"world"}'
require '@DATA@/clients/php/autoload.php'; // or Composer's, if it has installed laterd

$handlers = new Laterd\Handlers();

$handlers->on('@NAME@', function (Laterd\Job $job): array {
    if (!isset($job->payload['name'])) {
        throw new Laterd\BuryJob('payload.name is missing'); // dead at once; any other exception is a retry
    }
    $job->log('info', "attempt $job->attempt of $job->maxAttempts");
    return ['greeting' => "hello, {$job->payload['name']}"]; // for callers that wait for the result
});

$handlers->run();
