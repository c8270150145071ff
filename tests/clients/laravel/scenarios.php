<?php

/**
 * scenarios.php: asks the connector what Laravel's own tests ask of its Redis queue.
 * They are RedisQueueIntegrationTest, QueueRedisQueueTest and QueueRedisJobTest. Prints `ok NAME`,
 * `no NAME: why` or `differs NAME: how`, one per line.
 */

use Illuminate\Queue\Events\JobQueued;
use Illuminate\Queue\Queue;
use Laterd\Client;
use Laterd\Laravel\LaterdQueue;
use Illuminate\Support\Carbon;

$app = require __DIR__ . '/boot.php';
$app->make(Illuminate\Contracts\Console\Kernel::class)->bootstrap();

$redis = new Redis();
$redis->connect($_SERVER['SOCKET']);
$GLOBALS['redis'] = $redis;

function queue(?float $retryAfter = 60, ?float $blockFor = null): LaterdQueue
{
    global $app, $redis;
    $redis->flushAll();
    $GLOBALS['since'] = microtime(true);
    $queue = new LaterdQueue(new Client(fn () => $app['redis']->connection()->client()), 'default', 'exec.laravel',
        $retryAfter, $blockFor);
    $queue->setContainer($app);
    $queue->setConnectionName('laterd');
    return $queue;
}

function same(mixed $wanted, mixed $got): void
{
    if ($wanted != $got) {
        throw new Exception('got ' . json_encode($got) . ', wanted ' . json_encode($wanted)
            . ' in line ' . debug_backtrace()[0]['line']);
    }
}

/** Is it in this many seconds, counted from some time since the queue was made? Laravel has whole seconds. */
function in(float $seconds, float $got): void
{
    $got > $GLOBALS['since'] + $seconds - 1.01 && $got < microtime(true) + $seconds + 1.01
        or throw new Exception("got $got, wanted about " . ($GLOBALS['since'] + $seconds));
}

/** Names of the jobs that come out. */
function popped(LaterdQueue $queue, int $count): array
{
    return array_map(fn () => name($queue->pop()), range(1, $count));
}

function name(?Illuminate\Contracts\Queue\Job $job): ?string
{
    return $job ? unserialize(json_decode($job->getRawBody())->data->command)->name : null;
}

function score(string $set): float
{
    global $redis;
    return (float) array_values($redis->zRange("later:{default}:$set", 0, 0, true))[0];
}

function size(string $set): int
{
    global $redis;
    return $redis->zCard("later:{default}:$set");
}

/** The payload of the only job. */
function payload(): array
{
    global $redis;
    return json_decode($redis->hVals('later:{default}:jobs')[0], true)['payload'];
}

$scenarios = [
    'expired jobs are popped' => function () {
        $queue = queue();
        $queue->later(1000, new Noted('a'));
        $queue->later(-200, new Noted('b'));
        $queue->later(-300, new Noted('c'));
        $queue->later(-100, new Noted('d'));
        $got = popped($queue, 4);
        same(1, size('delayed'));
        same(['b', 'c', 'd', null], $got);
        return 'what is overdue when it is pushed is ready in the order of the pushes, not of the times';
    },
    'blocking pop' => function () {
        $queue = queue(60, 100);
        $begin = microtime(true);
        $child = proc_open([PHP_BINARY, __DIR__ . '/push.php', 'Noted'], [], $pipes);
        same('noted', name($queue->pop()));
        proc_close($child);
        microtime(true) - $begin < 90 or throw new Exception('not woken');
    },
    'migrate more than 100 jobs' => function () {
        $queue = queue();
        $queue->bulk(array_map(fn ($i) => (new Noted("$i"))->delay(1), range(1, 201)));
        sleep(1);
        usleep(10000);
        same(false, $queue->pop() === null);
        same([0, 200], [size('delayed'), size('ready')]);
    },
    'pop properly pops a job' => function () {
        $queue = queue();
        $id = $queue->push(new Noted('a'));
        $job = $queue->pop();
        same(['a', 1, $id, 1], [name($job), $job->attempts(), $job->getJobId(), $queue->size()]);
        in(60, score('reserved'));
    },
    'pop properly pops a delayed job' => function () {
        $queue = queue();
        $queue->later(-10, new Noted('a'));
        same('a', name($queue->pop()));
        in(60, score('reserved'));
    },
    'pop pops a delayed job when expire is null' => function () {
        $queue = queue(null);
        $queue->later(-10, new Noted('a'));
        same('a', name($queue->pop()));
        same(1, size('reserved'));
    },
    'blocking pop properly pops a job' => function () {
        $queue = queue(60, 5);
        $queue->push(new Noted('a'));
        same('a', name($queue->pop()));
    },
    'blocking pop properly pops expired jobs' => function () {
        $queue = queue(60, 5);
        $queue->later(-10, new Noted('a'));
        $queue->later(-9, new Noted('b'));
        same(['a', 'b'], popped($queue, 2));
    },
    'jobs do not expire when expire is null' => function () {
        $queue = queue(null);
        $queue->push(new Noted('a'));
        same(['a', null], popped($queue, 2));
        in(1e9, score('reserved'));
    },
    'jobs expire when expire is set' => function () {
        $queue = queue(0.05);
        $queue->push(new Noted('a'));
        $queue->pop();
        usleep(60000);
        $again = $queue->pop();
        same(['a', 2], [name($again), $again->attempts()]);
    },
    'release' => function () {
        $queue = queue();
        $queue->push(new Noted('a'));
        $queue->pop()->release(1000);
        in(1000, score('delayed'));
        same([null, 0], [$queue->pop(), size('reserved')]);
    },
    'release in the past' => function () {
        $queue = queue();
        $queue->push(new Noted('a'));
        $queue->pop()->release(-3);
        same(['a', null], popped($queue, 2));
    },
    'a released job has one attempt more' => function () {
        $queue = queue();
        $queue->push(new Noted('a'));
        $queue->pop()->release();
        same(2, $queue->pop()->attempts());
    },
    'delete' => function () {
        $queue = queue();
        $queue->push(new Noted('a'));
        $queue->pop()->delete();
        same([null, 0, 0, 0], [$queue->pop(), $queue->size(), size('reserved'), size('delayed')]);
    },
    'delete, release and fail after the lease has run out' => function () {
        $queue = queue(0.05);
        foreach (['delete', 'release', 'fail'] as $settles) {
            $queue->push(new Noted($settles));
            $late = $queue->pop();
            usleep(60000);
            $again = $queue->pop();
            $late->$settles();
            same([$settles, 2, 0, 0], [name($again), $again->attempts(), size('dead'), size('delayed')]);
            $again->delete();
        }
    },
    'clear' => function () {
        $queue = queue();
        $queue->push(new Noted('a'));
        $queue->later(60, new Noted('b'));
        same([2, 0], [$queue->clear('default'), $queue->size()]);
    },
    'clear with a reserved job' => function () {
        $queue = queue();
        $queue->push(new Noted('a'));
        $queue->push(new Noted('b'));
        $queue->pop();
        same([1, 1], [$queue->clear('default'), $queue->size()]);
        return 'a job that runs stays: laterd lets nobody else end it';
    },
    'size' => function () {
        $queue = queue();
        same(0, $queue->size());
        $queue->push(new Noted('a'));
        $queue->later(60, new Noted('b'));
        $queue->push(new Noted('c'));
        same(3, $queue->size());
        $job = $queue->pop();
        same(3, $queue->size());
        $job->delete();
        same(2, $queue->size());
    },
    'push raises JobQueued' => function () {
        global $app;
        $queued = [];
        $app['events']->listen(JobQueued::class, function ($event) use (&$queued) {
            $queued[] = $event->id;
        });
        $id = queue()->push(new Noted('a'));
        same([$id], $queued);
        $app['events']->forget(JobQueued::class);
    },
    'bulk raises JobQueued for each' => function () {
        global $app;
        $queued = 0;
        $app['events']->listen(JobQueued::class, function ($event) use (&$queued) {
            $queued += $event->id !== null;
        });
        $queue = queue();
        $queue->bulk([new Noted('a'), new Noted('b'), new Noted('c')]);
        same([3, 3], [$queued, $queue->size()]);
        $app['events']->forget(JobQueued::class);
    },
    'push: the payload' => function () {
        $id = queue()->push('foo', ['data']);
        same([$id, 'foo', 'foo', 0, ['data'], null],
            [payload()['uuid'], payload()['displayName'], payload()['job'], payload()['attempts'], payload()['data'],
                payload()['maxTries']]);
    },
    'a job is described by its class' => function () {
        $queue = queue();
        $said = fn ($id) => json_decode($queue->getClient()->show($id)->document)->description;
        same(['Noted', 'foo'], [$said($queue->push(new Noted('a'))), $said($queue->push('foo'))]);
        $named = fn ($name) => $queue->newJob(json_encode(['displayName' => $name]))->description;
        same(['class@anonymous', str_repeat("\u{20ac}", 66), null, null],
            array_map($named, ["class@anonymous\0/srv/a.php:7", str_repeat("\u{20ac}", 67), '', ['a']]));
    },
    'push with a payload hook' => function () {
        Queue::createPayloadUsing(fn ($connection, $queue, $payload) => ['custom' => $payload['displayName']]);
        queue()->push('foo', ['data']);
        same('foo', payload()['custom']);
        Queue::createPayloadUsing(null);
    },
    'push with two payload hooks' => function () {
        Queue::createPayloadUsing(fn () => ['custom' => 'a']);
        Queue::createPayloadUsing(fn () => ['bar' => 'b']);
        queue()->push('foo', ['data']);
        same(['a', 'b'], [payload()['custom'], payload()['bar']]);
        Queue::createPayloadUsing(null);
    },
    'delayed push' => function () {
        queue()->later(1, 'foo', ['data']);
        in(1, score('delayed'));
    },
    'delayed push with a DateTime' => function () {
        queue()->later(Carbon::now()->addSeconds(5), 'foo', ['data']);
        in(5, score('delayed'));
    },
    'a job is fired by its handler' => function () {
        global $app;
        $queue = queue();
        $app->instance('foo', $handler = new class () {
            public array $fired = [];

            public function fire($job, $data)
            {
                $this->fired = [$job->getName(), $data];
                $job->delete();
            }
        });
        $queue->push('foo', ['data']);
        $queue->pop()->fire();
        same([['foo', ['data']], 0], [$handler->fired, $queue->size()]);
    },
    'a failed job is pushed again by its payload' => function () {
        $queue = queue();
        $queue->push(new Noted('a'));
        $job = $queue->pop();
        $job->fail(new Exception("no\0way"));
        same([null, 1, 0], [$queue->pop(), size('dead'), $queue->size()]);
        same("Exception: no\u{fffd}way", $queue->getClient()->show($job->uuid())->error['text']);
        $queue->pushRaw($job->getRawBody());
        $again = $queue->pop();
        same([$job->uuid(), 1], [$again->uuid(), $again->attempts()]);
    },
    'and by the payload that it is pushed with, not by its old one' => function () {
        $queue = queue();
        $queue->push(new Noted('a'));
        $job = $queue->pop();
        $job->fail(new Exception('no way'));
        $queue->pushRaw(json_encode(['retryUntil' => 2000000000] + $job->payload()));
        same([2000000000, 0], [$queue->pop()->retryUntil(), size('dead')]);
    },
];

foreach ($scenarios as $name => $scenario) {
    try {
        $differs = $scenario();
        echo $differs ? "differs $name: $differs\n" : "ok $name\n";
    } catch (Throwable $e) {
        echo "no $name: " . get_class($e) . ' ' . strtok($e->getMessage(), "\n") . ' ' . basename($e->getFile()) . ':' . $e->getLine() . "\n";
    }
}
