<?php

// Laterd\Testing, as a user's tests use it: clients_testing.sh runs them where no client of Redis is loaded.
require $argv[1] . '/autoload.php';

use Laterd\Testing\Fake;

ini_set('zend.exception_ignore_args', '1');
$queues = new Fake();
$app = new Laterd\Handlers();
$app->on('welcome', function (Laterd\Job $job) {
    match ($job->payload['to'] ?? '') {
        'busy' => throw new RuntimeException('the mailer is busy'),
        'bad' => throw new Laterd\BuryJob('no such address'),
        'later' => throw new Laterd\ReturnJob('not yet', in: 60),
        default => $job->progress(1, 2, 'half'),
    };
    return ['sent' => $job->payload['to'], 'attempt' => $job->attempt];
});
$app->on('odd', fn () => NAN);
$app->on('feed.*', function ($job) use (&$queues) {
    if ($job->payload) {
        $queues->push('feed.next', $job->payload - 1);
    }
    return $job->payload;
});
$app->on('again', function ($job) use (&$queues) {
    return $queues->push('again', null, id: 'a', again: $job->payload !== null)->result;
});

function same(mixed $seen, mixed $wanted, string $name): void
{
    if ($seen != $wanted || gettype($seen) !== gettype($wanted)) {
        fwrite(STDERR, "$name: " . json_encode($seen) . ', wanted ' . json_encode($wanted) . "\n");
        exit(1);
    }
}

function throws(string $class, callable $run, string $name): void
{
    try {
        $run();
    } catch (Throwable $e) {
        same($e instanceof $class ? '' : get_class($e), '', $name);
        return;
    }
    same('nothing was thrown', $class, $name);
}

// ---- what was pushed
same($queues instanceof Laterd\Queues, true, 'an interface');
same($queues->push('welcome', ['to' => ['a']], queue: 'mail', in: 60)->result, 'pushed', 'push');
$queues->pushMany(array_map(fn ($n) => new Laterd\NewJob('thumb', $n, priority: $n), [0, 1, 2]));
$queues->assertPushed('welcome', ['to' => ['a']], queue: 'mail', in: 60, count: 1);
$queues->assertPushed('thumb', count: 3);
$queues->assertPushed('thumb', 2, priority: 2);
$queues->assertNothingPushed('sum');
same(array_column($queues->pushed('thumb'), 'payload'), [0, 1, 2], 'pushed');
foreach ([fn () => $queues->assertPushed('sum'), fn () => $queues->assertPushed('thumb', 7),
    fn () => $queues->assertPushed('thumb', count: 2), fn () => $queues->assertNothingPushed(),
    fn () => $queues->assertPushed('welcome', queue: 'default'),
    fn () => $queues->assertPushed('welcome', in: 61.0)] as $n => $wrong) {
    throws(AssertionError::class, $wrong, "wrong $n");
}
same(get_object_vars($queues->size('mail')), ['ready' => 0, 'delayed' => 1, 'reserved' => 0, 'dead' => 0,
    'paused' => false, 'oldestReady' => null], 'size');

// ---- bad ones are refused, and nothing is kept
$queues = new Fake();
foreach ([fn () => $queues->push('no good'), fn () => $queues->push('a', NAN), fn () => $queues->push('a', queue: 'a b'),
    fn () => $queues->push('a', debounce: 5)] as $n => $push) {
    throws(InvalidArgumentException::class, $push, "refused $n");
}
throws(Error::class, fn () => $queues->push('a', dealy: 5), 'unknown option');
$queues->assertNothingPushed();

// ---- an id is one job
$queues->push('a', 1, id: 'x');
$pushed = $queues->push('a', 2, id: 'x');
same([$pushed->result, $pushed->state], ['exists', 'ready'], 'exists');
same($queues->push('a', 3, id: 'x', replace: true)->result, 'replaced', 'replace');
same($queues->show('x')->payload(), 3, 'show');
same($queues->push('a', id: 'x', queue: 'other')->isNew(), true, 'another queue');
same($queues->cancel('x'), 'ready', 'cancel');
same([$queues->cancel('x'), $queues->kick('x'), $queues->show('x')], [null, null, null], 'gone');
same($queues->push('a', id: 'x')->result, 'pushed', 'again');

// ---- one attempt
$one = Fake::perform($app, 'welcome', ['to' => 'a'], attempt: 2);
same([$one->result, $one->value, $one->progress], ['done', ['sent' => 'a', 'attempt' => 2],
    [['done' => 1, 'total' => 2, 'text' => 'half']]], 'done');
$one = Fake::perform($app, 'welcome', ['to' => 'busy']);
same([$one->result, str_contains($one->error, 'the mailer is busy')], ['retry', true], 'retry');
same(Fake::perform($app, 'welcome', ['to' => 'later'])->in, 60.0, 'return');
same(Fake::perform($app, 'odd')->result, 'bury', 'no JSON');
same(Fake::perform($app, 'nobody')->result, 'bury', 'no handler');

// ---- drain
$queues = new Fake();
$queues->push('feed.first', 2, in: 60);
$queues->push('welcome', ['to' => 'a'], priority: 5, result: 60, id: 'w');
same(array_column($queues->drain($app), 'value'), [['sent' => 'a', 'attempt' => 1], 2, 1, 0], 'drain');
same(array_unique(array_column($queues->jobs, 'state')), ['done'], 'all are done');
same($queues->wait('w')->value, ['sent' => 'a', 'attempt' => 1], 'wait');
same($queues->wait($queues->pushed('feed.first')[0]->id)->state, 'gone', 'wait without a result');
same($queues->drain($app), [], 'nothing is left');

// ---- retries and burials
$queues->push('welcome', ['to' => 'busy'], id: 'b', maxAttempts: 2);
$queues->push('welcome', ['to' => 'bad'], id: 'c');
$queues->push('welcome', ['to' => 'later'], id: 'd', maxAttempts: 1);
$states = fn () => array_map(fn ($id) => $queues->show($id)->state . $queues->show($id)->attempts, ['b', 'c', 'd']);
same(array_column($queues->drain($app), 'result'), ['retry', 'bury', 'return'], 'results');
same($states(), ['delayed1', 'dead1', 'delayed0'], 'states');
same($queues->wait('b'), null, 'not ended');
same(array_column($queues->drain($app), 'result'), ['retry', 'return'], 'results of the second');
same($states(), ['dead2', 'dead1', 'delayed0'], 'states after the second');
same(str_contains($queues->wait('b')->error['text'], 'the mailer is busy'), true, 'wait of a dead one');
same([$queues->kick('b'), $queues->show('b')->attempts], ['dead', 0], 'kick');
same($queues->push('welcome', id: 'c', replace: true)->isDead(), true, 'replace of a dead one');

// ---- ids that stay taken, a job's own id, inline, without end
$queues = new Fake();
$queues->push('again', true, id: 'a');
same(array_column($queues->drain($app), 'value'), ['again', 'exists'], 'its own id');
foreach (['t' => ['throttle' => 60], 'u' => ['uniqueFor' => 60]] as $id => $options) {
    $queues->push('feed.a', 0, 'default', ...$options, id: $id);
    $queues->drain($app);
    same($queues->push('feed.a', 0, id: $id)->state, 'ended', "$id: taken");
    same([$queues->cancel($id), $queues->cancel($id)], ['ended', null], "$id: freed");
    same($queues->push('feed.a', 0, id: $id)->result, 'pushed', "$id: again");
}
$inline = new Fake($app);
same($inline->wait($inline->push('welcome', ['to' => 'a'], in: 60, result: 60)->id)->value, ['sent' => 'a', 'attempt' => 1], 'inline');
$queues = new Fake();
$endless = (new Laterd\Handlers())->on('a', function () use (&$queues) { $queues->push('a'); });
$queues->push('a');
throws(OverflowException::class, fn () => $queues->drain($endless), 'without end');
echo "all passed\n";
