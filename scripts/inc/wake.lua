-- Leaves one element in `wake` if a worker would find work, else none. DEL comes first, so that
-- there are never two, and so that a full Redis accepts the script. If `filled`, the caller has
-- just put jobs into `ready`; then DEL is needed only if there is an element already.
local function leave_wake(filled)
    local work = filled or redis.call('ZCARD', ready) > 0
    local there = work and redis.call('EXISTS', wake, paused, paused) or 0 -- of `paused`: 2
    if not filled or there % 2 == 1 then
        redis.call('DEL', wake)
    end
    if work and there < 2 then
        redis.call('LPUSH', wake, 1)
    end
end
