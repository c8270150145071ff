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
    -- The times are in order, so the places that are free are found by halving: one look if none
    -- is, two if all are, at most 9 for 101.
    local room, taken, since = 0, math.min(enough, most), nil
    local at, all = 1, taken -- so many at the end are tried
    while room < taken do
        local time = tonumber(redis.call('LINDEX', limit, string.format('%d', most - at)))
        if time and time > now - span then
            taken, since = at - 1, time
        else
            room = at
        end
        at, all = all or math.ceil((room + taken) / 2), nil
    end
    if not since then
        return room, 0
    end
    since = since > now + 0.05 and since - LIMIT_OPEN or since
    return room, math.max(since + span - now, 0.001)
end
