-- Leaves one token in `wake` where a worker would find work, else none; DEL first, so that there
-- are never two, and so that a full Redis accepts it.
local function leave_wake()
    local work = redis.call('ZCARD', ready) > 0 and redis.call('EXISTS', paused) == 0
    redis.call('DEL', wake)
    if work then
        redis.call('LPUSH', wake, 1)
    end
end
