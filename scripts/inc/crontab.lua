-- @include lines

-- A schedule is a member of `cron` and two fields of `crontab`. Its score in `cron` is its next
-- tick, or +inf if there is none. The field NAME is its definition: lines, an empty line, and the
-- document of its jobs. The field NAME:state is lines about what has happened to it. If a tick has
-- come that a laterd could not read, the line `held` is that tick, and the score is when it is
-- looked at again.

local function schedule_of(name)
    local found = redis.call('HMGET', crontab, name, name .. ':state')
    return found[1], found[2] or ''
end

-- Its next tick, which may have come; nil: there is no such schedule.
local function next_of(name, state)
    return tonumber(value_of(state, 'held') or redis.call('ZSCORE', cron, name) or '')
end

-- The lines of a definition.
local function head_of(definition)
    return string.sub(definition, 1, string.find(definition, '\n\n', 1, true) or #definition)
end

-- Has it pushed as many jobs as its limit allows?
local function is_over(definition, state)
    local limit = count_of(head_of(definition), 'limit')
    return limit > 0 and count_of(state, 'fired') >= limit
end

local function is_name(name)
    return #name <= 64 and string.find(name, '^[%w_.-]+$')
end
