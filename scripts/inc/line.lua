-- @include now
-- @include number

-- Adds the job that `waiter` names, if any, to the line. Then takes out as many jobs as there is
-- `room` for, and returns them; the caller makes them due. Jobs that are due by now will look for
-- themselves, so up to 500 of them are dropped from the line.
local function line(room)
    local life = number(wait, 0, 86400)
    if not life or #waiter > 300 or not room then
        return redis.error_reply('ERR line: wait is seconds, at most a day; a waiter 300 bytes')
    end
    redis.call('ZREM', waiting, '') -- first: a full Redis accepts a script that begins with it
    local over = redis.call('ZCOUNT', waiting, '-inf', now)
    if over > 0 then
        redis.call('ZREMRANGEBYRANK', waiting, 0, math.min(over, 500) - 1)
    end
    if waiter ~= '' then
        redis.call('ZADD', waiting, string.format('%.6f', now + life), waiter)
        redis.call('PEXPIRE', waiting, 86400000)
    end
    local called = room > 0 and redis.call('ZPOPMIN', waiting, math.min(room, 100)) or {}
    return { redis.call('ZCARD', waiting), unpack(called) }
end
