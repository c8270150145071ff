-- @include backwards
-- @include wake

-- This is a channel, not a key.
local due = string.sub(delayed, 1, -8) .. 'due'

-- Puts jobs (score, id, score, id …) into `ready` and `delayed`. If another job is now the first to
-- become due, the migrators are told.
local function place(soon, later)
    if #soon > 0 then
        redis.call('ZADD', ready, unpack(backwards(soon)))
    end
    if #later > 0 then
        local before = redis.call('ZRANGE', delayed, 0, 0, 'WITHSCORES')
        redis.call('ZADD', delayed, unpack(backwards(later)))
        local first = redis.call('ZRANGE', delayed, 0, 0, 'WITHSCORES')
        if first[2] ~= before[2] then
            redis.call('PUBLISH', due, first[2])
        end
    end
    leave_wake(#soon > 0)
end
