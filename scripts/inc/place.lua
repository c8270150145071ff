-- @include wake

-- A channel, not a key.
local due = string.sub(delayed, 1, -8) .. 'due'

-- Puts jobs (score, id, score, id …) into `ready` and `delayed`, and tells the migrators when the
-- first to become due is another than before.
local function place(soon, later)
    if #soon > 0 then
        redis.call('ZADD', ready, unpack(soon))
    end
    if #later > 0 then
        local before = redis.call('ZRANGE', delayed, 0, 0, 'WITHSCORES')
        redis.call('ZADD', delayed, unpack(later))
        local first = redis.call('ZRANGE', delayed, 0, 0, 'WITHSCORES')
        if first[2] ~= before[2] then
            redis.call('PUBLISH', due, first[2])
        end
    end
    leave_wake(#soon > 0)
end
