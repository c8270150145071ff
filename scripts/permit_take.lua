-- permit_take: one of `max` permits, for a job that runs
-- KEYS   running line_waiting line_due
-- ARGV   token max ttl waiter
-- reply  '' when it has one; else the seconds until one is free, if its holder is gone by then; and
--        if `waiter` is in the line, behind them ` N`: so many came after it
--
-- token  1 to 64 bytes, new for each job; if it has a permit, it keeps it for ttl seconds from now
-- max    1 to 1,000,000; ttl: seconds, 0.001 to 10^9
-- waiter the job, as in lock_take
--
-- The permits of laterd's `max_running` are named `type:NAME`, after the entry of `types`, `queue:Q`,
-- and `group:Q:GROUP`.

-- @include turn

local most, life = whole(max, 1, 1000000), number(ttl, 0.001, 1e9)
if #token < 1 or #token > 64 or not most or not life or #waiter > 300 then
    return redis.error_reply('ERR permit_take: token is 1 to 64 bytes, max from 1, ttl seconds')
end
local over = redis.call('ZCOUNT', running, '-inf', now)
local turn = is_turn(most - redis.call('ZCARD', running) + over)
local waits = not turn and behind()
-- Up to 500 permits whose time is over are removed. The rest of them have not been counted.
if over > 0 then
    redis.call('ZREMRANGEBYRANK', running, 0, math.min(over, 500) - 1)
end
if not redis.call('ZSCORE', running, token) and not turn then
    local first = redis.call('ZRANGEBYSCORE', running, string.format('(%.6f', now), '+inf',
        'WITHSCORES', 'LIMIT', 0, 1)
    return string.format('%.6f', math.max(tonumber(first[2] or now) - now, 0.001))
        .. (waits and ' ' .. waits or '')
end
redis.call('ZREM', running, '') -- first: a full Redis accepts a script that begins with it
redis.call('ZADD', running, string.format('%.6f', now + life), token)
leave_turn()
-- The key must last as long as its longest permit.
if redis.call('PTTL', running) < life * 1000 then
    redis.call('PEXPIRE', running, math.ceil(life * 1000))
end
return ''
