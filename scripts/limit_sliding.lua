-- limit_sliding: may this happen now? At most `max` in any span of `per` seconds
-- KEYS   limit
-- ARGV   max per
-- reply  '' when it may, and was counted; else the seconds until it may
--
-- max  1 to 10^9; per: seconds, 0.001 to 10^9
--
-- The key is a list of the last `max` times, newest first. It may happen again once the last of
-- them, the oldest, is more than `per` seconds ago.

-- @include now
-- @include number

local most, span = whole(max, 1, 1e9), number(per, 0.001, 1e9)
if not most or not span then
    return redis.error_reply('ERR limit_sliding: max is a number from 1, per is seconds')
end
local oldest = tonumber(redis.call('LINDEX', limit, most - 1))
if oldest and oldest > now - span then
    return string.format('%.6f', oldest + span - now)
end
-- LTRIM comes first, too, since a full Redis accepts a script that begins with it.
redis.call('LTRIM', limit, 0, most - 1)
redis.call('LPUSH', limit, string.format('%.6f', now))
redis.call('LTRIM', limit, 0, most - 1)
redis.call('PEXPIRE', limit, math.ceil(span * 1000))
return ''
