<?php

// Phpredis.php: Redis by the extension phpredis: one server or a Cluster.

namespace Laterd\Redis;

use Laterd\Refused;
use Laterd\Unreachable;

/** Uses the extension phpredis. rawCommand() ignores OPT_PREFIX, OPT_SERIALIZER and
 * OPT_COMPRESSION. */
final class Phpredis implements Link
{
    /** Of connections that were given up: who they were, and in which database. */
    private static ?\WeakMap $before = null;

    public function __construct(private \Redis|\RedisCluster $redis)
    {
    }

    public function command(string $key, array $words): mixed
    {
        try { // any call may connect
            if ($this->redis->getMode() !== \Redis::ATOMIC) {
                throw new \LogicException('laterd: the Redis connection is in multi() or pipeline()');
            }
            $this->redis->clearLastError();
            $this->goOn();
            // The key that chooses the node gets the prefix nevertheless. In braces it means the
            // same slot with it.
            $reply = $this->redis instanceof \RedisCluster
                ? $this->redis->rawCommand(str_contains($key, '{') ? $key : "{{$key}}", ...$words)
                : $this->redis->rawCommand(...$words);
        } catch (\RedisException | \RedisClusterException $e) {
            $error = self::told($e->getMessage(), $e);
            if ($error instanceof Unreachable) {
                $this->giveUp();
            }
            throw $error;
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

    /** phpredis goes on with a connection on which an answer has not come in time. It would come to the next command,
     * and so on, to those of the application, too. */
    private function giveUp(): void
    {
        self::$before ??= new \WeakMap();
        try { // any of these may connect, and in vain
            self::$before[$this->redis] ??= $this->redis instanceof \Redis
                ? [$this->redis->getAuth(), $this->redis->getDbNum()] : [null, 0];
        } catch (\RedisException | \RedisClusterException) {
        }
        try {
            $this->redis->close();
        } catch (\RedisException | \RedisClusterException) {
        }
    }

    /** phpredis connects again by itself, but before 6.0 it is nobody then, in the first database, and a late answer to
     * its AUTH may be left. */
    private function goOn(): void
    {
        if (!isset(self::$before[$this->redis])) {
            return;
        }
        [$who, $database] = self::$before[$this->redis];
        for ($try = 0; $this->redis instanceof \Redis; $try++) {
            if ($who) {
                $this->redis->auth($who);
            }
            if ($database) {
                $this->redis->select($database);
            }
            $asked = bin2hex(random_bytes(8));
            if ($this->redis->rawCommand('PING', $asked) === $asked) {
                break;
            }
            if ($try === 2) {
                throw new \RedisException('what Redis answers belongs to other commands');
            }
            $this->redis->close();
        }
        unset(self::$before[$this->redis]);
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
