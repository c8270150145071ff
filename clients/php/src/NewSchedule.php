<?php

// NewSchedule.php: a schedule to set: its checks, and how Redis keeps it (doc/protocol.md, "Schedules").

namespace Laterd;

/** A schedule to set: such a job is pushed whenever `at` is due. What an expression means is laterd's: here only its
 * form is checked. */
final class NewSchedule
{
    private const FORMS = [
        // @schedule pattern: '{name}' => '(^{regex}$)D',
        'expression' => '(^((CRON_)?TZ=[!-~]+ +)?(@[!-~]+( +[!-~]+)?|[!-~]+( +[!-~]+){4,5})$)D',
        'zone' => '(^[A-Za-z0-9_+/-]+$)D',
        // @end
    ];
    private const WORDS = [
        // @schedule choice: '{camel}' => [{quoted}],
        'catchUp' => ["last", "none", "all"],
        'overlap' => ["allow", "skip", "replace", "queue"],
        // @end
    ];
    // Of each option its member, what is left out ("": only what nobody has said), its check and its range.
    private const OPTIONS = [
        // @schedule option: '{name}' => ['{camel}', {usual}, '{kind}', {least}, {most}, '{owner}'],
        'at' => ['at', 0, 'expression', 1, 256, 'schedule'],
        'zone' => ['zone', "", 'zone', 1, 64, 'schedule'],
        'catch_up' => ['catchUp', "last", 'choice', 0, 0, 'schedule'],
        'overlap' => ['overlap', "allow", 'choice', 0, 0, 'schedule'],
        'spread' => ['spread', 0, 'span', 0, 31536000, 'schedule'],
        'late' => ['late', 60, 'span', 0, 31536000, 'schedule'],
        'priority' => ['priority', 0, 'rank', -100, 100, 'job'],
        'group' => ['group', "", 'group', 1, 64, 'job'],
        'expires_in' => ['expiresIn', "", 'life', 1, 31536000, 'job'],
        'from' => ['from', "", 'start', 1e9, 1e11, 'schedule'],
        'until' => ['until', "", 'end', 1e9, 1e11, 'schedule'],
        'limit' => ['limit', "", 'count', 1, 1000000000, 'schedule'],
        // @end
    ];

    /**
     * @param string $at `0 3 * * mon-fri`, `@every 90s`: later(1), `later cron`
     * @param NewJob $job without an id, a time, a flow
     * @schedule own: * @param ${camel} {help} ({value})
     * @param $zone by whose clocks it is due, such as Europe/Berlin (a time zone)
     * @param $catchUp ticks missed while no host was up: the last, none, or all of a day, at most 100 (last, none, all)
     * @param $overlap if the last job has not ended: allow, skip, replace it if it waits, queue one (allow, skip, replace, queue)
     * @param $spread jobs are spread over this time after their ticks (whole seconds)
     * @param $late a tick that is later than this is missed (whole seconds)
     * @param $from no tick is before this time (UNIX seconds)
     * @param $until no tick is after this time (UNIX seconds)
     * @param $limit how many jobs it pushes in all (whole number)
     * @end
     */
    public function __construct(
        public readonly string $name,
        public readonly string $at,
        public readonly NewJob $job,
        // @schedule own: public readonly {php},
        public readonly string $zone = '',
        public readonly string $catchUp = 'last',
        public readonly string $overlap = 'allow',
        public readonly float $spread = 0,
        public readonly float $late = 60,
        public readonly float|\DateTimeInterface|null $from = null,
        public readonly float|\DateTimeInterface|null $until = null,
        public readonly ?int $limit = null,
        // @end
    ) {
        NewJob::checkLabel('name', $name);
        $this->lines();
    }

    /** @internal how Redis keeps it: lines, in their order to the byte, and the document */
    public function definition(): string
    {
        $head = '';
        foreach ($this->lines() as $tag => $value) {
            $head .= "$tag=$value\n";
        }
        return "$head\n" . $this->job->scheduledDocument();
    }

    private function lines(): array
    {
        $lines = [];
        foreach (self::OPTIONS as $tag => [$name, $usual, $kind, $least, $most, $owner]) {
            $value = $owner === 'job' ? $this->job->$name : $this->$name;
            $value = $value === null ? $usual : self::checked($name, $value, $kind, $least, $most);
            if ($value !== $usual) {
                $lines[$tag] = $value;
            }
        }
        if (isset($lines['from'], $lines['until']) && $lines['until'] < $lines['from']) {
            throw new \InvalidArgumentException("until: $lines[until] is before its beginning");
        }
        return $lines;
    }

    private static function checked(string $name, mixed $value, string $kind, int|float $least, int|float $most): int|string
    {
        switch ($kind) {
            case 'expression':
                self::demand(strlen($value) <= $most && preg_match(self::FORMS[$kind], $value), "$name: five fields (minute hour "
                    . 'day month weekday), six with the second first, or @hourly, @every 90s …', $value);
                return $value;
            case 'zone':
                self::demand($value === '' || strlen($value) <= $most && preg_match(self::FORMS[$kind], $value),
                    "$name: a time zone, such as Europe/Berlin", $value);
                return $value;
            case 'choice':
                self::demand(in_array($value, self::WORDS[$name], true), "$name: one of " . implode(', ', self::WORDS[$name]), $value);
                return $value;
            case 'start': // ticks are whole seconds
                return (int) ceil(self::instant($name, $value, $least, $most));
            case 'end':
                return (int) floor(self::instant($name, $value, $least, $most));
            case 'group': // the job's own check has seen it
                return $value;
        }
        self::demand($value >= $least && $value <= $most && $value == floor($value), "$name: whole "
            . ($kind === 'span' || $kind === 'life' ? 'seconds' : 'number') . " from $least to $most", $value);
        return (int) $value;
    }

    private static function demand(bool|int $good, string $must, mixed $value): void
    {
        if (!$good) {
            throw new \InvalidArgumentException("$must, not " . NewJob::shown($value));
        }
    }

    private static function instant(string $name, float|\DateTimeInterface $time, float $least, float $most): float
    {
        $seconds = NewJob::seconds($time);
        self::demand($seconds >= $least && $seconds < $most, "$name: UNIX seconds, or a DateTimeInterface", $seconds);
        return $seconds;
    }
}
