-- @include lines

-- A schedule is a member of `cron`, its score the next tick, +inf where there is none, and two
-- fields of `crontab`: NAME, its definition, lines and behind an empty one the document of its
-- jobs; and NAME:state, lines that say what has become of it.

local function schedule_of(name)
    local found = redis.call('HMGET', crontab, name, name .. ':state')
    return found[1], found[2] or ''
end

-- The lines of a definition.
local function head_of(definition)
    return string.sub(definition, 1, string.find(definition, '\n\n', 1, true) or #definition)
end

local function is_name(name)
    return #name <= 64 and string.find(name, '^[%w_.-]+$')
end
