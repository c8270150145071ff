<?php

// NewJob.php: a job to push: its options, their checks, and the document made of it.

namespace Laterd;

/**
 * A job to push. Times and durations are seconds, and may have a fraction. What is not given has
 * laterd's default for the type.
 */
final class NewJob
{
    // @options pattern: /@* @internal @/\npublic const {UPPER} = '/^{regex}$/D';
    /** @internal */
    public const TYPE = '/^[A-Za-z0-9_.:-]{1,128}$/D';
    /** @internal */
    public const LABEL = '/^[A-Za-z0-9_.-]{1,64}$/D';
    /** @internal */
    public const WORD = '/^[!-~]+$/D';
    /** @internal */
    public const NAME = '/^[!-z|~]+$/D';
    /** @internal */
    public const HOOK = '/^[A-Za-z0-9_.:-]{1,128}(@[A-Za-z0-9_.-]{1,64})?$/D';
    // @end
    // @options wait.list: private const {UPPER}_MAX = {most}; // {help}
    private const LIST_MAX = 32; // waits, one after the other; the last one is used again and again
    // @end
    private const WAITS = [
        // @options member: '{name}', // {help}
        'base', // wait before the second attempt, doubled before each further one
        'max', // longest wait
        // @end
    ];
    private const FLAGS = JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_PRESERVE_ZERO_FRACTION;

    // What each option is called in Redis, of which kind it is, and its range.
    private const DOCUMENT = [
        // @options document: '{camel}' => ['{name}', '{kind}', {least}, {most}],
        'id' => ['id', 'word', 1, 200],
        'priority' => ['priority', 'whole', -100, 100],
        'maxAttempts' => ['max_attempts', 'count', 1, 1000000],
        'retryFor' => ['retry_for', 'span', 0, 315360000],
        'timeout' => ['timeout', 'span', 0, 604800],
        'backoff' => ['backoff', 'waits', 0, 1e300],
        'expiresAt' => ['expires_at', 'time', 1e9, 1e300],
        'result' => ['result', 'span', 0, 315360000],
        'lock' => ['lock', 'name', 1, 200],
        'group' => ['group', 'name', 1, 64],
        'trace' => ['trace', 'text', 0, 256],
        'description' => ['description', 'text', 0, 200],
        'onDead' => ['on_dead', 'hook', 1, 193],
        'onDone' => ['on_done', 'hook', 1, 193],
        'flow' => ['flow', 'label', 1, 64],
        'step' => ['step', 'label', 1, 64],
        'after' => ['after', 'steps', 1, 100],
        'when' => ['when', 'fate', 1, 6],
        // @end
    ];
    private const PUSH = [
        // @options line,item,tie,part: '{camel}' => ['{name}', '{kind}', {least}, {most}],
        'in' => ['in', 'seconds', 0, 315360000],
        'at' => ['at', 'time', 1e9, 1e11],
        'expiresIn' => ['expires_in', 'span', 0, 315360000],
        'adder' => ['adder', 'word', 1, 200],
        'home' => ['home', 'label', 1, 64],
        'queue' => ['queue', 'label', 1, 64],
        'uniqueFor' => ['unique_for', 'seconds', 0, 1000000000],
        'replace' => ['replace', 'flag', 0, 1],
        'again' => ['again', 'flag', 0, 1],
        'debounce' => ['debounce', 'seconds', 0, 315360000],
        'maxWait' => ['max_wait', 'span', 0, 315360000],
        'throttle' => ['throttle', 'span', 0, 1000000000],
        // @end
    ];

    // These go with an id.
    private const NAMED = [
        // @options named: '{camel}',
        'uniqueFor',
        'again',
        'debounce',
        'throttle',
        // @end
    ];

    // What a schedule decides, or what a job of a schedule cannot be.
    private const UNSCHEDULED = [
        // @options one: '{camel}',
        'in',
        'at',
        'expiresAt',
        'flow',
        'step',
        'after',
        'when',
        'adder',
        'home',
        'queue',
        'uniqueFor',
        'replace',
        'again',
        'debounce',
        'maxWait',
        'throttle',
        // @end
    ];

    private bool $named;

    /**
     * @param $payload anything that json_encode() takes, or Json
     * @options option: * @param ${camel} {help} ({value})
     * @param $id the same id is the same job (text)
     * @param $priority -100 to 100, higher first (whole number)
     * @param $in how long until it may run (seconds)
     * @param $at not before this time (UNIX seconds)
     * @param $maxAttempts failed attempts after which it is buried (whole number)
     * @param $retryFor how long after its first failure it is tried again; what fails later is buried (seconds, above 0)
     * @param $timeout how long one attempt may run (seconds, above 0)
     * @param $backoff wait before each next attempt, or a list of waits (seconds, a list of them, or base and max)
     * @param $expiresAt if it has not begun by then, it is dropped (UNIX seconds)
     * @param $expiresIn if it has not begun this long from now, it is dropped (seconds, above 0)
     * @param $result how long its result is kept (seconds, above 0)
     * @param $lock it runs only while it holds this lock (text)
     * @param $group whose job it is: groups share a queue fairly (text)
     * @param $trace logged with each line of the job (text)
     * @param $description what it is, for people who look at it (text)
     * @param $onDead push a job of this type when it is dead (TYPE, or TYPE@QUEUE)
     * @param $onDone push a job of this type when it is done (TYPE, or TYPE@QUEUE)
     * @param $flow the flow that it belongs to (name)
     * @param $step its name in the flow (name)
     * @param $after steps of the flow that it waits for; *: all jobs without * (list of names, or *)
     * @param $when how they must end: all done, all ended, or one failed (done, ended or failed)
     * @param $adder the running job of the flow that adds this one to it (text)
     * @param $home the queue that its flow lies in, if that is another one (name)
     * @param $queue among the jobs of a whole flow: the queue that it goes into (name)
     * @param $uniqueFor the id stays taken this long after the job has ended (seconds)
     * @param $replace replace a job of this id that waits (yes or no)
     * @param $again replace a job of this id that waits; if it runs, run this after it (yes or no)
     * @param $debounce begin after this long without another push of the id (seconds)
     * @param $maxWait with debounce: but at the latest this long after the first push (seconds, above 0)
     * @param $throttle the id stays taken this long from now, at least until the job ends (seconds, above 0)
     * @end
     * @param bool|string|string[] $unique its id is a hash of type and payload, or of these members of it: what is
     * pushed twice is one job
     * @param array $context what middleware carries along (locale, tenant …), by name; laterd hands it on
     */
    public function __construct(
        public string $type,
        public mixed $payload = null,
        // @options option: public {php},
        public ?string $id = null,
        public int $priority = 0,
        public ?float $in = null,
        public float|\DateTimeInterface|null $at = null,
        public ?int $maxAttempts = null,
        public ?float $retryFor = null,
        public ?float $timeout = null,
        public int|float|array|null $backoff = null,
        public float|\DateTimeInterface|null $expiresAt = null,
        public ?float $expiresIn = null,
        public ?float $result = null,
        public ?string $lock = null,
        public ?string $group = null,
        public ?string $trace = null,
        public ?string $description = null,
        public ?string $onDead = null,
        public ?string $onDone = null,
        public ?string $flow = null,
        public ?string $step = null,
        public array|string|null $after = null,
        public ?string $when = null,
        public ?string $adder = null,
        public ?string $home = null,
        public ?string $queue = null,
        public ?float $uniqueFor = null,
        public bool $replace = false,
        public bool $again = false,
        public ?float $debounce = null,
        public ?float $maxWait = null,
        public ?float $throttle = null,
        // @end
        public array $context = [],
        bool|string|array $unique = false,
    ) {
        $this->at = self::seconds($at);
        $this->expiresAt = self::seconds($expiresAt);
        $this->after = is_string($after) ? [$after] : $after;
        if ($unique !== false) {
            $id === null || self::refuse('id and unique: only one of them');
            $this->id = UniqueId::of($type, $payload, $unique);
        }
        $this->named = $this->id !== null;
        $this->check();
        $this->id ??= $flow !== null && $step !== null ? "$flow.$step" : self::newId();
    }

    /** @internal the job that push() is asked for: a type with its options, or a job that has its own */
    public static function of(string|self $job, mixed $payload, array $options): self
    {
        if (is_string($job)) {
            return new self($job, $payload, ...$options);
        }
        return $payload === null && !$options ? $job
            : self::refuse('payload and options: the job has its own; with() gives it others');
    }

    /** Returns the same job with other options, by their names. */
    public function with(array $options): self
    {
        $own = ['id' => $this->named ? $this->id : null] + get_object_vars($this);
        return new self(...$options + array_diff_key($own, ['named' => 0]));
    }

    /** @internal the same job as the one of this number, from 1, in a flow. Without id and step it is
     * known by its number, so that the same jobs again are the same */
    public function inFlow(string $flow, int $number, string $home): self
    {
        if (($this->home ?? $home) !== $home) {
            self::refuse("home: is not $home");
        }
        if (($this->flow ?? $flow) !== $flow) {
            self::refuse("flow: is not $flow");
        }
        $id = $this->named || $this->step !== null ? [] : ['id' => "$flow:$number"];
        return $this->flow === null || $id ? $this->with(['flow' => $flow] + $id) : $this;
    }

    /** Returns the document, which laterd keeps byte for byte. */
    public function document(): string
    {
        $wrong = $this->wrongTie();
        if ($wrong !== null) {
            self::refuse($wrong);
        }
        return $this->written($this->priority === 0 ? ['priority'] : []);
    }

    /** @internal the document for a schedule: each of its jobs gets an id, and the schedule has the priority */
    public function scheduledDocument(): string
    {
        $said = array_filter(self::UNSCHEDULED, fn ($option) => !in_array($this->$option, [null, false, 0.0], true));
        if ($this->named || $said) {
            self::refuse(($this->named ? 'id or unique' : reset($said)) . ': not for a job of a schedule');
        }
        return $this->written(['id', 'priority']);
    }

    /** @param string[] $without what is left out */
    private function written(array $without): string
    {
        $members = ['type' => $this->type];
        foreach (self::DOCUMENT as $option => [$name]) {
            $value = $this->$option;
            if ($value !== null && !in_array($option, $without, true)) {
                $members[$name] = is_float($value) ? self::shorten($value) : $value;
            }
        }
        $bytes = json_encode($members, self::FLAGS | JSON_THROW_ON_ERROR);
        if ($this->context) {
            $bytes = substr($bytes, 0, -1) . ',"context":' . self::json('context', $this->context) . '}';
        }
        if ($this->payload !== null) {
            $bytes = substr($bytes, 0, -1) . ',"payload":' . self::payloadBytes($this->payload) . '}';
        }
        $size = strlen($bytes) + ($this->expiresIn !== null ? Bounds::EXPIRES_ROOM : 0);
        if ($size > Bounds::DOCUMENT_MAX) {
            $named = $this->type . ($this->named ? ", id $this->id" : '');
            self::refuse("too large: $named: a document of $size bytes, " . Bounds::DOCUMENT_MAX . ' allowed');
        }
        return $bytes;
    }

    /** @internal returns what the function makes of each job and its number, from 1, which an error tells */
    public static function numbered(array $jobs, \Closure $make): array
    {
        foreach (array_values($jobs) as $i => $job) {
            try {
                $made[] = $make($job, $i + 1);
            } catch (\InvalidArgumentException $e) {
                self::refuse('job ' . ($i + 1) . ": {$e->getMessage()}");
            }
        }
        return $made ?? [];
    }

    /** Returns the time as scripts/push.lua takes it. */
    public function when(): string
    {
        return match (true) {
            $this->debounce !== null => '+' . self::decimal($this->debounce)
                . ($this->maxWait !== null ? '/' . self::decimal($this->maxWait) : ''),
            $this->in > 0 => '+' . self::decimal($this->in),
            $this->at !== null => self::decimal($this->at),
            default => '',
        } . ($this->expiresIn !== null ? '!' . self::decimal($this->expiresIn) : '');
    }

    /** Returns the priority, how long the id stays taken, and the group, in the form of the script. */
    public function rank(): string
    {
        return $this->priority . match (true) {
            $this->throttle !== null => '/+' . self::decimal($this->throttle),
            $this->uniqueFor > 0 => '/' . self::decimal($this->uniqueFor),
            default => '',
        } . ($this->group !== null ? '@' . $this->group : '');
    }

    /** Is it an ordinary job, for which push_now is enough? */
    public function isPlain(): bool
    {
        return $this->when() === '' && $this->rank() === '0' && $this->mode() === 'new' && $this->flow === null;
    }

    /** Returns what to do if the id is known. */
    public function mode(): string
    {
        return match (true) {
            $this->again || $this->debounce !== null => 'again',
            $this->replace => 'replace',
            default => 'new',
        };
    }

    /** Returns a new id: 14 random letters and digits, which are 83 bits. It is short because Redis
     * keeps it twice. */
    public static function newId(): string
    {
        return strtr(substr(base64_encode(random_bytes(11)), 0, 14), '+/', '01');
    }

    /**
     * @internal Returns the name of a class as a description: up to its first control character, as an anonymous
     * class has one before its path, and cut to what is allowed.
     */
    public static function describe(string $name): ?string
    {
        $text = mb_scrub(preg_split('/[\x00-\x1f\x7f]/', $name)[0], 'UTF-8');
        return mb_strcut($text, 0, self::DOCUMENT['description'][3], 'UTF-8') ?: null;
    }

    /** @internal */
    public static function payloadBytes(mixed $payload): string
    {
        return $payload instanceof Json ? $payload->bytes : self::json('payload', $payload);
    }

    private static function json(string $name, mixed $value): string
    {
        $bytes = json_encode($value, self::FLAGS, Json::DEPTH_MAX);
        if ($bytes === false) {
            self::refuse("$name: " . json_last_error_msg());
        }
        if (str_contains($bytes, '{}')) {
            self::checkEmpty($name, $value);
        }
        if (str_contains($bytes, '\u0000')) {
            Json::check($bytes, $name);
        }
        return $bytes;
    }

    /** Refuses what json_encode() has made {} of, although there is something in it: closures, objects whose
     * properties are private. */
    private static function checkEmpty(string $path, mixed $value): void
    {
        if ($value instanceof \JsonSerializable || !is_array($value) && !is_object($value)) {
            return;
        }
        $members = is_array($value) ? $value : (fn ($one) => get_object_vars($one))->bindTo(null, null)($value);
        $isLost = $value instanceof \Closure || $value instanceof \Generator || is_object($value) && (array) $value;
        if ($isLost && json_encode($value) === '{}') {
            self::refuse("$path: of a " . get_debug_type($value) . ' JSON has nothing; push an array, or make it JsonSerializable');
        }
        foreach ($members as $name => $member) {
            self::checkEmpty("$path.$name", $member);
        }
    }

    private function check(): void
    {
        if (!preg_match(self::TYPE, $this->type)) {
            self::refuse('type: 1 to 128 letters, digits and _ . : -, not ' . self::shown($this->type));
        }
        foreach (self::DOCUMENT + self::PUSH as $option => [, $kind, $least, $most]) {
            $value = $this->$option;
            $wrong = $value === null ? null : self::wrong($kind, $value, $least, $most);
            if ($wrong !== null) {
                self::refuse("$option: $wrong" . ($kind === 'time' ? '' : ', not ' . self::shown($value)));
            }
        }
        if ($this->context && array_is_list($this->context)) {
            self::refuse('context: an array with names');
        }
        $wrong = $this->wrongTurn() ?? $this->wrongLife();
        if ($wrong !== null) {
            self::refuse($wrong);
        }
    }

    /** @internal a value as an error tells of it */
    public static function shown(mixed $value): string
    {
        $flags = JSON_UNESCAPED_SLASHES | JSON_INVALID_UTF8_SUBSTITUTE | JSON_PARTIAL_OUTPUT_ON_ERROR;
        return substr(is_float($value) ? (string) $value : json_encode($value, $flags), 0, 80);
    }

    /** Returns what a value of this kind must be, if it is not that. */
    private static function wrong(string $kind, mixed $value, float $least, float $most): ?string
    {
        return match ($kind) {
            'word' => preg_match(self::WORD, $value) && strlen($value) <= $most ? null
                : "1 to $most printable ASCII characters without space",
            'name' => preg_match(self::NAME, $value) && strlen($value) <= $most ? null
                : "1 to $most printable ASCII characters without space or brace",
            'hook' => preg_match(self::HOOK, $value) ? null
                : 'a type, or TYPE@QUEUE',
            'text' => preg_match('/^[^\x00-\x1f\x7f]*$/Du', $value) && strlen($value) <= $most ? null
                : "at most $most bytes of UTF-8, no control characters",
            'whole', 'count', 'seconds' => $value >= $least && $value <= $most ? null : "from $least to $most",
            'span' => $value > $least && $value <= $most ? null : "above $least and at most $most seconds",
            'time' => $value >= $least && $value < $most ? null
                : "$value is not a plausible UNIX time; for a duration use in or expiresIn",
            'waits' => self::wrongWaits(is_array($value) ? $value : [$value], $least, $most),
            'flag' => null,
            'label' => preg_match(self::LABEL, $value) ? null : "1 to $most letters, digits and _ . -",
            'steps' => self::wrongSteps($value, $least, $most),
            'fate' => in_array($value, ['done', 'ended', 'failed'], true) ? null : 'done, ended or failed',
        };
    }

    private static function wrongSteps(array $steps, int $least, int $most): ?string
    {
        $good = $steps === ['*'] || array_is_list($steps) && count($steps) >= $least && count($steps) <= $most
            && !array_filter($steps, fn ($step) => !is_string($step) || !preg_match(self::LABEL, $step));
        return $good ? null : "a list of $least to $most steps, or * for all jobs";
    }

    /** @internal */
    public static function checkLabel(string $name, string $value): void
    {
        if (!preg_match(self::LABEL, $value)) {
            self::refuse("$name: 1 to 64 letters, digits and _ . -: $value");
        }
    }

    /** Checks what ties it to a flow. Some of what a push can do, the push into a flow cannot. */
    private function wrongTie(): ?string
    {
        return match (true) {
            $this->flow === null => $this->step === null && $this->after === null && $this->when === null
                && $this->adder === null && $this->home === null ? null
                : 'step, after, when, adder and home go with flow',
            $this->expiresIn !== null || $this->uniqueFor > 0 || $this->throttle !== null || $this->mode() !== 'new' =>
                'expiresIn, uniqueFor, replace, again, debounce, throttle: not for a job of a flow',
            $this->when !== null && $this->after === null => 'when: goes with after',
            default => null,
        };
    }

    private static function wrongWaits(array $waits, float $least, float $most): ?string
    {
        if (array_is_list($waits) ? count($waits) < 1 || count($waits) > self::LIST_MAX
            : array_diff(array_keys($waits), self::WAITS)) {
            return 'a number, a list of 1 to ' . self::LIST_MAX . ' numbers, or some of ' . implode(', ', self::WAITS);
        }
        foreach ($waits as $wait) {
            if (!(is_int($wait) || is_float($wait)) || !($wait >= $least && $wait <= $most)) {
                return "seconds, from $least";
            }
        }
        return null;
    }

    /** Checks options that need an id, and options that exclude each other. */
    private function wrongTurn(): ?string
    {
        $nameless = $this->named ? [] : array_filter(self::NAMED, fn ($option) => $this->$option > 0);
        return match (true) {
            $nameless !== [] => reset($nameless) . ': goes with id or unique: the same id is the same job',
            ($this->debounce !== null) + ($this->in > 0) + ($this->at !== null) > 1 =>
                'debounce, in and at: only one of them',
            $this->maxWait !== null && $this->debounce === null => 'maxWait: goes with debounce',
            $this->throttle !== null && $this->uniqueFor > 0 => 'throttle and uniqueFor: only one of them',
            default => null,
        };
    }

    private function wrongLife(): ?string
    {
        return match (true) {
            $this->expiresIn === null => null,
            $this->expiresAt !== null => 'expiresAt and expiresIn: only one of them',
            $this->at !== null => 'at and expiresIn: give the time by expiresAt',
            ($this->debounce ?? $this->in ?? 0) >= $this->expiresIn =>
                "expiresIn: $this->expiresIn seconds from now it is not due yet, and would be lost",
            default => null,
        };
    }

    private static function refuse(string $text): never
    {
        throw new \InvalidArgumentException($text);
    }

    /** @internal */
    public static function seconds(float|\DateTimeInterface|null $time): ?float
    {
        return $time instanceof \DateTimeInterface ? (float) $time->format('U.u') : $time;
    }

    private static function shorten(float $number): int|float
    {
        return $number == (int) $number ? (int) $number : $number;
    }

    /** @internal Scripts take plain decimals, never 1e3. */
    public static function decimal(float $number): string
    {
        return rtrim(rtrim(sprintf('%.6F', $number), '0'), '.');
    }
}
