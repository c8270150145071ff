<?php

// Client.php: pushes jobs over phpredis or Predis, and asks for them: show, wait, search, flows; sets schedules.

namespace Laterd;

use Laterd\Redis\Link;
use Laterd\Redis\Phpredis;
use Laterd\Redis\Predis;
use Laterd\Redis\Url;

/**
 * Pushes jobs into laterd's queues.
 *
 *     $later = Laterd\Client::connect('unix:/var/lib/laterd/redis.sock');
 *     $later->push('mail.send', ['to' => 'a@b.c'], queue: 'mail', in: 60);
 */
final class Client implements Queues
{
    use Pushing;

    public const PROTOCOL = '2';
    private const SOCKET = 'unix:/var/lib/laterd/redis.sock';
    private const REMEMBERED = '60'; // seconds; a call is repeated at once or not at all
    private const PLANS_MAX = 20;    // changes of plan in a row before it gives up
    private const HOLDERS_MAX = 20;  // the same for changes of a job's holder
    private const LOADS_MAX = 5;     // the same for loads of a script
    private const NAP = 50000;       // microseconds
    private const TURN = 1.0;        // seconds

    private ?Link $link = null;
    private \Closure $dial;
    /** @var array<string, Plan> */
    private array $plans = [];
    /** @var array<string, true> places that are in later:queues */
    private array $announced = [];
    /** see newNumber() */
    private array $calls = [];
    private int $callsLeft = 0;
    private int $callsEnd = 0;

    /**
     * @param object $redis Redis or RedisCluster (phpredis), Predis\Client, or a function that
     * returns one. The function is called again if the connection is lost, since a Sentinel's
     * master may move
     * @param string $prefix of laterd's keys: its option redis.prefix
     */
    public function __construct(object $redis, private string $prefix = 'later')
    {
        $this->dial = $redis instanceof \Closure
            ? fn () => self::adapt($redis())
            : fn () => self::adapt($redis);
    }

    /** @param ?string $url see Redis\Url; by default $LATER_REDIS_URL, or the local laterd's own
     * Redis */
    public static function connect(
        ?string $url = null,
        ?string $password = null,
        string $prefix = 'later',
        ?string $library = null,
    ): self {
        $url = new Url($url ?? (getenv('LATER_REDIS_URL') ?: self::SOCKET), $password);
        return new self(fn () => $url->link($library), $prefix);
    }

    /**
     * Pushes one job. The options have the names of those of NewJob. Check the result: if the id is
     * known, nothing changes.
     *
     * @throws QueueFull
     */
    public function push(string|NewJob $job, mixed $payload = null, string $queue = 'default', mixed ...$options): Pushed
    {
        $job = NewJob::of($job, $payload, $options);
        self::checkQueue($queue);
        $job = $this->changedOne($job);
        if ($job->flow !== null) {
            return $this->told($job, (new Flows($this))->add($job, $queue));
        }
        return $this->told($job, $this->pushPlainly($job, $queue) ?? $this->pushAll([[$job, $job->document()]], $queue)[0]);
    }

    /**
     * Pushes many jobs, up to 500 per call, each into its own `queue` if it has one.
     *
     * @param NewJob[] $jobs
     * @return Pushed[] in their order
     * @throws QueueFull if some found no room; all were tried
     */
    public function pushMany(array $jobs, string $queue = 'default'): array
    {
        self::checkQueue($queue);
        $jobs = $this->changedMany($jobs);
        // All jobs are checked before any is pushed.
        $documents = NewJob::numbered($jobs, fn ($job) => [$job, $job->document()]);
        return array_map($this->told(...), $jobs, $this->pushAll($documents, $queue));
    }

    private function pushAll(array $jobs, string $queue): array
    {
        $answers = $queues = [];
        foreach ($jobs as $n => $job) {
            $queues[$job[0]->queue ?? $queue][$n] = $job;
        }
        foreach ($queues as $name => $own) {
            $this->byPlan($name, function () use ($own, $name, &$answers) {
                for ($open = $this->routed(array_diff_key($own, $answers), $name); $open;) {
                    $open = $this->round($own, $name, $open, $answers);
                }
            });
        }
        ksort($answers);
        $full = array_search('full', array_column($answers, 'result'), true);
        return $full === false ? $answers : throw new QueueFull($jobs[$full][0]->queue ?? $queue, $answers);
    }

    /** Returns what Redis knows of a job, or null if the job has ended or never existed. */
    public function show(string $id, string $queue = 'default'): ?KnownJob
    {
        foreach ($this->plan($queue)->route($queue, $id) as $place) {
            [$state, $score, $record, $document] = $this->script('show', $place, [$id]);
            if ($state !== '') {
                return new KnownJob($id, $state, $score === '' ? null : (float) $score, $record, $document);
            }
        }
        return null;
    }

    /**
     * Waits for the end of a job that was pushed with `result`. Returns null if the job has not
     * ended in that time. With 0 seconds it only looks. A Redis that is away is asked again twice a
     * second.
     *
     * @throws Unreachable when it has been away for 30 seconds without a break, or is when the time is up
     */
    public function wait(string $id, string $queue = 'default', float $seconds = 60): ?Result
    {
        $end = Away::now() + $seconds;
        $away = new Away($end);
        $behind = true; // what comes may be of an earlier job
        do {
            try {
                [$place, $result, $followed] = $this->ended($id, $queue);
                $away->over();
                $behind = $behind && $followed;
                $left = $end - Away::now();
                if ($result || $left <= 0) {
                    return $result;
                }
                $element = $this->await($place, $id, min($left, self::TURN));
            } catch (\Exception $e) {
                $element = null;
                $away->outlast($e);
            }
        } while (!$element || $behind);
        return Result::parse($element);
    }

    /** Returns the result, or null if none came. One waits in turns, since a job may end without leaving anything, and
     * a connection has its own time-out. A turn that is lost is not repeated: it would last for its whole time again. */
    private function await(string $place, string $id, float $seconds): ?string
    {
        $key = $this->key($place, "result:$id");
        $turn = NewJob::decimal(max(0.01, $seconds));
        return $this->once($key, ['BLMOVE', $key, $key, 'LEFT', 'LEFT', $turn]) ?: null; // phpredis: [] if none came
    }

    /**
     * Makes a dead or delayed job ready. A dead one starts afresh. Returns the state it came from, or
     * null if it is in neither.
     */
    public function kick(string $id, string $queue = 'default'): ?string
    {
        return $this->act($id, $queue, fn ($place) => $this->script('kick', $place, [$id])[0]);
    }

    /**
     * Drops a job, whatever its state; the handler of one that runs is stopped. Returns the state that
     * it had, or null if there is none of this id. `ended`: its id was taken still, and is free now.
     */
    public function cancel(string $id, string $queue = 'default'): ?string
    {
        return $this->act($id, $queue, fn ($place) => $this->cancelAt($id, $place));
    }

    /**
     * Has a ready or delayed job begin after so many seconds ($in), or at a time, or gives it another priority; all
     * else stays. Returns the state it had, or null if it is in neither.
     */
    public function reschedule(string $id, string $queue = 'default', ?float $in = null,
        float|\DateTimeInterface|null $at = null, ?int $priority = null): ?string
    {
        $words = self::rescheduleWords($in, $at, $priority);
        return $this->act($id, $queue, function ($place) use ($id, $words) {
            $state = $this->script('reschedule', $place, [$id, ...$words]);
            return in_array($state, ['ready', 'delayed'], true) ? $state : ''; // of another one nothing was done
        });
    }

    /** @internal as the script takes them, with '' for what stays */
    public static function rescheduleWords(?float $in, float|\DateTimeInterface|null $at, ?int $priority): array
    {
        $stays = $in === null && $at === null;
        if ($stays && $priority === null) {
            throw new \InvalidArgumentException('reschedule: in, at or priority');
        }
        $job = new NewJob('reschedule', priority: $priority ?? 0, in: $in, at: $at);
        return [$job->when() ?: ($stays ? '' : '+0'), $priority === null ? '' : $job->rank()];
    }

    /** Drops the result of a job that has ended. Returns whether there was one. */
    public function forget(string $id, string $queue = 'default'): bool
    {
        return $this->act($id, $queue,
            fn ($place) => $this->ask($place, 'DEL', $this->key($place, "result:$id")) > 0 ? 'forgotten' : '') !== null;
    }

    /** Counts the jobs of a queue, in all its shards. */
    public function size(string $queue = 'default'): Size
    {
        return Size::sum(array_map(fn ($place) => $this->script('size', $place, []), $this->places($queue)));
    }

    /**
     * Nothing of the queue is handed out until resume(), or for so many seconds. Returns whether that changed
     * anything: false if it was paused without an end before.
     *
     * @param string $by who pauses it, for people
     */
    public function pause(string $queue = 'default', ?float $seconds = null, string $by = ''): bool
    {
        return $this->setPause($queue, 'pause', self::pauseWords($seconds, $by));
    }

    /** Ends a pause. Returns whether there was one. */
    public function resume(string $queue = 'default'): bool
    {
        return $this->setPause($queue, 'resume', []);
    }

    /**
     * Makes a schedule, or changes it; a paused one stays paused. Returns whether that changed anything: what is so
     * already stays so, and a deploy may say its schedules each time. laterd reads `at` and `zone` within a second, and
     * says in its log and by `later status --trouble` what is wrong with them.
     */
    public function cronSet(NewSchedule $schedule, string $queue = 'default'): bool
    {
        self::checkQueue($queue);
        // ?: laterd works out when it is due.
        [$answer] = $this->script('cron_put', $queue, [$schedule->name, $schedule->definition(), '?', 'set']);
        $this->announce($queue);
        return $answer === 'PUT';
    }

    /** Takes a schedule away. Returns whether there was one. One of a configuration comes back. */
    public function cronDelete(string $name, string $queue = 'default'): bool
    {
        NewJob::checkLabel('name', $name);
        self::checkQueue($queue);
        return $this->script('cron_move', $queue, ['drop', $name, ''])[0] === 1;
    }

    /** @return Schedule[] those of a queue, the one that is due next first */
    public function cronList(string $queue = 'default'): array
    {
        self::checkQueue($queue);
        $found = [];
        while ($page = Schedule::listed($this->script('cron_look', $queue, [count($found), Bounds::JOBS_MAX]))) {
            array_push($found, ...$page);
        }
        return array_values(array_column($found, null, 'name')); // one that is fired meanwhile may come twice
    }

    /** The plain queue comes first, and then the plan is read: whoever adds shards writes the plan and then
     * copies the plain queue's pause to them, so that one of the two sees the other. */
    private function setPause(string $queue, string $script, array $words): bool
    {
        self::checkQueue($queue);
        $changed = $this->script($script, $queue, $words);
        foreach (array_slice($this->places($queue), 1) as $place) {
            $changed |= $this->script($script, $place, $words);
        }
        return (bool) $changed;
    }

    /** @internal as the script takes them: milliseconds, 0 without an end, and who pauses */
    public static function pauseWords(?float $seconds, string $by): array
    {
        if ($seconds !== null && !($seconds >= 0.001 && $seconds <= Bounds::PAUSE_MAX)) {
            throw new \InvalidArgumentException('seconds: from 0.001 to ' . Bounds::PAUSE_MAX);
        }
        if ($by !== '' && (strlen($by) > 64 || !preg_match(NewJob::WORD, $by))) {
            throw new \InvalidArgumentException('by: 1 to 64 printable ASCII characters without space');
        }
        return [(string) (int) round(1000 * $seconds), $by];
    }

    /**
     * Returns the jobs that meet all conditions, the newest of each state first, at most $limit (1 to 500). Jobs
     * that are done and kept are found only by their state. It looks at 100,000 jobs at most; `later search`
     * looks at all.
     *
     * @param ?string $type one that ends in * is a prefix
     * @param ?string $text somewhere in the document
     * @return KnownJob[]
     */
    public function search(
        string $queue = 'default',
        ?string $state = null,
        ?string $type = null,
        ?string $text = null,
        int $limit = 100,
    ): array {
        return (new Search($this, new Conditions($state, $type, $text, $limit)))->run($queue);
    }

    /**
     * Returns the ends that a queue has told of after a bookmark, in the order of their times, at most $limit (1 to
     * 1,000). If there is none, it waits for $seconds. The queue tells if its laterd has queues.events_kept.
     *
     * @param string $after '' is what is kept, 'now' nothing before
     */
    public function events(string $queue = 'default', string $after = '', int $limit = 500, float $seconds = 0): Events
    {
        return (new Events($queue, $after, $limit))->read($this, $seconds);
    }

    /** Drops the ready and delayed jobs, and returns how many there were. */
    public function purge(string $queue = 'default'): int
    {
        $gone = 0;
        foreach ($this->places($queue) as $place) {
            foreach (['ready', 'delayed'] as $state) {
                do {
                    $gone += $now = $this->script('purge', $place, [$state, Bounds::JOBS_MAX]);
                } while ($now >= Bounds::JOBS_MAX);
            }
        }
        return $gone;
    }

    /**
     * Pushes a whole flow: jobs that wait for each other, by `step`, `after` and `when`. What waits for
     * what is checked before anything is sent. The same call again pushes only what is missing.
     *
     * @param NewJob[] $jobs
     * @param bool $open more jobs of it are pushed later, until closeFlow()
     * @return Pushed[] in their order
     * @throws FlowClosed
     * @throws QueueFull
     */
    public function flow(string $name, array $jobs, string $queue = 'default', bool $open = false): array
    {
        self::checkQueue($queue);
        $jobs = array_map($this->changed(...), array_values($jobs));
        return array_map($this->told(...), $jobs, (new Flows($this))->push($name, $jobs, $queue, $open));
    }

    /** Returns how a flow stands, or null if there is none of this name. */
    public function showFlow(string $name, string $queue = 'default'): ?Flow
    {
        self::checkQueue($queue);
        return (new Flows($this))->look($name, $queue);
    }

    /**
     * Waits until a flow has ended or is blocked. Returns null if it goes on. With 0 seconds it only
     * looks. While Redis is away it goes on as wait().
     *
     * @throws FlowUnknown as the next three
     */
    public function waitFlow(string $name, string $queue = 'default', float $seconds = 60): ?Flow
    {
        self::checkQueue($queue);
        return (new Flows($this))->wait($name, $queue, $seconds);
    }

    /** Kicks the dead jobs of a flow, so that it goes on. Returns how many there were. */
    public function kickFlow(string $name, string $queue = 'default'): int
    {
        self::checkQueue($queue);
        return (new Flows($this))->kick($name, $queue);
    }

    /** Cancels the jobs of a flow that have not ended. Returns how many there were. */
    public function cancelFlow(string $name, string $queue = 'default'): int
    {
        self::checkQueue($queue);
        return (new Flows($this))->cancel($name, $queue);
    }

    /** Says that no more jobs of the flow will be pushed. */
    public function closeFlow(string $name, string $queue = 'default'): void
    {
        self::checkQueue($queue);
        (new Flows($this))->close($name, $queue);
    }

    /** Returns what $act says at the first place that has the job, or null. */
    private function act(string $id, string $queue, \Closure $act): ?string
    {
        foreach ($this->plan($queue)->route($queue, $id) as $place) {
            $state = $act($place);
            if ($state !== '') {
                return $state;
            }
        }
        return null;
    }

    /** A reserved job is under a token, which its id does not tell. While it is looked for, the job
     * may come under another one, or become ready. */
    private function cancelAt(string $id, string $place): string
    {
        for ($tries = 0, $token = ''; $tries < self::HOLDERS_MAX; $tries++) {
            [$state] = $this->script('cancel', $place, [$id], ['held' => "reserved:$token"]);
            if ($state !== '') {
                return $state;
            }
            if (in_array($this->script('show', $place, [$id])[0], ['', 'done'], true)) {
                return '';
            }
            $token = $this->holder($id, $place);
        }
        throw new Moving("$id: it changes its state faster than it can be cancelled");
    }

    /** Returns the token that holds a reserved job, or nothing. */
    private function holder(string $id, string $place): string
    {
        $key = $this->key($place, 'reserved');
        foreach ($this->ask($place, 'ZRANGE', $key, '0', '-1') as $token) {
            if ($this->ask($place, 'ZSCORE', "$key:$token", $id) !== null) {
                return $token;
            }
        }
        return '';
    }

    /** @internal the queue and its shards */
    public function places(string $queue): array
    {
        return $this->plan($queue)->places($queue);
    }

    /** Pushes an ordinary job into a queue that is not known to be spread. If it returns null, push
     * has to do it. */
    private function pushPlainly(NewJob $job, string $queue): ?Pushed
    {
        self::checkQueue($queue);
        if (!$job->isPlain() || isset($this->plans[$queue]) && $this->plans[$queue]->epoch !== '0') {
            return null;
        }
        $document = $job->document();
        $this->announce($queue);
        $answer = $this->script('push_now', $queue, ['0', $job->id, $document, $this->newNumber()], $this->calls);
        return match ($answer) {
            'PUSHED' => new Pushed($job->id, $queue, 'pushed'),
            'ASK' => null,
            default => throw WrongProtocol::answered($answer),
        };
    }

    /** Makes an id of a call, under which Redis remembers its answer. */
    private static function newCall(): array
    {
        return ['call' => 'call:' . bin2hex(random_bytes(12))];
    }

    /**
     * Makes the number of a call of push_now, which Redis remembers in the set $calls. A new set is
     * used after 500 calls or a minute. Processes after a fork may share one.
     */
    private function newNumber(): string
    {
        $now = hrtime(true);
        if (--$this->callsLeft < 0 || $now >= $this->callsEnd) {
            $this->calls = self::newCall();
            $this->callsLeft = Bounds::JOBS_MAX - 1;
            $this->callsEnd = $now + self::REMEMBERED * 1000000000;
        }
        return (string) random_int(100000000000000000, 999999999999999999);
    }

    /** @internal */
    public static function checkQueue(string $queue): void
    {
        if (!preg_match(NewJob::LABEL, $queue)) {
            throw new \InvalidArgumentException("queue: 1 to 64 letters, digits and _ . -: $queue");
        }
    }

    /**
     * Returns where a job is, its end if it has ended, and whether it runs and another of its id
     * follows it. The element is read before the state: an element that was there while the job is
     * not over belongs to an earlier job of that id.
     */
    private function ended(string $id, string $queue): array
    {
        foreach ($this->plan($queue)->route($queue, $id) as $place) {
            $key = $this->key($place, "result:$id");
            $element = $this->ask($place, 'LINDEX', $key, '0');
            [$state, , $record, $document] = $this->script('show', $place, [$id]);
            if ($state === 'dead') {
                return [$place, Result::dead(new KnownJob($id, $state, null, $record, $document)), false];
            }
            $over = $state === '' || $state === 'done'; // done: it is kept
            if (!$over && $element !== null) {
                $this->ask($place, 'LREM', $key, '1', $element);
            }
            if (!$over) {
                return [$place, null, $state === 'reserved' && preg_match('/^n=/m', $record) === 1];
            }
            $element = $this->ask($place, 'LINDEX', $key, '0'); // it may have ended in between, and the first was older
            if ($element !== null && !Result::precedes($element)) {
                return [$place, Result::parse($element), false];
            }
        }
        return [$queue, Result::gone(), false];
    }

    /** Returns the places where each job has to go, in order. */
    private function routed(array $jobs, string $queue): array
    {
        $plan = $this->knownPlan($queue);
        return array_map(fn ($job) => $plan->route($queue, $job[0]->id), $jobs);
    }

    /** Makes one call at each place where jobs go next. Returns the jobs that go on from there. */
    private function round(array $jobs, string $queue, array $open, array &$answers): array
    {
        $again = [];
        foreach ($this->batches($jobs, $open) as [$place, $mode, $numbers]) {
            $batch = array_map(fn ($n) => $jobs[$n], $numbers);
            foreach ($this->pushAt($place, $mode, $queue, $batch) as $i => $answer) {
                $n = $numbers[$i];
                if ($answer === 'ABSENT') {
                    $again[$n] = array_slice($open[$n], 1);
                    continue;
                }
                $answers[$n] = Pushed::of($jobs[$n][0]->id, $queue, $answer);
            }
        }
        return $again;
    }

    /** Groups jobs into calls: each has one place and one mode, and no more jobs and bytes than
     * allowed. */
    private function batches(array $jobs, array $open): array
    {
        $batches = $last = $bytes = [];
        foreach ($open as $n => $places) {
            [$job, $document] = $jobs[$n];
            $mode = $job->mode();
            if (count($places) > 1) {
                $mode = $mode === 'new' ? 'seek' : "seek-$mode";
            }
            $to = "$mode $places[0]";
            $size = strlen($document);
            if (!isset($last[$to]) || count($batches[$last[$to]][2]) >= Bounds::JOBS_MAX
                || $bytes[$to] + $size > Bounds::BYTES_MAX) {
                $batches[] = [$places[0], $mode, []];
                $last[$to] = array_key_last($batches);
                $bytes[$to] = 0;
            }
            $batches[$last[$to]][2][] = $n;
            $bytes[$to] += $size;
        }
        return $batches;
    }

    private function pushAt(string $place, string $mode, string $queue, array $batch): array
    {
        $epoch = $this->plans[$queue]->epoch;
        if (!str_starts_with($mode, 'seek')) {
            $this->announce($place);
        }
        $args = [self::REMEMBERED, "$mode/$epoch"];
        foreach ($batch as [$job, $document]) {
            array_push($args, $job->id, $job->when(), $job->rank(), $document);
        }
        return $this->script('push', $place, $args, self::newCall());
    }

    /** @internal enters the queue in later:queues, so that `later size` finds it */
    public function announce(string $place): void
    {
        if (!isset($this->announced[$place])) {
            $this->ask("{$this->prefix}:queues", 'SADD', "{$this->prefix}:queues", $place);
            $this->announced[$place] = true;
        }
    }

    /** @internal follows the plan that is known. If it is stale, Redis says so, and the new plan is followed */
    public function byPlan(string $queue, \Closure $once): void
    {
        for ($tries = 0; ; $tries++) {
            try {
                $once();
                return;
            } catch (Refused $e) {
                if (!$e->is('RESHARD') || $tries >= self::PLANS_MAX) {
                    throw $e;
                }
            }
            usleep($tries > 2 ? self::NAP : 0);
            $this->plan($queue);
        }
    }

    /** @internal the plan of a queue as far as this client has heard of it */
    public function knownPlan(string $queue): Plan
    {
        return $this->plans[$queue] ??= Plan::parse(null);
    }

    /** @internal */
    public function plan(string $queue): Plan
    {
        self::checkQueue($queue);
        return $this->plans[$queue] = Plan::parse($this->ask($queue, 'GET', $this->key($queue, 'shards')));
    }

    /** @internal */
    public function key(string $place, string $name): string
    {
        return "{$this->prefix}:{{$place}}:$name";
    }

    /**
     * Runs a script. If Redis does not know the script, nothing has run; then it is loaded.
     *
     * @internal
     * @param array $own what to use for its KEYS `call` and `held`
     */
    public function script(string $name, string $place, array $args, array $own = []): mixed
    {
        $script = Script::named($name);
        $keys = $script->keys($this->prefix, $place, $own);
        $words = ['EVALSHA', $script->sha, count($keys), ...$keys, ...$args];
        for ($tries = 0; ; $tries++) {
            try {
                return $this->again($keys[0], $words);
            } catch (Refused $e) {
                if (!$e->is('NOSCRIPT') || $tries >= self::LOADS_MAX) {
                    throw $e;
                }
            }
            usleep($tries * self::NAP); // the slot may be moving to a node that does not know it either
            $this->link()->load($keys[0], $script->text);
        }
    }

    /** @internal sends one command; the first word after its name is its key */
    public function ask(string $place, string ...$words): mixed
    {
        return $this->again($words[1], $words);
    }

    /** Repeats the command on a new connection if the first was lost: every command here may be
     * repeated. */
    private function again(string $key, array $words): mixed
    {
        try {
            return $this->once($key, $words);
        } catch (Unreachable) {
            return $this->once($key, $words);
        }
    }

    private function once(string $key, array $words): mixed
    {
        try {
            return ($this->link ?? $this->link())->command($key, $words);
        } catch (Unreachable $e) {
            $this->link = null;
            throw $e;
        }
    }

    /** Returns the connection. At its first use the number of the protocol is compared. */
    private function link(): Link
    {
        if (!$this->link) {
            $link = ($this->dial)();
            $key = "{$this->prefix}:protocol";
            $number = $link->command($key, ['GET', $key]);
            if ($number !== null && $number !== self::PROTOCOL) {
                throw new WrongProtocol("this Redis holds protocol $number, and this client knows " . self::PROTOCOL);
            }
            $this->announced = [];
            $this->link = $link;
        }
        return $this->link;
    }

    private static function adapt(object $redis): Link
    {
        return match (true) {
            $redis instanceof Link => $redis,
            $redis instanceof \Redis, $redis instanceof \RedisCluster => new Phpredis($redis),
            $redis instanceof \Predis\Client => new Predis($redis),
            default => throw new \InvalidArgumentException('laterd: no Redis client: ' . $redis::class),
        };
    }
}
