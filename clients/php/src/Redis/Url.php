<?php

// Url.php: connects by the URL of a Redis: unix, redis, rediss, sentinel, cluster.

namespace Laterd\Redis;

use Laterd\Error;
use Laterd\Refused;
use Laterd\Unreachable;

/**
 * Connections by URL, in the form that laterd's own programs take. Those want a password in a file, though:
 *
 *     unix:/var/lib/laterd/redis.sock
 *     redis://[user:password@]host[:port][/db]
 *     rediss://[user:password@]host[:port][/db][?ca=FILE&cert=FILE&key=FILE&name=HOST]
 *     sentinel://[user:password@]host[:port],host[:port]/name[/db]
 *     cluster://[user:password@]host[:port],host[:port]
 *
 * rediss:// is TLS; the last two take ?tls=yes and the same after it. User and password may be missing;
 * what is not a letter or a digit in them is written as %XX. One that is given beside the URL goes first.
 */
final class Url
{
    private const FORM = '~^(rediss?|sentinel|cluster)://(?:([^@/?]*)@)?([^/@?]+)((?:/[^/?]+)*)/?(?:\?(.+))?$~D';
    private const FILES = ['ca' => 'cafile', 'cert' => 'local_cert', 'key' => 'local_pk', 'name' => 'peer_name'];

    private string $kind;
    private string $shown; // the URL without its user
    private string $user = '';
    private string $name = '';
    private int $db = 0;
    /** @var array{string, int}[] */
    private array $hosts = [];
    /** @var ?array<string, string> PHP's options of TLS; null: none */
    private ?array $tls = null;

    public function __construct(string $url, private ?string $password = null, private float $timeout = 2.0)
    {
        $this->shown = preg_replace(['~//[^@/]*@~', '~^([a-z]+://[^?]*)\?.*~'], ['//', '$1'], $url);
        if (preg_match('~^unix:(/[^?]+)(?:\?db=(\d+))?$~D', $url, $part)) {
            $this->kind = 'unix';
            $this->hosts = [[$part[1], 0]];
            $this->db = (int) ($part[2] ?? 0);
            return;
        }
        if (!preg_match(self::FORM, $url, $part)) {
            throw new \InvalidArgumentException("not the URL of a Redis: $this->shown; it is unix:/PATH, redis://HOST, "
                . 'rediss://HOST, sentinel://HOST,HOST/NAME or cluster://HOST,HOST');
        }
        [, $this->kind, $this->user, $hosts, $rest] = $part;
        $this->login();
        $this->secure($part[5] ?? '');
        $rest = array_values(array_filter(explode('/', $rest), 'strlen'));
        if ($this->kind === 'sentinel') {
            $this->name = array_shift($rest) ?? throw new \InvalidArgumentException("$this->shown: no name");
        }
        $this->db = (int) ($rest[0] ?? 0);
        foreach (explode(',', $hosts) as $host) {
            preg_match('/^(.*?)(?::(\d+))?$/D', $host, $at);
            $this->hosts[] = [$at[1], (int) ($at[2] ?? ($this->kind === 'sentinel' ? 26379 : 6379))];
        }
    }

    /** Takes what is before the @. */
    private function login(): void
    {
        [$user, $password] = explode(':', $this->user, 2) + [1 => ''];
        $this->user = rawurldecode($user);
        $this->password ??= $password === '' ? null : rawurldecode($password);
    }

    /** Takes what comes after the question mark. */
    private function secure(string $query): void
    {
        $this->tls = $this->kind === 'rediss' ? [] : null;
        foreach (array_filter(explode('&', $query), 'strlen') as $member) {
            [$name, $value] = explode('=', $member, 2) + [1 => ''];
            if ($member === 'tls=yes' && $this->kind !== 'redis') {
                $this->tls ??= [];
            } elseif (isset(self::FILES[$name]) && $value !== '' && $this->tls !== null) {
                $this->tls[self::FILES[$name]] = rawurldecode($value);
            } else {
                throw new \InvalidArgumentException("$this->shown: $name= is not known there, or needs TLS");
            }
        }
        if ($this->kind === 'rediss') {
            $this->kind = 'redis';
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
                    $this->timeout, $this->timeout, false, $this->credentials(), $this->tls),
                'sentinel' => $this->dial(...$this->master()),
                default => $this->dial(...$this->hosts[0]),
            };
        } catch (\RedisException | \RedisClusterException $e) {
            throw self::refused($e) ?? new Unreachable("$this->shown: {$e->getMessage()}", 0, $e);
        }
    }

    private const DENIES = [
        // @errors denied: '{UPPER}', // {help}
        'NOAUTH', // a password was set meanwhile
        'NOPERM', // the ACL lacks a command or a key
        'WRONGPASS', // the password may be rotated: read it again
        // @end
    ];

    /** @internal who was reached and does not let us in: Redis's own words, without what a library says around them */
    public static function refused(\Throwable $e): ?Refused
    {
        return preg_match('/\b(' . implode('|', self::DENIES) . ') [^\[]*/', $e->getMessage(), $words)
            ? new Refused(rtrim($words[0]), 0, $e) : null;
    }

    private function dial(string $host, int $port): \Redis
    {
        $redis = $this->open($host, $port);
        if ($this->password !== null) {
            $redis->auth($this->credentials());
        }
        if ($this->db) {
            $redis->select($this->db);
        }
        return $redis;
    }

    private function open(string $host, int $port): \Redis
    {
        $redis = new \Redis();
        $context = $this->tls === null ? [] : ['stream' => $this->tls];
        $redis->connect(($context ? 'tls://' : '') . $host, $port, $this->timeout, null, 0, $this->timeout, $context);
        return $redis;
    }

    /** Returns where the master is, as the first answering Sentinel says. */
    private function master(): array
    {
        $why = 'they know no ' . $this->name;
        foreach ($this->hosts as [$host, $port]) {
            try {
                $sentinel = $this->open($host, $port); // RedisSentinel of phpredis 5 has no TLS
                $master = $sentinel->rawCommand('SENTINEL', 'get-master-addr-by-name', $this->name);
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
        $tls = $this->tls === null ? [] : ['scheme' => 'tls', 'ssl' => $this->tls];
        $common = $tls + array_filter(['username' => $this->user, 'password' => $this->password,
            'database' => $this->db, 'timeout' => $this->timeout, 'read_write_timeout' => $this->timeout]);
        $hosts = array_map(fn ($host) => $tls + ['host' => $host[0], 'port' => $host[1]], $this->hosts);
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
