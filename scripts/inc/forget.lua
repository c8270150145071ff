-- @include beside

-- Drops the documents of ids and what is kept beside them; returns how many documents there were.
local function forget(ids)
    local known = redis.call('HDEL', jobs, unpack(ids))
    for _, hash in ipairs(beside) do
        redis.call('HDEL', hash, unpack(ids))
    end
    return known
end
