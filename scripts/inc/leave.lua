-- @include number
-- @include results_for
-- @include lines

-- An ended job leaves its result for so many seconds. `record`: '' if it has none.
local function leave(key, seconds, state, attempt, record, left)
    if seconds == 0 then
        return
    end
    local head = '{"state":"%s","attempt":%d,"at":%.6f%s}\n'
    local followed = value_of(record, 'n') and ',"again":true' or ''
    head = string.format(head, state, attempt, now, followed)
    if redis.call('LPUSH', key, head .. left) > 1 then
        redis.call('LTRIM', key, '0', '0')
    end
    redis.call('PEXPIRE', key, string.format('%.0f', math.ceil(seconds * 1000)))
    results_for(seconds)
end
