<?php

namespace Laterd;

/**
 * A job to push. Times and durations are seconds, and may have a fraction. What is not given has
 * laterd's default for the type.
 */
final class NewJob
{
    private const BYTES_MAX = 1048576;
    private const DELAY_MAX = 315360000;
    private const TIME_MIN = 1000000000; // a time before 2001 is probably meant as a delay
    private const TIME_MAX = 100000000000;
    private const EXPIRES_ROOM = 40; // bytes that expiresIn adds to a document, in Redis
    private const FLAGS = JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_PRESERVE_ZERO_FRACTION;

    public string $id;

    /**
     * @param mixed $payload anything that json_encode() takes, or Json
     * @param ?string $id the same id is the same job; by default a new one is made
     * @param float $in wait this long; $at: wait until that UNIX time. Not both
     * @param int $priority -100 to 100, higher first
     * @param int|float|array|null $backoff a number, a list of numbers, or ['base' => …, 'max' =>
     * …]
     * @param ?string $lock the job runs only while it holds this lock
     * @param ?float $result how long the handler's result is kept
     * @param float $uniqueFor how long the id stays taken after the job has ended
     * @param bool $replace replace a waiting job of this id
     * @param bool $again like $replace, but if the job runs, this one (or the last of several) is
     * pushed
     *     when it ends
     * @param ?float $debounce like $in; each such push of the id puts the job off again
     * @param ?float $maxWait with $debounce: at most this long after the first push
     * @param ?float $expiresIn if it has not begun this long from now, by Redis's clock, it is dropped;
     * $expiresAt: by that UNIX time. Not both
     * @param ?float $throttle how long from now the id stays taken, so that there is at most one
     * job in that time
     */
    public function __construct(
        public string $type,
        public mixed $payload = null,
        ?string $id = null,
        public float $in = 0,
        public float|\DateTimeInterface $at = 0,
        public int $priority = 0,
        public ?int $maxAttempts = null,
        public ?float $timeout = null,
        public int|float|array|null $backoff = null,
        public float|\DateTimeInterface|null $expiresAt = null,
        public ?string $trace = null,
        public ?string $lock = null,
        public ?float $result = null,
        public float $uniqueFor = 0,
        public bool $replace = false,
        public bool $again = false,
        public ?float $debounce = null,
        public ?float $maxWait = null,
        public ?float $throttle = null,
        public ?float $expiresIn = null,
    ) {
        $this->id = $id ?? self::newId();
        $this->at = self::seconds($at);
        $this->expiresAt = $expiresAt === null ? null : self::seconds($expiresAt);
        $this->check($id !== null);
    }

    /** Returns the document, which laterd keeps byte for byte. */
    public function document(): string
    {
        $members = ['type' => $this->type, 'id' => $this->id];
        $asked = ['trace' => $this->trace, 'priority' => $this->priority ?: null,
            'max_attempts' => $this->maxAttempts, 'timeout' => self::shorten($this->timeout),
            'expires_at' => self::shorten($this->expiresAt), 'backoff' => $this->backoff,
            'lock' => $this->lock, 'result' => self::shorten($this->result)];
        foreach ($asked as $name => $value) {
            if ($value !== null) {
                $members[$name] = $value;
            }
        }
        $bytes = json_encode($members, self::FLAGS | JSON_THROW_ON_ERROR);
        if ($this->payload !== null) {
            $bytes = substr($bytes, 0, -1) . ',"payload":' . $this->payloadBytes() . '}';
        }
        $size = strlen($bytes) + ($this->expiresIn !== null ? self::EXPIRES_ROOM : 0);
        if ($size > self::BYTES_MAX) {
            self::refuse("too large: a document of $size bytes, " . self::BYTES_MAX . ' allowed');
        }
        return $bytes;
    }

    /** Returns the time as scripts/push.lua takes it. */
    public function when(): string
    {
        return match (true) {
            $this->debounce !== null => '+' . self::decimal($this->debounce)
                . ($this->maxWait !== null ? '/' . self::decimal($this->maxWait) : ''),
            $this->in > 0 => '+' . self::decimal($this->in),
            $this->at > 0 => self::decimal($this->at),
            default => '',
        } . ($this->expiresIn !== null ? '!' . self::decimal($this->expiresIn) : '');
    }

    /** Returns the priority, and how long the id stays taken, as scripts/push.lua takes them. */
    public function rank(): string
    {
        return $this->priority . match (true) {
            $this->throttle !== null => '/+' . self::decimal($this->throttle),
            $this->uniqueFor > 0 => '/' . self::decimal($this->uniqueFor),
            default => '',
        };
    }

    /** Is it an ordinary job, for which push_now is enough? */
    public function isPlain(): bool
    {
        return $this->in <= 0 && !$this->at && !$this->priority && $this->uniqueFor <= 0 && !$this->replace
            && !$this->again && $this->debounce === null && $this->throttle === null && $this->expiresIn === null;
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

    private function payloadBytes(): string
    {
        if ($this->payload instanceof Json) {
            return $this->payload->bytes;
        }
        $bytes = json_encode($this->payload, self::FLAGS, Json::DEPTH_MAX);
        return $bytes !== false ? $bytes : self::refuse('payload: ' . json_last_error_msg());
    }

    /** Rare options are only checked if they are given. */
    private function check(bool $named): void
    {
        $wrong = match (true) {
            !preg_match('/^[A-Za-z0-9_.:-]{1,128}$/D', $this->type) => 'type: 1 to 128 letters, digits and _ . : -',
            $named && !preg_match('/^[!-~]{1,200}$/D', $this->id) =>
                'id: 1 to 200 printable ASCII characters without space',
            $this->in < 0 || $this->in > self::DELAY_MAX || $this->in > 0 && $this->at > 0 =>
                'in: 0 to ' . self::DELAY_MAX . ' seconds, or else at',
            $this->at != 0 && !($this->at >= self::TIME_MIN && $this->at <= self::TIME_MAX) =>
                'at: UNIX seconds, not before the year 2001; a delay is in',
            $this->priority < -100 || $this->priority > 100 => 'priority: -100 to 100',
            $this->maxAttempts !== null && ($this->maxAttempts < 1 || $this->maxAttempts > 1000000) =>
                'maxAttempts: 1 to 1000000',
            $this->timeout !== null && !($this->timeout > 0 && $this->timeout <= 604800) =>
                'timeout: above 0 and at most 604800 seconds',
            $this->expiresAt !== null && !($this->expiresAt >= self::TIME_MIN) =>
                "expiresAt: $this->expiresAt is not a plausible UNIX time; for a duration use expiresIn",
            $this->trace !== null && !preg_match('/^[^\x00-\x1f\x7f]{0,256}$/D', $this->trace) =>
                'trace: at most 256 bytes, no control characters',
            $this->lock !== null && !preg_match('/^[!-z|~]{1,200}$/D', $this->lock) =>
                'lock: 1 to 200 printable ASCII characters without space or brace',
            $this->result !== null && !($this->result >= 0 && $this->result <= 86400) =>
                'result: 0 to 86400 seconds',
            !($this->uniqueFor >= 0 && $this->uniqueFor <= 1000000000) => 'uniqueFor: 0 to 1000000000 seconds',
            default => $this->wrongTurn($named) ?? $this->wrongLife() ?? $this->wrongBackoff(),
        };
        if ($wrong !== null) {
            self::refuse($wrong);
        }
    }

    /** Checks options that need an id, and options that exclude each other. */
    private function wrongTurn(bool $named): ?string
    {
        return match (true) {
            !$named && ($this->again || $this->debounce !== null || $this->throttle !== null) =>
                'again, debounce and throttle go with an id: the same id is the same job',
            $this->debounce !== null && !($this->debounce >= 0 && $this->debounce <= self::DELAY_MAX
                && $this->in <= 0 && !$this->at) => 'debounce: 0 to ' . self::DELAY_MAX . ' seconds, or else in or at',
            $this->maxWait !== null && !($this->debounce !== null && $this->maxWait > 0) =>
                'maxWait: above 0, and goes with debounce',
            $this->throttle !== null && !($this->throttle > 0 && $this->throttle <= 1000000000
                && $this->uniqueFor <= 0) => 'throttle: above 0 to 1000000000 seconds, or else uniqueFor',
            default => null,
        };
    }

    private function wrongLife(): ?string
    {
        return match (true) {
            $this->expiresIn === null => null,
            !($this->expiresIn > 0 && $this->expiresIn <= self::DELAY_MAX) =>
                'expiresIn: above 0 and at most ' . self::DELAY_MAX . ' seconds',
            $this->expiresAt !== null => 'expiresAt and expiresIn: only one of them',
            $this->at > 0 => 'at and expiresIn: give the time by expiresAt',
            ($this->debounce ?? $this->in) >= $this->expiresIn =>
                "expiresIn: $this->expiresIn seconds from now it is not due yet, and would be lost",
            default => null,
        };
    }

    private function wrongBackoff(): ?string
    {
        if ($this->backoff === null) {
            return null;
        }
        $waits = is_array($this->backoff) ? $this->backoff : [$this->backoff];
        if (array_is_list($waits) ? count($waits) < 1 || count($waits) > 32
            : array_diff(array_keys($waits), ['base', 'max'])) {
            return 'backoff: a number, a list of 1 to 32 numbers, or base and max';
        }
        foreach ($waits as $wait) {
            if (!(is_int($wait) || is_float($wait)) || !($wait >= 0)) {
                return 'backoff: seconds, from 0';
            }
        }
        return null;
    }

    private static function refuse(string $text): never
    {
        throw new \InvalidArgumentException($text);
    }

    private static function seconds(float|\DateTimeInterface $time): float
    {
        return $time instanceof \DateTimeInterface ? (float) $time->format('U.u') : $time;
    }

    private static function shorten(?float $number): int|float|null
    {
        return $number !== null && $number == (int) $number ? (int) $number : $number;
    }

    /** @internal Scripts take plain decimals, never 1e3. */
    public static function decimal(float $number): string
    {
        return rtrim(rtrim(sprintf('%.6F', $number), '0'), '.');
    }
}
