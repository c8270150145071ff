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
local known = redis.call('LREM', limit, 1, at)
local begun = spell(now + math.min(span / 50, 0.05))
-- The list stays in order: those that have not begun are the newest. There are seldom many.
local i, newer = 0, redis.call('LINDEX', limit, 0)
local last = newer
while newer and i < 1000 and tonumber(newer) > tonumber(begun) do
    i, last = i + 1, newer
    newer = redis.call('LINDEX', limit, i)
end
if i == 0 then
    redis.call('LPUSH', limit, begun)
else
    redis.call('LINSERT', limit, 'AFTER', last, begun)
end
redis.call('LTRIM', limit, 0, most - 1)
redis.call('PEXPIRE', limit, math.ceil((span + LIMIT_OPEN) * 1000))
return known
