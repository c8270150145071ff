-- @include limit_open
-- @include now
-- @include number

-- How many more may happen now, up to `enough`; and the seconds until one more may after these.
-- The key of a fixed window is a count; else it is a list of the last `most` times, newest first,
-- and one to come is of a job that has not begun: it may begin at any moment.
local function limit_room(most, span, enough)
    if window == 'fixed' then
        local left = redis.call('PTTL', limit)
        local count = tonumber(redis.call('GET', limit) or 0) or 0
        return left > 0 and most - count or most, math.max(left, 0) / 1000
    end
    local room = 0
    while room < enough and room < most do
        local oldest = tonumber(redis.call('LINDEX', limit, most - 1 - room))
        if oldest and oldest > now - span then
            local since = oldest > now + 0.05 and oldest - LIMIT_OPEN or oldest
            return room, math.max(since + span - now, 0.001)
        end
        room = room + 1
    end
    return room, 0
end
