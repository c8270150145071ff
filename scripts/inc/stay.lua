-- @include beside

-- In `unique` a negative score is the seconds that an id asked to stay taken after its job; here
-- the job ends, and the score becomes the time until which it is. Twice as many others whose
-- time has passed go, so that it does not grow for long beyond what is needed.
local function stay_taken(ids)
    if uniques == 0 then
        return
    end
    local clock = redis.call('TIME')
    local now, kept = clock[1] + clock[2] / 1000000, {}
    local asked = redis.call('ZMSCORE', unique, unpack(ids))
    for i = 1, #ids do
        local seconds = tonumber(asked[i] or 0)
        if seconds < 0 then
            kept[#kept + 1] = now - seconds
            kept[#kept + 1] = ids[i]
        end
    end
    if #kept > 0 then
        -- Two values stand in `kept` for each.
        local over = redis.call('ZRANGEBYSCORE', unique, '(0', now, 'LIMIT', 0, #kept)
        if #over > 0 then
            redis.call('ZREM', unique, unpack(over))
        end
        redis.call('ZADD', unique, unpack(kept))
    end
end
