-- Adds to a number in a hash and returns the sum. If another program has put something there that
-- is not a number, the count starts again from 0: an error would stop the script half-way.
local function count(hash, field, by)
    local sum = redis.pcall('HINCRBY', hash, field, by)
    if type(sum) == 'table' then
        if string.find(sum.err, 'OOM', 1, true) then
            error(sum) -- the first write of this call, on a full Redis: nothing was changed
        end
        redis.call('HDEL', hash, field)
        sum = redis.call('HINCRBY', hash, field, by)
    end
    return sum
end
