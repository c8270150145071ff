-- @include number

-- What the priority of an id takes off its score; most queues have no priorities at all.
local prioritised = redis.call('EXISTS', priorities) == 1
local function rank(id)
    local priority = prioritised and redis.call('HGET', priorities, id)
    return priority and (whole(priority, -100, 100) or 0) * 1000000 or 0
end
