<?php

// Json.php: a payload that is JSON already, pushed unchanged.

namespace Laterd;

/** A payload that is JSON already. Its bytes are pushed unchanged. */
final class Json
{
    public const DEPTH_MAX = Bounds::DEPTH_MAX - 1; // the document is one level more

    /** @param bool $check false: it was just encoded or decoded */
    public function __construct(public string $bytes, bool $check = true)
    {
        if ($check) {
            self::check($bytes);
        }
    }

    private static function check(string $bytes): void
    {
        json_decode($bytes, false, self::DEPTH_MAX + 1, JSON_BIGINT_AS_STRING);
        if (json_last_error() !== JSON_ERROR_NONE) {
            throw new \InvalidArgumentException('payload: ' . json_last_error_msg());
        }
    }
}
