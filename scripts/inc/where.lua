-- Returns the state of an id that has a document.
local function where(id)
    if redis.call('ZSCORE', ready, id) then
        return 'ready'
    elseif redis.call('ZSCORE', delayed, id) then
        return 'delayed'
    elseif redis.call('ZSCORE', dead, id) then
        return 'dead'
    end
    return 'reserved'
end
