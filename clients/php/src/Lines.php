<?php

// Lines.php: the lines that a program of handlers reads and writes: later-job(3).

namespace Laterd;

/** The lines that a long-lived program of the plugin exec reads and writes. later-job(3) describes
 * them. */
final class Lines
{
    private const FLAGS = JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_INVALID_UTF8_SUBSTITUTE
        | JSON_PARTIAL_OUTPUT_ON_ERROR | JSON_PRESERVE_ZERO_FRACTION;

    private const VALUE = JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_INVALID_UTF8_SUBSTITUTE
        | JSON_PRESERVE_ZERO_FRACTION | JSON_THROW_ON_ERROR;
    // @answers said: public const {UPPER}_MAX = {most}; // {help}
    public const ERROR_MAX = 1000; // bytes of an error that are kept
    public const TEXT_MAX = 16384; // bytes of a text for the log that a client sends
    public const VALUE_MAX = 65536; // bytes of a value or a checkpoint
    public const LEVELS_MAX = 128; // levels of a value or a checkpoint
    // @end

    /** @var string[] jobs that were read while it looked for something else */
    private array $waiting = [];
    /** @var array<string, array<string, true>> by order: `cancel`, `stopping` */
    private array $told = [];

    /**
     * @param resource $in
     * @param resource $out
     */
    public function __construct(private $in, private $out)
    {
        stream_set_read_buffer($in, 65536);
    }

    /** Returns the next job, or null if there will be none. */
    public function next(): ?string
    {
        while (!$this->waiting) {
            if (!$this->comes(null)) {
                continue; // a signal came
            }
            $line = fgets($this->in);
            if ($line === false) {
                return null;
            }
            $this->take($line);
        }
        return array_shift($this->waiting);
    }

    /** @param string $order `cancel`: it is asked to give up this job; `stopping`: laterd stops */
    public function isTold(string $order, string $id): bool
    {
        $this->look();
        return isset($this->told[$order][$id]);
    }

    /** @return string[] the jobs that were handed over and have not begun; the caller answers for
     * them */
    public function unbegun(): array
    {
        $this->look();
        [$waiting, $this->waiting] = [$this->waiting, []];
        return $waiting;
    }

    /** Reads what is there already. */
    private function look(): void
    {
        while ($this->comes(0) && ($line = fgets($this->in)) !== false) {
            $this->take($line);
        }
    }

    public function forget(string $id): void
    {
        unset($this->told['cancel'][$id], $this->told['stopping'][$id]);
    }

    public function write(array $line): void
    {
        fwrite($this->out, implode('', self::linesOf($line)));
    }

    /** Returns a text that laterd takes: without NUL, and cut to this many bytes. */
    public static function text(string $text, int $most = self::TEXT_MAX): string
    {
        return mb_strcut(str_replace("\0", "\u{fffd}", $text), 0, $most, 'UTF-8');
    }

    /**
     * Returns what is written for a line. If it is an answer, the handler has done its work, so a
     * value that cannot be sent has nothing run again: what is no JSON buries the job if somebody wants it, and what is
     * too much for laterd is left out, with a line for the log.
     *
     * @return string[]
     */
    public static function linesOf(array $line): array
    {
        $rest = array_diff_key($line, ['value' => 0]);
        try {
            $value = isset($line['value']) ? self::valueOf($line['value']) : '';
        } catch (\Throwable $e) {
            $deep = $e instanceof \JsonException && $e->getCode() === JSON_ERROR_DEPTH;
            return $deep
                ? self::leftOut($rest, 'it is deeper than ' . self::LEVELS_MAX . ' levels')
                : [self::encode(['result' => 'bury',
                    'error' => self::text('its value is not JSON: ' . $e->getMessage(), self::ERROR_MAX),
                    'done' => true] + $rest)];
        }
        if (strlen($value) > self::VALUE_MAX) {
            return self::leftOut($rest, 'it has ' . strlen($value) . ' bytes of JSON, and at most ' . self::VALUE_MAX
                . ' are kept');
        }
        return [$value === '' ? self::encode($rest) : substr(self::encode($rest), 0, -2) . ",\"value\":$value}\n"];
    }

    private static function valueOf(mixed $value): string
    {
        return json_encode($value, self::VALUE, self::LEVELS_MAX);
    }

    /** Leaves a checkpoint. @throws \InvalidArgumentException it is no JSON, or more than laterd keeps */
    public function checkpoint(string $id, mixed $state): void
    {
        try {
            $text = self::valueOf($state);
        } catch (\Throwable $e) {
            throw new \InvalidArgumentException('checkpoint: ' . $e->getMessage(), 0, $e);
        }
        if (strlen($text) > self::VALUE_MAX) {
            throw new \InvalidArgumentException('checkpoint: longer than ' . self::VALUE_MAX . ' bytes of JSON');
        }
        fwrite($this->out, substr(self::encode(['id' => $id]), 0, -2) . ",\"checkpoint\":$text}\n");
    }

    private static function leftOut(array $rest, string $why): array
    {
        $told = ['log' => 'error', 'text' => "its value is not sent: $why", 'id' => $rest['id'] ?? ''];
        return [self::encode($told), self::encode($rest)];
    }

    private static function encode(array $line): string
    {
        return json_encode($line, self::FLAGS) . "\n";
    }

    /** Is there something to read? This is asked before each read, so that a signal can end the
     * wait. */
    private function comes(?int $seconds): bool
    {
        $in = [$this->in];
        $none = null;
        return (bool) @stream_select($in, $none, $none, $seconds);
    }

    /** @internal takes what laterd has written */
    public function take(string $line): void
    {
        if (preg_match('/"(cancel|stopping)": ?true}\s*$/D', $line, $order)) {
            $this->told[$order[1]][json_decode($line, true)['id']] = true;
        } else {
            $this->waiting[] = $line;
        }
    }
}
