-- @include count

-- If one job is asked for, or probably there is no other, it is taken here, by fewer commands than
-- a batch needs. `one`: it was, and `reply` has it. Anything unusual is left to take_many.lua. No
-- functions: to make them costs as much as these commands.
local one = false
if not stopped and (few or most == 1) then
    local first, there = redis.call('ZRANGE', ready, 0, 0, 'WITHSCORES'), redis.call('ZCARD', ready)
    local id, score = first[1], first[2]
    local document = id and (there == 1 or most == 1) and #id <= 200 and find(id, '^[!-~]+$')
        and redis.call(beside and 'HSTRLEN' or 'HGET', jobs, id)
    if document and document ~= 0 then
        local record = recorded and redis.call('HGET', records, id)
        redis.call('ZREM', ready, id)
        redis.call('ZADD', set, score, id)
        redis.call('ZADD', reserved, string.format('%.6f', now + seconds), token)
        if others then
            redis.pcall('ZREM', delayed, id)
            redis.pcall('ZREM', dead, id)
        end
        if record and find(record, 'q=', 1, true) then
-- @inside share
            fair().leave({ id }, { record }, set)
        end
        if awake and there == 1 then
            redis.call('DEL', wake)
        elseif there > 1 and not awake then
            redis.call('LPUSH', wake, '1')
        end
        count(stats, 'reserved', 1)
        reply = { reply[1] .. ' ' .. score, id, record, document }
        one = true
    end
end
