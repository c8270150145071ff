-- @include one
-- @include typed
-- @include count

-- If it is the only job of its token, it is done here, by fewer commands than settle() needs.
-- `ended`: it was. What is not simple is left to settle(), as is anything unusual. No functions: to
-- make them costs as much as these commands.
local ended = false
if simple then
    redis.call('HLEN', jobs)
    local row = redis.call('ZRANGE', held, '0', '1')
    if row[1] == only and not row[2] then
        redis.call('ZREM', reserved, string.sub(held, #reserved + 2)) -- first: it may fail
        redis.call('DEL', held)
        local known = redis.call('HDEL', jobs, only)
        if record then
            redis.call('HDEL', records, only)
        end
        count(stats, known == 1 and 'done' or 'withdrawn', '1')
        ended = true
    end
end
