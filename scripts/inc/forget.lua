-- @include record

-- Drops the documents and records of ids; returns how many documents there were. An id that should
-- stay taken after its job is free at once, unless the caller calls stay_taken() afterwards.
local function forget(ids)
    if recorded then
        redis.call('HDEL', records, unpack(ids))
    end
    return redis.call('HDEL', jobs, unpack(ids))
end
