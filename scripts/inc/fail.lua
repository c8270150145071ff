-- @include count

-- Keeps why an attempt failed. `tail` is `"kind":…,"text":…,"host":…}`, made by the caller;
-- it is neither read nor rewritten here.
local function note_error(id, attempt, tail)
    if tail ~= '' then
        local head = string.format('{"at":%.6f,"attempt":%d,', now, attempt)
        redis.call('HSET', errors, id, head .. tail)
    end
end

-- One attempt more; returns how many there were.
local function count_attempt(id)
    redis.call('HDEL', interrupts, id)
    return count(attempts, id, 1)
end
