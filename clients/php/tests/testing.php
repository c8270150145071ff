<?php

// testing.php: Laterd\Testing, as a user's tests use it: composer test. Needs no Redis client.

require __DIR__ . '/../autoload.php';

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
$app->on('sums', fn ($job) => $job->values);
$app->on('flow', fn ($job) => $job->flow);
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

/** Does it throw an InvalidArgumentException of this form? */
function says(string $form, callable $run): void
{
    try {
        $run();
    } catch (InvalidArgumentException $e) {
        same(preg_match("/^$form$/D", $e->getMessage()), 1, $e->getMessage());
        return;
    }
    same('nothing was thrown', $form, $form);
}

// ---- hooks tell of what is dead or done
$hooked = new Laterd\Handlers();
$heard = [];
$hear = function ($job) use (&$heard) {
    ['id' => $id, 'type' => $type, 'queue' => $queue, 'ending' => $ending, 'attempts' => $n, 'value' => $value] = $job->payload;
    $heard[] = [$job->type, $id, $type, $queue, $ending, $n, $value, $job->payload['error']['kind'] ?? null];
};
$hooked->on('tries', fn ($job) => intdiv(7, $job->payload), retries: 1, onDead: 'policy', onDone: 'policy');
$hooked->on('gone', fn ($job) => throw new RuntimeException('gone'), retries: 0);
$hooked->givenUp('gone', $hear)->on('policy', $hear, onDone: 'own')->on('own', $hear);
$telling = new Fake();
$telling->push('tries', 0, id: 'a');
$telling->push('tries', 1, id: 'b', onDone: 'own@tell');
$telling->push('gone', id: 'c');
$telling->drain($hooked);
$telling->drain($hooked);
same($heard, [['own', 'b', 'tries', 'default', 'done', 1, 7, null],
    ['gone.given_up', 'c', 'gone', 'default', 'dead', 1, null, 'retry'],
    ['policy', 'a', 'tries', 'default', 'dead', 2, null, 'retry']], 'hooks');
same(array_column($telling->pushed('own', queue: 'tell'), 'hookOf'), ['b'], 'a hook into another queue');

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

// ---- nothing of a paused queue is performed
$inline = new Fake($app);
$inline->pause(seconds: 60);
$inline->push('welcome', ['to' => 'a'], id: 'a', result: 60);
same($inline->drain($app), [], 'paused');
same(array_map(fn ($one) => $one?->state, $inline->waitMany(['a', 'b'])), [null, 'gone'], 'waitMany');
same(array_column($inline->search(type: 'wel*'), 'id'), ['a'], 'search');
$inline->resume();
same(count($inline->drain($app)), 1, 'resumed');
same($inline->waitMany(['a'])[0]->value, ['sent' => 'a', 'attempt' => 1], 'waitMany, done');

// ---- schedules are kept
$planned = new Fake();
$sum = new Laterd\NewJob('sum', group: 'acme', expiresIn: 5);
$noon = fn (...$more) => new Laterd\NewSchedule(...$more + ['name' => 'noon', 'at' => '0 12 * * *', 'job' => $sum, 'zone' => 'Europe/Berlin']);
same([$planned->cronSet($noon()), $planned->cronSet($noon()), $planned->cronSet($noon(), 'mail')], [true, false, true], 'cronSet');
same($planned->cronSet($noon(job: $sum->with(['priority' => 1]))), true, 'cronSet, another priority');
same(array_map(get_object_vars(...), $planned->cronList()), [['name' => 'noon', 'at' => '0 12 * * *', 'zone' => 'Europe/Berlin',
    'next' => null, 'paused' => false, 'origin' => 'set']], 'cronList');
same([$planned->cronDelete('noon'), $planned->cronDelete('noon'), $planned->cronList()], [true, false, []], 'cronDelete');
$times = $noon(late: 90, spread: 60, from: new DateTimeImmutable('@1767225600.5'), until: 4102444800.5);
same($times->definition(), "at=0 12 * * *\nzone=Europe/Berlin\nspread=60\nlate=90\ngroup=acme\nexpires_in=5\nfrom=1767225601\n"
    . "until=4102444800\n\n{\"type\":\"sum\",\"group\":\"acme\"}", 'definition');
foreach (['at' => 'noon', 'zone' => 'Mars?', 'late' => 0.5, 'limit' => 0, 'name' => 'a b', 'catchUp' => 'often', 'overlap' => '',
    'from' => 90.0, 'spread' => -1, 'until' => NAN] as $name => $wrong) {
    says("$name: .*" . preg_quote(is_string($wrong) ? $wrong : (string) $wrong, '/') . '"?', fn () => $noon(...[$name => $wrong]));
}
says('until: 1767225600 is before its beginning', fn () => $noon(from: 1767225600.5, until: 1767225600.5));
says('expiresIn: whole seconds from 1 to 31536000, not 0.5', fn () => $noon(job: $sum->with(['expiresIn' => 0.5])));
foreach (['id or unique' => ['id' => 'x'], 'in' => ['in' => 5], 'flow' => ['flow' => 'f', 'step' => 's']] as $name => $own) {
    says("$name: not for a job of a schedule", fn () => $planned->cronSet($noon(job: new Laterd\NewJob('sum', ...$own))));
}

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

// ---- checkpoints
$app->on('pages', function ($job) {
    for ($page = $job->resumes ?? 0; $page < 3; $page++) {
        $job->checkpoint($page + 1);
        if ($job->stopping()) {
            return null;
        }
        if ($job->payload === $page && $job->attempt === 1) {
            throw new RuntimeException("page $page");
        }
    }
    return "from $job->resumes";
});
$one = Fake::perform($app, 'pages', 1);
same([$one->result, $one->checkpoint], ['retry', 2], 'a checkpoint');
same(Fake::perform($app, 'pages', resumes: 2)->value, 'from 2', 'it goes on');
$one = Fake::perform($app, 'pages', stopping: true);
same([$one->result, $one->in, $one->error, $one->checkpoint], ['return', 0.0, '', 1], 'it stops');
same(Fake::perform($app, 'pages', resumes: 3, stopping: true)->value, 'from 3', 'it ends');
$paged = new Fake();
$paged->push('pages', 1, id: 'paged', result: 60);
$paged->drain($app);
same($paged->show('paged')->checkpoint, 2, 'it is shown');
$paged->drain($app);
same($paged->wait('paged')->value, 'from 2', 'the next attempt goes on');

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

// ---- flows: pay, then mail with what pay gave back; undo if pay fails; all: when all others have ended
$job = fn (...$words) => new Laterd\NewJob(...$words);
function order(string $to, mixed ...$options): array
{
    global $queues, $job;
    return $queues->flow('order', [
        $job('welcome', ['to' => $to], step: 'pay', maxAttempts: 1), $job('sums', step: 'mail', after: 'pay'),
        $job('flow', step: 'undo', after: ['pay'], when: 'failed'),
        $job('flow', step: 'all', after: '*', when: 'ended', in: 60)], ...$options);
}
$state = function ($step) use (&$queues) { return $queues->show("order.$step")?->state; };
$queues = new Fake();
same(array_map(fn ($one) => "$one->id $one->state", order('a')),
    ['order.pay ', 'order.mail waiting', 'order.undo waiting', 'order.all waiting'], 'flow');
same($queues->showFlow('order')->state, 'running', 'showFlow');
same(array_column($queues->drain($app), 'value'), [['sent' => 'a', 'attempt' => 1], ['pay' => ['sent' => 'a', 'attempt' => 1]],
    ['name' => 'order', 'total' => 3, 'open' => 0, 'waiting' => 0, 'done' => 2, 'dead' => 0, 'gone' => 0,
        'skipped' => 1, 'failed' => []]], 'values along the flow');
$flow = $queues->waitFlow('order');
same([$flow->state, $flow->total, $flow->done, $flow->skipped, $flow->waiting], ['done', 4, 3, 1, 0], 'waitFlow');
same(array_column(order('a'), 'state'), ['done', 'done', 'skipped', 'done'], 'the same flow again');

$queues = new Fake();
order('bad');
same(array_column($queues->drain($app), 'result'), ['bury', 'done'], 'one is buried');
same(array_map($state, ['pay', 'mail', 'undo', 'all']), ['dead', 'waiting', null, 'waiting'], 'the others');
same($queues->waitFlow('order')->state, 'blocked', 'blocked');
same([$queues->kickFlow('order'), $queues->showFlow('order')->state], [1, 'running'], 'kickFlow');
same($queues->waitFlow('order'), null, 'it goes on');
same($queues->cancel('order.pay'), 'ready', 'cancel of a step');
same(str_starts_with($queues->show('order.mail')->error['text'], 'needs step pay of flow order, which was cancelled'), true, 'why');
same(array_column(array_column($queues->drain($app), 'value'), 'failed'), [['order.pay', 'order.mail']], 'failed');
same([$queues->cancelFlow('order'), $queues->showFlow('order')->gone], [1, 2], 'cancelFlow');

$queues = new Fake();
order('a', open: true);
same($queues->push('flow', flow: 'order', step: 'more', after: 'mail')->state, 'waiting', 'an open one');
$queues->drain($app);
same([$queues->showFlow('order')->state, $state('all')], ['open', 'waiting'], 'it stays open');
$queues->closeFlow('order');
same($queues->drain($app)[0]->value['done'], 3, 'closeFlow');
throws(Laterd\FlowClosed::class, fn () => $queues->push('flow', flow: 'order', step: 'late'), 'closed');
throws(Laterd\FlowUnknown::class, fn () => $queues->kickFlow('none'), 'unknown');
throws(InvalidArgumentException::class, fn () => $queues->flow('circle',
    [$job('a', step: 'a', after: 'b'), $job('a', step: 'b', after: 'a')]), 'a circle');
same($queues->showFlow('circle'), null, 'and nothing is there');

$adds = (new Laterd\Handlers())->on('flow', fn ($job) => $job->flow['total'] ?? null);
$adds->on('adds', function ($job) use (&$queues) {
    return $queues->push('flow', flow: 'f', step: 'more', adder: $job->id)->result;
});
$queues->flow('f', Laterd\Flow::batch([$job('adds')], then: $job('flow', step: 'end')));
same(array_column($queues->drain($adds), 'value'), ['pushed', null, 2], 'a running job adds');
$inline = new Fake($app);
$inline->flow('f', Laterd\Flow::chain($job('feed.a', 0), $job('sums', result: 60)));
same([$inline->showFlow('f')->state, $inline->wait('f.2')->value], ['done', [1 => 0]], 'a flow, inline');

// ---- hooks, and what middleware carries along
$heard = [];
$tenant = null;
$fake = (new Fake())->beforePush(function ($job) use (&$tenant) {
    return $job->with(['context' => array_filter(['tenant' => $tenant]) + $job->context]);
});
$one = new Laterd\Handlers($fake);
$one->around(function ($job, $perform) use (&$tenant) {
    $tenant = $job->context['tenant'] ?? null;
    try {
        return $perform();
    } finally {
        $tenant = null;
    }
});
$one->before(function ($job) use (&$heard) {
    $heard[] = "before $job->type";
    $job->payload === 'no' && throw new Laterd\BuryJob('not today');
});
$one->after(function ($job, $value) use (&$heard, &$tenant) { $heard[] = "after $job->type " . json_encode($value) . " $tenant"; });
$one->failed(function ($job, $e) use (&$heard) { $heard[] = "failed $job->type {$e->getMessage()}"; });
$last = $one->task('last', fn ($job) => $job->context);
$first = $one->task('first', function () use (&$tenant, $last) {
    $last->later(context: ['locale' => 'de'], priority: 5);
    return $tenant;
}, retries: 3);
$tenant = 'shop';
$first->later(['n' => 1], id: 'f', trace: 't');
$tenant = null;
$fake->assertPushed('first', ['n' => 1], id: 'f', trace: 't', context: ['tenant' => 'shop']);
same(array_column($fake->drain($one), 'value'), ['shop', ['tenant' => 'shop', 'locale' => 'de']], 'context');
same($heard, ['before first', 'after first "shop" shop', 'before last', 'after last {"tenant":"shop","locale":"de"} shop'], 'hooks');

$heard = [];
$fails = fn ($job) => throw ($job->payload === 'later' ? new Laterd\ReturnJob('later') : new RangeException('bad'));
$one->on('a', $fails, bury: [RangeException::class])->on('b', $fails, bury: [LogicException::class])->on('fine', fn () => 7);
$one->after(fn () => throw new Exception('in a hook'));
$results = array_map(fn ($words) => Fake::perform($one, ...$words)->result, [['a', 1], ['b', 1], ['a', 'later'], ['a', 'no'], ['fine', 1]]);
same($results, ['bury', 'retry', 'return', 'bury', 'done'], 'each type keeps its own');
same($heard, ['before a', 'failed a bad', 'before b', 'failed b bad', 'before a', 'before a', 'failed a not today',
    'before fine', 'after fine 7 '], 'hooks of failures');

$one->givenUp('mail.*', fn ($job) => $job->payload['id'])->on('mail.*', fn () => 1, retries: 0)->givenUp('exact', fn ($job) => $job->payload['id']);
same(array_values(array_filter($one->types(), fn ($type) => isset($type['on_dead']))),
    [['name' => 'mail.*', 'max_attempts' => 1, 'on_dead' => 'mail.given_up']], 'givenUp');
same(Fake::perform($one, 'mail.given_up', ['id' => 'x'])->value, 'x', 'given up');
same(Fake::perform($one, 'exact.given_up', ['id' => 'y'])->value, 'y', 'given up, exact');
throws(InvalidArgumentException::class, fn () => $one->on('exact', fn () => 1, onDead: 'alert'), 'onDead and givenUp');
$one->on('other.given_up', fn () => 1);
throws(InvalidArgumentException::class, fn () => $one->givenUp('other', fn () => 1), 'givenUp of a known type');
$secret = new class () {
    private int $n = 1;
};
foreach ([[fn () => 1, 'payload'], [['a' => [1, fn () => 1]], 'payload.a.1'], [(object) ['to' => $secret], 'payload.to'],
    [(fn () => yield 1)(), 'payload']] as [$payload, $path]) {
    says("$path: of a .* JSON has nothing; push an array, or make it JsonSerializable", fn () => $fake->push('a', $payload));
}
same($fake->push('a', [new stdClass(), (object) [], '{}', new ArrayObject(['a' => 1])])->result, 'pushed', 'what is empty may be');
says(preg_quote('not the URL of a Redis: tcp://localhost:6379; it is unix:/PATH, redis://HOST, rediss://HOST, '
    . 'sentinel://HOST,HOST/NAME or cluster://HOST,HOST', '/'), fn () => Laterd\Client::connect('tcp://user:pw@localhost:6379'));
says('type: 1 to 128 letters, digits and _ . : -, not "a b"', fn () => $fake->push('a b'));
says('in: from 0 to 315360000, not -1', fn () => $fake->push('a', in: -1));
says('id: 1 to 200 printable ASCII characters without space, not "a\\\\nb"', fn () => $fake->push('a', id: "a\nb"));
foreach ([fn ($job) => $fake->push($job, in: 5), fn ($job) => $fake->push($job, ['x' => 1])] as $push) {
    says('payload and options: the job has its own; with\(\) gives it others', fn () => $push(new Laterd\NewJob('a')));
}
$big = new Laterd\NewJob('big', str_repeat('x', 1 << 20), id: 'b');
$large = 'a document of \d+ bytes, 1048576 allowed';
says("too large: big: $large", fn () => $fake->push('big', $big->payload));
says("job 2: too large: big, id b: $large", fn () => $fake->pushMany([new Laterd\NewJob('a'), $big]));
says("job 1: too large: big, id b: $large", fn () => $fake->flow('f', [$big]));
$single = (new Laterd\Handlers())->on('a', fn () => 1);
foreach (['mail send', 'mail.*.x', ''] as $odd) {
    says('on: ' . preg_quote($odd) . ' is neither a type nor a prefix of types that ends in \*', fn () => $single->on($odd, fn () => 1));
}
$single->givenUp('mail.*', fn () => 1)->on('b', strlen(...));
foreach (['a' => fn () => $single->task('a', fn () => 2), 'mail.given_up' => fn () => $single->givenUp('mail', fn () => 2)] as $type => $twice) {
    $here = preg_quote(__FILE__, '/') . ':\d+';
    says("type $type has two handlers, at $here and at $here: remove one", $twice);
}
$lonely = new Laterd\Handlers();
throws(LogicException::class, fn () => $lonely->task('a', fn () => 1)->later(), 'later without a client');
throws(InvalidArgumentException::class, fn () => $lonely->task('a.*', fn () => 1), 'a task of no type');
throws(InvalidArgumentException::class, fn () => $fake->push('a', context: [1]), 'context: a list');
throws(InvalidArgumentException::class, fn () => $fake->push('a', context: ['a' => NAN]), 'context: no JSON');
same((new Fake($app))->call('feed.x', 0)->value, 0, 'call');

// waits of one's own
$asked = new Laterd\Handlers();
$error = null;
$waits = fn ($job, $e) => match ($e->getMessage()) { 'odd' => NAN, 'ours' => null, default => 10 * $job->attempt };
$asked->on('a', function () use (&$error) { throw $error; }, bury: [DomainException::class], backoff: $waits);
foreach ([[new Exception('x'), 'retry', 30.0], [new Laterd\RetryJob('x', in: 5), 'retry', 5.0], [new Laterd\RetryJob('x'), 'retry', 30.0],
    [new Laterd\ReturnJob('x', in: 1), 'return', 1.0], [new DomainException('x'), 'bury', null], [new Exception('ours'), 'retry', null],
    [new Exception('odd'), 'retry', null]] as [$error, $result, $delay]) {
    $tried = Fake::perform($asked, 'a', attempt: 3);
    same([$tried->result, $tried->in], [$result, $delay], 'waits of a closure: ' . get_class($error) . ' ' . $error->getMessage());
}
same($asked->policy('a'), [], 'a closure is not told to laterd');

// a payload that is sealed on its way
$sealed = new Fake();
$sealed->beforePush(fn ($job) => $job->with(['payload' => ['z' => base64_encode(gzcompress(json_encode($job->payload)))]]));
$opens = new Laterd\Handlers();
$opens->before(function ($job) { $job->payload = json_decode(gzuncompress(base64_decode($job->payload['z'])), true); });
$seen = null;
$opens->on('a', function ($job) use (&$seen) { $seen = $job->payload; });
$sealed->push('a', ['card' => '4111']);
same(array_keys($sealed->jobs[0]->payload), ['z'], 'sealed on its way');
$sealed->drain($opens);
same($seen, ['card' => '4111'], 'open for its handler');
$pushed = $sealed->push(new Laterd\NewJob('a', ['card' => '4111', 'n' => 1], unique: ['card']));
same($pushed->id, Laterd\UniqueId::of('a', ['card' => '4111']), 'its id is of the payload as it was given');
same($sealed->push('a', ['card' => '4111'], unique: true)->result, 'exists', 'so that the second is the duplicate');

// map takes items as they come
[$mapped, $most] = [new Fake(), 0];
$rows = function () use ($mapped, &$most) {
    for ($row = 0; $row < 1001; $row++) {
        $most = max($most, $row - 2 * count($mapped->jobs));
        yield $row;
    }
};
$told = $mapped->map('row', $rows(), chunk: 2, flow: 'f', then: new Laterd\NewJob('sum'));
same([$told->pushed, $told->known, $most < 400], [502, 0, true], 'map takes 200 chunks at a time');
same([end($mapped->jobs)->state, $mapped->pushed('row')[500]->payload], ['waiting', [1000]], 'and what waits for them comes last');
same($mapped->map('one', [1, 2, 3], priority: 5)->pushed, 3, 'map without a flow');

// events tell what has ended
$telling = new Fake($app);
foreach (['a' => 'a', 'b' => 'bad'] as $id => $to) {
    $telling->push('welcome', ['to' => $to], id: $id);
}
$page = $telling->events();
same(array_map(fn ($end) => [$end->id, $end->type, $end->ending, $end->state, $end->kind, $end->attempt], $page->ends),
    [['a', 'welcome', 'done', 'done', null, 1], ['b', 'welcome', 'bury', 'dead', 'buried', 1]], 'the ends');
foreach (['c' => 'later', 'd' => 'busy'] as $id => $to) {
    $telling->push('welcome', ['to' => $to], id: $id); // c goes back
}
same(array_column($telling->events(after: $page->bookmark)->ends, 'id'), ['d'], 'those after a bookmark');
same(array_column($telling->events(after: 'default:1', limit: 1)->ends, 'id'), ['b'], 'one of them');
same($telling->events(after: 'now')->bookmark, 'default:3', 'none before now');

// each option is kept
$all = new Fake();
$all->push('all', 1, id: 'all', priority: 2, maxAttempts: 3, retryFor: 60, timeout: 5, backoff: [1, 2], expiresAt: 4e9, result: 60,
    lock: 'l', group: 'g', trace: 't', description: 'd', onDead: 'a', onDone: 'b@c');
same(json_decode($all->show('all')->document, true), ['type' => 'all', 'id' => 'all', 'priority' => 2, 'max_attempts' => 3,
    'retry_for' => 60, 'timeout' => 5, 'backoff' => [1, 2], 'expires_at' => 4e9, 'result' => 60, 'lock' => 'l', 'group' => 'g',
    'trace' => 't', 'description' => 'd', 'on_dead' => 'a', 'on_done' => 'b@c', 'payload' => 1], 'the options in a document');
$whens = [['expiresIn' => 60], ['at' => 4e9], ['id' => 'd', 'debounce' => 5, 'maxWait' => 60]];
same(array_map(fn ($when) => $all->show($all->push('a', ...$when)->id)->state, $whens), ['ready', 'delayed', 'delayed'],
    'those that say when');
$all->flow('wide', [new Laterd\NewJob('flow')], queue: 'one', open: true);
$all->push('flow', queue: 'two', flow: 'wide', step: 'c', home: 'one');
same($all->showFlow('wide', 'one')->total, 2, 'home');

// A URL's login; what is given beside it goes first.
$login = fn ($url, $password = null) => (new ReflectionMethod(Laterd\Redis\Url::class, 'credentials'))
    ->invoke(new Laterd\Redis\Url($url, $password));
foreach (['redis', 'rediss', 'cluster', 'sentinel'] as $kind) {
    $rest = $kind === 'sentinel' ? 'host/name' : 'host';
    same([$login("$kind://:se%2Fcret@$rest"), $login("$kind://shop:secret@$rest"), $login("$kind://shop@$rest"),
        $login("$kind://shop@$rest", 'other'), $login("$kind://shop:secret@$rest", 'other')],
        ['se/cret', ['shop', 'secret'], null, ['shop', 'other'], ['shop', 'other']], "the login of $kind://");
}
// A wait outlasts a Redis that is away, and nothing that would be the answer again.
final class Scripted implements Laterd\Redis\Link
{
    public int $asked = 0;

    public function __construct(private int $fails, private Exception $with)
    {
    }

    public function command(string $key, array $words): mixed
    {
        if ($this->asked++ < $this->fails) {
            throw $this->with;
        }
        return match ($words[0]) {
            'EVALSHA' => ['', '', '', ''],
            'LINDEX' => "{\"state\":\"done\",\"attempt\":1,\"at\":1}\n7",
            'HMGET' => ['1', '1', ...array_fill(0, 14, '0')],
            default => null,
        };
    }

    public function load(string $key, string $script): void
    {
    }
}
$gone = new Laterd\Unreachable('gone');
foreach ([$gone, new Laterd\Refused('NOREPLICAS Not enough good replicas to write.')] as $why) {
    same((new Laterd\Client(new Scripted(2, $why)))->wait('a')->value, 7, "wait: {$why->getMessage()}");
    same((new Laterd\Client(new Scripted(2, $why)))->waitFlow('f')->state, 'done', "waitFlow: {$why->getMessage()}");
}
throws(Laterd\Unreachable::class, fn () => (new Laterd\Client(new Scripted(99, $gone)))->wait('a', seconds: 0.1), 'the time is up');
foreach (['WRONGPASS invalid username-password pair', 'NOPERM no permissions', 'WRONGTYPE Operation against a key'] as $why) {
    $refuses = new Scripted(99, new Laterd\Refused($why));
    throws(Laterd\Refused::class, fn () => (new Laterd\Client($refuses))->wait('a'), $why);
    same($refuses->asked, 1, "at once: $why");
}
same(array_map(Laterd\Away::pause(...), [0.0, 29.0, 29.75, 30.0, 99.0]), [0.5, 0.5, 0.25, 0.0, 0.0], 'for how long it is asked again');

echo "all passed\n";
