<?php

// Script.php: the scripts that a client calls: copies of laterd's, made by clients/carry.sh.

namespace Laterd;

/** One of laterd's scripts. This package contains copies of those that laterd installs. */
final class Script
{
    private static array $known = [];
    private string $stem = '';
    private array $keys = [];

    /** @param string[] $names names of its KEYS, from its head */
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

    /** @param array $own what to use for `call`, `held`, `flow` and `unknown`, which differ in each call */
    public function keys(string $prefix, string $place, array $own): array
    {
        $stem = "$prefix:{{$place}}:";
        if ($stem !== $this->stem) { // the keys of the last place are cached
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
