<?php

/** wait.php SOCKET LIBRARY: waits for results, which this program leaves as laterd would. Prints
 * what came. */

require dirname(__DIR__, 2) . '/clients/php/autoload.php';
if ($argv[2] === 'predis') {
    require 'Predis/autoload.php';
}
$later = Laterd\Client::connect("unix:$argv[1]", library: $argv[2]);

/** Another process ends the job as laterd would, at once, in this many microseconds. */
function ends(string $id, string $element, int $after): void
{
    global $argv;
    $code = 'usleep((int) $argv[4]); $redis = new Redis(); $redis->connect($argv[1]); $redis->multi();'
        . '$redis->hDel("later:{w}:jobs", $argv[2]); $redis->zRem("later:{w}:delayed", $argv[2]);'
        . '$redis->rPush("later:{w}:result:$argv[2]", $argv[3]); $redis->exec();';
    proc_open([PHP_BINARY, '-r', $code, $argv[1], $id, $element, (string) $after], [], $pipes);
}

$how = "{\"state\":\"done\",\"attempt\":1,\"at\":1}\n";
foreach (['a', 'b', 'c'] as $id) {
    $later->push('x', id: $id, queue: 'w', in: 100, result: 60);
}
$said[] = $later->wait('a', 'w', 0.05);
ends('a', $how . '{"width":640}', 300000);
$said[] = $later->wait('a', 'w', 30)->value;
$said[] = $later->wait('a', 'w', 0)->state;
ends('b', '{"state":"dead","attempt":3,"at":4}' . "\n" . '{"kind":"retry","text":"busy"}', 0);
$said[] = $later->wait('b', 'w', 30)->error['text'];
ends('c', $how . '1', 0);
$said[] = $later->wait('c', 'w', 30)->value;
$later->push('x', id: 'c', queue: 'w', in: 100, result: 60);
$said[] = $later->wait('c', 'w', 0.05);
$said[] = $later->wait('nobody', 'w', 30)->state;
echo json_encode($said), "\n";
