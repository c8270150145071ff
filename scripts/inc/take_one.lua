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
    local record = document and recorded and redis.call('HGET', records, id)
    local group = record and find(record, 'q=', 1, true)
        and string.match('\n' .. record, '\nq=%S+ ?([^\n]*)')
    local rank = group and string.match('\n' .. record, '\np=(%-?%d+)\n') or '0'
    local told = group and redis.call('HMGET', string.sub(jobs, 1, -5) .. 'fair', rank,
        rank .. ' ' .. group, 'full')
    if document and document ~= 0 and not (told and told[3] and not told[2]) then
        redis.call('ZREM', ready, id)
        redis.call('ZADD', set, score, id)
        redis.call('ZADD', reserved, string.format('%.6f', now + seconds), token)
        if others then
            redis.pcall('ZREM', delayed, id)
            redis.pcall('ZREM', dead, id)
        end
        if told and told[1] then
-- @inside share_one
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
