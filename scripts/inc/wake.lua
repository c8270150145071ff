-- Leaves one token in `wake` where a worker would find work, else none; DEL first, so that there
-- are never two, and so that a full Redis accepts it. `filled`: the caller has just put jobs into
-- `ready`, so that both are settled but for a token that is there already.
local function leave_wake(filled)
    local work = (filled or redis.call('ZCARD', ready) > 0) and redis.call('EXISTS', paused) == 0
    if not filled or redis.call('EXISTS', wake) == 1 then
        redis.call('DEL', wake)
    end
    if work then
        redis.call('LPUSH', wake, 1)
    end
end
