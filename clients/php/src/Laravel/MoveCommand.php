<?php

// MoveCommand.php: artisan laterd:move: moves jobs of Laravel's own Redis queues to laterd.

namespace Laterd\Laravel;

use Illuminate\Console\Command;
use Illuminate\Queue\RedisQueue;

/**
 * Moves the jobs of Laravel's own Redis queues to laterd. Laravel's workers may go on meanwhile.
 *
 * Jobs are first moved from Laravel's keys into a list, then pushed under their uuid, then removed
 * from the list. So no worker of Laravel's gets them too. If a run is interrupted, the next one
 * pushes the rest of the list. A job that was pushed already is known by its id.
 */
class MoveCommand extends Command
{
    private const AT_ONCE = 100;
    private const PAUSE = 100000; // microseconds

    /** Moves up to ARGV[2] jobs into the list KEYS[5]: ready, delayed, and reserved ones whose time
     * is over. */
    private const TAKE = <<<'LUA'
        local left = tonumber(ARGV[2]) - redis.call('llen', KEYS[5])
        local function keep(due, job)
            redis.call('rpush', KEYS[5], due .. ' ' .. job)
            left = left - 1
        end
        while left > 0 do
            local job = redis.call('lpop', KEYS[1])
            if not job then
                break
            end
            redis.call('lpop', KEYS[2])
            keep('0', job)
        end
        for key, most in pairs({ [KEYS[3]] = '+inf', [KEYS[4]] = ARGV[1] }) do
            local found = left > 0
                and redis.call('zrangebyscore', key, '-inf', most, 'withscores', 'limit', 0, left) or {}
            for i = 1, #found, 2 do
                redis.call('zrem', key, found[i])
                keep(key == KEYS[3] and found[i + 1] or '0', found[i])
            end
        end
        return redis.call('lrange', KEYS[5], 0, -1)
        LUA;

    protected $signature = 'laterd:move
        {queue? : Its name; else the default of the connection}
        {--from=redis : The queue connection it lies in}
        {--to=laterd : The queue connection it goes to}
        {--follow : Go on, also when nothing is left, until it is ended}';
    protected $description = "Move jobs from Laravel's own Redis queues to laterd";

    public function handle(): int
    {
        $from = $this->laravel['queue']->connection($this->option('from'));
        $to = $this->laravel['queue']->connection($this->option('to'));
        if (!$from instanceof RedisQueue || !$to instanceof LaterdQueue) {
            $this->error('--from is a connection of the driver redis, --to of laterd');
            return 64;
        }
        $moved = 0;
        do {
            $now = $this->move($from, $to);
            $moved += $now;
            if ($now === 0 && $this->option('follow')) {
                usleep(self::PAUSE);
            }
        } while ($now > 0 || $this->option('follow'));
        $this->info("$moved jobs moved");
        return 0;
    }

    /** Returns how many were moved. */
    private function move(RedisQueue $from, LaterdQueue $to): int
    {
        $queue = $from->getQueue($this->argument('queue'));
        $redis = $from->getConnection();
        $list = "$queue:laterd";
        $taken = $redis->eval(self::TAKE, 5, $queue, "$queue:notify", "$queue:delayed", "$queue:reserved", $list,
            time(), self::AT_ONCE);
        $jobs = [];
        foreach ($taken as $entry) {
            [$due, $payload] = explode(' ', $entry, 2);
            $jobs[] = $to->newJob($payload, (int) $due > time() ? (int) $due - time() : 0);
        }
        if ($jobs) {
            $to->pushJobs($jobs, $to->getQueue(substr($queue, strlen('queues:'))));
            $redis->ltrim($list, count($jobs), -1);
        }
        return count($jobs);
    }
}
