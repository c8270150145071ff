-- pause: reserve hands out nothing until resume
-- KEYS   paused
-- ARGV   (ms)...
-- reply  1 when that changed something, else 0: it was paused without an end before
--
-- ms  the pause ends by itself after so many milliseconds, 1 to 10^11; without it: only by resume
--
-- Pushing, acking and migrating go on.

-- @include number

local ms = ARGV[1]
if #ARGV > 1 or ms and not whole(ms, 1, 1e11) then
    return redis.error_reply('ERR pause: nothing, or 1 to 100000000000 milliseconds')
end
local endless = redis.call('PTTL', paused) == -1
redis.call('DEL', paused) -- after this write, a full Redis does not refuse the next one
if ms then
    redis.call('SET', paused, 1, 'PX', ms)
    return 1
end
redis.call('SET', paused, 1)
return endless and 0 or 1
