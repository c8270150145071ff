-- Returns the score in ready of the i-th job of a push: now plus i microseconds, less its priority.
-- It is text, since Lua writes a number with 17 digits on its way to Redis, and that alone would
-- take a sixth of the time of a push. Ten jobs in a row share all but the last digit.
local seconds, micros = tonumber(clock[1]), tonumber(clock[2])
local digits = { [0] = '0', '1', '2', '3', '4', '5', '6', '7', '8', '9' }
local ten_text, ten_of, ten_rank

local function score(i, priority)
    local at = micros + i
    local digit = at % 10
    if at - digit ~= ten_of or priority ~= ten_rank then
        ten_of, ten_rank = at - digit, priority
        ten_text = string.format('%d.%05d', seconds + (at < 1000000 and 0 or 1)
            - priority * 1000000, ten_of % 1000000 / 10)
    end
    return ten_text .. digits[digit]
end
