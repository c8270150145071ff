-- limit_begun: a job that limit_take has counted has begun
-- KEYS   limit
-- ARGV   max per at
-- reply  1; 0 when its place was free again by then
--
-- max, per: as in limit_take, of a sliding window; at: when it was counted, as limit_take has
-- answered. From now on its place is taken for `per` seconds, and a fiftieth of that (at most 0.05 s)
-- in case it was seen to begin before it did

-- @include limit_open
-- @include now
-- @include number
-- @include spell

local most, span, time = whole(max, 1, 1e9), number(per, 0.001, 1e9), number(at, 0, 1e11)
if not most or not span or not time then
    return redis.error_reply('ERR limit_begun: max from 1, per seconds, at is a time')
end
local known = redis.call('LREM', limit, '1', at)
local begun = spell(now + math.min(span / 50, 0.05))
-- The list stays in order: those that have not begun are the newest. There are seldom many, so the
-- first ones are looked at, and then by halving; at most 1,000 are passed over.
local function newer(place)
    local time = redis.call('LINDEX', limit, string.format('%d', place))
    return time and tonumber(time) > tonumber(begun) and time
end
local last, low, high = newer(0), 0, 1
if last then
    local step = 1
    while high < 1000 and step do
        step = newer(high)
        if step then
            last, low, high = step, high, high * 2
        end
    end
    high = math.min(high, 1000)
    while high - low > 1 do
        local middle = math.floor((low + high) / 2)
        local time = newer(middle)
        if time then
            last, low = time, middle
        else
            high = middle
        end
    end
    redis.call('LINSERT', limit, 'AFTER', last, begun)
else
    redis.call('LPUSH', limit, begun)
end
-- More than `most` stay while they count: the number may be lower for a while only.
local beyond = tonumber(redis.call('LINDEX', limit, string.format('%d', most)))
if beyond and beyond <= now - span then
    redis.call('LTRIM', limit, '0', string.format('%d', most - 1))
end
redis.call('PEXPIRE', limit, string.format('%.0f', math.ceil((span + LIMIT_OPEN) * 1000)))
return known
