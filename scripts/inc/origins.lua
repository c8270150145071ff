-- @include lines

-- Which configurations have said in the last 150 seconds that they have the schedule:
-- `ORIGIN@TIME`, at most 8, without `but`. Each says so once a minute.
local function others_of(state, but)
    local others = {}
    for origin, at in string.gmatch(value_of(state, 'by') or '', '(%S+)@(%d+)') do
        if origin ~= but and now - at <= 150 and #others < 8 then
            others[#others + 1] = origin .. '@' .. at
        end
    end
    return others
end

-- The state of a schedule that this configuration has just named.
local function seen_by(state, origin)
    local present = string.format('%.0f', now)
    if string.find(origin, '^config:%S+$') then
        local others = others_of(state, origin)
        table.insert(others, 1, origin .. '@' .. present)
        state = with_value(state, 'by', table.concat(others, ' '))
    end
    return with_value(state, 'seen', present)
end
