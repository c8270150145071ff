-- @include beside

-- Ids that somebody took out of the queue are free at once, whatever they asked for.
local function free(ids)
    if uniques > 0 then
        redis.call('ZREM', unique, unpack(ids))
    end
end
