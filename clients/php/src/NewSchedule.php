<?php

// NewSchedule.php: a schedule to set: its checks, and how Redis keeps it (doc/protocol.md, "Schedules").

namespace Laterd;

/** A schedule to set: such a job is pushed whenever `at` is due. What an expression means is laterd's: here only its
 * form is checked. */
final class NewSchedule
{
    private const AT = '/^((CRON_)?TZ=[!-~]+ +)?(@[!-~]+( +[!-~]+)?|[!-~]+( +[!-~]+){4,5})$/D';
    private const AT_MAX = 256; // bytes
    private const ZONE = '~^[A-Za-z0-9_+/-]{0,64}$~D';
    private const CATCH_UP = ['last', 'none', 'all'];
    private const OVERLAP = ['allow', 'skip', 'replace', 'queue'];
    private const SPAN_MAX = 31536000; // of spread, late and expiresIn, seconds
    private const LIMIT_MAX = 1000000000;
    private const TIME_MIN = 1e9;
    private const TIME_MAX = 1e11;
    // What means the same as nothing, and is left out.
    private const UNSAID = ['zone' => '', 'catch_up' => 'last', 'overlap' => 'allow', 'spread' => 0, 'late' => 60, 'priority' => 0];

    /**
     * @param string $at `0 3 * * mon-fri`, `@every 90s`: later(1), `later cron`
     * @param NewJob $job without an id, a time, a flow
     * @param string $zone Europe/Berlin; UTC
     * @param string $catchUp of the ticks missed while no host was up the last, none, all
     * @param string $overlap if the last job has not ended: allow another, skip, replace, queue
     * @param float $spread jobs are spread over so long after their ticks (whole seconds)
     * @param float $late a tick that is later is missed (whole seconds)
     * @param $from no tick before (UNIX seconds)
     * @param $until no tick after (UNIX seconds)
     * @param ?int $limit how many jobs in all
     */
    public function __construct(
        public readonly string $name,
        public readonly string $at,
        public readonly NewJob $job,
        public readonly string $zone = '',
        public readonly string $catchUp = 'last',
        public readonly string $overlap = 'allow',
        public readonly float $spread = 0,
        public readonly float $late = 60,
        public readonly float|\DateTimeInterface|null $from = null,
        public readonly float|\DateTimeInterface|null $until = null,
        public readonly ?int $limit = null,
    ) {
        NewJob::checkLabel('name', $name);
        $this->lines();
    }

    /** @internal how Redis keeps it: lines, in their order to the byte, and the document */
    public function definition(): string
    {
        $head = '';
        foreach ($this->lines() as $tag => $value) {
            $head .= $value === null || $value === (self::UNSAID[$tag] ?? null) ? '' : "$tag=$value\n";
        }
        return "$head\n" . $this->job->scheduledDocument();
    }

    private function lines(): array
    {
        self::demand(strlen($this->at) <= self::AT_MAX && preg_match(self::AT, $this->at), 'at: five fields (minute hour day '
            . 'month weekday), six with the second first, or @hourly, @every 90s …', $this->at);
        self::demand(preg_match(self::ZONE, $this->zone), 'zone: a time zone, such as Europe/Berlin', $this->zone);
        $from = self::instant('from', $this->from);
        $until = self::instant('until', $this->until);
        $lines = ['at' => $this->at, 'zone' => $this->zone,
            'catch_up' => self::oneOf('catchUp', self::CATCH_UP, $this->catchUp),
            'overlap' => self::oneOf('overlap', self::OVERLAP, $this->overlap),
            'spread' => self::whole('spread', $this->spread, 0), 'late' => self::whole('late', $this->late, 0),
            'priority' => $this->job->priority, 'group' => $this->job->group,
            'expires_in' => self::whole('expiresIn', $this->job->expiresIn, 1),
            'from' => $from === null ? null : (int) ceil($from), // ticks are whole seconds
            'until' => $until === null ? null : (int) floor($until),
            'limit' => self::whole('limit', $this->limit, 1, self::LIMIT_MAX, 'number')];
        if ($lines['from'] !== null && $lines['until'] !== null && $lines['until'] < $lines['from']) {
            throw new \InvalidArgumentException("until: $lines[until] is before its beginning");
        }
        return $lines;
    }

    private static function demand(bool|int $good, string $must, mixed $value): void
    {
        if (!$good) {
            throw new \InvalidArgumentException("$must, not " . NewJob::shown($value));
        }
    }

    private static function oneOf(string $name, array $words, string $word): string
    {
        self::demand(in_array($word, $words, true), "$name: one of " . implode(', ', $words), $word);
        return $word;
    }

    private static function whole(string $name, ?float $value, int $least, int $most = self::SPAN_MAX,
        string $of = 'seconds'): ?int
    {
        self::demand($value === null || $value >= $least && $value <= $most && $value === floor($value),
            "$name: whole $of from $least to $most", $value);
        return $value === null ? null : (int) $value;
    }

    private static function instant(string $name, float|\DateTimeInterface|null $time): ?float
    {
        $seconds = NewJob::seconds($time);
        self::demand($seconds === null || $seconds >= self::TIME_MIN && $seconds < self::TIME_MAX,
            "$name: UNIX seconds, or a DateTimeInterface", $seconds);
        return $seconds;
    }
}
