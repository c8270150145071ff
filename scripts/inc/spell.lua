-- Spells a time in seconds to the microsecond.
local function spell(time)
    return string.format('%.6f', time)
end
