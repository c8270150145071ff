<?php

// Fake.php: keeps what is pushed, for tests of programs that use laterd.

namespace Laterd\Testing;

use Laterd\Client;
use Laterd\Conditions;
use Laterd\End;
use Laterd\Events;
use Laterd\Flow;
use Laterd\FlowClosed;
use Laterd\Flows;
use Laterd\FlowUnknown;
use Laterd\Handlers;
use Laterd\Job;
use Laterd\KnownJob;
use Laterd\Lines;
use Laterd\NewJob;
use Laterd\NewSchedule;
use Laterd\Pushed;
use Laterd\Pushing;
use Laterd\Queues;
use Laterd\Result;
use Laterd\Schedule;
use Laterd\Size;

/**
 * Keeps what is pushed, in the place of a Client: for tests of programs that use laterd. It needs neither
 * Redis nor a client of it.
 *
 *     $queues = new Laterd\Testing\Fake();
 *     $queues->push('mail.send', ['to' => 'a@b.c'], queue: 'mail');
 *     $queues->assertPushed('mail.send', ['to' => 'a@b.c'], queue: 'mail');
 *     $queues->drain($handlers);                                        // performs what was pushed
 *     assert(Laterd\Testing\Fake::perform($handlers, 'mail.send', [])->result === 'bury');
 *
 * What is pushed is checked as the real client checks it, and a handler gets what JSON makes of its
 * payload. Time does not pass: a delay is kept but not waited for, and an id that stays taken stays so.
 * Jobs of a flow wait for each other, and get values. What the handlers say of their types counts, and a job that is
 * dead or done pushes what its onDead or onDone says.
 */
final class Fake implements Queues
{
    use Pushing;

    public const ANY = "\0any payload";
    private const DRAINED_MAX = 10000; // a handler may push without end

    /** @var Kept[] all, in the order of their pushes */
    public array $jobs = [];
    /** @var array<string, Kept> the last one of each queue and id */
    private array $byId = [];
    /** @var array<string, true> ids that stay taken */
    private array $taken = [];
    /** @var End[] */
    private array $ends = [];
    /** @var array<string, KeptFlow> by queue and name */
    private array $flows = [];
    /** @var Kept[] whose time in a flow has come */
    private array $woken = [];
    /** @var array<string, bool> queues that are paused, and whether only resume() ends it */
    private array $paused = [];
    /** @var array<string, array<string, string>> definitions of schedules, by queue and name */
    private array $crontab = [];

    /** @param ?Handlers $app each job is performed as it is pushed */
    public function __construct(private ?Handlers $app = null)
    {
    }

    /** Performs one job with its handler, and returns what became of it. $values: what steps of its flow gave
     * back. $resumes: a checkpoint. $stopping: laterd stops. The options are those of NewJob. */
    public static function perform(Handlers $app, string $type, mixed $payload = null, string $queue = 'default',
        int $attempt = 1, array $values = [], mixed $resumes = null, bool $stopping = false,
        mixed ...$options): Attempt
    {
        $kept = new Kept(new NewJob($type, $payload, ...$options), $queue);
        $kept->attempts = $attempt;
        return self::attempt($app, $kept, ['values' => (object) $values, 'checkpoint' => $resumes], $stopping);
    }

    // ---- what a client can

    public function push(string|NewJob $job, mixed $payload = null, string $queue = 'default', mixed ...$options): Pushed
    {
        $job = NewJob::of($job, $payload, $options);
        Client::checkQueue($queue);
        $kept = new Kept($this->changedOne($job), $queue);
        return $this->told($kept->job, $kept->job->flow === null ? $this->keep($kept) : $this->add($kept));
    }

    public function pushMany(array $jobs, string $queue = 'default'): array
    {
        Client::checkQueue($queue);
        $kept = NewJob::numbered($this->changedMany($jobs), fn ($job) => new Kept($job, $job->queue ?? $queue));
        return array_map(fn ($one) => $this->told($one->job, $this->keep($one)), $kept);
    }

    public function show(string $id, string $queue = 'default'): ?KnownJob
    {
        $kept = $this->find($id, $queue);
        return $kept?->known();
    }

    /** It never waits: so call() is only for inline. */
    public function wait(string $id, string $queue = 'default', float $seconds = 60): ?Result
    {
        $kept = $this->find($id, $queue);
        if ($kept) {
            return $kept->state === 'dead' ? Result::dead($kept->known()) : null;
        }
        $last = $this->byId["$queue $id"] ?? null;
        if ($last?->state !== 'done' || $last->job->result === null) {
            return Result::gone();
        }
        return Result::parse("{\"state\":\"done\",\"attempt\":$last->attempts}\n" . json_encode($last->value));
    }

    public function kick(string $id, string $queue = 'default'): ?string
    {
        $kept = $this->find($id, $queue);
        if (!in_array($kept?->state, ['dead', 'delayed'], true)) {
            return null;
        }
        [$came, $kept->state] = [$kept->state, 'ready'];
        $kept->attempts = $came === 'dead' ? 0 : $kept->attempts;
        $this->settleFlows();
        return $came;
    }

    public function reschedule(string $id, string $queue = 'default', ?float $in = null,
        float|\DateTimeInterface|null $at = null, ?int $priority = null): ?string
    {
        [$when] = Client::rescheduleWords($in, $at, $priority);
        $kept = $this->find($id, $queue);
        if (!in_array($kept?->state, ['ready', 'delayed'], true)) {
            return null;
        }
        [$came, $kept->state] = [$kept->state, $when === '' ? $kept->state : $kept->due($when)];
        $kept->job = $priority === null ? $kept->job : $kept->job->with(['id' => $id, 'priority' => $priority]);
        return $came;
    }

    public function forget(string $id, string $queue = 'default'): bool
    {
        $kept = $this->find($id, $queue) ?? $this->byId["$queue $id"] ?? null;
        $had = in_array($kept?->state, ['done', 'dead'], true) && $kept->job->result !== null;
        if ($had) {
            $kept->job = $kept->job->with(['id' => $id, 'result' => null]);
        }
        return $had;
    }

    public function cancel(string $id, string $queue = 'default'): ?string
    {
        $kept = $this->find($id, $queue);
        if ($kept) {
            [$came, $kept->state] = [$kept->state, 'cancelled'];
            $this->settleFlows();
            return $came;
        }
        $ended = isset($this->taken["$queue $id"]) ? 'ended' : null;
        unset($this->taken["$queue $id"]);
        return $ended;
    }

    public function size(string $queue = 'default'): Size
    {
        Client::checkQueue($queue);
        $count = fn ($state) => count(array_filter($this->pushed(null, $queue), fn ($kept) => $kept->state === $state));
        return Size::sum([[$count('ready'), $count('delayed'), $count('reserved'), $count('dead'), (int) isset($this->paused[$queue]),
            $count('ready') ? '0' : '']]);
    }

    /** Nothing of the queue is performed until resume(): time does not pass. */
    public function pause(string $queue = 'default', ?float $seconds = null, string $by = ''): bool
    {
        Client::checkQueue($queue);
        $ends = Client::pauseWords($seconds, $by)[0] !== '0';
        $changed = $ends || !($this->paused[$queue] ?? false);
        $this->paused[$queue] = !$ends;
        return $changed;
    }

    /** What was pushed meanwhile is performed by drain(), also inline. */
    public function resume(string $queue = 'default'): bool
    {
        Client::checkQueue($queue);
        $was = isset($this->paused[$queue]);
        unset($this->paused[$queue]);
        return $was;
    }

    /** Kept, and no more: time does not pass. */
    public function cronSet(NewSchedule $schedule, string $queue = 'default'): bool
    {
        Client::checkQueue($queue);
        $before = $this->crontab[$queue][$schedule->name] ?? null;
        return ($this->crontab[$queue][$schedule->name] = $schedule->definition()) !== $before;
    }

    public function cronDelete(string $name, string $queue = 'default'): bool
    {
        NewJob::checkLabel('name', $name);
        Client::checkQueue($queue);
        $was = isset($this->crontab[$queue][$name]);
        unset($this->crontab[$queue][$name]);
        return $was;
    }

    /** By their names. */
    public function cronList(string $queue = 'default'): array
    {
        Client::checkQueue($queue);
        $mine = $this->crontab[$queue] ?? [];
        ksort($mine, SORT_STRING);
        $reply = ['', ''];
        foreach ($mine as $name => $made) {
            array_push($reply, (string) $name, 'inf', '', strstr($made, "\n\n", true), 'origin=set');
        }
        return Schedule::listed($reply);
    }

    /** All ends are kept. */
    public function events(string $queue = 'default', string $after = '', int $limit = 500, float $seconds = 0): Events
    {
        return (new Events($queue, $after, $limit))->tellOf(array_values(array_filter($this->ends, fn ($end) => $end->queue === $queue)));
    }

    /** No job that is done is kept. */
    public function search(
        string $queue = 'default',
        ?string $state = null,
        ?string $type = null,
        ?string $text = null,
        int $limit = 100,
    ): array {
        Client::checkQueue($queue);
        $what = new Conditions($state, $type, $text, $limit);
        $found = [];
        foreach (array_diff($what->states(), ['done']) as $name) {
            foreach (array_reverse($this->pushed(null, $queue)) as $kept) {
                if ($kept->state === $name && $what->fit($kept->job->document())) {
                    $found[] = $kept->known();
                }
            }
        }
        return array_slice($found, 0, $limit);
    }

    public function flow(string $name, array $jobs = [], string $queue = 'default', bool $open = false): array
    {
        Client::checkQueue($queue);
        $plan = array_map(fn ($one) => new Kept($one[0], $one[2]), Flows::plan($name, array_map($this->changed(...), $jobs), $queue, $open));
        $flow = $this->flows["$queue $name"] ??= new KeptFlow($name);
        if ($flow->closed && array_filter($plan, fn ($kept) => !isset($flow->jobs[$kept->id]))) {
            throw new FlowClosed($name);
        }
        $pushed = array_map(fn ($kept) => $this->join($flow, $kept), $plan);
        $flow->closed = $flow->closed || !$open;
        $this->goOn();
        return array_map(fn ($one, $told) => $this->told($one->job, $told), $plan, $pushed);
    }

    public function showFlow(string $name, string $queue = 'default'): ?Flow
    {
        Client::checkQueue($queue);
        NewJob::checkLabel('flow', $name);
        return ($this->flows["$queue $name"] ?? null)?->stands();
    }

    /** Null: it goes on; drain() performs its jobs. */
    public function waitFlow(string $name, string $queue = 'default', float $seconds = 60): ?Flow
    {
        $flow = $this->known($name, $queue)->stands();
        return in_array($flow->state, ['open', 'running'], true) ? null : $flow;
    }

    public function kickFlow(string $name, string $queue = 'default'): int
    {
        $dead = array_filter($this->known($name, $queue)->jobs, fn ($kept) => $kept->state === 'dead');
        return count(array_filter($dead, fn ($kept) => $this->kick($kept->id, $kept->queue) !== null));
    }

    public function cancelFlow(string $name, string $queue = 'default'): int
    {
        $count = 0;
        foreach ([['waiting'], ['waiting', 'ready', 'delayed', 'reserved', 'dead']] as $states) {
            $count += count(array_filter($this->known($name, $queue)->jobs, fn ($kept) =>
                in_array($kept->state, $states, true) && $this->cancel($kept->id, $kept->queue) !== null));
        }
        $this->closeFlow($name, $queue);
        return $count;
    }

    public function closeFlow(string $name, string $queue = 'default'): void
    {
        $this->known($name, $queue)->closed = true;
        $this->goOn();
    }

    // ---- what a test wants to know

    /** @return Kept[] what was pushed, whatever has become of it */
    public function pushed(?string $type = null, ?string $queue = null): array
    {
        return array_values(array_filter($this->jobs, fn ($kept) => in_array($type, [null, $kept->type], true)
            && in_array($queue, [null, $kept->queue], true)));
    }

    /** Throws unless such a job was pushed: as often as $count says, otherwise at least once. */
    public function assertPushed(string $type, mixed $payload = self::ANY, ?string $queue = null, ?int $count = null,
        mixed ...$options): void
    {
        $same = json_decode(json_encode($payload), true);
        $such = count(array_filter($this->pushed($type, $queue), fn ($kept) =>
            ($payload === self::ANY || $kept->payload === $same)
            && array_filter(array_keys($options), fn ($name) => $kept->job->$name != $options[$name]) === []));
        if ($count === null ? $such === 0 : $such !== $count) {
            $all = array_map(fn ($kept) => "$kept->queue $kept->type " . json_encode($kept->payload), $this->jobs);
            self::fail("$type was pushed so $such times; there are: " . (implode(', ', $all) ?: 'none'));
        }
        self::passed();
    }

    public function assertNothingPushed(?string $type = null, ?string $queue = null): void
    {
        $such = $this->pushed($type, $queue);
        if ($such) {
            self::fail('pushed: ' . implode(', ', array_column($such, 'type')));
        }
        self::passed();
    }

    /**
     * Performs each job that is ready or delayed once, the highest priority first, then those that were
     * pushed meanwhile. One that is to be tried again waits for the next drain().
     *
     * @return Attempt[]
     */
    public function drain(Handlers $app, ?string $queue = null): array
    {
        $attempts = $begun = [];
        $line = new \SplPriorityQueue();
        for ($seen = 0; ;) {
            for (; $seen < count($this->jobs); $seen++) {
                $line->insert($this->jobs[$seen], [$this->jobs[$seen]->job->priority, -$seen]);
            }
            foreach ($this->woken as $kept) {
                $line->insert($kept, [$kept->job->priority, -array_search($kept, $this->jobs, true)]);
            }
            $this->woken = [];
            if ($line->isEmpty()) {
                return $attempts;
            }
            $kept = $line->extract();
            if (!in_array($queue, [null, $kept->queue], true) || !$this->mayRun($kept)
                || isset($begun[spl_object_id($kept)])) {
                continue;
            }
            if (count($attempts) === self::DRAINED_MAX) {
                throw new \OverflowException('drain: ' . self::DRAINED_MAX . ' jobs were performed, and they push more and more');
            }
            $begun[spl_object_id($kept)] = true;
            $attempts[] = $this->run($app, $kept);
        }
    }

    // ---- inside

    private function find(string $id, string $queue): ?Kept
    {
        Client::checkQueue($queue);
        $kept = $this->byId["$queue $id"] ?? null;
        return $kept?->isThere() ? $kept : null;
    }

    private function mayRun(Kept $kept): bool
    {
        return $kept->waits() && !isset($this->paused[$kept->queue]);
    }

    private function known(string $name, string $queue): KeptFlow
    {
        Client::checkQueue($queue);
        NewJob::checkLabel('flow', $name);
        return $this->flows["$queue $name"] ?? throw new FlowUnknown($name, $queue);
    }

    /** Adds a job to its flow, as push() does. */
    private function add(Kept $kept): Pushed
    {
        $name = $kept->job->flow;
        $flow = $this->flows[($kept->job->home ?? $kept->queue) . " $name"] ??= new KeptFlow($name);
        $adder = $flow->jobs[$kept->job->adder ?? ''] ?? null;
        if ($flow->closed && !isset($flow->jobs[$kept->id]) && $adder?->state !== 'reserved') {
            throw new FlowClosed($name);
        }
        $pushed = $this->join($flow, $kept);
        $this->goOn();
        return $pushed;
    }

    private function join(KeptFlow $flow, Kept $kept): Pushed
    {
        $old = $flow->jobs[$kept->id] ?? $this->find($kept->id, $kept->queue);
        $flow->add($old ?? $kept, $kept->job);
        if ($old) {
            return new Pushed($kept->id, $kept->queue, 'exists', $old->state === 'cancelled' ? 'gone' : $old->state);
        }
        $kept->home = $flow;
        if ($kept->job->after) {
            $kept->state = 'waiting';
        } else {
            $this->woken[] = $kept;
        }
        $this->jobs[] = $this->byId["$kept->queue $kept->id"] = $kept;
        return new Pushed($kept->id, $kept->queue, 'pushed', $kept->job->after ? 'waiting' : '');
    }

    private function settleFlows(): void
    {
        $run = function (Kept $kept): void {
            $kept->state = $kept->due();
            $this->woken[] = $kept;
        };
        do {
            $changed = array_map(fn ($flow) => $flow->settle($run), $this->flows);
        } while (in_array(true, $changed, true));
    }

    /** Settles flows; inline, it performs those whose time has come. */
    private function goOn(): void
    {
        $this->settleFlows();
        while ($this->app && $this->woken) {
            $kept = array_shift($this->woken);
            if ($this->mayRun($kept)) {
                $this->run($this->app, $kept);
            }
        }
    }

    private function keep(Kept $kept): Pushed
    {
        $key = "$kept->queue $kept->id";
        $old = $this->find($kept->id, $kept->queue);
        $exists = !$old && isset($this->taken[$key]) ? 'ended' : null;
        if ($old?->state === 'reserved' && $kept->job->mode() === 'again') {
            $old->successor = $kept;
            return new Pushed($kept->id, $kept->queue, 'again');
        }
        if ($old && ($kept->job->mode() === 'new' || !$old->waits())) {
            $exists = $old->state;
        }
        if ($exists) {
            return new Pushed($kept->id, $kept->queue, 'exists', $exists);
        }
        if ($old) {
            $this->replace($old, $kept);
        }
        $this->jobs[] = $this->byId[$key] = $kept;
        if ($this->app && $this->mayRun($kept)) {
            $this->run($this->app, $kept);
            $this->goOn();
        }
        return new Pushed($kept->id, $kept->queue, $old ? 'replaced' : 'pushed');
    }

    private function replace(Kept $old, Kept $kept): void
    {
        $old->state = 'cancelled';
        foreach ($this->flows as $flow) { // it takes the other's place there, too
            if (($flow->jobs[$kept->id] ?? null) === $old) {
                [$kept->tie, $kept->home] = [$old->tie, $old->home];
                $flow->replace($old, $kept);
            }
        }
    }

    private static function attempt(Handlers $app, Kept $kept, array $given, bool $stopping = false): Attempt
    {
        $line = ['id' => $kept->id, 'type' => $kept->type, 'queue' => $kept->queue, 'attempt' => $kept->attempts,
            'max_attempts' => $kept->most(), 'time_left' => 300.0, 'token' => 'test'] + $given;
        $line = substr(json_encode($line), 0, -1) . ',"document":' . $kept->job->document() . '}';
        [$in, $out] = [fopen('/dev/null', 'r'), fopen('php://memory', 'w+')];
        $lines = new Lines($in, $out);
        if ($stopping) {
            $lines->take(json_encode(['id' => $kept->id, 'stopping' => true]));
        }
        $told = Lines::linesOf(['id' => $kept->id] + $app->perform(new Job($line, $lines)));
        rewind($out);
        $heard = array_map(fn ($text) => json_decode($text, true), array_filter(explode("\n", stream_get_contents($out))));
        $last = json_decode(end($told), true);
        $left = array_column($heard, 'checkpoint');
        return new Attempt($last['result'], $last['value'] ?? null, $last['error'] ?? '', $last['in'] ?? null,
            array_values(array_filter(array_column($heard, 'progress'))), $left ? end($left) : null);
    }

    private function run(Handlers $app, Kept $kept): Attempt
    {
        $kept->policy = $app->policy($kept->type);
        $kept->state = 'reserved';
        $kept->attempts++;
        $given = ['checkpoint' => $kept->checkpoint] + ($kept->home?->heard($kept->tie) ?? []);
        $attempt = self::attempt($app, $kept, $given);
        $kept->checkpoint = $attempt->checkpoint ?? $kept->checkpoint;
        if ($kept->state === 'reserved') { // else it was cancelled meanwhile
            $this->settle($kept, $attempt);
            $this->noteEnd($kept, $attempt->result);
            if ($hook = $kept->hook()) {
                $this->keep($hook);
            }
        }
        [$successor, $kept->successor] = [$kept->successor, null];
        if ($successor && !$kept->isThere()) {
            $this->keep($successor);
        }
        $this->settleFlows();
        return $attempt;
    }

    private function noteEnd(Kept $kept, string $ending): void
    {
        if ($ending !== 'return') {
            $this->ends[] = new End($kept->queue, $kept->id, $kept->type, $ending, $kept->state, microtime(true), 'test',
                $ending === 'done' ? null : $kept->error['kind'], $kept->attempts);
        }
    }

    private function settle(Kept $kept, Attempt $attempt): void
    {
        if ($attempt->result === 'done') {
            [$kept->state, $kept->value] = ['done', $attempt->value];
            if ($kept->job->uniqueFor || $kept->job->throttle) {
                $this->taken["$kept->queue $kept->id"] = true;
            }
            return;
        }
        $dead = $attempt->result === 'bury' || $attempt->result === 'retry' && $kept->attempts >= $kept->most();
        $kept->error = ['at' => microtime(true), 'attempt' => $kept->attempts,
            'kind' => $attempt->result === 'bury' ? 'buried' : $attempt->result, 'text' => $attempt->error, 'host' => 'test'];
        $kept->state = $dead ? 'dead' : 'delayed';
        $kept->attempts -= $attempt->result === 'return' ? 1 : 0;
    }

    private static function fail(string $text): never
    {
        $phpunit = 'PHPUnit\Framework\AssertionFailedError';
        throw class_exists($phpunit) ? new $phpunit($text) : new \AssertionError($text);
    }

    /** PHPUnit counts assertions, and complains of a test without one. */
    private static function passed(): void
    {
        if (class_exists('PHPUnit\Framework\Assert')) {
            \PHPUnit\Framework\Assert::assertTrue(true);
        }
    }
}
