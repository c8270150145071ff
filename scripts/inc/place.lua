-- @include wake

-- This is a channel, not a key.
local due = string.sub(delayed, 1, -8) .. 'due'

-- Turns the order of the jobs round. Redis keeps a set of up to 128 members as a list. To insert a
-- member it reads the scores from the beginning, so it is cheaper to insert the last job first.
local function backwards(list)
    for i = 1, #list / 2 - 1, 2 do
        local k = #list - i
        list[i], list[i + 1], list[k], list[k + 1] = list[k], list[k + 1], list[i], list[i + 1]
    end
    return list
end

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
