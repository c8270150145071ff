-- The number that a text spells in plain decimals, if it lies between `least` and `most`; else nil.
-- Lua's own tonumber takes nan, inf, 0x10 and 1e9 as well.
local function number(text, least, most)
    local n = string.find(text, '^%-?%d+%.?%d*$') and tonumber(text)
    return n and n >= least and n <= most and n or nil
end

local function whole(text, least, most)
    return not string.find(text, '.', 1, true) and number(text, least, most) or nil
end
