-- @include now
-- @include number

-- Enters a job in the line of those that wait, if `waiter` names one, and takes as many out of it
-- as there is `room` for: they are to be called. Those that are due by now look for themselves: up
-- to 500 of them are forgotten.
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
