<?php

// Result.php: how a job that was pushed with `result` has ended, as wait() gives it.

namespace Laterd;

/** How a job that was pushed with `result` has ended. */
final class Result
{
    /**
     * @param string $state `done`, `dead`, or `gone` if it left nothing or never existed
     * @param mixed $value what its handler returned, objects as arrays
     * @param ?array $error of a dead one: at, attempt, kind, text, host
     */
    private function __construct(
        public string $state,
        public int $attempt = 0,
        public mixed $value = null,
        public ?array $error = null,
    ) {
    }

    /** @internal the element of laterd's key: a line of how, then the value or the error */
    public static function parse(string $element): self
    {
        [$how, $what] = explode("\n", $element, 2);
        $how = json_decode($how, true);
        $what = json_decode($what, true);
        return $how['state'] === 'done'
            ? new self('done', $how['attempt'], $what)
            : new self('dead', $how['attempt'], null, $what);
    }

    /** @internal Was, or is, there a later job of the id? */
    public static function precedes(string $element): bool
    {
        return !empty(json_decode(explode("\n", $element, 2)[0], true)['again']);
    }

    /** @internal a dead job, whatever it left */
    public static function dead(KnownJob $job): self
    {
        return new self('dead', $job->attempts, null, $job->error);
    }

    /** @internal */
    public static function gone(): self
    {
        return new self('gone');
    }
}
