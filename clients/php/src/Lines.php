<?php

namespace Laterd;

/** The lines that a long-lived program of the plugin exec reads and writes. later-job(3) describes
 * them. */
final class Lines
{
    private const FLAGS = JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_INVALID_UTF8_SUBSTITUTE
        | JSON_PARTIAL_OUTPUT_ON_ERROR | JSON_PRESERVE_ZERO_FRACTION;

    /** @var string[] jobs that were read while it looked for something else */
    private array $waiting = [];
    /** @var array<string, true> */
    private array $cancelled = [];

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

    public function cancelled(string $id): bool
    {
        $this->look();
        return isset($this->cancelled[$id]);
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
        unset($this->cancelled[$id]);
    }

    public function write(array $line): void
    {
        fwrite($this->out, json_encode($line, self::FLAGS) . "\n");
    }

    /** Is there something to read? This is asked before each read, so that a signal can end the
     * wait. */
    private function comes(?int $seconds): bool
    {
        $in = [$this->in];
        $none = null;
        return (bool) @stream_select($in, $none, $none, $seconds);
    }

    private function take(string $line): void
    {
        if (preg_match('/"cancel": ?true}\s*$/D', $line)) {
            $this->cancelled[json_decode($line, true)['id']] = true;
        } else {
            $this->waiting[] = $line;
        }
    }
}
