-- A push drops the result that an earlier job of its id has left. For most queues that costs
-- nothing: the field `results` of `stats`, which is read together with `max_jobs`, says until when
-- any job of the queue may have a result.

-- May there be results at this time? `text` is the field.
local function has_results(text, time)
    return text and (tonumber(text) or 0) > time
end

local function result_of(id)
    return string.sub(jobs, 1, -5) .. 'result:' .. id
end
