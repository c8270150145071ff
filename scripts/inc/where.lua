-- Returns the state of an id that has a document.
local function where(id)
    if redis.call('ZSCORE', ready, id) then
        return 'ready'
    elseif redis.call('ZSCORE', delayed, id) then
        return 'delayed'
    elseif redis.call('ZSCORE', dead, id) then
        return 'dead'
    end
    -- Only jobs of flows wait. HMGET, since who may only push has no HGET.
    local text = redis.call('HMGET', records, id)[1]
    if text and string.find(text, 'f=', 1, true)
        and redis.call('ZSCORE', string.sub(dead, 1, -5) .. 'waiting', id) then
        return 'waiting'
    end
    return 'reserved'
end
