<?php

// answers_app.php: handlers for handlers_answers.sh: each does what its job's payload says.

require $_SERVER['CLIENT'] . '/autoload.php';

function made(mixed $what): mixed
{
    if (!is_array($what)) {
        return $what;
    }
    $odd = ['nan' => NAN, 'infinite' => [-INF], 'no JSON' => STDERR, 'half' => "a\xf0b", 'nul' => "a\0b",
        'half and nul' => "a\0b\xf0c"];
    $value = isset($what['odd']) ? $odd[$what['odd']] : $what['json'] ?? null;
    for ($n = 0; $n < ($what['levels'] ?? 0); $n++) {
        $value = $n ? [$value] : [];
    }
    return isset($what['text']) ? str_repeat('x', $what['text']) : $value;
}

function untilStopped(Laterd\Job $job, mixed $what): void
{
    $job->checkpoint($what);
    while (!$job->stopping()) {
        usleep(10000);
    }
}

$handlers = new Laterd\Handlers();
$handlers->on('php.*', function (Laterd\Job $job) {
    file_put_contents($_SERVER['NOTES'], "$job->id $job->type " . getmypid() . " " . microtime(true) . "\n", FILE_APPEND);
    $what = made($job->payload[1] ?? null);
    return $job->resumes ?? match ($job->payload[0]) {
        'checkpoint' => $job->checkpoint($what) ?? throw new RuntimeException('again'),
        'stop' => untilStopped($job, $what),
        'return' => $what,
        'throw' => throw new RuntimeException($what),
        'bury' => throw new Laterd\BuryJob($what),
        'retry' => throw new Laterd\RetryJob($what, INF),
        'exit' => exit(3),
        'print' => printf("printed by %s.\n", $job->id) ? null : null,
        'log' => $job->log('info', "far\0too long" . str_repeat("\x01", 300000)),
        'progress' => $job->progress(NAN, INF, "a\0\xf0b"),
    };
});
$handlers->run();
