-- @include first
-- @include count

-- Hands out the job that first.lua has read; or the one that has just become ready and is not in
-- `ready` yet, if `id` is that. `one`: it was, and `reply` has it. No functions: to make them costs
-- as much as these commands.
local one = false
if document then
    local rest = id == freed and there or there - 1
    if id ~= freed then
        redis.call('ZREM', ready, id)
    end
    redis.call('ZADD', set, score, id)
    redis.call('ZADD', reserved, seconds % 1 == 0
        and string.format('%.0f', clock[1] + seconds) .. string.sub(reply[1], -7)
        or string.format('%.6f', now + seconds), token)
    if others then
        redis.pcall('ZREM', delayed, id)
        redis.pcall('ZREM', dead, id)
    end
    if told and told[1] then
-- @inside share_one
    end
    if awake and rest == 0 then
        redis.call('DEL', wake)
    elseif rest > 0 and not awake then
        redis.call('LPUSH', wake, '1')
    end
    count(stats, 'reserved', '1')
    reply = { reply[1] .. ' ' .. score, id, text, document }
    one = true
end
