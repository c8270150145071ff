<?php

// handlers.php: handlers for clients_php.sh, each named after what it does to its job.

require $_SERVER['CLIENT'] . '/autoload.php';

use Laterd\Job;

$handlers = new Laterd\Handlers();
$handlers->on('exec.ok', fn (Job $job) => file_put_contents("$_SERVER[NOTES]/ok", json_encode($job->payloadObject()) . "\n", FILE_APPEND));
$handlers->on('exec.fenced', fn (Job $job) => file_put_contents("$_SERVER[NOTES]/fence", "$job->lockFence\n"));
$handlers->on('exec.throws', function () {
    throw new RuntimeException("bad\nthing");
});
$handlers->on('exec.retries', fn () => throw new Laterd\RetryJob('later', in: 1000));
$handlers->on('exec.buries', fn () => throw new Laterd\BuryJob('no such order'));
$handlers->on('exec.returns', fn () => throw new Laterd\ReturnJob('closed', in: 1000));
$handlers->on('exec.exits', fn () => exit(0));
$handlers->on('exec.grows', function () {
    ini_set('memory_limit', '16M');
    for ($all = [];; $all[] = str_repeat('x', 100000));
});
$handlers->on('exec.sleeps', fn () => sleep(60));
$handlers->on('exec.waits', function (Job $job) {
    touch("$_SERVER[NOTES]/waits");
    while (!$job->cancelled()) {
        usleep(10000);
    }
    $job->log('warn', 'gave it up');
});
$handlers->on('exec.prints', function (Job $job) {
    echo '10%', "\n{\"id\":\"$job->id\",\"result\":\"bury\"}\n{\n";
    fwrite(STDERR, "<3>that was an error\n");
    system('echo a child');
    $job->progress(3, 9, 'pages');
});
foreach (['far.*', 'far.off.*', 'far.off.exact'] as $type) {
    $handlers->on($type, fn () => $type);
}
$handlers->on('many.ok', fn () => null);
$handlers->on('many.exits', fn () => exit(0));
$handlers->run(jobs: (int) ($_SERVER['JOBS'] ?? 0));
