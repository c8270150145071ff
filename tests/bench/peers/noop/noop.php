<?php

// noop.php: a program of handlers that do nothing, and one that tells when it began ($MARKS). $CLIENT: clients/php.
require $_SERVER['CLIENT'] . '/autoload.php';

$marks = fopen($_SERVER['MARKS'], 'a');
stream_set_write_buffer($marks, 0);
$handlers = new Laterd\Handlers();
$handlers->on('null', function (Laterd\Job $job): void {
});
$handlers->on('mark', function (Laterd\Job $job) use ($marks): void {
    $now = hrtime(true);
    fwrite($marks, pack('dd', $job->payload['at'], $now / 1e9));
});
$handlers->run();
