-- Puts jobs (due, id, due, id …) into `delayed`. If another job is now the first to become due, the
-- migrators are told.
local function delay(later)
    local before = redis.call('ZRANGE', delayed, 0, 0, 'WITHSCORES')
    redis.call('ZADD', delayed, unpack(later))
    local first = redis.call('ZRANGE', delayed, 0, 0, 'WITHSCORES')
    if first[2] ~= before[2] then
        redis.call('PUBLISH', string.sub(delayed, 1, -8) .. 'due', first[2])
    end
end
