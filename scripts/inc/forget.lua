-- @include record

-- Drops the documents and records of ids; returns how many documents there were. An id that asked
-- to stay taken after its job is free at once: somebody took it out of the queue.
local function forget(ids)
    if recorded then
        redis.call('HDEL', records, unpack(ids))
    end
    return redis.call('HDEL', jobs, unpack(ids))
end
