<?php

// UniqueId.php: an id that says what a job is: doc/protocol.md, "An id of type and payload".

namespace Laterd;

/** An id that says what a job is: doc/protocol.md, "An id of type and payload". */
final class UniqueId
{
    private const TEXT = JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_LINE_TERMINATORS;
    private const WHOLE_MAX = (1 << 53) - 1; // above it, not every whole number is one of its own in a float

    /**
     * Returns the id that push() gives a job of this type and payload.
     *
     * @param true|string|string[] $unique as of NewJob
     */
    public static function of(string $type, mixed $payload = null, bool|string|array $unique = true): string
    {
        $value = json_decode(NewJob::payloadBytes($payload), false, Json::DEPTH_MAX + 1);
        if (json_last_error() !== JSON_ERROR_NONE) {
            self::refuse(json_last_error_msg());
        }
        $told = $unique === true ? $value : self::chosen($value, (array) $unique);
        return substr(hash('sha256', self::text([$type, $told])), 0, 32);
    }

    private static function chosen(mixed $value, array $names): \stdClass
    {
        if ($names !== array_filter($names, is_string(...)) || !$names) {
            self::refuse('true, or names of members of the payload');
        }
        $chosen = new \stdClass();
        foreach ($names as $name) {
            if (!$value instanceof \stdClass || !property_exists($value, $name)) {
                self::refuse('the payload has no member ' . substr($name, 0, 70));
            }
            $chosen->$name = $value->$name;
        }
        return $chosen;
    }

    /** Returns the JSON of RFC 8785, which is the same bytes in every language. */
    private static function text(mixed $value): string
    {
        if (is_array($value)) {
            return '[' . implode(',', array_map(self::text(...), $value)) . ']';
        }
        if ($value instanceof \stdClass) {
            $members = (array) $value;
            uksort($members, fn ($a, $b) => strcmp(self::order($a), self::order($b)));
            $text = fn ($name) => self::text((string) $name) . ':' . self::text($members[$name]);
            return '{' . implode(',', array_map($text, array_keys($members))) . '}';
        }
        return is_float($value) ? self::number($value) : json_encode($value, self::TEXT);
    }

    /** UTF-8 sorts as UTF-16 if what UTF-16 has as pairs comes before U+E000. */
    private static function order(int|string $name): string
    {
        return strtr((string) $name, "\xee\xef", "\xfe\xff");
    }

    private static function number(float $value): string
    {
        if (!is_finite($value) || $value == floor($value)) {
            return abs($value) <= self::WHOLE_MAX ? (string) (int) $value
                : self::refuse("$value: above 2^53, not every language has the same number; make it text");
        }
        $before = ini_set('serialize_precision', '-1'); // the shortest that means it
        [$digits, $exponent] = explode('e', json_encode($value) . 'e0');
        ini_set('serialize_precision', $before);
        $digits = preg_replace('/\.0$/', '', $digits);
        return match (true) {
            $exponent == 0 => $digits,
            $exponent >= -6 => ($value < 0 ? '-' : '') . '0.' . str_repeat('0', -$exponent - 1) . strtr($digits, ['-' => '', '.' => '']),
            default => "{$digits}e$exponent",
        };
    }

    private static function refuse(string $text): never
    {
        throw new \InvalidArgumentException("unique: $text");
    }
}
