-- limit_free: what was counted does not happen
-- KEYS   limit
-- ARGV   window at
-- reply  1; 0 when it does not count any more
--
-- window  fixed or sliding; at: when it was counted, as limit_take has answered

-- @include now
-- @include number

local time = number(at, 0, 1e11)
if not time or window ~= 'fixed' and window ~= 'sliding' then
    return redis.error_reply('ERR limit_free: window is fixed or sliding, at is a time')
end
if window == 'sliding' then
    return redis.call('LREM', limit, 1, at)
end
-- `at` is the end of its window.
local left, count = redis.call('PTTL', limit), tonumber(redis.call('GET', limit) or 0) or 0
if left <= 0 or count < 1 or math.abs(now + left / 1000 - time) > 0.005 then
    return 0
end
redis.call('PEXPIRE', limit, left) -- first: a full Redis accepts a script that begins with it
redis.call('SET', limit, count - 1, 'PX', left)
return 1
