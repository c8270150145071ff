-- Drops the documents of ids and what is kept beside them; returns how many documents there were.
-- Most queues have no attempts, crashes or errors: one look for all of them.
local function forget(ids)
    local known = redis.call('HDEL', jobs, unpack(ids))
    if redis.call('EXISTS', attempts, crashes, interrupts, priorities, errors) > 0 then
        for _, beside in ipairs({ attempts, crashes, interrupts, priorities, errors }) do
            redis.call('HDEL', beside, unpack(ids))
        end
    end
    return known
end
