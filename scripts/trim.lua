-- trim: drop the oldest dead jobs beyond a number or an age
-- KEYS   dead jobs records stats
-- ARGV   max age limit
-- reply  how many were dropped
--
-- max    dead jobs to keep; 0: any number
-- age    seconds to keep a dead job; 0: for ever
--
-- Each laterd with `dead.max` or `dead.days` that looks after its queues calls it every ten seconds.

-- @include now
-- @include number
-- @include drop

local keep, seconds, most = whole(max, 0, 1e12), number(age, 0, 1e11),
    whole(limit, 1, LATER_BATCH_MAX)
if not keep or not seconds or not most then
    return redis.error_reply('ERR trim: max and age from 0, and a limit of 1 to LATER_BATCH_MAX')
end
local over = 0
if keep > 0 then
    over = math.max(0, redis.call('ZCARD', dead) - keep)
end
if seconds > 0 then
    over = math.max(over, redis.call('ZCOUNT', dead, '-inf', now - seconds))
end
return over > 0 and drop(dead, math.min(over, most), 'trimmed') or 0
