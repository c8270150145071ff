-- @include number

-- Texts that consist of lines `TAG=VALUE`: records, definitions and states of schedules.

local function value_of(record, tag)
    return record ~= '' and string.match('\n' .. record, '\n' .. tag .. '=([^\n]*)') or nil
end

-- Reads a count; 0 if there is none. If another program has put something there that is not a
-- number, it counts as 0: an error would stop the script half-way.
local function count_of(record, tag)
    return whole(value_of(record, tag) or '', 0, 1000000000) or 0
end

-- Returns the record with a new value for the tag, or without the tag if the value is nil.
local function with_value(record, tag, value)
    local rest = string.sub(string.gsub('\n' .. record, '\n' .. tag .. '=[^\n]*', ''), 2)
    if rest ~= '' and string.byte(rest, -1) ~= 10 then
        rest = rest .. '\n'
    end
    return value and rest .. tag .. '=' .. value .. '\n' or rest
end
