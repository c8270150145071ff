-- limit_fixed: may this happen now? At most `max` in a window that opens with the first
-- KEYS   limit
-- ARGV   max per
-- reply  '' when it may, and was counted; else the seconds until it may
--
-- max  1 to 10^9; per: seconds, 0.001 to 10^9
--
-- The count is one key whose expiry is set with it, so it cannot outlive its window.

-- @include number

local most, span = whole(max, 1, 1e9), number(per, 0.001, 1e9)
if not most or not span then
    return redis.error_reply('ERR limit_fixed: max is a number from 1, per is seconds')
end
local count = tonumber(redis.call('GET', limit) or 0) or 0
local left = redis.call('PTTL', limit)
if left > 0 and count >= most then
    return string.format('%.6f', left / 1000)
end
if left <= 0 then
    count, left = 0, math.ceil(span * 1000)
end
redis.call('PEXPIRE', limit, left) -- first: a full Redis accepts a script that begins with it
redis.call('SET', limit, count + 1, 'PX', left)
return ''
