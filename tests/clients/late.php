<?php

/** late.php SOCKET LIBRARY: a Redis that answers later than its connection waits. The answers that come then belong to
 * nobody. Prints what the next commands have got. */

require dirname(__DIR__, 2) . '/clients/php/autoload.php';
if ($argv[2] === 'predis') {
    require 'Predis/autoload.php';
    $redis = new Predis\Client(
        ['scheme' => 'unix', 'path' => $argv[1], 'read_write_timeout' => 0.2],
        ['parameters' => ['database' => 3]],
    );
} else {
    $redis = new Redis();
    $redis->connect($argv[1]);
    $redis->setOption(Redis::OPT_READ_TIMEOUT, 0.2);
    $redis->select(3);
}
$redis->set('mine', 'of the application');
$later = new Laterd\Client($redis);
$later->push('x', id: 'first', queue: 'late', in: 100);
$operator = new Redis();
$operator->connect($argv[1]);
$operator->rawCommand('CLIENT', 'PAUSE', '1000', 'ALL');
try {
    $later->push('x', id: 'second', queue: 'late', in: 100);
    $said[] = 'pushed';
} catch (Laterd\Unreachable) {
    $said[] = 'unreachable';
}
$operator->ping(); // when the pause is over
$said[] = $later->push('x', id: "third-$argv[2]", queue: 'late', in: 100)->isNew() ? 'new' : 'known';
$said[] = $later->show("third-$argv[2]", 'late')?->state;
$said[] = $redis->get('mine');
echo json_encode($said), "\n";
