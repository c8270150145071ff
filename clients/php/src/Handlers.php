<?php

// Handlers.php: handlers by type, and the program of laterd's plugin exec that performs jobs.

namespace Laterd;

/**
 * Performs jobs: a program for laterd's plugin exec, with `lines = true`.
 *
 *     $handlers = new Laterd\Handlers();
 *     $handlers->on('mail.send', function (Laterd\Job $job) { mail($job->payload['to'], …); });
 *     $handlers->run();
 *
 * What a function returns is the job's value. What it throws ends the attempt. What it prints is
 * logged. `php handlers.php mail.send '{"to":"a@b.c"}'` tries a function by hand, without laterd.
 */
final class Handlers
{
    private const SHOWN = JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_PRESERVE_ZERO_FRACTION;
    private const SPARE = 65536; // bytes, kept free to report that there are no more
    private const RESULTS = [
        // @answers raised: {Pascal}Job::class => '{name}',
        RetryJob::class => 'retry',
        BuryJob::class => 'bury',
        ReturnJob::class => 'return',
        // @end
    ];
    private const STATUS = [
        // @answers answer: '{name}' => {status},
        'done' => 0,
        'retry' => 75,
        'bury' => 65,
        'return' => 75,
        // @end
    ];
    private const UNBEGUN = ['result' => 'return', 'error' => 'it had not begun'];

    /** @var array<string, callable> */
    private array $functions = [];
    /** @var array<string, array> what is said of each type, besides its name */
    private array $policies = [];
    /** @var array<string, class-string[]> */
    private array $bury = [];
    /** @var array<string, ?\Closure> that say after which wait a job is tried again */
    private array $waits = [];
    /** @var array<string, string> the type of the jobs that tell of one that was given up, by its type */
    private array $givenUp = [];
    /** @var array<string, callable[]> */
    private array $hooks = ['before' => [], 'after' => [], 'failed' => [], 'around' => []];
    private bool $hooked = false;
    private Lines $lines;
    private ?Job $job = null;
    private ?string $spare = null;
    private static string $trouble = ''; // of the job, for its last words

    /** @param ?Queues $queues a Client, or a Fake in a test: tasks push by it */
    public function __construct(public ?Queues $queues = null)
    {
    }

    /**
     * @param string $type a type that ends in * is a prefix. A type has one function
     * @param ?int $retries how often a job is tried again, and after which waits ($backoff, as of NewJob), if
     *     neither the job nor laterd.conf says otherwise. $backoff may be a closure (Job, \Throwable), which is asked
     *     after each attempt that throws: the seconds, or null for laterd's own waits
     * @param class-string[] $bury errors after which another try cannot help: the job is buried at once
     * @param ?string $onDead the type of a job that is pushed when one of these is dead, also after a crash; or
     *     done ($onDone)
     */
    public function on(string $type, callable $function, ?int $retries = null,
        int|float|array|\Closure|null $backoff = null, array $bury = [], ?string $onDead = null, ?string $onDone = null): static
    {
        $waits = $backoff instanceof \Closure ? $backoff : null;
        $job = new NewJob('policy', maxAttempts: $retries === null ? null : $retries + 1, backoff: $waits ? null : $backoff,
            onDead: $onDead, onDone: $onDone);
        $this->checkOnDead($type, $onDead, $this->givenUp[$type] ?? null);
        if (!preg_match('/^(?!$)[A-Za-z0-9_.:-]{0,128}\*?$/D', $type)) {
            throw new \InvalidArgumentException("on: $type is neither a type nor a prefix of types that ends in *");
        }
        if (isset($this->functions[$type])) {
            [$one, $other] = array_map(self::place(...), [$this->functions[$type], $function]);
            throw new \InvalidArgumentException("type $type has two handlers, at $one and at $other: remove one");
        }
        $this->functions[$type] = $function;
        $this->policies[$type] = array_intersect_key(json_decode($job->document(), true),
            ['max_attempts' => 1, 'backoff' => 1, 'on_dead' => 1, 'on_done' => 1]);
        $this->bury[$type] = $bury;
        $this->waits[$type] = $waits;
        return $this;
    }

    /** The same as on(), for a type without a star; returns its Task, whose later() pushes. */
    public function task(string $type, callable $function, mixed ...$policy): Task
    {
        if (str_ends_with($type, '*')) {
            throw new \InvalidArgumentException("task: $type is no type");
        }
        $this->on($type, $function, ...$policy);
        return new Task($this, $type);
    }

    /**
     * The function gets a job when one of this type is dead, whatever the reason, also after a crash. Its payload
     * has id, type, queue, attempts and error of the other. Its own type is TYPE.given_up, which laterd.conf must
     * give to the program, too, where it names types.
     */
    public function givenUp(string $type, callable $function): static
    {
        $name = ltrim(preg_replace('/\.?\*$/', '', $type) . '.given_up', '.');
        $this->checkOnDead($type, $this->policies[$type]['on_dead'] ?? null, $name);
        $this->on($name, $function);
        $this->givenUp[$type] = $name;
        return $this;
    }

    private static function place(callable $function): string
    {
        $code = new \ReflectionFunction($function(...));
        return ($code->getFileName() ?: $code->getName()) . ':' . $code->getStartLine();
    }

    private function checkOnDead(string $type, ?string $onDead, ?string $givenUp): void
    {
        if ($onDead !== null && $givenUp !== null) {
            throw new \InvalidArgumentException("onDead: of type $type it is givenUp()");
        }
    }

    /** @param callable(Job): void $hook called before each job. What it throws ends the attempt */
    public function before(callable $hook): static
    {
        return $this->hook('before', $hook);
    }

    /** @param callable(Job, mixed): void $hook called after each job that is done. What it throws is logged */
    public function after(callable $hook): static
    {
        return $this->hook('after', $hook);
    }

    /**
     * It does not see crashes and time-outs; givenUp() does.
     *
     * @param callable(Job, \Throwable): void $hook called after each attempt that has thrown, but ReturnJob. What
     *     it throws is logged
     */
    public function failed(callable $hook): static
    {
        return $this->hook('failed', $hook);
    }

    /** @param callable(Job, \Closure): mixed $middleware called in the place of each job with its other hooks; the
     *     closure performs it */
    public function around(callable $middleware): static
    {
        return $this->hook('around', $middleware);
    }

    private function hook(string $name, callable $hook): static
    {
        $this->hooks[$name][] = $hook;
        $this->hooked = true;
        return $this;
    }

    private function withHooks(callable $function, Job $job): mixed
    {
        $perform = function () use ($function, $job): mixed {
            try {
                foreach ($this->hooks['before'] as $hook) {
                    $hook($job);
                }
                $value = $job->end($function($job));
                $this->tell('after', $job, $value);
                return $value;
            } catch (\Throwable $e) {
                if (!$e instanceof ReturnJob) {
                    $this->tell('failed', $job, $e);
                }
                throw $e;
            }
        };
        foreach (array_reverse($this->hooks['around']) as $around) {
            $perform = fn () => $around($job, $perform);
        }
        return $perform();
    }

    private function tell(string $name, Job $job, mixed $what): void
    {
        foreach ($this->hooks[$name] as $hook) {
            try {
                $hook($job, $what);
            } catch (\Exception | \Error $e) {
                if ($e instanceof TimeIsUp) {
                    throw $e;
                }
                $job->log('error', "the hook $name: " . self::text($e));
            }
        }
    }

    /** Finds the exact name, otherwise the longest prefix. */
    private function find(string $type): ?string
    {
        $found = isset($this->functions[$type]) ? $type : null;
        for ($end = strlen($type); $found === null && $end >= 0; $end--) {
            $name = substr($type, 0, $end) . '*';
            $found = isset($this->functions[$name]) ? $name : null;
        }
        return $found;
    }

    /**
     * Performs one job after the other, until laterd closes standard input. By hand, `php app.php TYPE [PAYLOAD]`
     * performs one job; `php app.php --work [Q…] [OPTIONS of later work]` is a laterd for this program alone,
     * until ^C.
     *
     * @param int $jobs ends after this many; 0: never
     * @param int $memory ends when it uses more than this many bytes; 0: never
     * @param ?callable $goOn called after each job; if it returns false, run() ends
     */
    public function run(int $jobs = 0, int $memory = 0, ?callable $goOn = null): void
    {
        if (!getenv('LATER_ANSWERS')) {
            $words = array_slice($_SERVER['argv'] ?? [], 1);
            exit(($words[0] ?? '') === '--work' ? $this->work(array_slice($words, 1)) : $this->try($words));
        }
        $handed = $this->handed();
        for ($done = 1; $handed->valid(); $done++) {
            $answer = $this->perform($handed->current());
            $last = $done === $jobs || $memory && memory_get_usage() > $memory || $goOn && !$goOn();
            $handed->send($answer + ($last ? ['last' => true] : []));
            $handed->next();
        }
    }

    /**
     * @internal Yields the jobs that laterd hands over, until it closes standard input. It is sent the members of a
     * job's answer, then yields null. After an answer with `last`, laterd hands over no more.
     */
    public function handed(): \Generator
    {
        $this->lines = new Lines(STDIN, fopen('php://fd/' . getenv('LATER_ANSWERS'), 'w'));
        $this->guard();
        // The names are texts again: as keys, those of digits are numbers.
        $this->lines->write(['hello' => 1, 'stopping' => true, 'types' => $this->types()]);
        while (($line = $this->lines->next()) !== null) {
            $this->job = new Job($line, $this->lines);
            self::$trouble = '';
            if ($this->job->cancelled()) {
                $this->answer(self::UNBEGUN);
            } else {
                $this->answer(yield $this->job);
                yield;
            }
        }
    }

    /** @internal what hello says of its types */
    public function types(): array
    {
        return array_map(fn ($type) => ['name' => (string) $type] + $this->policies[$type]
            + (isset($this->givenUp[$type]) ? ['on_dead' => $this->givenUp[$type]] : []), array_keys($this->functions));
    }

    /** @internal what the program tells laterd of a type, by the names of a job's document */
    public function policy(string $type): array
    {
        $name = $this->find($type);
        return $name === null ? [] : $this->policies[$name]
            + (isset($this->givenUp[$name]) ? ['on_dead' => $this->givenUp[$name]] : []);
    }

    /** Performs one job, and returns the members of its answer. */
    public function perform(Job $job): array
    {
        $name = $this->find($job->type);
        if ($name === null) {
            return ['result' => 'bury', 'error' => "the program has no handler for type $job->type"];
        }
        try {
            $value = $this->hooked ? $this->withHooks($this->functions[$name], $job)
                : $job->end(($this->functions[$name])($job));
            return ['result' => 'done'] + ($value === null ? [] : ['value' => $value]);
        } catch (GoesOn) {
            return ['result' => 'return', 'in' => 0];
        } catch (\Throwable $e) {
            return $this->failedBy($name, $job, $e);
        }
    }

    private function failedBy(string $name, Job $job, \Throwable $e): array
    {
        $is = fn ($kind) => $e instanceof $kind;
        $said = current(array_filter(array_keys(self::RESULTS), $is));
        $result = $said ? self::RESULTS[$said] : (array_filter($this->bury[$name], $is) ? 'bury' : 'retry');
        $in = $said ? $e->in ?? null : null;
        return ['result' => $result, 'error' => $said ? self::said($e) : self::text($e),
            ...self::in($result === 'retry' ? $in ?? $this->wait($name, $job, $e) : $in)];
    }

    /** Asks a closure; one that fails, or has no number, leaves it to laterd. */
    private function wait(string $name, Job $job, \Throwable $e): ?float
    {
        try {
            $seconds = $this->waits[$name] === null ? null : ($this->waits[$name])($job, $e);
            if ($seconds !== null && !(is_numeric($seconds) && is_finite((float) $seconds))) {
                throw new \UnexpectedValueException('it is no number of seconds');
            }
            return $seconds === null ? null : (float) $seconds;
        } catch (\Exception | \Error $wrong) {
            if ($wrong instanceof TimeIsUp) {
                throw $wrong;
            }
            $job->log('error', 'the backoff: ' . self::text($wrong));
            return null;
        }
    }

    private function answer(array $answer): void
    {
        $id = $this->job->id;
        $this->job = null;
        $this->lines->write(['id' => $id] + $answer);
        $this->lines->forget($id);
    }

    private static function in(?float $in): array
    {
        return $in === null ? [] : ['in' => max(0, $in)];
    }

    /** Returns what a handler said on purpose, with the cause if there is one. */
    private static function said(Error $e): string
    {
        $cause = $e->getPrevious() ? [self::text($e->getPrevious())] : [];
        return Lines::text(implode("\n", array_filter([$e->getMessage(), ...$cause])), Lines::ERROR_MAX);
    }

    /** Returns an exception as PHP prints it, as much of it as laterd keeps, without the frames of
     * laterd's own below the handler's. */
    private static function text(\Throwable $e): string
    {
        [$trace] = preg_split('~^#\d+ ' . preg_quote(__FILE__, '~') . '\(~m', $e->getTraceAsString());
        $cause = $e->getPrevious() ? "\nCaused by: " . self::text($e->getPrevious()) : '';
        $text = get_class($e) . ': ' . $e->getMessage() . ' in ' . $e->getFile() . ':' . $e->getLine() . "\n" . $trace;
        return Lines::text(rtrim($text) . $cause, Lines::ERROR_MAX);
    }

    /** Ends a job whose time is over, and answers for a job that takes the program down with it. */
    private function guard(): void
    {
        if (function_exists('pcntl_async_signals')) {
            pcntl_async_signals(true);
            pcntl_signal(SIGTERM, function (): void {
                $this->job ? throw new TimeIsUp('the time of this attempt is up') : exit(0);
            }, false);
        }
        ignore_user_abort(true); // output that nobody can read is no reason to end
        $this->spare = str_repeat(' ', self::SPARE);
        register_shutdown_function(function (): void {
            $this->spare = null;
            if ($this->job) {
                $this->answer(['result' => 'retry', 'error' => self::lastWords(), 'last' => true]);
            }
            foreach ($this->lines->unbegun() as $line) { // there is no memory for whole documents
                preg_match('/"id": ?("(?:[^"\\\\]|\\\\.)*")/', $line, $id);
                $this->lines->write(['id' => json_decode($id[1])] + self::UNBEGUN);
            }
        });
    }

    /** @internal Notes what has gone wrong with the job, for the case that the program is ended because of it. */
    public static function trouble(string $why): void
    {
        self::$trouble = "; before that: $why";
    }

    private static function lastWords(): string
    {
        $error = error_get_last();
        return $error && $error['type'] & (E_ERROR | E_CORE_ERROR | E_COMPILE_ERROR | E_RECOVERABLE_ERROR)
            ? Lines::text("$error[message] in $error[file]:$error[line]", Lines::ERROR_MAX)
            : Lines::text('the handler has ended the program' . self::$trouble, Lines::ERROR_MAX);
    }

    /** Runs `later work`, which starts a laterd that runs this program. Returns its exit status. */
    private function work(array $words): int
    {
        $queues = preg_match('/^[^-]/', $words[0] ?? '') ? [] : ['default'];
        $program = ['--lines', '--', PHP_BINARY, $_SERVER['argv'][0]];
        $later = @proc_open(['later', 'work', ...$queues, ...$words, ...$program], [STDIN, STDOUT, STDERR], $pipes);
        if (!$later) {
            fwrite(STDERR, "later cannot be run; it comes with laterd\n");
            return 69;
        }
        foreach (function_exists('pcntl_signal') ? [SIGINT, SIGTERM] : [] as $signal) {
            pcntl_async_signals(true);
            pcntl_signal($signal, fn () => $signal === SIGTERM && proc_terminate($later)); // ^C reaches both
        }
        while (($status = proc_get_status($later))['running']) {
            usleep(50000);
        }
        return $status['exitcode'];
    }

    /** Performs one job from the command line and prints the answer. Returns the exit status. */
    private function try(array $words): int
    {
        [$type, $payload] = $words + [null, 'null'];
        $types = array_map('strval', array_keys($this->functions));
        sort($types);
        if ($type === null) {
            echo implode("\n", $types), "\n";
            return 0;
        }
        if (str_starts_with($type, '-') && !in_array($type, $types, true)) {
            return self::usage($type);
        }
        $payload = $payload === '-' ? stream_get_contents(STDIN) : $payload;
        json_decode($payload, false, Json::DEPTH_MAX);
        if (json_last_error() !== JSON_ERROR_NONE) {
            fwrite(STDERR, 'PAYLOAD is no JSON: ' . json_last_error_msg() . "\n");
            return 64;
        }
        $this->lines = new Lines(STDIN, STDERR);
        $kind = json_encode($type);
        $line = "{\"id\":\"try\",\"type\":$kind,\"queue\":\"default\",\"attempt\":1,\"max_attempts\":25,\"time_left\":300.0,"
            . "\"document\":{\"type\":$kind,\"payload\":$payload}}";
        return self::shown(Lines::linesOf($this->perform(new Job($line, $this->lines))));
    }

    /** Says what became of a job that was tried, by the lines of its answer. Returns the exit status. */
    private static function shown(array $lines): int
    {
        $answer = json_decode(array_pop($lines));
        foreach ($lines as $note) {
            fwrite(STDERR, json_decode($note)->text . "\n");
        }
        if (isset($answer->error)) {
            fwrite(STDERR, "$answer->result: $answer->error\n");
        } else {
            echo json_encode($answer->value ?? null, self::SHOWN), "\n";
        }
        return self::STATUS[$answer->result];
    }

    /** Says how the program is called, by hand; $option: what it was called with. Returns its exit status. */
    private static function usage(string $option): int
    {
        if (!in_array($option, ['--help', '-h'], true)) {
            fwrite(STDERR, "$option: no such option; it is --work [Q...], or TYPE [PAYLOAD]\n");
            return 64;
        }
        $program = 'php ' . basename($_SERVER['argv'][0]);
        echo <<<TEXT
            usage: $program [TYPE [PAYLOAD|-]]
                   $program --work [Q...] [OPTIONS of later work]

            Performs one job, without laterd; without a TYPE it lists its types. --work: a laterd for
            this program alone, until ^C; `later help work` has the options.

            TEXT;
        return 0;
    }
}
