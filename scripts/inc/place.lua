-- @include wake

-- A channel, not a key.
local due = string.sub(delayed, 1, -8) .. 'due'

-- The same jobs, the last first. A set of up to 128 members is a list, in which Redis looks for a
-- member's place from the beginning and reads each score that it passes.
local function backwards(list)
    for i = 1, #list / 2 - 1, 2 do
        local k = #list - i
        list[i], list[i + 1], list[k], list[k + 1] = list[k], list[k + 1], list[i], list[i + 1]
    end
    return list
end

-- Puts jobs (score, id, score, id …) into `ready` and `delayed`, and tells the migrators when the
-- first to become due is another than before.
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
