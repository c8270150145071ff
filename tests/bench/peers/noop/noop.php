<?php

// noop.php: a program of handlers that do nothing. $CLIENT: clients/php.
require $_SERVER['CLIENT'] . '/autoload.php';

$handlers = new Laterd\Handlers();
$handlers->on('null', function (Laterd\Job $job): void {
});
$handlers->run();
