<?php

// Reservation.php: a job that was reserved by hand, until done, retry or bury.

namespace Laterd;

/** A job that was reserved by hand. One of these methods settles it, or it lapses. */
final class Reservation implements Settlement
{
    public int $attempt; // counts from 1

    /** @internal made by Reserver */
    public function __construct(
        private Reserver $reserver,
        public string $place,
        public string $token,
        public string $id,
        string $record,
        public string $document,
    ) {
        $this->attempt = preg_match('/^a=(\d+)$/m', $record, $noted) ? $noted[1] + 1 : 1;
    }

    /** @throws Lost */
    public function done(): void
    {
        $this->reserver->settle('ack', $this, []);
    }

    public function retry(float $in, string $why): void
    {
        $this->reserver->settle('release', $this, [NewJob::decimal($in), 'ran', self::error('retry', $why)]);
    }

    public function bury(string $why): void
    {
        $this->reserver->settle('bury', $this, ['ran', self::error('buried', $why)]);
    }

    /** Returns the end of an error as scripts take it. They put the time before it. */
    private static function error(string $kind, string $text): string
    {
        $members = ['kind' => $kind, 'text' => Lines::text($text, Lines::ERROR_MAX), 'host' => gethostname()];
        return substr(json_encode($members, JSON_INVALID_UTF8_SUBSTITUTE), 1);
    }
}
