<?php

namespace Laterd;

/** One of laterd's scripts, which this package carries: copies of those that laterd installs. */
final class Script
{
    private static array $known = [];
    private string $stem = '';
    private array $keys = [];

    /** @param string[] $names of its KEYS, from its head */
    private function __construct(public string $text, public string $sha, private array $names)
    {
    }

    public static function named(string $name): self
    {
        return self::$known[$name] ??= self::read(dirname(__DIR__) . "/scripts/$name.lua");
    }

    private static function read(string $file): self
    {
        $text = file_get_contents($file);
        preg_match_all('/^-- KEYS +(.*)$/m', $text, $lines);
        return new self($text, sha1($text), preg_split('/ +/', implode(' ', $lines[1])));
    }

    /** @param array $own what stands for `call` and `held`, which each call has of its own */
    public function keys(string $prefix, string $place, array $own): array
    {
        $stem = "$prefix:{{$place}}:";
        if ($stem !== $this->stem) { // those of the last place are kept
            $this->stem = $stem;
            $this->keys = array_map(fn ($name) => $stem . $name, $this->names);
        }
        $keys = $this->keys;
        foreach ($own as $name => $key) {
            $keys[array_search($name, $this->names, true)] = $stem . $key;
        }
        return $keys;
    }
}
