<?php

// Phpredis.php: Redis by the extension phpredis: one server or a Cluster.

namespace Laterd\Redis;

use Laterd\Refused;
use Laterd\Unreachable;

/** Uses the extension phpredis. rawCommand() ignores OPT_PREFIX, OPT_SERIALIZER and
 * OPT_COMPRESSION. */
final class Phpredis implements Link
{
    public function __construct(private \Redis|\RedisCluster $redis)
    {
    }

    public function command(string $key, array $words): mixed
    {
        if ($this->redis->getMode() !== \Redis::ATOMIC) {
            throw new \LogicException('laterd: the Redis connection is in multi() or pipeline()');
        }
        $this->redis->clearLastError();
        try {
            // The key that chooses the node gets the prefix nevertheless. In braces it means the
            // same slot with it.
            $reply = $this->redis instanceof \RedisCluster
                ? $this->redis->rawCommand(str_contains($key, '{') ? $key : "{{$key}}", ...$words)
                : $this->redis->rawCommand(...$words);
        } catch (\RedisException | \RedisClusterException $e) {
            throw self::told($e->getMessage(), $e);
        }
        $error = $this->redis->getLastError();
        if ($reply === false && $error !== null) {
            throw self::told($error);
        }
        return $reply === false ? null : $reply;
    }

    public function load(string $key, string $script): void
    {
        $this->command($key, ['SCRIPT', 'LOAD', $script]);
    }

    /** An error from Redis begins with a word of its own, as RESHARD or OOM. An error from phpredis
     * does not. */
    private static function told(string $text, ?\Throwable $cause = null): \Laterd\Error
    {
        return preg_match('/^(?!SSL)[A-Z]{3,} /', $text) && !Unreachable::says($text)
            ? new Refused($text, 0, $cause)
            : new Unreachable($text, 0, $cause);
    }
}
