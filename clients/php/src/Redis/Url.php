<?php

namespace Laterd\Redis;

use Laterd\Error;
use Laterd\Unreachable;

/**
 * Connections by URL, in the form that laterd's own programs take:
 *
 *     unix:/var/lib/laterd/redis.sock
 *     redis://[user@]host[:port][/db]
 *     sentinel://[user@]host[:port],host[:port]/name[/db]
 *     cluster://[user@]host[:port],host[:port]
 */
final class Url
{
    private const FORM = '~^(redis|sentinel|cluster)://(?:([^@/]*)@)?([^/@]+)((?:/[^/]+)*)/?$~D';

    private string $kind;
    private string $shown; // the URL without its user
    private string $user = '';
    private string $name = '';
    private int $db = 0;
    /** @var array{string, int}[] */
    private array $hosts = [];

    public function __construct(string $url, private ?string $password = null, private float $timeout = 2.0)
    {
        $this->shown = preg_replace('~//[^@/]*@~', '//', $url);
        if (preg_match('~^unix:(/[^?]+)(?:\?db=(\d+))?$~D', $url, $part)) {
            $this->kind = 'unix';
            $this->hosts = [[$part[1], 0]];
            $this->db = (int) ($part[2] ?? 0);
            return;
        }
        if (!preg_match(self::FORM, $url, $part)) {
            throw new \InvalidArgumentException("not the URL of a Redis: $url");
        }
        [, $this->kind, $this->user, $hosts, $rest] = $part;
        $rest = array_values(array_filter(explode('/', $rest), 'strlen'));
        if ($this->kind === 'sentinel') {
            $this->name = array_shift($rest) ?? throw new \InvalidArgumentException("$url: no name");
        }
        $this->db = (int) ($rest[0] ?? 0);
        foreach (explode(',', $hosts) as $host) {
            preg_match('/^(.*?)(?::(\d+))?$/D', $host, $at);
            $this->hosts[] = [$at[1], (int) ($at[2] ?? ($this->kind === 'sentinel' ? 26379 : 6379))];
        }
    }

    /** @param ?string $library `phpredis` or `predis`; by default the first that is installed */
    public function link(?string $library = null): Link
    {
        $library ??= extension_loaded('redis') ? 'phpredis' : 'predis';
        return match ($library) {
            'phpredis' => new Phpredis($this->phpredis()),
            'predis' => new Predis($this->predis(), $this->shown),
        };
    }

    private function phpredis(): \Redis|\RedisCluster
    {
        try {
            return match ($this->kind) {
                'cluster' => new \RedisCluster(null, array_map(fn ($host) => "$host[0]:$host[1]", $this->hosts),
                    $this->timeout, $this->timeout, false, $this->credentials()),
                'sentinel' => $this->dial(...$this->master()),
                default => $this->dial(...$this->hosts[0]),
            };
        } catch (\RedisException | \RedisClusterException $e) {
            throw new Unreachable("$this->shown: {$e->getMessage()}", 0, $e);
        }
    }

    private function dial(string $host, int $port): \Redis
    {
        $redis = new \Redis();
        $redis->connect($host, $port, $this->timeout, null, 0, $this->timeout);
        if ($this->password !== null) {
            $redis->auth($this->credentials());
        }
        if ($this->db) {
            $redis->select($this->db);
        }
        return $redis;
    }

    /** Returns where the master is, as the first answering Sentinel says. */
    private function master(): array
    {
        $why = 'they know no ' . $this->name;
        foreach ($this->hosts as [$host, $port]) {
            try {
                $sentinel = new \RedisSentinel($host, $port, $this->timeout);
                $master = $sentinel->getMasterAddrByName($this->name);
                if ($master) {
                    return [$master[0], (int) $master[1]];
                }
            } catch (\RedisException $e) {
                $why = $e->getMessage();
            }
        }
        throw new Unreachable("$this->shown: no Sentinel knows where the master is: $why");
    }

    private function predis(): \Predis\Client
    {
        if (!class_exists(\Predis\Client::class)) {
            throw new Error('neither phpredis nor predis is installed');
        }
        $common = array_filter(['username' => $this->user, 'password' => $this->password,
            'database' => $this->db, 'timeout' => $this->timeout, 'read_write_timeout' => $this->timeout]);
        $hosts = array_map(fn ($host) => ['host' => $host[0], 'port' => $host[1]], $this->hosts);
        return match ($this->kind) {
            'unix' => new \Predis\Client(['scheme' => 'unix', 'path' => $this->hosts[0][0]] + $common),
            'redis' => new \Predis\Client($hosts[0] + $common),
            'sentinel' => new \Predis\Client($hosts, ['replication' => 'sentinel',
                'service' => $this->name, 'parameters' => $common]),
            'cluster' => new \Predis\Client($hosts, ['cluster' => 'redis', 'parameters' => $common]),
        };
    }

    private function credentials(): array|string|null
    {
        return $this->password !== null && $this->user !== '' ? [$this->user, $this->password] : $this->password;
    }
}
