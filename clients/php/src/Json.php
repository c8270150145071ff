<?php

// Json.php: a payload that is JSON already, pushed unchanged.

namespace Laterd;

/** A payload that is JSON already. Its bytes are pushed unchanged, and looked through before. */
final class Json
{
    public const DEPTH_MAX = Bounds::DEPTH_MAX - 1; // the document is one level more
    private const LOOKED_MAX = Bounds::DOCUMENT_MAX; // bytes; what is larger is refused as a document

    /** @param bool $check false: it was just encoded or decoded */
    public function __construct(public string $bytes, bool $check = true)
    {
        if ($check) {
            self::check($bytes);
        }
    }

    /** @internal Refuses what is no JSON, and what json_decode() takes, but laterd buries (doc/protocol.md, "The
     * document"): a member that is there twice, a name with a NUL, a number that is infinite. */
    public static function check(string $bytes, string $name = 'payload'): void
    {
        $value = json_decode($bytes, false, self::DEPTH_MAX + 1);
        if (json_last_error() !== JSON_ERROR_NONE) {
            throw new \InvalidArgumentException("$name: " . json_last_error_msg());
        }
        if (strlen($bytes) > self::LOOKED_MAX) {
            return;
        }
        $written = preg_match_all('/"[^"\\\\]*+(?:\\\\.[^"\\\\]*+)*+"(?:\s*+:|(*SKIP)(*FAIL))/s', $bytes); // names
        if (self::members($name, $value) !== $written) {
            throw new \InvalidArgumentException("$name: a member is there twice");
        }
    }

    /** Returns how many members it has, at all depths. */
    private static function members(string $name, mixed $value): int
    {
        if (is_float($value) && is_infinite($value)) {
            throw new \InvalidArgumentException("$name: a number is too large");
        }
        if (!is_array($value) && !is_object($value)) {
            return 0;
        }
        $count = is_object($value) ? count((array) $value) : 0;
        foreach ($value as $member => $one) {
            if (is_string($member) && str_contains($member, "\0")) {
                throw new \InvalidArgumentException("$name: a name with a NUL");
            }
            $count += self::members($name, $one);
        }
        return $count;
    }
}
